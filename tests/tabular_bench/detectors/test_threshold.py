from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabular_bench.detectors.threshold import BEST_F1, ThresholdRule, choose_threshold
from tabular_bench.errors import InputError, TabularError

TABLES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=2, max_size=30).filter(
    lambda rows: {label for label, _ in rows} == {0, 1}
)


def f1(labels: np.ndarray, stopped: np.ndarray) -> float:
    return 2 * float((labels & stopped).sum()) / float(labels.sum() + stopped.sum())


@given(TABLES)
def test_no_other_threshold_has_a_better_f1(table: list[tuple[int, int]]) -> None:
    labels = np.array([label for label, _ in table])
    scores = np.array([score / 8 for _, score in table])
    found = f1(labels, scores >= choose_threshold(BEST_F1, labels, scores))
    assert found == pytest.approx(max(f1(labels, scores >= cut) for cut in [*scores, 2.0]))


@given(TABLES, st.floats(0, 1))
def test_limits_are_kept_and_used(table: list[tuple[int, int]], share: float) -> None:
    labels = np.array([label for label, _ in table])
    scores = np.array([score / 8 for _, score in table])
    for kind, among in (("capacity", np.ones(len(labels), dtype=bool)), ("false_positive_rate", labels == 0)):
        threshold = choose_threshold(ThresholdRule(kind, share), labels, scores)  # type: ignore[arg-type]
        assert (scores >= threshold)[among].mean() <= share + 1e-9
        lower = scores[scores < threshold]
        if len(lower):
            assert (scores >= lower.max())[among].mean() > share


def test_a_threshold_lies_between_scores() -> None:
    labels, scores = [0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9]
    assert choose_threshold(BEST_F1, labels, scores) == pytest.approx(0.4)
    assert choose_threshold(ThresholdRule("capacity", 0.0), labels, scores) == pytest.approx(0.95)
    assert choose_threshold(ThresholdRule("capacity", 0.0), labels, [1.0] * 4) > 1
    assert choose_threshold(ThresholdRule("capacity", 1.0), labels, scores) == pytest.approx(0.05)
    assert choose_threshold(ThresholdRule("fixed", 0.3), labels, scores) == 0.3
    neighbours = [0.5, float(np.nextafter(0.5, 1))]
    assert choose_threshold(BEST_F1, [0, 1], neighbours) == neighbours[1]


def test_rules_read_as_they_are_written() -> None:
    for text in ("f1", "capacity=0.01", "false_positive_rate=0.001", "fixed=0.5"):
        assert str(ThresholdRule.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("best", "expected a threshold rule"),
        ("fixed", "expected a value"),
        ("f1=0.5", "expected no value"),
        ("capacity=2", r"value in 0\.\.1, found 2"),
        ("capacity=nan", r"value in 0\.\.1"),
        ("capacity=few", "expected a number, found 'few'"),
    ],
)
def test_rules_that_are_none(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ThresholdRule.parse(text)
    with pytest.raises(TabularError, match="did you mean capacity"):
        ThresholdRule("capacty", 0.1)  # type: ignore[arg-type]


def test_what_cannot_be_chosen_from() -> None:
    with pytest.raises(ValueError, match="at least one positive"):
        choose_threshold(BEST_F1, [0, 0], [0.1, 0.2])
    with pytest.raises(ValueError, match="at least one negative"):
        choose_threshold(ThresholdRule("false_positive_rate", 0.1), [1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="finite scores"):
        choose_threshold(BEST_F1, [], [])
