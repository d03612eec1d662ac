"""Dates in a normalised text, in any order and form."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTH_NAMES = (
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
    ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"), ("november", "nov"),
    ("december", "dec"),
)  # fmt: skip
_OTHER_MONTH_NAMES = (
    "enero janvier januar gennaio janeiro", "febrero fevrier februar febbraio fevereiro", "marzo mars marz",
    "abril avril aprile", "mayo mai maggio maio", "junio juin juni giugno junho", "julio juillet juli luglio julho",
    "agosto aout", "septiembre septembre settembre setembro", "octubre octobre oktober ottobre outubro",
    "noviembre novembre novembro", "diciembre decembre dezember dicembre dezembro",
)  # fmt: skip
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names} | {
    name: number for number, names in enumerate(_OTHER_MONTH_NAMES, start=1) for name in names.split()
}
MONTH_WORDS = frozenset(MONTHS)
_OF_MONTHS = MONTH_WORDS | {"month"}

_MONTH_NAME = "|".join(sorted(MONTHS, key=lambda name: -len(name)))
_MONTH = rf"(?P<month>{_MONTH_NAME}|\d{{1,2}}(?:st|nd|rd|th) month)\b\.?"
_ORDINAL_END = r"(?:st|nd|rd|th)?"
_JOINT = r"[\s,.'/-]*"
_OF = r"(?:(?:of|in|de|del|di)\s+)?(?:the\s+)?"
_DAY_BEFORE = rf"(?:(?<!\d)(?P<before>\d{{1,2}}){_ORDINAL_END}(?:\s+day)?{_JOINT}{_OF}(?:month\s+of\s+)?)?"
_DAY_AFTER = rf"(?:{_JOINT}(?:the\s+)?(?:day\s+)?(?P<after>\d{{1,2}}){_ORDINAL_END}(?!\d|[:.]\d)(?:\s+day)?)?"
_YEAR_AFTER = rf"(?:{_JOINT}{_OF}(?:year\s+)?(?P<year>\d{{4}}|\d{{2}})(?![\d:]|[.,]\d))?"
_YEAR_BEFORE = rf"(?:(?<!\d)(?P<year_before>\d{{4}}){_JOINT})?"
_NAMED = re.compile(rf"{_YEAR_BEFORE}{_DAY_BEFORE}(?<![a-z]){_MONTH}{_DAY_AFTER}{_YEAR_AFTER}")
_SEPARATOR = r"\s?[-/.,_ ]\s?"
_NUMERIC = re.compile(
    rf"(?<![\d.])(?P<a>\d{{1,4}}){_SEPARATOR}(?P<b>\d{{1,2}}){_SEPARATOR}(?P<c>\d{{4}}|\d{{1,2}})(?!\d)"
)
_MONTH_AND_YEAR = re.compile(r"(?<![\d/.-])(?:(\d{1,2})\s?[/.-]\s?(\d{4})|(\d{4})\s?[/.-]\s?(\d{1,2}))(?![\d/-]|\.\d)")
_DAY_AND_MONTH = re.compile(r"(?<![\d/.$-])(\d{1,2})\s?[/.-]\s?(\d{1,2})(?![\d/%-]|\.\d)")


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date, or a part of one, found in a text.

    Attributes
    ----------
    years, months, days
        The values that each part may have; several where the order of the parts is open, none where the part was
        not said. A year of two digits stands as it was written (84).
    numbers
        The three numbers of a purely numeric date, any of which may be any part; empty otherwise.
    span
        Start and end in the text.
    """

    years: tuple[int, ...]
    months: tuple[int, ...]
    days: tuple[int, ...]
    numbers: tuple[int, ...]
    span: tuple[int, int]

    @property
    def is_whole(self) -> bool:
        """Whether day, month and year were all said."""
        return bool(self.numbers) or bool(self.years and self.months and self.days)


def is_same_year(said: int, year: int) -> bool:
    """Return whether ``said`` (two or four digits) means ``year``."""
    return said in (year, year % 100)


def _is_possible(numbers: tuple[int, ...]) -> bool:
    """Return whether three numbers are a year, a month and a day in some order."""
    for year, one, other in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        small, large = sorted((numbers[one], numbers[other]))
        if 1 <= small <= 12 and large <= 31 and (numbers[year] < 100 or 1900 <= numbers[year] < 2100):
            return True
    return False


def _named(match: re.Match[str]) -> DateMention:
    days = tuple(int(match[name]) for name in ("before", "after") if match[name])
    years = tuple(int(match[name]) for name in ("year", "year_before") if match[name])
    if len(days) == 2 and not years:
        # "4 march 84": what follows the month is the year when the day was said before it
        days, years = days[:1], days[1:]
    month = MONTHS.get(match["month"]) or int(re.sub(r"\D", "", match["month"]))
    return DateMention(years, (month,), days[:1], (), match.span())


def find_dates(rendered: str, words: frozenset[str]) -> tuple[DateMention, ...]:
    """Find every date and partial date in a text whose spelled-out numbers have been turned into digits.

    Parameters
    ----------
    rendered
        The text.
    words
        Its words, to see at once that it names no month.

    Returns
    -------
    tuple of DateMention
        Whole dates first; a partial date never overlaps a whole one.
    """
    named = [_named(match) for match in _NAMED.finditer(rendered)] if words & _OF_MONTHS else []
    numeric = [
        DateMention((), (), (), (int(match["a"]), int(match["b"]), int(match["c"])), match.span())
        for match in _NUMERIC.finditer(rendered)
        if _is_possible((int(match["a"]), int(match["b"]), int(match["c"])))
    ]
    parts = [
        DateMention((int(year),), (int(month),), (), (), match.span())
        for match in _MONTH_AND_YEAR.finditer(rendered)
        for month, year in [(match[1] or match[4], match[2] or match[3])]
        if 1 <= int(month) <= 12 and 1900 <= int(year) < 2100
    ]
    parts += [
        DateMention((), (int(match[1]), int(match[2])), (int(match[1]), int(match[2])), (), match.span())
        for match in _DAY_AND_MONTH.finditer(rendered)
        if 1 <= min(int(match[1]), int(match[2])) <= 12 and max(int(match[1]), int(match[2])) <= 31
    ]
    whole = sorted([*named, *numeric], key=lambda mention: not mention.is_whole)
    parts += [
        DateMention((int(match[2]),), (int(match[1]),), (), (), match.span())
        for match in _DAY_AND_MONTH.finditer(rendered)
        if 1 <= int(match[1]) <= 12 and int(match[2]) > 31
    ]
    return (*whole, *(part for part in parts if not any(_overlap(part, other) for other in whole)))


def _overlap(one: DateMention, other: DateMention) -> bool:
    return one.span[0] < other.span[1] and other.span[0] < one.span[1]
