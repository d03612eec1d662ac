from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tabular_bench.attack import Attack, AttackContext
from tabular_bench.attack_run import run_attack
from tabular_bench.budget import Budget
from tabular_bench.counting import checked_scores
from tabular_bench.defence import DefenceContext
from tabular_bench.defences.catalogue import DEFENCES, find_defence
from tabular_bench.defences.hardening import worst_rows
from tabular_bench.defences.simple import InputValidation
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.logistic import train_logistic
from tabular_bench.detectors.models import find_model
from tabular_bench.detectors.storage import detector_hash, load_detector, save_detector
from tabular_bench.detectors.validated import ValidatedDetector
from tabular_bench.errors import InputError, NotApplicable, UnknownName
from tabular_bench.metrics.ranking import average_precision
from tabular_bench.protocol import Protocol
from tabular_bench.schema import FloatArray
from tabular_bench.threat import WHITE_BOX, Access
from tests.tabular_bench.cells import TRAINING_ROWS, held_out, problem, training, tumours

ROWS, LABELS = held_out()
EPSILON = 0.5


@dataclass
class Steps:
    """A few signed steps along the gradient."""

    count: int = 3
    access: Access = "gradient"

    def perturb(self, context: AttackContext) -> FloatArray:
        rows = context.rows
        for _ in range(self.count):
            gradients = context.detector.gradients(rows, context.all_rows)
            rows = context.project(rows + context.radius / 2 * np.sign(gradients), context.all_rows)
        return rows


@dataclass
class Corners:
    """Random corners of the ball, the best of which is kept."""

    count: int = 20
    access: Access = "score"

    def perturb(self, context: AttackContext) -> FloatArray:
        every = context.all_rows
        best, margin = (
            context.rows.copy(),
            context.detector.margins(context.detector.scores(context.rows, every), every),
        )
        for _ in range(self.count):
            signs = context.rng.choice([-1.0, 1.0], size=best.shape)
            tried = context.project(context.rows + context.radius * signs, every)
            found = context.detector.margins(context.detector.scores(tried, every), every)
            best, margin = np.where((found < margin)[:, None], tried, best), np.minimum(found, margin)
        return best


ATTACKS: dict[str, Attack] = {"pgd": Steps(), "square": Corners(), "steps": Steps(1), "blind": Corners(1, "decision")}
CONTEXT = DefenceContext(problem(), ATTACKS.__getitem__, Budget(EPSILON))


@cache
def defended(model: str, defence: str) -> Detector:
    return find_defence(defence).train(find_model(model), training(), CONTEXT)


def robust(detector: Detector, attack: Attack) -> float:
    rows, labels, _ = tumours()
    outcome = run_attack(
        attack,
        detector,
        problem(),
        rows[TRAINING_ROWS:],
        labels[TRAINING_ROWS:].astype(np.int64),
        protocol=Protocol("A"),
        threat=WHITE_BOX,
        budget=Budget(EPSILON),
        threshold=0.5,
        seed=1,
    )
    value = average_precision(LABELS, outcome.scores)
    assert value is not None
    return value


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.parametrize("model", ["mlp", "xgboost"])
def test_a_defended_detector_is_a_detector(model: str, defence: str, tmp_path: Path) -> None:
    detector = defended(model, defence)
    scores = checked_scores(detector, ROWS)
    assert detector.feature_names == training().feature_names
    clean = average_precision(LABELS, scores)
    assert clean is not None
    # Turning every unusual row away costs the legitimate ones among them.
    assert clean > (0.6 if defence == "reject" else 0.9)
    save_detector(detector, tmp_path / "model.npz")
    loaded = load_detector(tmp_path / "model.npz")
    assert np.array_equal(loaded.predict_proba(ROWS), scores)
    assert detector_hash(loaded) == detector_hash(detector)
    assert isinstance(loaded, DifferentiableDetector) == isinstance(detector, DifferentiableDetector)


@pytest.mark.parametrize("model", ["mlp", "xgboost"])
def test_training_against_an_attack_repeats(model: str) -> None:
    again = find_defence("adversarial_training").train(find_model(model), training(), CONTEXT)
    assert detector_hash(again) == detector_hash(defended(model, "adversarial_training"))
    assert detector_hash(again) != detector_hash(defended(model, "none"))


