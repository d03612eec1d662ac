"""The measured values of a report, as they are written: each with what it was counted over, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from harness.reports.statistics import Interval, mean, wilson

NOTHING: Final = "there is nothing to count"


class Part(BaseModel):
    """Base of everything that a report writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Rate(Part):
    """A share of episodes.

    Attributes
    ----------
    rate, low, high
        The share among the `n` assessed episodes and its Wilson interval of 95 %; None over nothing.
    count
        Successes.
    n
        Assessed episodes.
    worst, best
        The share among all planned episodes to which it applies, if everything that was not assessed had failed,
        or succeeded. None where it applies to none.
    reason
        Why `rate` is None.
    """

    rate: float | None
    count: int
    n: int
    low: float | None
    high: float | None
    worst: float | None
    best: float | None
    reason: str | None = None


class Measure(Part):
    """A mean over `n` episodes, or why there is none."""

    value: float | None
    n: int
    reason: str | None = None


def rate(values: Iterable[bool | None], reason: str | None = None) -> Rate:
    """Count a share.

    Parameters
    ----------
    values
        One for each planned episode to which the share applies; None for those not assessed.
    reason
        Why there is nothing to count, if that is so.
    """
    planned = list(values)
    assessed = [value for value in planned if value is not None]
    count, n = sum(assessed), len(assessed)
    interval = wilson(count, n)
    if planned and not n:
        reason = reason or "no episode that it applies to was assessed"
    return Rate(
        rate=count / n if n else None,
        count=count,
        n=n,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        worst=count / len(planned) if planned else None,
        best=(count + len(planned) - n) / len(planned) if planned else None,
        reason=None if n else reason or NOTHING,
    )


def measure(values: Iterable[float | None], reason: str = NOTHING) -> Measure:
    """Average what is there of some values; `reason` says why there is none."""
    found = [value for value in values if value is not None]
    return Measure(value=mean(found), n=len(found), reason=None if found else reason)


def macro(rates: Sequence[Rate]) -> Measure:
    """Average the rates of groups, each group counting once; groups without a rate are left out."""
    return measure([item.rate for item in rates], "no group has a rate")


def bounds(interval: Interval | None) -> tuple[float, float] | None:
    """Return an interval in the form in which reports write it."""
    return None if interval is None else (interval.low, interval.high)
