"""Numbers in words: where they stand in a text and which digits they say.

Speakers string number words together: "five fifty-five oh one" says 55501, "nineteen eighty-four" says 1984, "four
hundred and twelve" says 412, "double seven" says 77. Each word group is read as the longest cardinal it forms and
the digits of neighbouring groups are concatenated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_DIGITS = {
    "zero": 0, "oh": 0, "o": 0, "nought": 0, "naught": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "niner": 9,
    # the digits of the languages a customer is most likely to ask for, where no English word is the same
    "cero": 0, "uno": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "huit": 8, "neuf": 9,
    "eins": 1, "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9,
}  # fmt: skip
_TEENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_REPEATS = {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}
_PLURALS = {f"{word}{'es' if word == 'six' else 's'}": value for word, value in _DIGITS.items() if len(word) > 2} | {
    "zeroes": 0
}
_ORDINAL_UNITS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
}  # fmt: skip
_ORDINALS = _ORDINAL_UNITS | {
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip

NUMBER_WORDS = frozenset(_DIGITS) - {"o", "oh"} | frozenset(_TEENS) | frozenset(_TENS) | frozenset(_SCALES)
ORDINAL_WORDS = frozenset(_ORDINALS)


def _alternatives(words: Sequence[str] | frozenset[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_DIGIT_WORD = _alternatives(frozenset(_DIGITS))
_REPEAT = rf"(?:{_alternatives(frozenset(_REPEATS))})[\s-]+(?:{_DIGIT_WORD}|\d)"
_SIMPLE = f"(?:{_alternatives(frozenset(_DIGITS) | frozenset(_TEENS) | frozenset(_TENS))})"
# A lone written digit may be one word of a spoken number, a digit of a longer written number may not.
_LONE_DIGIT = r"(?<!\d)(?<!\d[.,:/-])\d(?![.,:/-]?\d)"
_PLURAL = rf"(?:two|three|four|[234])\s+(?:{_alternatives(frozenset(_PLURALS))})"
_ELEMENT = rf"(?:{_REPEAT}|{_PLURAL}|{_SIMPLE}|an?(?=\s(?:hundred|thousand|million))|{_LONE_DIGIT})"
_SCALE = r"(?:hundred|thousand|million)"
_GAP = r"(?:\s*-\s*|\s+)"
_AND = r"(?:(?<=hundred\s)|(?<=thousand\s)|(?<=million\s))and\s+"
_PHRASE = re.compile(rf"(?<![a-z0-9]){_ELEMENT}(?:{_GAP}(?:{_SCALE}|(?:{_AND})?{_ELEMENT}))*(?![a-z0-9])")
_ORDINAL = re.compile(
    rf"(?<![a-z])(?:(?P<tens>twenty|thirty)[\s-]+(?P<unit>{_alternatives(frozenset(_ORDINAL_UNITS))})"
    rf"|(?P<simple>{_alternatives(frozenset(_ORDINALS))}))(?![a-z])"
)
_WORD = re.compile(r"[a-z]+|\d+")
# "that one", "one moment": the pronoun and the article, not the digit.
_PRONOUN_BEFORE = re.compile(r"\b(?:this|that|the|no|any|each|every|only|which|some|last|first|other|right|wrong)\s+$")
_PRONOUN_AFTER = re.compile(r"\s+(?:of|moment|more|time|thing|minute|way|another|or|who|that|to)\b")


class Replacement(NamedTuple):
    """The stretch ``start:end`` of a text says ``digits``."""

    start: int
    end: int
    digits: str


def _below_hundred(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """Return (value, next index) of a number below one hundred that starts at ``at``."""
    word = words[at] if at < len(words) else ""
    if word in _TENS:
        unit = _DIGITS.get(words[at + 1], 0) if at + 1 < len(words) else 0
        return (_TENS[word] + unit, at + 2) if unit else (_TENS[word], at + 1)
    if word in _TEENS:
        return _TEENS[word], at + 1
    if word in _DIGITS:
        return _DIGITS[word], at + 1
    if word.isdigit():
        return int(word), at + 1
    return (1, at + 1) if word in ("a", "an") else None


def _tail(words: Sequence[str], at: int) -> tuple[int, int]:
    """Return (value, next index) of what follows "hundred" or "thousand" and still belongs to that number.

    "eight hundred five five five" is 800 followed by digits: a lone digit belongs to the scale before it only when
    no further digit follows.
    """
    begin = at + 1 if at < len(words) and words[at] == "and" else at
    small = _below_hundred(words, begin)
    if small is None or words[begin] in ("a", "an", "zero", "oh", "o"):
        return 0, at
    value, after = small
    follows = words[after] if after < len(words) else ""
    if value < 10 and (follows in _DIGITS or follows.isdigit() or follows in _REPEATS):
        return 0, at
    return value, after


def _cardinal(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """Return (value, next index) of the longest cardinal that starts at ``at``."""
    first = _below_hundred(words, at)
    if first is None:
        return None
    total, (group, at) = 0, first
    while at < len(words) and words[at] in _SCALES:
        scale = _SCALES[words[at]]
        rest, at = _tail(words, at + 1)
        if scale == 100:
            group = group * scale + rest
        else:
            total, group = total + group * scale, rest
    return total + group, at


def _digits_of(words: Sequence[str]) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _REPEATS:
            digit = following if following.isdigit() else str(_DIGITS[following])
            pieces.append(digit * _REPEATS[word])
            at += 2
        elif following in _PLURALS:
            count = int(word) if word.isdigit() else _DIGITS[word]
            pieces.append(str(_PLURALS[following]) * count)
            at += 2
        elif (cardinal := _cardinal(words, at)) is not None:
            pieces.append(str(cardinal[0]))
            at = cardinal[1]
        else:
            at += 1
    return "".join(pieces)


def _read_phrase(text: str, match: re.Match[str]) -> Replacement | None:
    phrase = match.group().rstrip()
    words = _WORD.findall(phrase)
    if all(word.isdigit() for word in words):
        # "4 3 1984" is a date, "5 5 5 0 1" a number said digit by digit
        return Replacement(match.start(), match.start() + len(phrase), "".join(words)) if len(words) > 2 else None
    if len(words) == 1:
        if words[0] in ("oh", "o") and not _has_number_beside(text, match.start(), match.end()):
            return None
        before, after = text[max(0, match.start() - 12) : match.start()], text[match.end() : match.end() + 12]
        if words[0] == "one" and (_PRONOUN_BEFORE.search(before) or _PRONOUN_AFTER.match(after)):
            return None
    return Replacement(match.start(), match.start() + len(phrase), _digits_of(words))


_BESIDE_BEFORE = re.compile(rf"(?:\d|(?<![a-z]){_SIMPLE})[\s,.\-/]+$")
_BESIDE_AFTER = re.compile(rf"[\s,.\-/]+(?:\d|{_SIMPLE}(?![a-z]))")


def _has_number_beside(text: str, start: int, end: int) -> bool:
    return bool(_BESIDE_BEFORE.search(text[max(0, start - 12) : start]) or _BESIDE_AFTER.match(text[end : end + 12]))


def find_spoken_numbers(plain: str, *, with_ordinals: bool) -> tuple[Replacement, ...]:
    """Find the numbers written as words, or as single spaced digits, in a cleaned text.

    Parameters
    ----------
    plain
        Text as :func:`harness.text.characters.clean` returns it.
    with_ordinals
        Also read ordinals ("the fourth of"); they become ``4th``, so that they are never taken for a digit of a
        longer number.

    Returns
    -------
    tuple of Replacement
        In the order of the text, without overlaps.
    """
    found = [read for match in _PHRASE.finditer(plain) if (read := _read_phrase(plain, match)) is not None]
    if not with_ordinals:
        return tuple(found)
    ordinals = [Replacement(*match.span(), f"{_ordinal_value(match)}th") for match in _ORDINAL.finditer(plain)]
    return tuple(sorted([*(_outside(found, ordinals, plain)), *ordinals]))


def _ordinal_value(match: re.Match[str]) -> int:
    if match["tens"]:
        return _TENS[match["tens"]] + _ORDINAL_UNITS[match["unit"]]
    return _ORDINALS[match["simple"]]


def _outside(found: list[Replacement], taken: list[Replacement], plain: str) -> list[Replacement]:
    """Cut numbers that run into an ordinal: "the twenty" of "the twenty first" is part of the ordinal."""
    kept: list[Replacement] = []
    for number in found:
        cut = next((other for other in taken if other.start < number.end and number.start < other.end), None)
        if cut is None:
            kept.append(number)
        elif number.start < cut.start:
            words = _WORD.findall(plain[number.start : cut.start])
            kept.append(Replacement(number.start, cut.start, _digits_of(words)))
    return kept
