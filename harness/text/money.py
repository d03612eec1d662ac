"""Amounts of money in a normalised text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_AMOUNT = re.compile(
    r"(?P<before>us\$|[$€£]|\busd\s?)?\s?(?<![\d.])"
    r"(?P<number>\d{1,3}(?:\.\d{3})+,\d{2}(?!\d)|\d{1,3}(?:[,' ]\d{3})+(?:\.\d{1,2})?(?![\d])|\d+(?:[.,]\d{1,2})?(?!\d)"
    r"|\d+\.\d{3,})"
    r"(?:\s?(?P<scale>k|m|mn|million|grand|thousand|hundred)\b)?"
    r"(?:\s*(?P<unit>dollars?|bucks|usd|cents?|\$)(?![a-z]))?"
    r"(?:(?:\s*,)?(?:\s+and)?\s+(?P<cents>\d{1,2})\s?cents?\b)?"
)
_SCALES = {
    "k": 1_000, "grand": 1_000, "thousand": 1_000, "hundred": 100, "m": 1_000_000, "mn": 1_000_000,
    "million": 1_000_000,
}  # fmt: skip
_ABOUT = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|circa|close to|"
    r"(?:just|slightly|somewhat|a (?:bit|little|touch|shade)) (?:over|under|above|below|more than|less than))\s*$"
)
_LONGEST_NUMBER = 15


@dataclass(frozen=True, slots=True)
class AmountMention:
    """An amount found in a text.

    Attributes
    ----------
    cents
        The amount in cents.
    step_cents
        The unit it was said to, in cents: 1 for "$4,312.55", 100 for "$4,312", 10000 for "about $4,300".
    is_marked
        Whether anything beside the digits says that it is money (a sign, a unit, separators, cents).
    span
        Start and end in the text.
    """

    cents: int
    step_cents: int
    is_marked: bool
    span: tuple[int, int]


def _number_to_cents(number: str, scale: int) -> tuple[int, bool] | None:
    """Return (cents, whether cents were written) of a written number, or None where it is too long to be money."""
    if len(number) > _LONGEST_NUMBER:
        return None
    if number.isdigit():
        return int(number) * 100 * scale, False
    # the last separator is a decimal sign when one or two digits follow it
    match = re.fullmatch(r"(?P<whole>.*?)(?:[.,](?P<fraction>\d{1,2}|(?<=\.)\d{3,}))?", number)
    if match is None:
        return None
    whole = int(re.sub(r"\D", "", match["whole"]) or 0)
    fraction = match["fraction"] or ""
    if len(fraction) > 2 and scale == 1:
        return int(re.sub(r"\D", "", number)) * 100, False
    numerator = int(fraction or 0) * 100 * scale
    return whole * 100 * scale + numerator // 10 ** len(fraction), len(fraction) == 2 and scale == 1


def find_amounts(rendered: str) -> tuple[AmountMention, ...]:
    """Find the amounts in a text whose spelled-out numbers have been turned into digits.

    Bare integers are among them, unmarked; whether one of these means money is for the reader to decide.
    """
    found = []
    for match in _AMOUNT.finditer(rendered):
        scale = _SCALES[match["scale"]] if match["scale"] else 1
        read = _number_to_cents(match["number"], scale)
        if read is None:
            continue
        cents, has_cents = read
        unit = match["unit"] or ""
        if unit.startswith("cent"):
            cents, has_cents = cents // 100, True
        if match["cents"]:
            cents, has_cents = cents + int(match["cents"]), True
        is_marked = bool(match["before"] or unit or match["scale"] or has_cents or "," in match["number"])
        is_about = cents % 1_000 == 0 and bool(_ABOUT.search(rendered[max(0, match.start() - 28) : match.start()]))
        found.append(AmountMention(cents, _step(cents, has_cents, is_about), is_marked, match.span()))
    return tuple(found)


def _step(cents: int, has_cents: bool, is_about: bool) -> int:
    if has_cents:
        return 1
    step = 100
    # a rounded amount keeps two leading digits at least: "about $4,000" could be anything
    while is_about and cents % (step * 10) == 0 and cents >= step * 100:
        step *= 10
    return step
