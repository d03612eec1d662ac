"""Category switches of the gradient attacks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tabular_bench.attack_run import AttackOutcome
from tabular_bench.budget import Budget
from tabular_bench.detector import Detector
from tabular_bench.problem import Problem
from tabular_bench.schema import Feature, FloatArray, IntArray
from tests.tabular_bench.attacks.running import NEVER, run
from tests.tabular_bench.loans import SCHEMA, clean_rows, problem
from tests.tabular_bench.test_attack_run import Linear, plain

GRADIENT_ATTACKS = ("fgsm", "bim", "pgd", "capgd")
EPSILON = 0.1

FEATURES = (
    Feature("amount"),
    Feature("colour", "category", categories=("red", "green", "blue")),
    Feature("shop", "category", categories=("a", "b")),
    Feature("insured", "binary"),
    Feature("count"),
    Feature("country", "category", categories=("w", "x", "y", "z"), mutability="immutable"),
)
# Matrix columns of what switches: two blocks and a binary column.
BLOCKS = (range(1, 4), range(4, 6))
BINARY = 6
NUMERIC = (0, 7)
WIDTH = 12


def clean(count: int, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    rows = np.zeros((count, WIDTH))
    rows[:, NUMERIC] = rng.normal(size=(count, 2))
    for block in (*BLOCKS, range(8, 12)):
        rows[np.arange(count), block.start + rng.integers(0, len(block), count)] = 1.0
    rows[:, BINARY] = rng.integers(0, 2, count)
    return rows


def attacked(
    name: str,
    rows: FloatArray,
    detector: Detector,
    max_switches: int,
    *,
    ground: Problem | None = None,
    targets: IntArray | int = 1,
    threshold: float = NEVER,
) -> AttackOutcome:
    budget = Budget(EPSILON, max_switches=max_switches)
    return run(name, ground or plain(rows, FEATURES), rows, detector, budget, targets=targets, threshold=threshold)


def best_score(row: FloatArray, weights: FloatArray, max_switches: int) -> float:
    """Try every allowed combination of categories, each with the best numeric step."""
    found = []
    for colour, shop, insured in product(BLOCKS[0], BLOCKS[1], (0.0, 1.0)):
        other = row.copy()
        other[[*BLOCKS[0], *BLOCKS[1]]] = 0.0
        other[[colour, shop]] = 1.0
        other[BINARY] = insured
        switches = sum((other[list(block)] != row[list(block)]).any() for block in BLOCKS) + (insured != row[BINARY])
        if switches <= max_switches:
            found.append(other @ weights)
    return float(min(found) - EPSILON * np.abs(weights[list(NUMERIC)]).sum())


@settings(max_examples=20)
@given(
    weights=st.lists(st.integers(-40, 40).map(lambda n: n / 100), min_size=WIDTH, max_size=WIDTH),
    max_switches=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_on_a_linear_model_the_best_switches_are_found(weights: list[float], max_switches: int, seed: int) -> None:
    rows, slopes = clean(5, seed), np.array(weights)
    best = [best_score(row, slopes, max_switches) for row in rows]
    for name in GRADIENT_ATTACKS:
        outcome = attacked(name, rows, Linear(slopes), max_switches)
        np.testing.assert_allclose(outcome.rows @ slopes, best, atol=1e-9, err_msg=name)
        assert np.array_equal(outcome.rows[:, 8:], rows[:, 8:])
        for block in BLOCKS:
            assert (np.sort(outcome.rows[:, list(block)], axis=1)[:, :-1] == 0).all()
            assert (outcome.rows[:, list(block)].sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", GRADIENT_ATTACKS)
def test_legitimate_rows_switch_the_other_way(name: str) -> None:
    rows, slopes = clean(20), np.linspace(-0.4, 0.5, WIDTH)
    outcome = attacked(name, rows, Linear(slopes), 1, targets=np.zeros(20, dtype=np.int64), threshold=1 - 1e-12)
    best = [-best_score(row, -slopes, 1) for row in rows]
    np.testing.assert_allclose(outcome.rows @ slopes, best, atol=1e-9)


@dataclass
class Misleading:
    """A slope that promises most from ``green``, which is the worst there is; ``blue`` is what helps."""

    feature_names: tuple[str, ...] = tuple(f"x{number}" for number in range(WIDTH))
    promised: tuple[float, ...] = (0, 0, -9, -1, 0, 0, 0, 0, 0, 0, 0, 0)
    true: tuple[float, ...] = (0, 0, 9, -2, 0, 0, 0, 0, 0, 0, 0, 0)

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return 1 / (1 + np.exp(-(rows @ np.array(self.true) + 1)))

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        return np.where(targets[:, None] == 1, -1.0, 1.0) * np.array(self.promised) * np.ones_like(rows)


@pytest.mark.parametrize("name", GRADIENT_ATTACKS)
def test_what_the_slope_promises_is_tried_and_not_believed(name: str) -> None:
    rows = clean(8)
    rows[:, 1:4] = (1.0, 0.0, 0.0)
    outcome = attacked(name, rows, Misleading(), 1, threshold=0.5)
    assert outcome.success.all()
    assert (outcome.rows[:, 1:4] == (0.0, 0.0, 1.0)).all()


@pytest.mark.parametrize("name", GRADIENT_ATTACKS)
def test_trials_are_bounded_and_counted(name: str) -> None:
    rows, slopes = clean(10), np.linspace(-0.4, 0.5, WIDTH)
    steps = {"fgsm": 1, "bim": 10, "pgd": 20, "capgd": 20}[name]
    for trials in (0, 1, 3):
        outcome = attacked(f"{name}(switch_trials={trials})", rows, Linear(slopes, 3.0), 2)
        together = 1 if trials else 0
        assert (outcome.queries <= 1 + steps * (1 + trials + together)).all()
        assert (outcome.gradient_calls == steps).all()
        switched = (outcome.rows[:, 1:7] != rows[:, 1:7]).any(axis=1)
        assert switched.any() == bool(trials)
    # What has been tried is not tried again, as long as the row has not switched.
    forbidding = attacked(f"{name}(switch_trials=3)", rows, Misleading(true=(0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 1)
    red = rows[:, 1] == 1
    runs = 2 if name == "capgd" else 1
    assert (forbidding.queries[~red] <= 1 + steps + 2 * runs).all()


@pytest.mark.parametrize("name", GRADIENT_ATTACKS)
@pytest.mark.parametrize("max_switches", [0, 1, 2])
def test_switches_of_columns_that_relations_tie_are_repaired_with_the_rest(name: str, max_switches: int) -> None:
    rows = clean_rows(60)
    weights = np.zeros(SCHEMA.width)
    weights[[SCHEMA.index("purpose=car"), SCHEMA.index("term=60"), SCHEMA.index("insured")]] = (-2.0, -1.0, 0.5)
    outcome = attacked(name, rows, Linear(weights), max_switches, ground=problem(clean_rows(500, seed=1)))
    assert (outcome.report.feasible & outcome.report.ball & outcome.report.capability).all()
    gained = (rows - outcome.rows) @ weights
    car = rows[:, SCHEMA.index("purpose=car")] == 1
    assert (gained >= 0).all()
    if max_switches == 0:
        assert (gained == 0).all()
    if max_switches == 1:
        # The best single switch is to say that it is for a car, which small amounts may be.
        assert (gained[~car & (rows[:, 0] < 28_000)] == 2.0).all()
        assert (gained[car] < 2.0).all()
    # Where the ball of the instalment forbids another term, one step has spent its only trial of two on that.
    if max_switches == 2 and name != "fgsm":
        insured = rows[:, SCHEMA.index("insured")] == 1
        assert (gained[~car & insured & (rows[:, 0] < 28_000)] >= 2.5).all()
