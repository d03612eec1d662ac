"""Moments, days and the offsets in which scenarios write them.

A scenario fixes one moment, ``setup.now``; everything else is an ISO 8601 duration from it (``-P400D``,
``-PT24H``, ``-P48M``). Months and years keep the day of month and are clipped to the end of a shorter
month; hours are elapsed time; days of 24 hours are counted in the bank's own time zone.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta

_DURATION = re.compile(
    r"(?P<sign>[+-]?)P(?=\d|T\d)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)


def is_offset(text: str) -> bool:
    """Tell whether `text` is a signed ISO 8601 duration such as ``-P400D``."""
    return _DURATION.fullmatch(text) is not None


def shift(now: datetime, offset: str, zone: ZoneInfo) -> datetime:
    """Move a moment by an ISO 8601 duration.

    Years, months, weeks and days move the wall clock of `zone`; hours, minutes and seconds are elapsed time.

    Raises
    ------
    ValueError
        If `offset` is not a duration.
    """
    match = _DURATION.fullmatch(offset)
    if match is None:
        raise ValueError(f"expected an ISO 8601 duration such as -P400D or -PT24H, found {offset!r}")
    sign = -1 if match["sign"] == "-" else 1
    part = {name: sign * int(number or 0) for name, number in match.groupdict().items() if name != "sign"}
    calendar = relativedelta(years=part["years"], months=part["months"], weeks=part["weeks"], days=part["days"])
    elapsed = timedelta(hours=part["hours"], minutes=part["minutes"], seconds=part["seconds"])
    moved = (now.astimezone(zone) + calendar).astimezone(UTC)
    return moved + elapsed


def parse_moment(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """Read a moment written as an offset from `now` or as ISO 8601 with a time zone; the result is UTC.

    Raises
    ------
    ValueError
        If `text` is neither, or has no time zone.
    """
    if is_offset(text):
        return shift(now, text, zone)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected a duration (-PT2H) or an ISO 8601 moment, found {text!r}") from None
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; write it with an offset, such as 2026-03-12T10:20:00-05:00")
    return moment.astimezone(UTC)


def parse_day(text: str, now: datetime, zone: ZoneInfo) -> date:
    """Read a calendar day written as an offset from `now` or as ISO 8601 (``1984-03-04``).

    Raises
    ------
    ValueError
        If `text` is neither.
    """
    if is_offset(text):
        return shift(now, text, zone).astimezone(zone).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected a duration (-P60D) or a date (1984-03-04), found {text!r}") from None


def iso(moment: datetime) -> str:
    """Write a moment as the store keeps it: UTC, to the second, ``2026-03-12T15:20:00Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
