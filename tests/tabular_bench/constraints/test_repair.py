from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabular_bench.budget import Budget
from tabular_bench.constraints.feasibility import Checker, valid_blocks
from tabular_bench.constraints.repair import Repair
from tabular_bench.problem import Problem
from tabular_bench.protocol import PUBLISHED, STRICT, Protocol
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Feature, FloatArray, Schema
from tabular_bench.seeds import generator
from tests.tabular_bench.loans import SCHEMA, clean_rows, problem

ROWS = clean_rows(40)
LOANS = problem(clean_rows(500, seed=1))


def repairing(protocol: Literal["C1", "C2"], budget: Budget, ground: Problem = LOANS) -> tuple[Repair, Checker]:
    resolved = Protocol(protocol)
    ball, mask = resolved.ball(ground.schema, budget), resolved.mask(ground.schema)
    return (
        Repair(ground.constraints, ground.scaler, ball, mask),
        Checker(ground.constraints, ground.scaler, ball, mask, STRICT),
    )


def disturbed(rows: FloatArray, strength: float, seed: int) -> FloatArray:
    """Move every column, in scaled space, by up to `strength`."""
    noise = generator(seed, "disturbance").uniform(-strength, strength, rows.shape)
    return LOANS.scaler.to_problem(LOANS.scaler.to_scaled(rows) + noise)


@settings(max_examples=60, deadline=None)
@given(
    protocol=st.sampled_from(["C1", "C2"]),
    epsilon=st.sampled_from([0.0, 0.01, 0.1, 0.5, 2.0]),
    norm=st.sampled_from(["linf", "l2"]),
    switches=st.integers(0, 3),
    strength=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    seed=st.integers(0, 10_000),
)
def test_repair_ends_in_budget_and_feasible_set_and_stays_there(
    protocol: Literal["C1", "C2"],
    epsilon: float,
    norm: Literal["linf", "l2"],
    switches: int,
    strength: float,
    seed: int,
) -> None:
    repair, checker = repairing(protocol, Budget(epsilon, norm, max_switches=switches))
    done = repair(ROWS, disturbed(ROWS, strength, seed))
    report = checker.check(ROWS, done.rows)
    assert done.repaired.all()
    assert report.feasible.all(), report.failures()
    assert report.ball.all()
    assert report.capability.all()
    assert np.array_equal(repair(ROWS, done.rows).rows, done.rows)
    frozen = ~SCHEMA.mutable & ~SCHEMA.derived
    if protocol == "C2":
        assert np.array_equal(done.rows[:, frozen], ROWS[:, frozen])


def test_what_is_feasible_already_is_returned_as_it_is() -> None:
    repair, _ = repairing("C2", Budget(0.1))
    assert np.array_equal(repair(ROWS, ROWS).rows, ROWS)
    moved = ROWS.copy()
    moved[:, SCHEMA.index("income")] *= 1.0001
    assert np.array_equal(repair(ROWS, moved).rows, moved)


def test_rows_whose_clean_row_is_infeasible_are_reported() -> None:
    repair, checker = repairing("C2", Budget(0.1))
    clean = ROWS.copy()
    clean[3, SCHEMA.index("open_accounts")] = clean[3, SCHEMA.index("all_accounts")] + 5
    clean[5, SCHEMA.index("instalment")] += 50
    done = repair(clean, disturbed(clean, 0.3, seed=2))
    assert np.flatnonzero(~done.repaired).tolist() == [3, 5]
    report = checker.check(clean, done.rows)
    assert (report.feasible & report.ball)[done.repaired].all()
    assert report.ball.all()


def test_a_derived_column_follows_its_sources_and_keeps_in_the_ball() -> None:
    repair, _ = repairing("C2", Budget(0.1, max_switches=0))
    column = SCHEMA.index
    scale = LOANS.scaler.scale
    for sign in (-1, 1):
        moved = ROWS.copy()
        moved[:, column("amount")] += sign * 0.1 * scale[column("amount")]
        done = repair(ROWS, moved).rows
        assert (done[:, column("instalment")] != ROWS[:, column("instalment")]).all()
        shift = (done - ROWS) / scale
        assert (np.abs(shift[:, column("instalment")]) <= 0.1 * (1 + 1e-6)).all()
        # One of the two is at the edge: nothing was given back that could have been kept.
        edge = np.maximum(np.abs(shift[:, column("instalment")]), np.abs(shift[:, column("amount")]))
        within = (moved[:, column("amount")] > 500) & (moved[:, column("amount")] < 30_000)
        assert (edge[within] > 0.1 * (1 - 2e-3)).all()


def test_only_what_a_failing_relation_ties_together_goes_back() -> None:
    repair, _ = repairing("C1", Budget(0.5, max_switches=0))
    column, scale = SCHEMA.index, LOANS.scaler.scale
    moved = ROWS.copy()
    moved[:, column("all_accounts")] -= 0.5 * scale[column("all_accounts")]
    moved[:, column("open_accounts")] += 0.5 * scale[column("open_accounts")]
    moved[:, column("income")] += 0.4 * scale[column("income")]
    done = repair(ROWS, moved).rows
    assert (done[:, column("open_accounts")] <= done[:, column("all_accounts")]).all()
    assert (moved[:, column("open_accounts")] > moved[:, column("all_accounts")]).any()
    np.testing.assert_allclose(done[:, column("income")], moved[:, column("income")])


