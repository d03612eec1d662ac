"""One number from several seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over seeds.

    Attributes
    ----------
    seeds
        How many seeds gave a value.
    blank
        How many did not.
    mean
        Of the values; None without one.
    deviation
        The sample standard deviation; None with fewer than two values.
    """

    seeds: int
    blank: int
    mean: float | None
    deviation: float | None


def over_seeds(values: Iterable[float | None]) -> Spread:
    """Return mean and deviation of the values that there are. A blank is never taken for 0.

    Parameters
    ----------
    values
        One for each seed.

    Raises
    ------
    ValueError
        If a value is not finite.
    """
    every = list(values)
    known = [float(value) for value in every if value is not None]
    if not all(math.isfinite(value) for value in known):
        raise ValueError("expected finite values or None")
    return Spread(
        seeds=len(known),
        blank=len(every) - len(known),
        mean=fmean(known) if known else None,
        deviation=stdev(known) if len(known) > 1 else None,
    )
