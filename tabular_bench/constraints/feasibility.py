"""Whether rows could exist, whether they are within the budget, and whether the attacker could have made them.

Three questions, answered apart: *feasible* is a property of a row (bounds, whole numbers, one-hot blocks, relations);
*in the ball* compares it with its clean row; *capable* asks whether only what the attacker controls was moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.budget import Ball
from tabular_bench.constraints.catalogue import Constraints
from tabular_bench.protocol import Preset
from tabular_bench.scaling import Scaler
from tabular_bench.schema import BoolArray, FloatArray, Schema

BOUND_SLACK = 1e-9  # of the bound, for rounding
INTEGER_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class FeasibilityReport:
    """What was found about n rows, one entry a row; True is good.

    Attributes
    ----------
    bounds, integers, one_hot, relations
        The four families of feasibility. Families that the preset does not check are still reported.
    ball
        Within the budget of the clean row.
    capability
        Columns outside the mask are those of the clean row, bit for bit; derived columns are exempt, for their
        relation says where they belong.
    violations
        Shape ``(n, k)``: by how much each relation is violated, in the units of its sides.
    labels
        The k labels of the relations.
    feasible
        The families that the preset checks, together.
    """

    bounds: BoolArray
    integers: BoolArray
    one_hot: BoolArray
    relations: BoolArray
    ball: BoolArray
    capability: BoolArray
    violations: FloatArray
    labels: tuple[str, ...]
    feasible: BoolArray

    def failures(self) -> dict[str, int]:
        """Count the rows that fail each family and each relation, those that none fails left out."""
        counts = {
            family: int((~getattr(self, family)).sum())
            for family in ("bounds", "integers", "one_hot", "relations", "ball", "capability")
        }
        counts |= {
            f"relation:{label}": int(count)
            for label, count in zip(self.labels, (self.violations > 0).sum(axis=0), strict=True)
        }
        return {name: count for name, count in counts.items() if count}


@dataclass(frozen=True, eq=False)
class Checker:
    """The final check of rows under one preset. What an attacker knows has no part in it.

    Attributes
    ----------
    constraints
        As declared; the preset makes its own selection.
    scaler
        The way to scaled space, where the ball is.
    ball
        The budget.
    mask
        Shape ``(d,)``: the columns that the attacker may move.
    preset
        Says which families count, and how exactly.
    """

    constraints: Constraints
    scaler: Scaler
    ball: Ball
    mask: BoolArray
    preset: Preset

    def check(self, clean: FloatArray, rows: FloatArray) -> FeasibilityReport:
        """Check rows against their clean rows.

        Parameters
        ----------
        clean, rows
            Shape ``(n, d)``, in problem space. A row with a value that is not finite fails everything.

        Returns
        -------
        FeasibilityReport
            For the n rows.
        """
        schema, preset = self.constraints.schema, self.preset
        constraints = self.constraints.as_published() if preset.published_relations else self.constraints
        finite: BoolArray = np.all(np.isfinite(rows), axis=1)
        safe = np.where(finite[:, None], rows, clean)
        violations = constraints.violations(safe)
        blocks = None if preset.every_block else frozenset(self.constraints.catalogue.published_blocks)
        derived = np.zeros(schema.width, dtype=np.bool_)
        derived[[derivation.column for derivation in self.constraints.derivations]] = True
        families = {
            "bounds": within_bounds(schema, safe) & finite,
            "integers": whole_numbers(schema, safe) & finite,
            "one_hot": valid_blocks(schema, safe, preset.one_hot_tolerance, blocks) & finite,
            "relations": np.all(violations == 0, axis=1) & finite,
        }
        feasible: BoolArray = families["one_hot"] & families["relations"]
        if preset.checks_bounds:
            feasible &= families["bounds"]
        if preset.checks_integers:
            feasible &= families["integers"]
        fixed = ~self.mask & ~derived
        return FeasibilityReport(
            **families,
            ball=self.ball.contains(self.scaler.to_scaled(clean), self.scaler.to_scaled(safe)) & finite,
            capability=(safe[:, fixed] == clean[:, fixed]).all(axis=1) & finite,
            violations=violations,
            labels=constraints.labels,
            feasible=feasible,
        )


def within_bounds(schema: Schema, rows: FloatArray) -> BoolArray:
    """Tell of each row, shape ``(n, d)``, whether every value lies in the bounds of its column."""
    slack = BOUND_SLACK * np.maximum(1.0, np.abs(rows))
    within: BoolArray = np.all((rows >= schema.lower - slack) & (rows <= schema.upper + slack), axis=1)
    return within


def whole_numbers(schema: Schema, rows: FloatArray) -> BoolArray:
    """Tell of each row, shape ``(n, d)``, whether integer and binary columns hold whole numbers."""
    whole = rows[:, schema.integer]
    found: BoolArray = np.all(np.abs(whole - np.round(whole)) <= INTEGER_SLACK, axis=1)
    return found


def valid_blocks(
    schema: Schema, rows: FloatArray, tolerance: float, features: frozenset[str] | None = None
) -> BoolArray:
    """Tell of each row whether its one-hot blocks have one 1 and otherwise 0.

    Parameters
    ----------
    schema
        Of the rows.
    rows
        Shape ``(n, d)``.
    tolerance
        How far the sum of a block, and its largest entry, may be from 1.
    features
        The categories to look at; None for all of them.

    Returns
    -------
    BoolArray
        Shape ``(n,)``.
    """
    valid = np.ones(len(rows), dtype=np.bool_)
    for block in schema.blocks:
        if features is None or block.feature.name in features:
            values = rows[:, block.columns]
            off_sum = np.abs(values.sum(axis=1) - 1.0)
            off_peak = np.abs(values.max(axis=1) - 1.0)
            valid &= (off_sum <= tolerance) & (off_peak <= tolerance) & (values.min(axis=1) >= -tolerance)
    return valid
