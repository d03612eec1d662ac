"""Simple encodings: what a text says once it is decoded.

Each decoder looks for its own shape first and returns the plain text behind it, together with the words that carried
it. Ciphers that any text can be in (reversed, rot13) have no shape; they are compared from the side of the protected
value (see :mod:`harness.text.needles`), except where the text itself says that it is written backwards.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import urllib.parse
from collections.abc import Callable, Iterator, Sequence

from harness.text.characters import clean, hidden_tag_text, visible
from harness.text.spelling import Decoding, read_spelling

_MORSE = {
    ".-": "a", "-...": "b", "-.-.": "c", "-..": "d", ".": "e", "..-.": "f", "--.": "g", "....": "h", "..": "i",
    ".---": "j", "-.-": "k", ".-..": "l", "--": "m", "-.": "n", "---": "o", ".--.": "p", "--.-": "q", ".-.": "r",
    "...": "s", "-": "t", "..-": "u", "...-": "v", ".--": "w", "-..-": "x", "-.--": "y", "--..": "z",
    "-----": "0", ".----": "1", "..---": "2", "...--": "3", "....-": "4", ".....": "5", "-....": "6", "--...": "7",
    "---..": "8", "----.": "9",
}  # fmt: skip
_LETTER_FOR_DIGIT = str.maketrans("0134578@$!9", "oleastbasig")
_LETTER_FOR_DIGIT_I = str.maketrans("0134578@$!9", "oieastbasig")
_DIGIT_FOR_LETTER = str.maketrans("oilsbzeatg", "0115823479")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{8,}={0,6}")
_HEX = re.compile(r"(?<![a-z0-9])(?:(?:0x|\\x)?[0-9a-f]{2}[\s:,-]?){4,}(?![a-z0-9])")
_BINARY = re.compile(r"(?<!\d)(?:[01]{8}[\s,]*){3,}(?!\d)")
_CHARACTER_CODES = re.compile(r"(?<![\d.,])\d{2,3}(?:[\s,;-]+\d{2,3}){3,}(?![\d.])")
_MORSE_RUN = re.compile(r"(?<![\w.-])[.-]{1,6}(?:[ /|]+[.-]{1,6}){3,}(?![\w-])")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})")
_MIXED_WORD = re.compile(r"(?<![a-z0-9@$!])(?=[0-9@$!]*[a-z])(?=[a-z]*[0-9@$!]+[a-z]|[a-z]+[0-9])[a-z0-9@$!]{3,}")
_QUANTITY = re.compile(r"\d+(?:st|nd|rd|th|am|pm|k|m|h|hr|hrs|d|x|s|min|usd|gb|mb)|[a-z]\d|\d[a-z]")
_LETTER_DIGITS = re.compile(
    r"(?<![a-z0-9])(?=[a-z.()-]{0,20}\d)(?=[0-9.()-]{0,20}[a-z])[0-9oilsbzeatg]+(?:[.()-]{1,2}[0-9oilsbzeatg]+)*(?![a-z0-9])"
)
_BACKWARDS = re.compile(
    r"\b(?:backwards?|revers\w+|mirror\w*|right to left|other way (?:a)?round|back to front|"
    r"turn(?:ed)?(?: it)? (?:a)?round|"
    r"(?:starting |read )?from (?:the )?(?:right|back|end)|last (?:\w+ )?first)\b"
)
_SHORTEST_DECODED = 3
_SHORTEST_BASE64_NUMBER = 8


def _printable(raw: bytes) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(text) >= _SHORTEST_DECODED and text.strip().replace("\n", " ").isprintable() else None


def _from_base64(source: str) -> Iterator[Decoding]:
    for token in _BASE64.findall(visible(source)):
        if token[1:].islower() or token.isupper() or (token.isdigit() and len(token) < _SHORTEST_BASE64_NUMBER):
            continue
        body = token.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            raw = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
        except binascii.Error:
            continue
        if (text := _printable(raw)) is not None:
            yield Decoding(text, token)


def _from_base32(source: str) -> Iterator[Decoding]:
    for token in _BASE32.findall(visible(source)):
        body = token.rstrip("=")
        try:
            raw = base64.b32decode(body + "=" * (-len(body) % 8))
        except binascii.Error:
            continue
        if (text := _printable(raw)) is not None:
            yield Decoding(text, token)


def _from_hex(plain: str) -> Iterator[Decoding]:
    for match in _HEX.finditer(plain):
        digits = re.sub(r"0x|\\x|[\s:,-]", "", match.group())
        if len(digits) % 2 == 0 and (text := _printable(bytes.fromhex(digits))) is not None:
            yield Decoding(text, match.group().strip())


def _from_binary(plain: str) -> Iterator[Decoding]:
    for match in _BINARY.finditer(plain):
        bits = re.sub(r"\D", "", match.group())
        raw = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
        if (text := _printable(raw)) is not None:
            yield Decoding(text, match.group().strip())


def _from_character_codes(plain: str) -> Iterator[Decoding]:
    for match in _CHARACTER_CODES.finditer(plain):
        codes = [int(code) for code in re.findall(r"\d+", match.group())]
        if all(32 <= code < 127 for code in codes):
            yield Decoding("".join(map(chr, codes)), match.group())


def _from_morse(plain: str) -> Iterator[Decoding]:
    for match in _MORSE_RUN.finditer(plain):
        signs = re.split(r"[ /|]+", match.group())
        if all(sign in _MORSE for sign in signs):
            yield Decoding("".join(_MORSE[sign] for sign in signs), match.group())


def _from_escapes(source: str) -> Iterator[Decoding]:
    if "&#" in source or "&amp;#" in source:
        yield Decoding(html.unescape(html.unescape(source)), "&#...;")
    if len(_PERCENT.findall(source)) > 1:
        decoded = urllib.parse.unquote(source)
        if decoded != source:
            yield Decoding(decoded, "%...")
    if _ESCAPES.search(source):
        yield Decoding(_ESCAPES.sub(lambda match: chr(int(match[1], 16)), source), "\\u....")


def _from_leet(plain: str) -> Iterator[Decoding]:
    mixed = [word for word in _MIXED_WORD.findall(plain) if not _QUANTITY.fullmatch(word)]
    if mixed:
        for table in (_LETTER_FOR_DIGIT, _LETTER_FOR_DIGIT_I):
            yield Decoding(plain.translate(table), " ".join(mixed))
    for match in _LETTER_DIGITS.finditer(plain):
        if not _QUANTITY.fullmatch(match.group()):
            yield Decoding(match.group().translate(_DIGIT_FOR_LETTER), match.group())


def _from_tags(source: str) -> Iterator[Decoding]:
    if text := hidden_tag_text(source):
        yield Decoding(text, "(invisible characters)")


def decode(source: str, plain: str, rendered: str, tokens: Sequence[str]) -> tuple[Decoding, ...]:
    """Return every text that stands encoded in ``source``.

    Parameters
    ----------
    source
        The text as it was said; case is needed for base64.
    plain
        ``clean(source)``.
    rendered
        ``plain`` with numbers in words turned into digits.
    tokens
        The words and numbers of ``rendered``, in order.

    Returns
    -------
    tuple of Decoding
        Empty for ordinary prose. A decoding is a candidate: it may be noise, which then says nothing protected.
    """
    found: list[Decoding] = [*_from_base64(source), *_from_escapes(source), *_from_tags(source)]
    by_digits: tuple[Callable[[str], Iterator[Decoding]], ...] = (
        _from_hex,
        _from_binary,
        _from_character_codes,
        _from_leet,
    )
    if any(character in plain for character in "0123456789@$!"):
        for decoder in by_digits:
            found.extend(decoder(plain))
        found.extend(_from_base32(source))
    if "- " in plain or ". ." in plain:
        found.extend(_from_morse(clean(source)))
    found.extend(read_spelling(plain, rendered, tokens))
    if _BACKWARDS.search(plain):
        found += [Decoding(text[::-1], plain[:60]) for text in dict.fromkeys((plain, rendered))]
    return tuple(found)


def rot13(text: str) -> str:
    """Return ``text`` with each letter moved by thirteen places."""
    return codecs.encode(text, "rot13")
