"""The projection of a protocol: what an attack applies after each step, and `run_attack` once more at the end.

Under A and B it is the ball alone; under C1 and C2 the constraints are in it, under C2 the mask, too. An attack calls
it without knowing which of them it is working under.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tabular_bench.budget import Ball, Budget
from tabular_bench.constraints.catalogue import Catalogue, Constraints
from tabular_bench.constraints.feasibility import INTEGER_SLACK
from tabular_bench.constraints.repair import Repair
from tabular_bench.problem import Problem
from tabular_bench.protocol import Protocol
from tabular_bench.schema import BoolArray, FloatArray, IntArray
from tabular_bench.threat import ThreatModel


@dataclass(frozen=True, eq=False)
class Projection:
    """Projects scaled rows around their clean rows.

    Attributes
    ----------
    problem
        Columns, relations, spaces.
    protocol, budget, threat
        What enters. The threat model matters for what the attacker does not know.
    clean
        Shape ``(n, d)``: the attacked rows in problem space.
    """

    problem: Problem
    protocol: Protocol
    budget: Budget
    threat: ThreatModel
    clean: FloatArray
    clean_scaled: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clean_scaled", self.problem.scaler.to_scaled(self.clean))

    @cached_property
    def ball(self) -> Ball:
        """The budget's ball under this protocol."""
        return self.protocol.ball(self.problem.schema, self.budget)

    @cached_property
    def mask(self) -> BoolArray:
        """The columns that may move, as far as the attacker knows; shape ``(d,)``."""
        if not self.threat.knows_mask:
            return np.ones(self.problem.schema.width, dtype=np.bool_)
        return self.protocol.mask(self.problem.schema)

    @cached_property
    def constraints(self) -> Constraints:
        """The relations that the projection knows."""
        constraints = self.problem.constraints
        if not self.threat.knows_relations:
            return Constraints(constraints.schema, Catalogue((), constraints.catalogue.published_blocks))
        return constraints.as_published() if self.protocol.preset.published_relations else constraints

    @cached_property
    def _repair(self) -> Repair:
        return Repair(self.constraints, self.problem.scaler, self.ball, self.mask)

    @cached_property
    def lower(self) -> FloatArray:
        """The smallest value that an attack should try in each column, in scaled space; may be infinite."""
        return self._edge(self.problem.schema.lower, self.problem.scaler.lowest, -np.inf)

    @cached_property
    def upper(self) -> FloatArray:
        """The largest value that an attack should try in each column, in scaled space; may be infinite."""
        return self._edge(self.problem.schema.upper, self.problem.scaler.highest, np.inf)

    def _edge(self, declared: FloatArray, trained: FloatArray, none: float) -> FloatArray:
        if self.protocol.preset.clips_to_training_range:
            return self.problem.scaler.to_scaled(trained)
        if not self.protocol.projects:
            return np.full(declared.shape, none)
        return self.problem.scaler.to_scaled(declared)

    def __call__(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Project scaled rows.

        Parameters
        ----------
        rows
            Shape ``(m, d)``, in scaled space, finite.
        of
            Shape ``(m,)``: the attacked row that each was made from.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``, in scaled space.
        """
        if self.protocol.projects and self.protocol.preset.repairs:
            clean = self.clean[of]
            repaired = self._repair(clean, self.to_problem(rows, of)).rows
            return np.where(repaired == clean, self.clean_scaled[of], self.problem.scaler.to_scaled(repaired))
        clean = self.clean_scaled[of]
        moved = rows if self.mask.all() else np.where(self.mask, rows, clean)
        moved = self.ball.clip(clean, moved)
        if self.protocol.preset.clips_to_training_range:
            moved = np.clip(moved, self.lower, self.upper)
        return self._overwrite(moved) if self.protocol.projects else moved

    def to_problem(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Map scaled rows to problem space so that what did not move is the clean value, bit for bit.

        Parameters
        ----------
        rows
            Shape ``(m, d)``, in scaled space.
        of
            Shape ``(m,)``: the attacked row that each was made from.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``. Whole numbers that the way through scaled space has blurred are whole again.
        """
        problem = self.problem.scaler.to_problem(rows)
        nearest = np.round(problem)
        slack = np.minimum(INTEGER_SLACK, 1e-9 * np.maximum(1.0, np.abs(problem)))
        blurred = self.problem.schema.integer & (np.abs(problem - nearest) <= slack)
        problem = np.where(blurred, nearest, problem)
        return np.where(rows == self.clean_scaled[of], self.clean[of], problem)

    def _overwrite(self, rows: FloatArray) -> FloatArray:
        """Harden the checked blocks, then overwrite derived columns, last and wherever that leads."""
        problem = self.problem.scaler.to_problem(rows)
        checked = set(self.constraints.catalogue.published_blocks)
        for block in self.problem.schema.blocks:
            if block.feature.name in checked:
                part = problem[:, block.columns]
                problem[:, block.columns] = np.eye(part.shape[1])[part.argmax(axis=1)]
        return self.problem.scaler.to_scaled(self.constraints.derive(problem))

    def penalty(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum of normalised violations of scaled rows, shape ``(m,)``, and its gradient, ``(m, d)``."""
        tensor, problem = self._differentiable(rows)
        loss = self.constraints.violations(problem, normalised=True).sum(dim=1)
        loss.sum().backward()
        return loss.detach().numpy(), _finite(tensor.grad.numpy())

    def pull_back(self, rows: FloatArray, gradients: FloatArray) -> FloatArray:
        """Move gradients of derived columns to their sources; see `AttackContext.pull_back`."""
        derived = [derivation.column for derivation in self.constraints.derivations]
        if not derived:
            return gradients
        tensor, problem = self._differentiable(rows)
        scale = self.problem.scaler.scale
        implied = self.constraints.derive(problem)
        # d loss / d problem-space value, at the derived values as they will be.
        implied.backward(implied.new_tensor(gradients / scale))
        return _finite(tensor.grad.numpy())

    def _differentiable(self, rows: FloatArray) -> tuple[Any, Any]:
        """Return scaled rows as a torch leaf, and the problem-space rows that depend on it."""
        import torch

        tensor = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
        scale, shift = (torch.tensor(vector) for vector in (self.problem.scaler.scale, self.problem.scaler.shift))
        return tensor, tensor * scale + shift

    def knowing_all(self) -> Projection:
        """Return the projection with the true mask, which no ignorance of the attacker's takes away."""
        return replace(self, threat=replace(self.threat, knows_mask=True))


def _finite(gradients: FloatArray) -> FloatArray:
    """Take slopes out that have left the range of numbers, as they may where a derived column is hardly defined."""
    return np.nan_to_num(gradients, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
