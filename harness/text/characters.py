"""Characters: one plain lower-case letter or digit for every way of writing it.

Case, accents, widths, styled alphabets, digits of other scripts and letters of other scripts that look Latin are
folded; characters that cannot be seen are dropped; every dash, quotation mark and blank becomes the plain one.
"""

from __future__ import annotations

import unicodedata

_LOOK_ALIKE_ROWS = (
    # Cyrillic, capital letters by the shape of the capital
    ("АВЕЁКМНОРСТУХІЇЈЅЗԀҺѴԚԜӀГ", "abeekmhopctyxiijs3dhvqwlr"),
    ("авеёкмнорстухіїјѕзԁһѵԛԝӏгпи", "abeekmhopctyxiijs3dhvqwlrnu"),
    # Greek, where capital and small letter resemble different Latin ones
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abezhikmnoptyx"),
    ("αβγεζηικμνορτυχωϲ", "abyeznikuvoptuxwc"),
    # Armenian, small capitals, strokes and variants of Latin letters
    ("օոսհց", "onuhg"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    ("ıłŁøØđĐħĦŧŦɑɡɩʋɯ", "illooddhhttagivw"),
)
_PUNCTUATION = {
    **dict.fromkeys("‘’‚‛′ʼ＇`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("−⁃⁻", "-"),
    **dict.fromkeys("·•∙⋅・。．", "."),
    "\u2044": "/",
    "\u2215": "/",
    "\u2800": " ",
    "æ": "ae",
    "Æ": "ae",
    "œ": "oe",
    "Œ": "oe",
}
# Letters by category, blank to the eye.
_INVISIBLE_LETTERS = "\u115f\u1160\u3164\uffa0"
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me"})
_LETTER_BLOCKS = (0x1F1E6, 0x1F150, 0x1F170, 0x1F130)  # regional indicators, circled, squared (negative, plain)
_TAG_BLOCK = range(0xE0020, 0xE007F)

_KNOWN = {
    **{shape: plain for shapes, plains in _LOOK_ALIKE_ROWS for shape, plain in zip(shapes, plains, strict=True)},
    **_PUNCTUATION,
    **dict.fromkeys(_INVISIBLE_LETTERS, ""),
    **{chr(block + offset): chr(ord("a") + offset) for block in _LETTER_BLOCKS for offset in range(26)},
}


def _fold_character(character: str) -> str:
    if character in _KNOWN:
        return _KNOWN[character]
    if character == "\n":
        return character
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    if category in _UNSEEN_CATEGORIES:
        return ""
    if category == "Pd":
        return "-"
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    decomposed = unicodedata.normalize("NFKD", character.casefold()).casefold()
    if decomposed == character:
        return character
    return "".join(_fold_character(part) for part in decomposed)


class _FoldTable(dict[int, str]):
    """A translation table that works a character out when it first meets it (at most one entry per code point)."""

    def __missing__(self, code_point: int) -> str:
        folded = self[code_point] = _fold_character(chr(code_point))
        return folded


_FOLD = _FoldTable()


def clean(text: str) -> str:
    """Return ``text`` with every character folded to its plain lower-case form and unseen ones dropped.

    Line breaks stay, other blanks become a space.
    """
    if text.isascii() and text.isprintable():
        return text.lower()
    return text.translate(_FOLD)


def origins(text: str) -> list[int]:
    """Return, for each character of ``clean(text)``, the index in ``text`` that it comes from."""
    return [index for index, character in enumerate(text) for _ in _FOLD[ord(character)]]


def visible(text: str) -> str:
    """Return ``text`` with its case kept, compatibility forms folded and unseen characters dropped.

    Needed where case carries meaning, as in base64.
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(character for character in folded if _FOLD[ord(character)])


def hidden_tag_text(text: str) -> str:
    """Return the ASCII text smuggled in as invisible tag characters, or an empty string."""
    if text.isascii():
        return ""
    return "".join(chr(ord(character) - 0xE0000) for character in text if ord(character) in _TAG_BLOCK)
