"""Golden values and properties of the gradient attacks on models whose optimum is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular_bench.attacks.catalogue import find_attack
from tabular_bench.attacks.noise import GaussianNoise
from tabular_bench.attacks.steps import Pgd
from tabular_bench.budget import Budget, Norm
from tabular_bench.problem import Problem
from tabular_bench.protocol import ProtocolName
from tabular_bench.schema import Feature, FloatArray
from tests.tabular_bench.attacks.running import NEVER, run
from tests.tabular_bench.test_attack_run import LINE, WEIGHTS, Linear, line, plain, score

# A length of step with which PGD turns to the optimum of an L2 ball within its steps, from wherever it starts.
EXACT = ("fgsm", "bim", "pgd", "pgd(step_share=2)", "pgd(random_start=false)", "capgd", "published_capgd")
EXACT_IN_L2 = ("fgsm", "bim(step_share=2)", "pgd(step_share=2)", "capgd(steps=20)")


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(
    ("protocol", "ground", "corner", "drop"),
    [
        ("A", line(), (-0.05, 0.6, 0.4), 0.35),
        ("C1", line(0, 1), (0.0, 0.6, 0.4), 0.30),
        ("C2", line(frozen=(1,)), (-0.05, 0.5, 0.4), 0.15),
    ],
)
def test_the_corner_of_a_linear_model_is_reached(
    name: str, protocol: ProtocolName, ground: Problem, corner: tuple[float, ...], drop: float
) -> None:
    outcome = run(name, ground, LINE, WEIGHTS, protocol=protocol)
    np.testing.assert_allclose(outcome.rows, [corner], atol=1e-9)
    assert score(LINE) - score(outcome.rows) == pytest.approx(drop, abs=1e-6)
    if protocol == "C2":
        assert outcome.rows[0, 1] == LINE[0, 1]


@pytest.mark.parametrize("name", EXACT_IN_L2)
def test_the_smallest_masked_l2_step_that_flips(name: str) -> None:
    """With the second column frozen, a margin of 1 takes 1 / ||(1, 0.5)|| = 0.8944272."""
    threshold = float(WEIGHTS.predict_proba(LINE)[0])
    logit = np.log(threshold / (1 - threshold))
    raised = Linear(WEIGHTS.weights, 1.0 - logit)
    flipped = [
        run(name, line(frozen=(1,)), LINE, raised, Budget(epsilon, "l2"), threshold=0.5).success[0]
        for epsilon in (0.8944272 - 1e-5, 0.8944272 + 1e-5)
    ]
    assert flipped == [False, True]


@pytest.mark.parametrize("name", ["bim", "pgd"])
@pytest.mark.parametrize(
    ("epsilon", "alpha", "steps", "reach"), [(0.3, 0.01, 10, 0.1), (0.033, 0.01, 10, 0.033), (0.3, 0.005, 10, 0.05)]
)
def test_fixed_steps_reach_as_far_as_they_add_up(
    name: str, epsilon: float, alpha: float, steps: int, reach: float
) -> None:
    start = ",random_start=false" if name == "pgd" else ""
    text = f"{name}(steps={steps},step_share={alpha / epsilon!r}{start})"
    outcome = run(text, line(), LINE, WEIGHTS, Budget(epsilon))
    np.testing.assert_allclose(np.abs(outcome.rows - LINE), reach, atol=1e-9)


def best_drop(weights: FloatArray, lowest: FloatArray, highest: FloatArray, epsilon: float, norm: Norm) -> float:
    """Return how far a weighted sum can be lowered by a perturbation within bounds and ball, by filling up."""
    if norm == "linf":
        lowest, highest = np.maximum(lowest, -epsilon), np.minimum(highest, epsilon)
        return float(-(weights * np.where(weights > 0, lowest, highest)).sum())
    room = np.where(weights > 0, -lowest, highest)
    free, move = weights != 0, np.zeros_like(weights)
    while free.any():
        left = np.sqrt(max(epsilon**2 - (move[~free] ** 2).sum(), 0.0))
        share = left * np.abs(weights) / np.linalg.norm(weights[free])
        full = free & (share >= room)
        if not full.any():
            move[free] = share[free]
            break
        move[full] = room[full]
        free &= ~full
    return float((np.abs(weights) * move).sum())


NUMBERS = st.floats(-2, 2, allow_subnormal=False).map(lambda value: round(value, 3))


@settings(max_examples=25)
@given(data=st.data(), width=st.integers(1, 6), norm=st.sampled_from(["linf", "l2"]), target=st.integers(0, 1))
def test_the_optimum_within_bounds_and_mask_is_reached_and_grows_with_epsilon(
    data: st.DataObject, width: int, norm: Norm, target: int
) -> None:
    def numbers(strategy: st.SearchStrategy[float]) -> FloatArray:
        return np.array(data.draw(st.lists(strategy, min_size=width, max_size=width)))

    weights, below, above = numbers(NUMBERS), numbers(st.floats(0, 0.5)), numbers(st.floats(0, 0.5))
    frozen = data.draw(st.lists(st.booleans(), min_size=width, max_size=width))
    features = tuple(
        Feature(f"x{n}", lower=-below[n], upper=above[n], mutability="immutable" if frozen[n] else "mutable")
        for n in range(width)
    )
    clean = np.zeros((1, width))
    sign = 1.0 if target else -1.0
    free = np.where(frozen, 0.0, weights)
    threshold = NEVER if target else 1 - NEVER
    names = ("fgsm", "bim", "pgd", "capgd") if norm == "linf" else EXACT_IN_L2
    for name in names:
        drops = []
        for epsilon in (0.05, 0.2, 1.0):
            outcome = run(
                name,
                plain(clean, features),
                clean,
                Linear(weights),
                Budget(epsilon, norm),
                threshold=threshold,
                targets=target,
            )
            drops.append(-sign * float(outcome.rows[0] @ weights))
            best = best_drop(sign * free, -below, above, epsilon, norm)
            # Where bounds cut into an L2 ball, steps come ever closer to the optimum; FGSM goes there at once.
            close = 1e-3 if norm == "l2" and name != "fgsm" else 0.0
            assert drops[-1] == pytest.approx(best, rel=close, abs=1e-6), name
            assert outcome.report.ball.all()
            assert (outcome.rows[0, frozen] == 0).all()
        assert (np.diff(drops) >= -1e-6).all()


@pytest.mark.parametrize("name", ["pgd", "published_capgd"])
@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_random_starts_come_close_with_the_usual_steps(name: str, norm: Norm) -> None:
    rng = np.random.default_rng(0)
    weights, rows = rng.normal(size=12), rng.normal(size=(50, 12))
    ground = plain(rows, tuple(Feature(f"x{n}") for n in range(12)))
    outcome = run(name, ground, rows, Linear(0.01 * weights), Budget(0.2, norm))
    best = 0.2 * (np.abs(weights).sum() if norm == "linf" else np.linalg.norm(weights))
    drops = (rows - outcome.rows) @ weights
    assert (drops <= best + 1e-9).all()
    assert (drops >= 0.95 * best).all()


@dataclass
class Flat(Linear):
    """A detector whose gradients are as given, whatever they should be."""

    slope: float = 0.0

    def gradient(self, rows: FloatArray, targets: FloatArray) -> FloatArray:
        return np.full_like(rows, self.slope)


@pytest.mark.parametrize("name", ["fgsm", "bim", "pgd", "capgd", "published_capgd"])
@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("slope", [0.0, 1e-320, -1e-200, 1e300])
def test_gradients_of_any_size_give_rows_that_are_numbers(name: str, norm: Norm, slope: float) -> None:
    detector = Flat(WEIGHTS.weights, slope=slope)
    outcome = run(name, line(), LINE, detector, Budget(0.1, norm))
    assert np.isfinite(outcome.rows).all()
    assert outcome.report.ball.all()
    if slope == 0.0 and name in ("fgsm", "bim"):
        assert np.array_equal(outcome.rows, LINE)
    if name == "published_capgd" and abs(slope) > 1e-300:
        # Every column goes the same way, however small or large the slope.
        assert np.allclose(outcome.rows - LINE, np.sign(slope) * (0.1 if norm == "linf" else 0.1 / 3**0.5), atol=0.02)


def test_small_steps_of_a_whole_number_add_up() -> None:
    rows = np.array([[5.0, 5.0], [1.0, 9.0]])
    ground = plain(rows, (Feature("count", "integer"), Feature("other", "integer")))
    for name in ("bim(steps=40)", "pgd(steps=40)", "capgd"):
        outcome = run(name, ground, rows, Linear(np.array([0.1, -0.1])), Budget(2.4))
        assert np.array_equal(outcome.rows, rows + np.array([-2.0, 2.0])), name


def test_rows_that_are_done_are_not_asked_about_again() -> None:
    rows = np.array([[0.05, 0.5, 0.5], [0.7, 0.5, 0.5], [-3.0, 0.5, 0.5], [5.0, 0.0, 0.5]])
    detector = Linear(WEIGHTS.weights, 0.2)
    ground = plain(rows, tuple(Feature(f"x{n}") for n in range(3)))
    for name, steps in (("bim", 10), ("pgd(restarts=2)", 60), ("capgd(restarts=2)", 30), ("noise", 20)):
        outcome = run(name, ground, rows, detector, Budget(0.3), threshold=0.5)
        assert outcome.clean_error.tolist() == [True, False, True, False]
        assert outcome.success.tolist() == [False, True, False, False]
        # The row itself, and nothing more where that is taken for wrong.
        assert outcome.queries[[0, 2]].tolist() == [1, 1]
        assert np.array_equal(outcome.rows[[0, 2]], rows[[0, 2]])
        assert 1 < outcome.queries[1] < 1 + steps
        assert outcome.queries[3] == 1 + steps
        assert outcome.gradient_calls[3] == (0 if name == "noise" else steps)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_more_noise_never_finds_less(norm: Norm) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 5))
    ground = plain(rows, tuple(Feature(f"x{n}") for n in range(5)))
    detector = Linear(0.1 * rng.normal(size=5))
    scores = [
        run(f"noise(draws={draws})", ground, rows, detector, Budget(0.5, norm)).scores for draws in (1, 5, 20, 100)
    ]
    assert (np.diff(scores, axis=0) <= 1e-12).all()
    assert (scores[-1] < detector.predict_proba(rows)).all()


def test_what_the_default_lengths_are() -> None:
    assert find_attack("pgd") == Pgd(steps=20, step_share=None, restarts=0, random_start=True)
    explicit = run("pgd(step_share=0.125)", line(), LINE, WEIGHTS, Budget(0.1, "l2"))
    assert np.array_equal(run("pgd", line(), LINE, WEIGHTS, Budget(0.1, "l2")).rows, explicit.rows)
    assert GaussianNoise().draws == 20
