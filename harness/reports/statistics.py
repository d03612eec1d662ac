"""The statistics of reports: small, exact and without dependencies. Draws come from hashing and repeat everywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import comb, floor, fsum, sqrt
from typing import Final, NamedTuple

CONFIDENCE: Final = 0.95
Z: Final = 1.959963984540054
"""The 97.5 % point of the standard normal distribution, for two-sided intervals of 95 %."""

REPLICATES: Final = 1000
"""Bootstrap samples of an interval."""

_WORD_BYTES: Final = 4


class Interval(NamedTuple):
    """A confidence interval of 95 %."""

    low: float
    high: float


class Trials(NamedTuple):
    """The assessed trials of one scenario: how many there are, and how many succeeded."""

    total: int
    successes: int


def wilson(successes: int, count: int) -> Interval | None:
    """Return the Wilson score interval of a proportion, or None over nothing.

    Raises
    ------
    ValueError
        If there are more successes than trials, or fewer than none.
    """
    if not 0 <= successes <= count:
        raise ValueError(f"expected 0 <= successes <= count, found {successes} of {count}")
    if count == 0:
        return None
    share, scale = successes / count, 1 + Z * Z / count
    centre = (share + Z * Z / (2 * count)) / scale
    half = Z / scale * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    # At the ends the interval touches 0 or 1 exactly; rounding may not move it away.
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half), 1.0 if successes == count else min(1.0, centre + half)
    )


def pass_hat_k(scenarios: Sequence[Trials], k: int) -> float | None:
    """Return the estimated chance that `k` trials of a scenario all succeed, averaged over scenarios.

    A scenario with n trials of which c succeeded gives C(c, k) / C(n, k); scenarios with fewer than `k` trials give
    no estimate. None if none gives one.

    Raises
    ------
    ValueError
        If `k` is less than 1.
    """
    if k < 1:
        raise ValueError(f"expected k of 1 or more, found {k}")
    estimates = [Fraction(comb(item.successes, k), comb(item.total, k)) for item in scenarios if item.total >= k]
    return float(sum(estimates, Fraction(0)) / len(estimates)) if estimates else None


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None over nothing. It does not depend on the order of the values."""
    return fsum(values) / len(values) if values else None


def cluster_bootstrap(clusters: Sequence[Trials], seed: str, replicates: int = REPLICATES) -> Interval | None:
    """Return the percentile bootstrap interval of a proportion whose trials come in clusters (scenarios).

    Whole clusters are drawn with replacement, since trials of one scenario resemble each other. None where there is
    no trial.

    Parameters
    ----------
    clusters
        The trials of each scenario; those without any are left out.
    seed
        Labels the draws.
    replicates
        The number of bootstrap samples.
    """
    filled = [cluster for cluster in clusters if cluster.total]

    def share(sample: Sequence[int]) -> float:
        return sum(filled[i].successes for i in sample) / sum(filled[i].total for i in sample)

    return _percentiles(len(filled), share, seed, replicates)


def paired_bootstrap(
    first: Sequence[Trials], second: Sequence[Trials], seed: str, replicates: int = REPLICATES
) -> Interval | None:
    """Return the percentile bootstrap interval of the difference of two proportions, second minus first.

    Parameters
    ----------
    first, second
        The trials of the same scenarios in the same order, both with at least one trial each. Scenarios are drawn
        with replacement, the same ones for both.
    seed
        Labels the draws.
    replicates
        The number of bootstrap samples.

    Raises
    ------
    ValueError
        If the two differ in length, or a scenario has no trial.
    """
    if len(first) != len(second) or not all(item.total for item in (*first, *second)):
        raise ValueError("expected the same scenarios on both sides, each with trials")

    def difference(sample: Sequence[int]) -> float:
        left, right = (
            sum(side[i].successes for i in sample) / sum(side[i].total for i in sample) for side in (first, second)
        )
        return right - left

    return _percentiles(len(first), difference, seed, replicates)


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p value of McNemar's test.

    Parameters
    ----------
    only_first, only_second
        Pairs in which only one side succeeded. Without any there is no difference to test: 1.
    """
    total, fewer = only_first + only_second, min(only_first, only_second)
    tail = Fraction(2 * sum(comb(total, i) for i in range(fewer + 1)), 2**total)
    return float(min(Fraction(1), tail))


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return the agreement of two raters beyond chance.

    Parameters
    ----------
    pairs
        What each said of the same thing.

    Returns
    -------
    float or None
        1 for full agreement, 0 for that of chance, negative below; None over nothing, or where both always give the
        same one answer, so that chance alone would have them agree.

    Examples
    --------
    >>> cohens_kappa([(True, True), (False, False), (True, False), (False, True)])
    0.0
    """
    if not pairs:
        return None
    count = len(pairs)
    observed = sum(one == other for one, other in pairs) / count
    ours, theirs = (sum(pair[side] for pair in pairs) / count for side in (0, 1))
    chance = ours * theirs + (1 - ours) * (1 - theirs)
    return None if chance == 1 else (observed - chance) / (1 - chance)


def _percentiles(size: int, statistic: Callable[[Sequence[int]], float], seed: str, replicates: int) -> Interval | None:
    if size == 0:
        return None
    words = _words(seed)
    values = sorted(statistic([next(words) * size >> 32 for _ in range(size)]) for _ in range(replicates))
    below = floor((1 - CONFIDENCE) / 2 * replicates)
    return Interval(values[below], values[-1 - below])


def _words(seed: str) -> Iterator[int]:
    """Yield uniform words of 32 bits without end."""
    block = 0
    while True:
        data = hashlib.sha256(f"{seed}\x1f{block}".encode()).digest()
        for start in range(0, len(data), _WORD_BYTES):
            yield int.from_bytes(data[start : start + _WORD_BYTES], "big")
        block += 1
