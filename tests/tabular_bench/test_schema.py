from __future__ import annotations

import math

import numpy as np
import pytest

from tabular_bench.budget import Ball, Budget
from tabular_bench.cell import CellSpec
from tabular_bench.errors import DeclarationError, UnknownName
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Feature, Schema
from tabular_bench.seeds import derive_seed, generator
from tests.tabular_bench.loans import SCHEMA, clean_rows


def test_features_become_columns_and_every_vector_has_one_entry_a_column() -> None:
    assert SCHEMA.columns[2:4] == ("term=36", "term=60")
    assert SCHEMA.width == 12
    for vector in (SCHEMA.lower, SCHEMA.mutable, SCHEMA.derived, SCHEMA.integer, SCHEMA.one_hot, SCHEMA.discrete):
        assert vector.shape == (12,)
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1
    assert [SCHEMA.columns[index] for index in np.flatnonzero(SCHEMA.derived)] == ["instalment"]
    assert not (SCHEMA.mutable & SCHEMA.derived).any()
    assert SCHEMA.columns_of("purpose") == (7, 8, 9)
    assert SCHEMA.columns_of("rate") == (1,)
    assert "term=36" in SCHEMA
    assert "term" not in SCHEMA
    assert (SCHEMA.upper[SCHEMA.discrete] == 1).all()
    assert [block.feature.name for block in SCHEMA.blocks] == ["term", "purpose"]


def test_unknown_names_are_answered_with_the_known() -> None:
    with pytest.raises(UnknownName, match="did you mean instalment"):
        SCHEMA.index("installment")
    with pytest.raises(UnknownName, match="expected a feature"):
        SCHEMA.columns_of("term=36")


def test_a_schema_survives_json() -> None:
    assert Schema.from_json(SCHEMA.to_json()) == SCHEMA


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Feature("a", "category", categories=("x",)), "two or more different categories"),
        (lambda: Feature("a", "category", categories=("x", "x")), "two or more different categories"),
        (lambda: Feature("a", categories=("x", "y")), "only a category has categories"),
        (lambda: Feature("a", "category", mutability="derived", categories=("x", "y")), "cannot be derived"),
        (lambda: Feature("a", lower=2, upper=1), "expected lower <= upper"),
        (lambda: Feature("a", lower=math.nan), "expected lower <= upper"),
        (lambda: Feature("a", "integer", upper=1.5), "an integer needs whole bounds"),
        (lambda: Schema((Feature("a"), Feature("a"))), "expected every column once, found a"),
        (lambda: Schema((Feature("a", "category", categories=("x", "y")), Feature("a=x"))), "found a=x more than once"),
    ],
)
def test_features_that_cannot_be(make: object, complaint: str) -> None:
    with pytest.raises(DeclarationError, match=complaint):
        make()  # type: ignore[operator]


def test_scaling_is_undone_exactly_enough_and_constant_columns_keep_their_unit() -> None:
    rows = clean_rows(100)
    rows[:, SCHEMA.index("income")] = 0.1 + 0.2
    scaler = Scaler.fit(rows, SCHEMA)
    np.testing.assert_allclose(scaler.to_problem(scaler.to_scaled(rows)), rows, rtol=1e-12, atol=1e-12)
    assert scaler.scale[SCHEMA.index("income")] == 1
    with pytest.raises(ValueError, match="at least one training row"):
        Scaler.fit(rows[:0], SCHEMA)
    with pytest.raises(ValueError, match="finite"):
        Scaler.fit(np.full_like(rows, np.inf), SCHEMA)


@pytest.mark.parametrize("bad", [{"epsilon": -1}, {"epsilon": math.nan}, {"norm": "l1"}, {"max_switches": -1}])
def test_budgets_that_cannot_be(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Budget(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("switches", [True, False])
def test_clipped_rows_are_in_the_ball_and_those_within_stay(norm: str, switches: bool) -> None:
    scaler = Scaler.fit(clean_rows(), SCHEMA)
    clean = scaler.to_scaled(clean_rows(50, seed=3))
    ball = Ball(SCHEMA, Budget(0.2, norm), switches)  # type: ignore[arg-type]
    rng = generator(0, "ball")
    moved = clean + rng.normal(0, 1, clean.shape) * ball.covered
    clipped = ball.clip(clean, moved)
    assert not ball.contains(clean, moved).any()
    assert ball.contains(clean, clipped).all()
    np.testing.assert_allclose(ball.clip(clean, clipped), clipped, atol=1e-12)


def test_switches_are_counted_by_feature() -> None:
    clean = clean_rows(1)
    moved = clean.copy()
    for block in SCHEMA.blocks:
        moved[0, block.columns] = np.roll(moved[0, block.columns], 1)
    moved[0, SCHEMA.index("insured")] = 1 - moved[0, SCHEMA.index("insured")]
    assert Ball(SCHEMA, Budget(), True).count_switches(clean, moved).tolist() == [3]
    for allowed in range(5):
        assert Ball(SCHEMA, Budget(max_switches=allowed), True).contains(clean, moved).tolist() == [allowed >= 3]


def test_seeds_come_from_names() -> None:
    assert derive_seed(42, "a") == 42644424312398868123503113207260346993
    assert derive_seed(42, "a") != derive_seed(42, "b")
    assert generator(1, "x").random() == generator(1, "x").random()


def test_cells_with_the_same_key_ask_for_the_same_number() -> None:
    cell = CellSpec("lcld", "mlp", "capgd")
    assert cell.key == CellSpec("lcld", "mlp", "capgd").key
    others = [
        CellSpec("lcld", "mlp", "capgd", seed=123),
        CellSpec("lcld", "mlp", "capgd", budget=Budget(0.2)),
        CellSpec("lcld", "mlp", "capgd", preset="published"),
        CellSpec("lcld", "mlp", "capgd", attacked="both"),
    ]
    assert len({cell.key, *(other.key for other in others)}) == 5
    assert cell.resolved_protocol.preset.name == "strict"
    assert cell.resolved_threat.name == "white_box"
