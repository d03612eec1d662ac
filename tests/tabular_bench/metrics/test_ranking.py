from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular_bench.metrics.ranking import (
    average_precision,
    is_saturated,
    limit_of_lowest_average_precision,
    lowest_average_precision,
    rank,
    recall_at_false_positive_rate,
    roc_auc,
)


def inverted(positives: int, negatives: int) -> tuple[list[int], list[float]]:
    return [1] * positives + [0] * negatives, [*np.linspace(0, 0.4, positives), *[0.9] * negatives]


@pytest.mark.parametrize(
    ("prevalence", "floor"),
    [(0.20, 0.1074258), (0.196, 0.1051151), (0.035, 0.0177078), (0.0058, 0.0029056), (0.0017, 0.0008505)],
)
def test_the_limit_of_the_floor(prevalence: float, floor: float) -> None:
    assert limit_of_lowest_average_precision(prevalence) == pytest.approx(floor, abs=5e-8)
    positives = round(prevalence * 1e6)
    assert lowest_average_precision(positives, 1_000_000 - positives) == pytest.approx(floor, rel=1e-3)


def test_the_floor_of_a_finite_table() -> None:
    assert lowest_average_precision(5256, 21556) == pytest.approx(0.1051520, abs=5e-8)
    assert average_precision(*inverted(5256, 21556)) == pytest.approx(0.1051520, abs=5e-8)
    labels = [1] * 5256 + [0] * 21556
    assert average_precision(labels, np.full(26812, 0.3)) == pytest.approx(0.1960316, abs=5e-8)


@pytest.mark.parametrize(
    ("average", "prevalence", "saturated"),
    [
        (0.105, 0.196, True),  # unconstrained attacks on loans, in print
        (0.0186, 0.035, True),  # input validation on card payments, in print
        (0.075, 0.035, False),
        (0.316, 0.196, False),
        (0.0017, 0.0017, False),  # chance is no floor, however rare fraud is
        (0.00087, 0.0017, True),
    ],
)
def test_saturation(average: float, prevalence: float, saturated: bool) -> None:
    positives = round(prevalence * 100_000)
    assert is_saturated(average, positives, 100_000 - positives) is saturated


def test_an_inverted_ranking_is_saturated_and_a_constant_one_is_not() -> None:
    assert rank(*inverted(20, 180)).saturated
    assert rank([1] * 20 + [0] * 180, [0.5] * 200).saturated is False


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=40))
def test_as_scikit_learn_counts(rows: list[tuple[int, int]]) -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    labels, scores = [label for label, _ in rows], [score / 6 for _, score in rows]
    if len(set(labels)) == 1:
        assert average_precision(labels, scores) is None
        assert roc_auc(labels, scores) is None
        return
    assert average_precision(labels, scores) == pytest.approx(average_precision_score(labels, scores))
    assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))
    alarms, recall, _ = roc_curve(labels, scores, drop_intermediate=False)
    assert recall_at_false_positive_rate(labels, scores, 0.2) == pytest.approx(max(recall[alarms <= 0.2]))
    assert average_precision(labels, scores) >= lowest_average_precision(sum(labels), labels.count(0)) - 1e-12


def test_recall_at_a_rate_takes_equal_scores_together() -> None:
    labels = [1, 1, 0, 1] + [0] * 99
    scores = [0.9, 0.8, 0.8, 0.7] + [0.1] * 99
    assert recall_at_false_positive_rate(labels, scores, 0.01) == 1.0
    assert recall_at_false_positive_rate(labels, scores, 0.001) == pytest.approx(1 / 3)
    assert recall_at_false_positive_rate([1, 0], [0.5, 0.5], 0.01) == 0.0
    with pytest.raises(ValueError, match=r"rate in 0\.\.1"):
        recall_at_false_positive_rate(labels, scores, 1.5)


@pytest.mark.parametrize(
    ("labels", "why"),
    [([], "there is no row"), ([1, 1], "every one of the 2 rows has the label 1"), ([0], "the label 0")],
)
def test_one_class_is_blank_with_a_reason(labels: list[int], why: str) -> None:
    found = rank(labels, [0.5] * len(labels))
    assert (found.average_precision, found.roc_auc, found.saturated) == (None, None, None)
    assert set(found.recall_at.values()) == {None}
    assert set(found.blanks) == {"average_precision", "roc_auc", "recall_at_0.01", "recall_at_0.001"}
    assert all(why in reason for reason in found.blanks.values())
    assert found.prevalence == (sum(labels) / len(labels) if labels else None)


@pytest.mark.parametrize(
    ("labels", "scores", "complaint"),
    [([0, 1], [0.1], "one shape"), ([0, 2], [0.1, 0.2], "labels 0 and 1"), ([0, 1], [0.1, math.nan], "finite scores")],
)
def test_what_cannot_be_ranked(labels: list[int], scores: list[float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        rank(labels, scores)


def test_floors_of_nothing() -> None:
    with pytest.raises(ValueError, match="at least one positive"):
        lowest_average_precision(0, 5)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        limit_of_lowest_average_precision(1.0)
