from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabular_bench.detectors.guard import flags
from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS, find_model
from tabular_bench.detectors.threshold import choose_threshold
from tabular_bench.errors import NotApplicable
from tests.tabular_bench.cells import held_out, training

ROWS, LABELS = held_out()


def test_lots_are_uniform_and_a_function_of_the_row() -> None:
    detector = find_model("random").train(training())
    rows = np.random.default_rng(0).normal(size=(20_000, 30))
    scores = detector.predict_proba(rows)
    assert np.histogram(scores, bins=10, range=(0, 1))[0] == pytest.approx(np.full(10, 2000), rel=0.1)
    order = np.random.default_rng(1).permutation(len(rows))
    assert np.array_equal(detector.predict_proba(rows[order]), scores[order])
    zeros = np.zeros((1, 30))
    assert detector.predict_proba(zeros) == detector.predict_proba(-zeros)
    moved = rows.copy()
    moved[:, 7] = np.nextafter(moved[:, 7], np.inf)
    assert abs(np.corrcoef(detector.predict_proba(moved), scores)[0, 1]) < 0.05
    assert (find_model("random").train(training(seed=7)).predict_proba(rows) != scores).all()


def test_the_largest_amounts_keep_their_order() -> None:
    detector = find_model("largest_first").train(training())
    column = training().feature_names.index("mean area")
    rows = np.zeros((5, 30))
    rows[:, column] = [1e4, 50, 49.9, 0, -1]
    assert np.argsort(-detector.predict_proba(rows)).tolist() == [0, 1, 2, 3, 4]
    equal = np.zeros((50, 30))
    equal[:, column - 1] = np.arange(50)
    assert len(set(detector.predict_proba(equal))) > 40
    assert detector.predict_proba(np.full((1, 30), 1e300)) <= 1


@pytest.mark.parametrize(("column", "told"), [(None, "none named"), ("price", "no column 'price'")])
def test_without_amounts_there_is_no_largest(column: str | None, told: str) -> None:
    with pytest.raises(NotApplicable, match=told):
        find_model("largest_first").train(replace(training(), amount_column=column))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("never", {"constant", "stops_none", "no_skill"}),
        ("always", {"constant", "stops_all", "no_skill"}),
        ("random", {"no_skill"}),
        ("largest_first", set()),
        ("logistic", set()),
        ("xgboost", set()),
    ],
)
def test_the_guard_flags_what_sees_nothing(name: str, expected: set[str]) -> None:
    scores = find_model(name).train(training()).predict_proba(ROWS)
    threshold = choose_threshold(find_model(name).rule, LABELS, scores)
    assert {flag.name for flag in flags(LABELS, scores, threshold)} == expected
    assert name in MODELS | TRIVIAL_MODELS


def test_the_guard_on_other_wrecks() -> None:
    labels = np.array([0] * 90 + [1] * 10)
    perfect = labels.astype(float)
    assert flags(labels, perfect, 0.5) == ()
    assert [flag.name for flag in flags(labels, 1 - perfect, 0.5)] == ["inverted"]
    assert [flag.name for flag in flags(np.zeros(5), np.linspace(0, 1, 5), 0.5)] == ["not_judged"]
    assert [flag.name for flag in flags([], [], 0.5)] == ["not_judged"]
    assert "0.500 +-" in flags(labels, np.arange(100) % 7 / 7, 0.5)[0].detail
