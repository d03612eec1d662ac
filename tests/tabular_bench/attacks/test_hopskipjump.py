"""HopSkipJump: constants, the distance it must come down to, and what it may ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular_bench.attack import AttackContext
from tabular_bench.attacks import hopskipjump
from tabular_bench.attacks.hopskipjump import HopSkipJump, precision
from tabular_bench.budget import Budget, Norm
from tabular_bench.counting import CountedDetector
from tabular_bench.detector import Detector
from tabular_bench.problem import Problem
from tabular_bench.projection import Projection
from tabular_bench.protocol import Protocol, ProtocolName
from tabular_bench.schema import Feature, FloatArray
from tabular_bench.seeds import generator
from tabular_bench.threat import DECISION_ONLY
from tests.tabular_bench.attacks.running import run
from tests.tabular_bench.loans import SCHEMA, clean_rows, problem
from tests.tabular_bench.test_attack_run import Linear, plain


@dataclass
class Constant:
    """Takes everything for fraud."""

    width: int

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{number}" for number in range(self.width))

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return np.ones(len(rows))


def table(width: int, frozen: tuple[int, ...] = (), count: int = 4) -> tuple[Problem, FloatArray, Linear]:
    """A linear detector that takes every row for fraud, by a margin of 1, in a wide training range."""
    rng = generator(width, "hopskipjump")
    features = tuple(Feature(f"x{n}", mutability="immutable" if n in frozen else "mutable") for n in range(width))
    rows, weights = rng.normal(size=(count, width)), rng.normal(size=width) + 0.1
    range_ends = np.vstack([rows - 20, rows + 20])
    ground = plain(range_ends, features)
    # The same margin for every row: along the weights the rows are moved to where the sum is 1.
    free = np.array([n not in frozen for n in range(width)])
    direction = np.where(free, weights, 0.0)
    rows += np.outer((1.0 - rows @ weights) / (direction @ direction), direction)
    return ground, rows, Linear(weights)


def context_of(
    ground: Problem, rows: FloatArray, detector: Detector, budget: Budget, protocol: ProtocolName = "C2", seed: int = 1
) -> AttackContext:
    projection = Projection(ground, Protocol(protocol), budget, DECISION_ONLY, rows)
    targets = np.ones(len(rows), dtype=np.int64)
    counted = CountedDetector(detector, targets, 0.5, DECISION_ONLY, budget.max_queries)
    return AttackContext(projection.clean_scaled, targets, counted, projection, generator(seed, "attack"))


def test_constants_for_40_columns() -> None:
    assert precision("linf", 40) == pytest.approx(2.5e-4)
    assert precision("l2", 40) == pytest.approx(0.0015811, abs=1e-7)
    assert [HopSkipJump(initial_probes=50, most_probes=200).probes(t) for t in range(5)] == [50, 70, 86, 100, 111]
    assert [HopSkipJump(initial_probes=100).probes(t) for t in range(5)] == [100, 141, 173, 200, 223]
    assert HopSkipJump(initial_probes=50, most_probes=60).probes(3) == 60


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("frozen", [(), (0, 2, 5)])
def test_the_least_distance_on_a_linear_model_is_reached(norm: Norm, frozen: tuple[int, ...]) -> None:
    ground, rows, detector = table(8, frozen)
    context = context_of(ground, rows, detector, Budget(1e-6, norm))
    found = HopSkipJump(iterations=25, initial_probes=200).perturb(context)
    moved = found - rows
    assert (moved[:, frozen] == 0).all()
    free = np.delete(detector.weights, frozen)
    least = 1.0 / (np.linalg.norm(free) if norm == "l2" else np.abs(free).sum())
    reached = np.linalg.norm(moved, axis=1) if norm == "l2" else np.abs(moved).max(axis=1)
    assert (reached >= least * (1 - 1e-9)).all()
    assert (reached <= least * 1.05).all()
    assert (detector.predict_proba(found) < 0.5).all()


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_rows_end_in_a_ball_that_reaches_the_border_and_not_in_one_that_does_not(norm: Norm) -> None:
    ground, rows, detector = table(8)
    least = 1.0 / (np.linalg.norm(detector.weights) if norm == "l2" else np.abs(detector.weights).sum())
    attack = HopSkipJump(iterations=20)
    outcome = run(attack, ground, rows, detector, budget=Budget(1.15 * least, norm), threshold=0.5)
    assert outcome.success.all()
    beyond = run(attack, ground, rows, detector, budget=Budget(0.95 * least, norm), threshold=0.5)
    assert not beyond.success.any()
    assert beyond.report.ball.all()
    assert (outcome.queries < beyond.queries).all()


@settings(max_examples=20)
@given(
    width=st.sampled_from([1, 2, 5, 40, 1_000]),
    count=st.integers(1, 3),
    queries=st.one_of(st.none(), st.integers(0, 200)),
    linf=st.booleans(),
)
def test_any_width_any_budget(width: int, count: int, queries: int | None, linf: bool) -> None:
    frozen = tuple(range(0, width, 3)) if width > 1 else ()
    ground, rows, detector = table(width, frozen, count)
    budget = Budget(0.2, "linf" if linf else "l2", max_queries=queries)
    attack = HopSkipJump(iterations=3, initial_probes=20)
    outcome = run(attack, ground, rows, detector, budget=budget, threshold=0.5)
    again = run(attack, ground, rows, detector, budget=budget, threshold=0.5)
    assert np.array_equal(outcome.rows, again.rows)
    assert np.array_equal(outcome.queries, again.queries)
    assert (outcome.rows[:, frozen] == rows[:, frozen]).all()
    assert outcome.report.ball.all()
    assert queries is None or (outcome.queries <= queries).all()


def test_another_seed_gives_another_walk() -> None:
    ground, rows, detector = table(6)
    budget = Budget(1e-6)
    one, other, same = (
        HopSkipJump(iterations=2).perturb(context_of(ground, rows, detector, budget, seed=s)) for s in (1, 2, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_distance_never_grows_with_the_hops() -> None:
    ground, rows, detector = table(12)
    distances = [
        np.abs(
            HopSkipJump(iterations=hops).perturb(context_of(ground, rows[:1], detector, Budget(1e-6))) - rows[:1]
        ).max()
        for hops in range(6)
    ]
    assert (np.diff(distances) <= 0).all(), distances
    assert distances[-1] < distances[0]


def test_a_detector_that_is_never_fooled_leaves_rows_as_they_are() -> None:
    rows = clean_rows(5)
    outcome = run(HopSkipJump(), problem(), rows, Constant(SCHEMA.width), threshold=0.5)
    assert np.array_equal(outcome.rows, rows)
    assert (outcome.queries == 1 + HopSkipJump().draws).all()


def test_rows_that_are_misjudged_already_are_asked_about_once() -> None:
    rows = clean_rows(5)
    outcome = run(HopSkipJump(), problem(), rows, Constant(SCHEMA.width), targets=0, threshold=0.5)
    assert outcome.clean_error.all()
    assert np.array_equal(outcome.rows, rows)
    assert (outcome.queries == 1).all()


def test_probes_that_all_end_where_they_began_give_no_direction() -> None:
    """Whole numbers do not move by a probe, so that no direction can be told; nothing breaks and nothing hangs."""
    rows = np.array([[3.0], [4.0]])
    ground = Problem(
        plain(rows, (Feature("n", "integer", lower=0, upper=9),)).constraints,
        plain(np.array([[0.0], [9.0]]), (Feature("n"),)).scaler,
    )
    found = HopSkipJump(iterations=5).perturb(context_of(ground, rows, Linear(np.ones(1), -2.5), Budget(0.1)))
    assert np.isfinite(found).all()
    assert (found == 2).all()


@pytest.mark.parametrize("limit", [0, 1])
def test_a_category_that_decides_is_switched_where_it_may_be(limit: int) -> None:
    rows, weights = clean_rows(30), np.zeros(SCHEMA.width)
    weights[SCHEMA.index("insured")] = 2.0
    rows = rows[rows[:, SCHEMA.index("insured")] == 1]
    outcome = run(
        HopSkipJump(), problem(), rows, Linear(weights, -1.0), budget=Budget(max_switches=limit), threshold=0.5
    )
    assert outcome.success.all() == bool(limit)
    assert outcome.report.feasible.all()
    assert outcome.report.ball.all()


def test_many_probes_are_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    ground, rows, detector = table(5)
    sizes = []

    @dataclass
    class Sized(Linear):
        def predict_proba(self, rows: FloatArray) -> FloatArray:
            sizes.append(len(rows))
            return super().predict_proba(rows)

    def largest_question(limit: int) -> int:
        monkeypatch.setattr(hopskipjump, "_CHUNK_VALUES", limit)
        sizes.clear()
        context = context_of(ground, rows, Sized(detector.weights), Budget(1e-6))
        assert (np.abs(HopSkipJump(iterations=2).perturb(context) - rows) > 0).any(axis=1).all()
        return max(sizes)

    assert largest_question(5 * 200) == 200
    assert largest_question(2**21) == 4 * 141


@pytest.mark.parametrize("wrong", [{"iterations": -1}, {"initial_probes": 0}, {"most_probes": 0}, {"draws": 0}])
def test_hyper_parameters_that_mean_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected iterations >= 0"):
        HopSkipJump(**wrong)