def test_switches_are_limited_and_the_most_decided_survive() -> None:
    schema = Schema(tuple(Feature(name, "category", categories=("x", "y", "z")) for name in "abc"))
    clean = np.tile([1.0, 0.0, 0.0], (1, 3))
    wanted = np.array([[0.2, 0.5, 0.3, 0.1, 0.9, 0.0, 0.0, 0.3, 0.7]])
    ground = _plain(schema, clean)
    for switches, expected in enumerate(("xxx", "xyx", "xyz", "yyz")):
        repair, _ = repairing("C1", Budget(0.1, max_switches=switches), ground)
        done = repair(clean, wanted).rows.reshape(3, 3)
        assert "".join("xyz"[entry] for entry in done.argmax(axis=1)) == expected


def _plain(schema: Schema, rows: FloatArray) -> Problem:
    from tabular_bench.constraints.catalogue import Catalogue, Constraints

    return Problem(Constraints(schema, Catalogue()), Scaler.fit(rows, schema))


@pytest.mark.parametrize(
    ("wanted", "expected"), [((0.2, 0.5, 0.3), (0, 1, 0)), ((0.5, 0.5, 0), (1, 0, 0)), ((0, 0.5, 0.5), (0, 1, 0))]
)
def test_a_block_becomes_the_vertex_of_its_largest_entry(
    wanted: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    schema = Schema((Feature("a", "category", categories=("x", "y", "z")),))
    clean = np.array([[0.0, 0.0, 1.0]])
    repair, _ = repairing("C1", Budget(), _plain(schema, clean))
    assert repair(clean, np.array([wanted])).rows.tolist() == [list(expected)]
    vertices = np.eye(3)
    nearest = np.linalg.norm(vertices - np.array(wanted), axis=1).argmin()
    assert vertices[nearest].tolist() == list(expected)


@pytest.mark.parametrize(("epsilon", "can_switch"), [(0.1, False), (0.49, False), (0.51, True)])
def test_in_the_published_reading_a_category_switches_from_one_half_on(epsilon: float, can_switch: bool) -> None:
    """The projection there is the largest entry of what the ball allows; strict gives switches their own budget."""
    schema = Schema((Feature("a", "category", categories=("x", "y")),))
    clean = np.array([[1.0, 0.0]])
    ball = Protocol("C1", PUBLISHED).ball(schema, Budget(epsilon))
    moved = ball.clip(clean, np.array([[0.0, 1.0]]))
    assert (moved.argmax() == 1) == can_switch
    strict = Protocol("C1").ball(schema, Budget(epsilon)).clip(clean, np.array([[0.0, 1.0]]))
    assert strict.argmax() == 1


def test_integers_stay_whole_inside_ball_and_bounds() -> None:
    schema = Schema((Feature("n", "integer", lower=0, upper=10), Feature("x")))
    rows = np.column_stack([np.arange(11.0), np.linspace(0, 1, 11)])
    ground = _plain(schema, rows)
    for norm in ("linf", "l2"):
        repair, checker = repairing("C1", Budget(0.5, norm), ground)  # 0.5 of a deviation is 1.58
        for step in (-100.0, -1.4, -0.6, 0.6, 1.4, 100.0):
            done = repair(rows, rows + np.array([step, 0.0]))
            report = checker.check(rows, done.rows)
            assert (report.feasible & report.ball).all()
    repair, _ = repairing("C1", Budget(0.5), ground)
    assert repair(rows, rows + np.array([0.6, 0.0])).rows[:10, 0].tolist() == (rows[:10, 0] + 1).tolist()


def test_the_check_of_blocks_in_both_presets() -> None:
    blocks = np.array([[1.0, 0.0], [0.5, 0.5], [0.995, 0.005], [1.0, 1.0], [0.0, 0.0], [1.02, -0.02]])
    schema = Schema((Feature("a", "category", categories=("x", "y")),))
    assert valid_blocks(schema, blocks, STRICT.one_hot_tolerance).tolist() == [True] + [False] * 5
    assert valid_blocks(schema, blocks, 0.01).tolist() == [True, False, True, False, False, False]
    assert valid_blocks(schema, blocks, 0.01, frozenset({"b"})).all()


def test_the_report_names_what_failed() -> None:
    _, checker = repairing("C2", Budget(0.1))
    column = SCHEMA.index
    bad = ROWS[:8].copy()
    bad[0, column("amount")] = 400.0
    bad[1, column("open_accounts")] += 0.5
    bad[2, column("purpose=car") : column("purpose=other") + 1] = 1 / 3
    bad[3, column("rate")] += 1e-9
    bad[4, column("instalment")] += 1.0
    bad[5, column("income")] += LOANS.scaler.scale[column("income")]
    bad[6, column("income")] = np.nan
    report = checker.check(ROWS[:8], bad)
    assert report.bounds.tolist() == [False, True, True, True, True, True, False, True]
    assert report.integers.tolist() == [True, False, True, True, True, True, False, True]
    assert report.one_hot.tolist() == [True, True, False, True, True, True, False, True]
    assert not report.capability[3]
    assert not report.ball[5]
    assert report.capability[4]  # derived columns are judged by their relation
    assert report.violations[4, 0] == pytest.approx(1.0, abs=0.02)
    assert not report.feasible[[0, 1, 2, 4, 6]].any()
    assert report.feasible[[5, 7]].all()
    assert report.failures()["relation:instalment"] >= 2


def test_one_row_and_one_column_and_no_row() -> None:
    schema = Schema((Feature("x", lower=0),))
    rows = np.array([[1.0]])
    repair, _ = repairing("C2", Budget(0.1), _plain(schema, rows))
    assert repair(rows, np.array([[5.0]])).rows.tolist() == [[1.1]]
    empty = np.zeros((0, SCHEMA.width))
    assert repairing("C2", Budget(0.1))[0](empty, empty).rows.shape == empty.shape