@pytest.mark.parametrize(("model", "attack"), [("mlp", Steps()), ("xgboost", Corners())])
def test_training_against_an_attack_helps_against_it(model: str, attack: Attack) -> None:
    before, after = robust(defended(model, "none"), attack), robust(defended(model, "adversarial_training"), attack)
    assert after > before + 0.02


def test_the_attack_to_train_against_can_be_named() -> None:
    named = find_defence("adversarial_training=steps").train(find_model("mlp"), training(), CONTEXT)
    assert detector_hash(named) != detector_hash(defended("mlp", "adversarial_training"))
    with pytest.raises(NotApplicable, match="XgboostDetector has none"):
        find_defence("adversarial_training=steps").train(find_model("xgboost"), training(), CONTEXT)
    with pytest.raises(NotApplicable, match="found one by decisions"):
        find_defence("adversarial_training=blind").train(find_model("xgboost"), training(), CONTEXT)


def test_rows_to_train_on_go_all_the_way() -> None:
    # Steps that stop at the flip would end half-way; a linear model's worst row is a corner of the ball.
    detector = train_logistic(training())
    moved = worst_rows(Steps(2), detector, ROWS, LABELS, CONTEXT, (1,))
    sign = np.where(LABELS == 1, -1.0, 1.0)[:, None]
    np.testing.assert_allclose(moved, ROWS + EPSILON * sign * np.sign(detector.weights), atol=1e-9)
    assert np.array_equal(worst_rows(Steps(2), detector, ROWS[:0], LABELS[:0], CONTEXT, (1,)), ROWS[:0])


def test_validation_clips_or_turns_away() -> None:
    extreme = ROWS.copy()
    extreme[:, 0] = 50.0
    clipped, rejected, plain = (defended("mlp", name) for name in ("clip", "reject", "none"))
    assert isinstance(clipped, ValidatedDetector)
    assert isinstance(rejected, ValidatedDetector)
    limit = clipped.upper[0]
    np.testing.assert_allclose(limit, min(training().rows[:, 0].max(), 3.0), rtol=1e-6)
    at_limit = np.clip(ROWS, clipped.lower, clipped.upper)
    at_limit[:, 0] = limit
    assert np.array_equal(clipped.predict_proba(extreme), plain.predict_proba(at_limit))
    assert (rejected.predict_proba(extreme) == 1.0).all()
    inside = ~rejected.rejected(ROWS)
    assert 0.5 < inside.mean() < 1.0
    assert np.array_equal(rejected.predict_proba(ROWS)[inside], plain.predict_proba(ROWS)[inside])


def test_gradients_end_where_values_are_clipped() -> None:
    extreme = ROWS[:5].copy()
    extreme[:, 0] = 50.0
    targets = np.ones(5, dtype=np.int8)
    clipped, rejected = defended("mlp", "clip"), defended("mlp", "reject")
    assert isinstance(clipped, DifferentiableDetector)
    assert isinstance(rejected, DifferentiableDetector)
    assert (clipped.gradient(extreme, targets)[:, 0] == 0).all()
    assert (clipped.gradient(extreme, targets)[:, 1:] != 0).any()
    assert np.isfinite(rejected.gradient(extreme, targets)).all()
    assert not isinstance(defended("xgboost", "clip"), DifferentiableDetector)


def test_columns_that_switch_have_no_limits() -> None:
    schema = problem().schema
    binary = replace(schema, features=(replace(schema.features[0], kind="binary"), *schema.features[1:]))
    ground = replace(problem(), constraints=replace(problem().constraints, schema=binary))
    detector = InputValidation("clip").train(find_model("logistic"), training(), replace(CONTEXT, problem=ground))
    assert isinstance(detector, ValidatedDetector)
    assert (detector.lower[0], detector.upper[0]) == (-np.inf, np.inf)
    assert np.isfinite(detector.upper[1:]).all()


def test_names_that_are_no_defences() -> None:
    with pytest.raises(UnknownName, match="did you mean clip"):
        find_defence("clips")
    for name in ("clip=pgd", "adversarial_training="):
        with pytest.raises(InputError, match="adversarial_training=ATTACK"):
            find_defence(name)
