"""Text from outside as a terminal may show it: nothing in it moves the cursor, hides, or looks like a line of ours."""

from __future__ import annotations


def visible(text: str) -> str:
    """Escape what a terminal would act on or hide, line ends excepted."""
    return "".join(sign if sign == "\n" or _is_plain(sign) else f"\\u{ord(sign):04x}" for sign in text)


def _is_plain(sign: str) -> bool:
    is_hidden = "\u200b" <= sign <= "\u200f" or "\u202a" <= sign <= "\u202e" or sign in "\u2060\ufeff"
    return sign.isprintable() and not is_hidden
