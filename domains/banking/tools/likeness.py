"""When two pieces of text count as the same: identity factors, names, codes."""

from __future__ import annotations

import unicodedata
from typing import Literal


def digits(text: str) -> str:
    """Return the decimal digits of a text, in order."""
    return "".join(sign for sign in text if sign.isascii() and sign.isdigit())


def national_number(phone: str) -> str:
    """Return the ten digits of a US telephone number, or "" if it is none; a leading 1 is dropped."""
    number = digits(phone)
    number = number[1:] if len(number) == 11 and number[0] == "1" else number
    return number if len(number) == 10 else ""


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = (sign for sign in plain if not unicodedata.combining(sign) and sign not in "'.’")
    return tuple("".join(sign if sign.isalnum() else " " for sign in kept).split())


def edits_apart(first: str, second: str) -> int:
    """Return the least number of inserted, deleted or replaced characters that make one text the other."""
    row = list(range(len(second) + 1))
    for place, sign in enumerate(first, start=1):
        diagonal, row[0] = row[0], place
        for other, target in enumerate(second, start=1):
            diagonal, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, diagonal + (sign != target))
    return row[-1]


def compare_names(given: str, held: str) -> Literal["match", "close_match", "no_match"]:
    """Compare two names as banks do: the same, nearly the same, or another one.

    Names are close if the words of one are all found in the other, in any order, or if at most two letters
    differ.
    """
    first, second = words(given), words(held)
    if first == second:
        return "match"
    shorter, longer = sorted((set(first), set(second)), key=len)
    if (shorter and shorter <= longer) or edits_apart(" ".join(first), " ".join(second)) <= 2:
        return "close_match"
    return "no_match"
