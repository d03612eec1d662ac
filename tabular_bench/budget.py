"""How far an attack may go: the epsilon ball, category switches, and questions to the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabular_bench.schema import BoolArray, FloatArray, IntArray, Schema

Norm = Literal["linf", "l2"]

# Room for the float round trip between the spaces; relative to epsilon, far below any tolerance that matters.
BALL_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Budget:
    """What an attack may spend on one row.

    Attributes
    ----------
    epsilon
        Radius of the ball in scaled space, finite and at least 0.
    norm
        ``linf``: every covered column moves by at most `epsilon`; ``l2``: all of them together.
    max_switches
        How many categories and binary columns may change their value, where the protocol lets them switch.
    max_queries
        How many times the detector may score (or judge, or differentiate) on behalf of one row; None is no limit.
    """

    epsilon: float = 0.1
    norm: Norm = "linf"
    max_switches: int = 1
    max_queries: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ValueError(f"expected a finite epsilon of at least 0, found {self.epsilon}")
        if self.norm not in ("linf", "l2"):
            raise ValueError(f"expected the norm linf or l2, found {self.norm!r}")
        if self.max_switches < 0 or (self.max_queries is not None and self.max_queries < 0):
            raise ValueError(
                f"expected max_switches and max_queries of at least 0, found {self.max_switches}, {self.max_queries}"
            )


@dataclass(frozen=True, eq=False)
class Ball:
    """The set of rows within a budget of their clean rows, in scaled space.

    Attributes
    ----------
    schema
        Of the rows.
    budget
        Radius, norm, number of switches.
    switches
        Whether discrete columns leave the ball and switch instead, at most `Budget.max_switches` a row. Otherwise
        the ball covers them like any other column, and fractions are within it.
    """

    schema: Schema
    budget: Budget
    switches: bool

    @property
    def covered(self) -> BoolArray:
        """The columns that the ball covers, shape ``(d,)``; derived columns are always among them."""
        return ~self.schema.discrete if self.switches else np.ones(self.schema.width, dtype=np.bool_)

    @property
    def radius(self) -> FloatArray:
        """How far each column may move in scaled space, shape ``(d,)``; 1 for discrete columns that switch."""
        free = 1.0 if self.budget.max_switches else 0.0
        return np.where(self.covered, self.budget.epsilon, free)

    def clip(self, clean: FloatArray, rows: FloatArray) -> FloatArray:
        """Project the covered columns of scaled rows onto the ball around `clean`; both of shape ``(n, d)``."""
        free = np.flatnonzero(~self.covered)
        delta: FloatArray = rows - clean
        delta[:, free] = 0.0
        if self.budget.norm == "linf":
            np.clip(delta, -self.budget.epsilon, self.budget.epsilon, out=delta)
        else:
            length = np.linalg.norm(delta, axis=1, keepdims=True)
            delta *= np.minimum(1.0, self.budget.epsilon / np.maximum(length, 1e-300))
        delta += clean
        delta[:, free] = rows[:, free]
        return delta

    def count_switches(self, clean: FloatArray, rows: FloatArray) -> IntArray:
        """Count the categories and binary columns whose value differs from the clean row's, shape ``(n,)``."""
        count = np.zeros(len(rows), dtype=np.int64)
        for block in self.schema.blocks:
            count += rows[:, block.columns].argmax(axis=1) != clean[:, block.columns].argmax(axis=1)
        binary = self.schema.discrete & ~self.schema.one_hot
        count += ((rows[:, binary] >= 0.5) != (clean[:, binary] >= 0.5)).sum(axis=1)
        return count

    def contains(self, clean: FloatArray, rows: FloatArray) -> BoolArray:
        """Tell of each scaled row, shape ``(n, d)``, whether it lies within the budget of its clean row."""
        moved = np.where(self.covered, rows - clean, 0.0)
        if self.budget.norm == "linf":
            distance = np.abs(moved).max(axis=1, initial=0.0)
        else:
            distance = np.linalg.norm(moved, axis=1)
        within: BoolArray = distance <= self.budget.epsilon * (1 + BALL_SLACK) + 1e-9
        if self.switches:
            within &= self.count_switches(clean, rows) <= self.budget.max_switches
        return within
