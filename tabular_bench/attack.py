"""The contract of an attack: it is given rows and everything it may know, and returns candidate rows. No more.

An attack never clips, never judges and never counts: `AttackContext.project` does the first, the counted detector
the others, and `run_attack` decides at the end what its rows are worth. A new attack is one class with one method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from tabular_bench.counting import CountedDetector
from tabular_bench.projection import Projection
from tabular_bench.schema import BoolArray, FloatArray, IntArray, Schema
from tabular_bench.threat import Access


@dataclass(frozen=True, eq=False)
class AttackContext:
    """What an attack is given. All arrays are in scaled space.

    Attributes
    ----------
    rows
        Shape ``(n, d)``: the clean rows. Not to be written to.
    targets
        Shape ``(n,)``: their true labels, 0 or 1; the attack wants each row classified as the other.
    detector
        Answers and counts.
    projection
        The projection that `project` applies.
    rng
        The only source of randomness.
    """

    rows: FloatArray
    targets: IntArray
    detector: CountedDetector
    projection: Projection
    rng: Generator

    @property
    def schema(self) -> Schema:
        """The columns, their blocks among them."""
        return self.projection.problem.schema

    @property
    def mask(self) -> BoolArray:
        """Shape ``(d,)``: the columns worth moving. Derived columns, where a projection computes them, are not."""
        mask = self.projection.mask.copy()
        if self.projection.protocol.projects:
            mask[[derivation.column for derivation in self.projection.constraints.derivations]] = False
        return mask

    @property
    def radius(self) -> FloatArray:
        """Shape ``(d,)``: how far each column may move; 0 outside the mask, 1 for columns that switch."""
        radius: FloatArray = np.where(self.mask, self.projection.ball.radius, 0.0)
        return radius

    @property
    def lower(self) -> FloatArray:
        """Shape ``(d,)``: the smallest value worth trying; may be infinite."""
        return self.projection.lower

    @property
    def upper(self) -> FloatArray:
        """Shape ``(d,)``: the largest value worth trying; may be infinite."""
        return self.projection.upper

    @property
    def all_rows(self) -> IntArray:
        """Every row number, ``0 .. n - 1``."""
        return np.arange(len(self.rows))

    def project(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Bring rows to where the protocol allows them; to be called after every step.

        Parameters
        ----------
        rows
            Shape ``(m, d)``, finite.
        of
            Shape ``(m,)``: the attacked row that each was made from; may repeat.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``.
        """
        return self.projection(rows, of)

    @property
    def penalty(self) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None:
        """The constraint loss and its gradient, or None where no relation enters the loop.

        Called with rows of shape ``(m, d)``, it returns the sum of normalised violations, shape ``(m,)``, and the
        gradient with respect to the scaled rows, shape ``(m, d)``.
        """
        if not self.projection.protocol.projects or not self.projection.constraints.relations:
            return None
        return self.projection.penalty

    def pull_back(self, rows: FloatArray, gradients: FloatArray) -> FloatArray:
        """Move gradients of derived columns to the columns that they follow from, by the chain rule.

        Parameters
        ----------
        rows
            Shape ``(m, d)``.
        gradients
            Shape ``(m, d)``: of anything, at `rows`.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``; 0 in derived columns. The argument itself where no column is derived in the loop.
        """
        if not self.projection.protocol.projects:
            return gradients
        return self.projection.pull_back(rows, gradients)


class Attack(Protocol):
    """Moves rows so that a detector misjudges them."""

    @property
    def access(self) -> Access:
        """The least that the attack has to be given: gradients, scores or decisions."""
        ...

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return a candidate for each row.

        Parameters
        ----------
        context
            What the attack may know and use.

        Returns
        -------
        FloatArray
            Shape ``(n, d)``, in scaled space, finite: the best that was found for each of `AttackContext.rows`, or
            the row itself.
        """
        ...
