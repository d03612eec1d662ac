"""Moments, days and offsets: calendar parts move the wall clock, hours are elapsed time."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.clock import is_offset, iso, parse_day, parse_moment, shift

NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 3, 12, 15, 20, tzinfo=UTC)


def local(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=NEW_YORK)


MOVES = {
    "nothing": (local(2026, 3, 12, 11, 20), "P0D", local(2026, 3, 12, 11, 20)),
    "days": (local(2026, 3, 12), "-P400D", local(2025, 2, 5)),
    "weeks and days": (local(2026, 3, 12), "P1W1D", local(2026, 3, 20)),
    "months": (local(2026, 3, 12), "-P48M", local(2022, 3, 12)),
    "to a shorter month": (local(2026, 3, 31), "-P1M", local(2026, 2, 28)),
    "to a leap day": (local(2024, 3, 31), "-P1M", local(2024, 2, 29)),
    "from a leap day": (local(2024, 2, 29), "-P1Y", local(2023, 2, 28)),
    "clipped before days are counted": (local(2026, 3, 31), "-P1M1D", local(2026, 2, 27)),
    "years and months": (local(2026, 3, 12), "+P1Y2M", local(2027, 5, 12)),
    "hours": (local(2026, 3, 12, 1), "-PT24H", local(2026, 3, 11, 1)),
    "everything": (local(2026, 3, 12, 12), "P1Y1M1W1DT1H1M1S", datetime(2027, 4, 20, 17, 1, 1, tzinfo=UTC)),
    # The clocks go forward on 8 March 2026 at 2 and back on 1 November 2026 at 2.
    "a day over a lost hour": (local(2026, 3, 8, 12), "-P1D", local(2026, 3, 7, 12)),
    "24 hours over a lost hour": (local(2026, 3, 8, 12), "-PT24H", local(2026, 3, 7, 11)),
    "a day over an hour that comes twice": (local(2026, 11, 1, 12), "-P1D", local(2026, 10, 31, 12)),
    "24 hours over an hour that comes twice": (local(2026, 11, 1, 12), "-PT24H", local(2026, 10, 31, 13)),
    "into the lost hour": (local(2026, 3, 7, 2, 30), "P1D", datetime(2026, 3, 8, 7, 30, tzinfo=UTC)),
    "into the first of two hours": (local(2026, 10, 31, 1, 30), "P1D", datetime(2026, 11, 1, 5, 30, tzinfo=UTC)),
}


@pytest.mark.parametrize("case", MOVES)
def test_a_moment_is_moved(case: str) -> None:
    start, offset, end = MOVES[case]
    moved = shift(start, offset, NEW_YORK)
    assert moved == end
    assert moved.tzinfo is UTC


def test_an_elapsed_day_need_not_be_a_calendar_day() -> None:
    noon = local(2026, 3, 8, 12)
    assert (shift(noon, "-PT24H", NEW_YORK) - shift(noon, "-P1D", NEW_YORK)).total_seconds() == -3600


@pytest.mark.parametrize(
    "text",
    ["", "P", "-P", "PT", "P1", "1D", "P1H", "PT1D", "P-1D", "P1.5D", "P1DT", "P1M1Y", " P1D", "P1D\n", "p1d", "P٣D"],
)
def test_text_that_is_no_duration(text: str) -> None:
    assert not is_offset(text)
    with pytest.raises(ValueError, match="expected an ISO 8601 duration"):
        shift(NOW, text, NEW_YORK)


@pytest.mark.parametrize("text", ["P1D", "-P1D", "+PT1S", "P1Y2M3W4DT5H6M7S", "P0D"])
def test_durations(text: str) -> None:
    assert is_offset(text)


@pytest.mark.parametrize(
    "text", ["-P9999Y", "P9000Y", "P99999999999D", "-PT99999999999999H", "P" + "9" * 5000 + "D", "-P2025Y2M12D"]
)
def test_an_offset_out_of_the_calendar_is_an_error(text: str) -> None:
    assert is_offset(text)
    for read in (shift, lambda now, offset, zone: parse_moment(offset, now, zone)):
        with pytest.raises(ValueError, match="leads out of the calendar"):
            read(NOW, text, NEW_YORK)
    with pytest.raises(ValueError, match="leads out of the calendar"):
        parse_day(text, NOW, NEW_YORK)


def test_moments() -> None:
    assert parse_moment("2026-03-12T10:20:00-05:00", NOW, NEW_YORK) == NOW
    assert parse_moment("2026-03-12T15:20:00Z", NOW, NEW_YORK).tzinfo is UTC
    assert parse_moment("-PT20M", NOW, NEW_YORK) == datetime(2026, 3, 12, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("yesterday", "expected a duration"),
        ("2026-02-30T10:00:00Z", "expected a duration"),
        ("2026-03-12T10:20:00", "has no time zone"),
        ("2026-03-12", "has no time zone"),
        ("2026-03-12T10:20:00.5Z", "finer than a second"),
        ("0001-01-01T00:00:00+05:00", "leads out of the calendar"),
    ],
)
def test_text_that_is_no_moment(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_moment(text, NOW, NEW_YORK)


def test_days_are_those_of_the_zone() -> None:
    late = datetime(2026, 3, 13, 2, tzinfo=UTC)
    assert parse_day("P0D", late, NEW_YORK) == date(2026, 3, 12)
    assert parse_day("-PT3H", local(2026, 3, 12, 1), NEW_YORK) == date(2026, 3, 11)
    assert parse_day("1984-03-04", NOW, NEW_YORK) == date(1984, 3, 4)
    for text in ("1984-02-30", "March", ""):
        with pytest.raises(ValueError, match="expected a duration"):
            parse_day(text, NOW, NEW_YORK)


def test_moments_are_written_in_utc_with_four_digits_of_year() -> None:
    assert iso(local(2026, 3, 12, 11, 20)) == "2026-03-12T15:20:00Z"
    assert iso(datetime(33, 4, 3, tzinfo=UTC)) == "0033-04-03T00:00:00Z"
    assert iso(NOW.replace(microsecond=999_999)) == "2026-03-12T15:20:00Z"
    with pytest.raises(ValueError, match="with a time zone"):
        iso(datetime(2026, 1, 1))


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)), st.integers(0, 20_000))
def test_hours_there_and_back(moment: datetime, hours: int) -> None:
    there = shift(moment, f"PT{hours}H", NEW_YORK)
    assert shift(there, f"-PT{hours}H", NEW_YORK) == moment
    assert (there - moment).total_seconds() == hours * 3600
    assert parse_moment(iso(moment), NOW, NEW_YORK) == moment.replace(microsecond=0)
