"""The statistics, against values worked out elsewhere, and against what must always hold."""

from __future__ import annotations

from itertools import combinations
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.statistics import (
    Trials,
    cluster_bootstrap,
    mcnemar,
    mean,
    paired_bootstrap,
    pass_hat_k,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        # Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_gives_published_values(successes: int, count: int, low: float, high: float) -> None:
    interval = wilson(successes, count)
    assert interval is not None
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_solves_its_equation(sample: tuple[int, int]) -> None:
    successes, count = sample
    interval = wilson(successes, count)
    assert interval is not None
    share = successes / count
    assert 0 <= interval.low <= share <= interval.high <= 1
    for bound in interval:
        distance = abs(share - bound)
        assert distance == pytest.approx(1.959963984540054 * sqrt(bound * (1 - bound) / count), abs=1e-9)


def test_wilson_over_nothing_is_nothing_and_nonsense_is_refused() -> None:
    assert wilson(0, 0) is None
    for successes, count in ((3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="expected 0 <= successes"):
            wilson(successes, count)


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 8))
def test_pass_hat_k_is_the_share_of_choices_that_all_succeed(trials: list[bool], k: int) -> None:
    estimate = pass_hat_k([Trials(len(trials), sum(trials))], k)
    if k > len(trials):
        assert estimate is None
    else:
        choices = list(combinations(trials, k))
        assert estimate == pytest.approx(sum(map(all, choices)) / len(choices))


def test_pass_hat_k_averages_over_scenarios_with_enough_trials() -> None:
    scenarios = [Trials(4, 3), Trials(4, 4), Trials(1, 0), Trials(0, 0)]
    assert pass_hat_k(scenarios, 1) == pytest.approx((3 / 4 + 1 + 0) / 3)
    assert pass_hat_k(scenarios, 2) == pytest.approx((comb(3, 2) / comb(4, 2) + 1) / 2)
    assert pass_hat_k(scenarios, 5) is None
    with pytest.raises(ValueError, match="k of 1 or more"):
        pass_hat_k(scenarios, 0)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [(0, 0, 1.0), (5, 15, 0.04138946533203125), (0, 5, 0.0625), (3, 3, 1.0), (1, 9, 0.021484375), (0, 10, 0.001953125)],
)
def test_mcnemar_gives_binomial_values(only_first: int, only_second: int, p: float) -> None:
    assert mcnemar(only_first, only_second) == mcnemar(only_second, only_first) == p


CLUSTERS = st.lists(
    st.integers(1, 5).flatmap(lambda n: st.builds(Trials, st.just(n), st.integers(0, n))), min_size=1, max_size=12
)


@given(CLUSTERS)
def test_bootstrap_repeats_and_stays_between_the_extremes(clusters: list[Trials]) -> None:
    interval = cluster_bootstrap(clusters, "seed", replicates=100)
    assert interval == cluster_bootstrap([*clusters, Trials(0, 0)], "seed", replicates=100)
    assert interval is not None
    shares = [item.successes / item.total for item in clusters]
    assert min(shares) <= interval.low <= interval.high <= max(shares)


def test_bootstrap_draws_are_pinned() -> None:
    clusters = [Trials(2, number % 3) for number in range(20)]
    assert cluster_bootstrap(clusters, "a") == (0.3, 0.65)
    assert cluster_bootstrap([], "a") is None


def test_bootstrap_sees_that_trials_of_a_scenario_resemble_each_other() -> None:
    alone = [Trials(1, number % 2) for number in range(100)]
    together = [Trials(10, 10 * (number % 2)) for number in range(10)]
    narrow, wide = cluster_bootstrap(alone, "s"), cluster_bootstrap(together, "s")
    assert narrow is not None
    assert wide is not None
    # Theory: half widths of 1.96 * sqrt(1/4 / clusters), that is 0.098 and 0.31.
    assert narrow.high - narrow.low == pytest.approx(0.196, abs=0.05)
    assert wide.high - wide.low == pytest.approx(0.62, abs=0.12)


def test_paired_bootstrap_is_about_the_difference() -> None:
    first = [Trials(1, 0)] * 30 + [Trials(1, 1)] * 30
    second = [Trials(1, 1)] * 40 + [Trials(1, 1)] * 20
    interval = paired_bootstrap(first, second, "s")
    assert interval is not None
    assert 0.3 < interval.low < 0.5 < interval.high < 0.7
    assert paired_bootstrap(first, first, "s") == (0.0, 0.0)
    for ours, theirs in ((first, second[1:]), ([Trials(0, 0)], [Trials(1, 1)])):
        with pytest.raises(ValueError, match="the same scenarios"):
            paired_bootstrap(ours, theirs, "s")


@given(st.lists(st.floats(-1e6, 1e6)))
def test_a_mean_does_not_depend_on_order(values: list[float]) -> None:
    assert mean(values) == mean(sorted(values))
