"""Moments, days and the offsets in which scenarios write them.

A scenario fixes one moment, ``setup.now``; everything else is an ISO 8601 duration from it (``-P400D``,
``-PT24H``, ``-P48M``). Months and years keep the day of month and are clipped to the end of a shorter
month; they, weeks and days move the wall clock of the domain's time zone, hours and less are elapsed time.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta

_DURATION = re.compile(
    r"(?P<sign>[+-]?)P(?=\d|T\d)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?",
    re.ASCII,
)

_OUTSIDE: Final = "leads out of the calendar; expected a moment in the years 1 to 9999"


def is_offset(text: str) -> bool:
    """Tell whether `text` is a signed ISO 8601 duration such as ``-P400D``."""
    return _DURATION.fullmatch(text) is not None


def shift(now: datetime, offset: str, zone: ZoneInfo) -> datetime:
    """Move a moment by an ISO 8601 duration.

    Years, months, weeks and days move the wall clock of `zone`; hours, minutes and seconds are elapsed time.

    Raises
    ------
    ValueError
        If `offset` is not a duration, or leads out of the calendar (the years 1 to 9999).
    """
    match = _DURATION.fullmatch(offset)
    if match is None:
        raise ValueError(f"expected an ISO 8601 duration such as -P400D or -PT24H, found {offset!r}")
    sign = -1 if match["sign"] == "-" else 1
    try:
        part = {name: sign * int(number or 0) for name, number in match.groupdict().items() if name != "sign"}
        calendar = relativedelta(years=part["years"], months=part["months"], weeks=part["weeks"], days=part["days"])
        elapsed = timedelta(hours=part["hours"], minutes=part["minutes"], seconds=part["seconds"])
        return (now.astimezone(zone) + calendar).astimezone(UTC) + elapsed
    except (OverflowError, ValueError):
        raise ValueError(f"{offset:.40} {_OUTSIDE}") from None


def parse_moment(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """Read a moment written as an offset from `now` or as ISO 8601 with a time zone; the result is UTC.

    Raises
    ------
    ValueError
        If `text` is neither, has no time zone, or is finer than a second.
    """
    if is_offset(text):
        return shift(now, text, zone)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected a duration (-PT2H) or an ISO 8601 moment, found {text!r}") from None
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; write it with an offset, such as 2026-03-12T10:20:00-04:00")
    if moment.microsecond:
        raise ValueError(f"{text!r} is finer than a second; moments are kept to the second")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text:.40} {_OUTSIDE}") from None


def parse_day(text: str, now: datetime, zone: ZoneInfo) -> date:
    """Read a calendar day written as an offset from `now` or as ISO 8601 (``1984-03-04``).

    Raises
    ------
    ValueError
        If `text` is neither.
    """
    if is_offset(text):
        try:
            return shift(now, text, zone).astimezone(zone).date()
        except OverflowError:
            raise ValueError(f"{text:.40} {_OUTSIDE}") from None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected a duration (-P60D) or a date (1984-03-04), found {text!r}") from None


def iso(moment: datetime) -> str:
    """Write a moment as the store keeps it: UTC, to the second, ``2026-03-12T15:20:00Z``.

    Raises
    ------
    ValueError
        If the moment has no time zone: it would mean another moment on another machine.
    """
    if moment.tzinfo is None:
        raise ValueError(f"expected a moment with a time zone, found {moment.isoformat()}")
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"
