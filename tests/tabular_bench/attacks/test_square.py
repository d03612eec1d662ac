"""Square search: what it must reach, and what it may ask."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular_bench.attacks.square import Square
from tabular_bench.budget import Budget, Norm
from tabular_bench.problem import Problem
from tabular_bench.protocol import ProtocolName
from tabular_bench.schema import Feature, FloatArray
from tabular_bench.seeds import generator
from tests.tabular_bench.attacks.running import run
from tests.tabular_bench.loans import SCHEMA, clean_rows, problem
from tests.tabular_bench.test_attack_run import LINE, WEIGHTS, Linear, line, plain, score


@dataclass
class Watched:
    """A detector that keeps what it was asked and answered."""

    inner: Linear
    asked: list[FloatArray] = field(default_factory=list)
    answered: list[FloatArray] = field(default_factory=list)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.inner.feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        self.asked.append(rows.copy())
        self.answered.append(self.inner.predict_proba(rows))
        return self.answered[-1]


def table(width: int, frozen: tuple[int, ...] = ()) -> tuple[Problem, FloatArray, FloatArray]:
    rng = generator(width, "square")
    features = tuple(Feature(f"x{n}", mutability="immutable" if n in frozen else "mutable") for n in range(width))
    rows = rng.normal(size=(3, width))
    return plain(rows, features), rows, rng.normal(size=width)


@pytest.mark.parametrize(
    ("protocol", "ground", "corner", "drop"),
    [
        ("A", line(), (-0.05, 0.6, 0.4), 0.35),
        ("C1", line(0, 1), (0.0, 0.6, 0.4), 0.30),
        ("C2", line(frozen=(1,)), (-0.05, 0.5, 0.4), 0.15),
    ],
)
def test_the_corner_of_a_linear_model_is_reached(
    protocol: ProtocolName, ground: Problem, corner: tuple[float, ...], drop: float
) -> None:
    outcome = run(Square(), ground, LINE, WEIGHTS, protocol=protocol)
    np.testing.assert_allclose(outcome.rows, [corner], atol=1e-9)
    assert score(LINE) - score(outcome.rows) == pytest.approx(drop, abs=1e-6)
    if protocol == "C2":
        assert outcome.rows[0, 1] == LINE[0, 1]


@pytest.mark.parametrize(("norm", "share"), [("linf", 0.999), ("l2", 0.98)])
def test_the_optimum_of_40_columns_within_4_000_queries(norm: str, share: float) -> None:
    ground, rows, weights = table(40)
    budget = Budget(0.1, norm, max_queries=4_000)  # type: ignore[arg-type]
    outcome = run(Square(iterations=4_000), ground, rows, Linear(weights), budget=budget)
    best = 0.1 * (np.abs(weights).sum() if norm == "linf" else np.linalg.norm(weights))
    drop = (rows - outcome.rows) @ weights
    assert (drop >= share * best).all()
    assert (drop <= best + 1e-9).all()
    assert (outcome.queries <= 4_000).all()


@settings(max_examples=25)
@given(width=st.sampled_from([1, 2, 3, 7, 31, 200, 1_000]), seed=st.integers(0, 9), linf=st.booleans())
def test_any_width_any_budget(width: int, seed: int, linf: bool) -> None:
    frozen = tuple(range(0, width, 3)) if width > 1 else ()
    ground, rows, weights = table(width, frozen)
    budget = Budget(0.2, "linf" if linf else "l2", max_queries=1 + 7 * seed)
    watched = Watched(Linear(weights))
    outcome = run(Square(), ground, rows, watched, budget=budget, seed=seed)
    again = run(Square(), ground, rows, Linear(weights), budget=budget, seed=seed)
    assert np.array_equal(outcome.rows, again.rows)
    assert outcome.report.ball.all()
    assert (outcome.rows[:, frozen] == rows[:, frozen]).all()
    assert (outcome.scores <= outcome.clean_scores).all()
    # The final function asks about every row twice more.
    assert outcome.queries.sum() == sum(map(len, watched.asked)) - 2 * len(rows)
    assert (outcome.queries <= 1 + 7 * seed).all()
    # What was best of all that was asked is what is returned.
    lowest = min(float(answers.min()) for answers in watched.answered)
    assert outcome.scores.min() == pytest.approx(lowest, rel=1e-9)


def test_a_clean_row_out_of_bounds_goes_no_further() -> None:
    rows = np.array([[1.0, 0.5, -2.0]])
    ground = plain(rows, tuple(Feature(f"x{n}", lower=-0.5, upper=0.6) for n in range(3)))
    norms: tuple[Norm, ...] = ("linf", "l2")
    for norm in norms:
        outcome = run(Square(iterations=200), ground, rows, WEIGHTS, budget=Budget(0.1, norm))
        assert np.isfinite(outcome.rows).all()
        assert outcome.rows[0, 0] <= 1.0
        assert outcome.rows[0, 2] >= -2.0


def test_rows_that_are_done_are_asked_about_no_more() -> None:
    ground, rows, weights = table(20)
    detector = Linear(weights, -float((rows @ weights).min()) + 0.01)
    outcome = run(Square(), ground, rows, detector, budget=Budget(0.3), threshold=0.5)
    assert outcome.success.any()
    assert outcome.queries[outcome.success].min() < 50
    wrong = run(Square(), ground, rows, detector, budget=Budget(0.3), threshold=0.5, targets=0)
    assert wrong.clean_error.all()
    assert (wrong.queries == 1).all()
    assert np.array_equal(wrong.rows, rows)


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_the_best_switches_are_found(limit: int) -> None:
    """Only categories and the binary column count for the detector, and the best of them differ in how much."""
    rows, weights = clean_rows(40), np.zeros(SCHEMA.width)
    gains = {"purpose=car": -1.0, "purpose=home": 2.0, "purpose=other": 1.0, "insured": 1.5}
    for name, gain in gains.items():
        weights[SCHEMA.index(name)] = gain
    outcome = run(Square(iterations=400), problem(), rows, Linear(weights), budget=Budget(max_switches=limit))
    reached = (rows - outcome.rows) @ weights
    # A car must be a small loan.
    open_to_all = rows[:, SCHEMA.index("amount")] <= 29_000
    np.testing.assert_allclose(reached[open_to_all], _best(rows, weights, limit)[open_to_all], atol=1e-9)
    assert outcome.report.ball.all()
    assert outcome.report.feasible.all()


def _best(rows: FloatArray, weights: FloatArray, limit: int) -> FloatArray:
    purpose = slice(SCHEMA.index("purpose=car"), SCHEMA.index("purpose=other") + 1)
    gains = np.stack(
        [
            rows[:, purpose] @ weights[purpose] - weights[purpose].min(),
            rows[:, SCHEMA.index("insured")] * weights[SCHEMA.index("insured")],
        ],
        axis=1,
    )
    best: FloatArray = -np.sort(-gains, axis=1)[:, :limit].sum(axis=1)
    return best


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"initial_share": 0.0}, {"switch_share": 1.5}])
def test_hyper_parameters_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected iterations >= 1 and shares"):
        Square(**wrong)  # type: ignore[arg-type]
