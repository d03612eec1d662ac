"""Time as the rules count it: elapsed seconds, calendar days at the bank, months back, business days.

How a written period reads: what must be "not older than" or lies "within" a period may be exactly that old; what
must be "at least" so old, or "unchanged for" a period, may be exactly that old; the "last" days include the day
that far back.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from domains.kit.world import World

HOLIDAYS: Final[frozenset[date]] = frozenset(
    date.fromisoformat(day)
    for day in (
        *("2025-01-01", "2025-01-20", "2025-02-17", "2025-05-26", "2025-06-19", "2025-07-04"),
        *("2025-09-01", "2025-10-13", "2025-11-11", "2025-11-27", "2025-12-25"),
        *("2026-01-01", "2026-01-19", "2026-02-16", "2026-05-25", "2026-06-19", "2026-07-04"),
        *("2026-09-07", "2026-10-12", "2026-11-11", "2026-11-26", "2026-12-25"),
        *("2027-01-01", "2027-01-18", "2027-02-15", "2027-05-31", "2027-06-19", "2027-07-05"),
        *("2027-09-06", "2027-10-11", "2027-11-11", "2027-11-25", "2027-12-25"),
    )
)
"""The bank's holidays. One that falls on a Sunday is kept on the Monday after it."""

FIRST_YEAR: Final = min(HOLIDAYS).year
LAST_YEAR: Final = max(HOLIDAYS).year

_SATURDAY: Final = 5


def elapsed_s(moment: datetime, world: World) -> float:
    """Return how many seconds ago a moment was."""
    return (world.now - moment).total_seconds()


def local_day(moment: datetime, world: World) -> date:
    """Return the calendar day of a moment in the bank's time zone."""
    return moment.astimezone(world.zone).date()


def today(world: World) -> date:
    """Return the present calendar day in the bank's time zone."""
    return local_day(world.now, world)


def days_since(past: date | datetime, world: World) -> int:
    """Return how many calendar days ago a day or moment was, in the bank's time zone."""
    day = local_day(past, world) if isinstance(past, datetime) else past
    return (today(world) - day).days


def months_back(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last day where it is too short."""
    return day - relativedelta(months=months)


def calendar_months_between(earlier: date, later: date) -> int:
    """Return how many months `earlier`'s month lies before `later`'s, whatever the days."""
    return (later.year - earlier.year) * 12 + later.month - earlier.month


def is_business_day(day: date) -> bool:
    """Tell whether the bank works on a day.

    Raises
    ------
    ValueError
        If the holiday table does not reach that day.
    """
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"expected a day in {FIRST_YEAR} to {LAST_YEAR}, which the holiday table covers; found {day}")
    return day.weekday() < _SATURDAY and day not in HOLIDAYS


def business_days_after(start: date, end: date, at_most: int) -> int:
    """Count the business days after `start` up to and including `end`, stopping at `at_most`.

    Raises
    ------
    ValueError
        If the holiday table does not reach a day that has to be looked at.
    """
    count, day = 0, end
    while day > start and count < at_most:
        count += is_business_day(day)
        day -= timedelta(days=1)
    return count
