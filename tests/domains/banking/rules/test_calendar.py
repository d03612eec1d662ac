"""Days, months back, business days."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.banking.rules import calendar
from domains.banking.rules.limits import limit, permits, permits_share
from tests.domains.banking.rules import desk as d

IN_TABLE = st.dates(date(2025, 1, 1), date(2027, 12, 31))


def test_a_day_ends_at_midnight_in_new_york() -> None:
    world = d.Desk().world
    assert calendar.days_since(datetime(2026, 3, 12, 4, 0, tzinfo=UTC), world) == 0
    assert calendar.days_since(datetime(2026, 3, 12, 3, 59, tzinfo=UTC), world) == 1
    assert calendar.days_since(date(2026, 3, 11), world) == 1


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [
        ("2026-03-12", 48, "2022-03-12"),
        ("2026-03-31", 1, "2026-02-28"),
        ("2024-03-31", 1, "2024-02-29"),
        ("2026-08-31", 6, "2026-02-28"),
    ],
)
def test_months_back_keep_the_day_or_clip_it(day: str, months: int, expected: str) -> None:
    assert calendar.months_back(date.fromisoformat(day), months) == date.fromisoformat(expected)


def test_the_holiday_table_is_that_of_the_public_holidays() -> None:
    by_year = [sum(day.year == year for day in calendar.HOLIDAYS) for year in (2025, 2026, 2027)]
    assert by_year == [11, 11, 11]
    assert not [day for day in calendar.HOLIDAYS if day.weekday() == 6]


def test_the_example_of_the_guide() -> None:
    promised = date(2026, 3, 2)
    assert calendar.business_days_after(promised, date(2026, 3, 16), 99) == 10
    assert calendar.business_days_after(promised, date(2026, 3, 17), 99) == 11


@pytest.mark.parametrize("day", ["2026-07-03", "2026-12-24", "2027-07-06"])
def test_the_bank_works(day: str) -> None:
    assert calendar.is_business_day(date.fromisoformat(day))


@pytest.mark.parametrize("day", ["2026-07-04", "2026-12-25", "2027-07-05", "2026-03-14", "2026-03-15"])
def test_the_bank_is_closed(day: str) -> None:
    assert not calendar.is_business_day(date.fromisoformat(day))


@pytest.mark.parametrize("day", [date(2024, 12, 31), date(2028, 1, 1)])
def test_a_day_outside_the_table_is_an_error(day: date) -> None:
    with pytest.raises(ValueError, match="2025 to 2027"):
        calendar.is_business_day(day)


@given(IN_TABLE, st.integers(0, 60), st.integers(0, 60))
def test_business_days_add_up(start: date, first: int, second: int) -> None:
    middle, end = start + timedelta(days=first), start + timedelta(days=first + second)
    if end.year > calendar.LAST_YEAR:
        return
    parts = calendar.business_days_after(start, middle, 999) + calendar.business_days_after(middle, end, 999)
    assert calendar.business_days_after(start, end, 999) == parts <= first + second


@given(IN_TABLE, st.integers(0, 60), st.integers(0, 20))
def test_counting_stops_early(start: date, span: int, at_most: int) -> None:
    end = start + timedelta(days=span)
    if end.year > calendar.LAST_YEAR:
        return
    assert calendar.business_days_after(start, end, at_most) == min(
        at_most, calendar.business_days_after(start, end, 999)
    )


def test_a_limit_permits_its_side() -> None:
    assert [permits(limit("x", side, 5, "count"), 5) for side in ("<", "<=", ">", ">=")] == [False, True, False, True]
    with pytest.raises(ValueError, match="expected one of"):
        limit("x", "==", 5, "count")


def test_a_share_is_exact() -> None:
    share = limit("share", "<", 80, "percent")
    assert permits_share(share, 799_999_999_999, 10**12)
    assert not permits_share(share, 8 * 10**11, 10**12)
    assert not permits_share(share, 1, 0)
