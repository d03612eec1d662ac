"""Every detector is held to one contract; a new one is a line in a mapping."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tabular_bench.counting import checked_scores
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS, find_model
from tabular_bench.detectors.storage import detector_hash, load_detector, save_detector
from tabular_bench.detectors.threshold import choose_threshold
from tabular_bench.detectors.training import demand_columns
from tabular_bench.errors import DetectorError
from tabular_bench.metrics.ranking import average_precision
from tests.tabular_bench.cells import held_out, training

ROWS, LABELS = held_out()
EVERY = [*MODELS, *TRIVIAL_MODELS]


@cache
def trained(name: str) -> Detector:
    return find_model(name).train(training())


@pytest.mark.parametrize("name", EVERY)
def test_scores_are_probabilities_of_any_number_of_rows(name: str) -> None:
    detector = trained(name)
    scores = checked_scores(detector, ROWS)
    assert detector.feature_names == training().feature_names
    for count in (0, 1, 7):
        np.testing.assert_allclose(checked_scores(detector, ROWS[:count]), scores[:count], rtol=1e-5, atol=1e-7)
    assert np.array_equal(checked_scores(detector, np.asfortranarray(ROWS)), checked_scores(detector, ROWS))


@pytest.mark.parametrize("name", EVERY)
def test_rows_of_another_shape_or_with_gaps_are_refused(name: str) -> None:
    detector = trained(name)
    for wrong in (ROWS[:, :-1], np.hstack([ROWS, ROWS[:, :1]]), ROWS[0]):
        with pytest.raises(DetectorError, match=r"expected rows of shape \(n, 30\), found"):
            detector.predict_proba(wrong)
    gap = ROWS.copy()
    gap[3, 2] = np.nan
    with pytest.raises(DetectorError, match="fill gaps in"):
        detector.predict_proba(gap)


@pytest.mark.parametrize("name", EVERY)
def test_columns_in_another_order_are_refused(name: str) -> None:
    names = training().feature_names
    demand_columns(trained(name), names)
    with pytest.raises(DetectorError, match="another order: column 0 is 'mean radius' there and 'mean texture' here"):
        demand_columns(trained(name), (names[1], names[0], *names[2:]))
    with pytest.raises(DetectorError, match="the table lacks mean radius; the detector does not know radius"):
        demand_columns(trained(name), ("radius", *names[1:]))
    with pytest.raises(DetectorError, match="expects 30 columns, the table has 29: the table lacks worst fractal"):
        demand_columns(trained(name), names[:-1])


@pytest.mark.parametrize("name", MODELS)
def test_models_learn_and_repeat_bit_for_bit(name: str) -> None:
    detector = trained(name)
    learned = average_precision(LABELS, detector.predict_proba(ROWS))
    assert learned is not None
    assert learned > 0.95
    again = find_model(name).train(training())
    assert detector_hash(again) == detector_hash(detector)
    assert np.array_equal(again.predict_proba(ROWS), detector.predict_proba(ROWS))


@pytest.mark.parametrize("name", ["forest", "mlp"])
def test_the_seed_matters_where_there_is_chance(name: str) -> None:
    other = find_model(name).train(training(seed=7))
    assert detector_hash(other) != detector_hash(trained(name))


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_detector_is_the_same_detector(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_detector(trained(name), path)
    loaded = load_detector(path)
    assert detector_hash(loaded) == detector_hash(trained(name))
    assert loaded.feature_names == trained(name).feature_names
    assert np.array_equal(loaded.predict_proba(ROWS), trained(name).predict_proba(ROWS))


@pytest.mark.parametrize("name", EVERY)
def test_every_model_gets_a_threshold_by_its_own_rule(name: str) -> None:
    threshold = choose_threshold(find_model(name).rule, LABELS, trained(name).predict_proba(ROWS))
    stopped = (trained(name).predict_proba(ROWS) >= threshold).mean()
    expected = {"never": 0.0, "always": 1.0, "random": 1 / len(ROWS), "largest_first": 1 / len(ROWS)}
    assert stopped == pytest.approx(expected[name]) if name in expected else 0.15 < stopped < 0.5


def test_which_of_them_have_gradients() -> None:
    found = {name for name in EVERY if isinstance(trained(name), DifferentiableDetector)}
    assert found == {"logistic", "mlp"}


@pytest.mark.parametrize("name", ["logistic", "mlp"])
@pytest.mark.parametrize("target", [0, 1])
def test_gradients_are_those_of_the_signed_logit(name: str, target: int) -> None:
    detector = trained(name)
    assert isinstance(detector, DifferentiableDetector)
    rows = ROWS[:20]
    gradients = detector.gradient(rows, np.full(20, target, dtype=np.int8))
    direction = np.random.default_rng(0).normal(size=rows.shape)

    def logit(at: np.ndarray) -> np.ndarray:
        scores = detector.predict_proba(at)
        return np.log(scores) - np.log1p(-scores)

    moderate = (detector.predict_proba(rows) > 1e-6) & (detector.predict_proba(rows) < 1 - 1e-6)
    assert moderate.sum() >= 5
    change = (logit(rows + 1e-3 * direction) - logit(rows - 1e-3 * direction)) / 2e-3
    expected = (1 - 2 * target) * change
    close = np.isclose((gradients * direction).sum(axis=1), expected, rtol=0.05, atol=0.02)
    # A unit that switches on within the difference makes one row's quotient another number than its gradient.
    assert close[moderate].mean() >= 0.8


def test_a_saturated_score_still_has_a_gradient_and_no_ties() -> None:
    far = 100 * ROWS[:5]
    for name in ("logistic", "mlp"):
        detector = trained(name)
        assert isinstance(detector, DifferentiableDetector)
        assert (np.abs(detector.gradient(far, np.ones(5, dtype=np.int8))).sum(axis=1) > 0).all()
    doubtless = -np.sign(trained("logistic").weights) * np.array([[20.0], [21.0]])  # type: ignore[attr-defined]
    assert len(set(trained("logistic").predict_proba(doubtless))) == 2


def test_the_forest_is_that_of_scikit_learn() -> None:
    from sklearn.ensemble import RandomForestClassifier

    from tabular_bench.detectors import forest
    from tabular_bench.seeds import derive_seed

    reference = RandomForestClassifier(
        n_estimators=forest.TREES,
        max_depth=forest.MAX_DEPTH,
        min_samples_leaf=forest.MIN_ROWS_OF_A_LEAF,
        class_weight="balanced",
        random_state=derive_seed(42, "forest") % 2**32,
    ).fit(training().rows, training().labels)
    np.testing.assert_allclose(trained("forest").predict_proba(ROWS), reference.predict_proba(ROWS)[:, 1], atol=1e-12)


def test_the_ensemble_is_the_mean_of_its_members() -> None:
    members = [trained(name).predict_proba(ROWS) for name in ("logistic", "xgboost", "mlp")]
    np.testing.assert_allclose(trained("ensemble").predict_proba(ROWS), np.mean(members, axis=0))


def test_names_that_a_library_would_refuse() -> None:
    names = tuple(f"size <{number}[m]" for number in range(30))
    for name in ("xgboost", "forest"):
        assert find_model(name).train(replace(training(), feature_names=names)).feature_names == names
