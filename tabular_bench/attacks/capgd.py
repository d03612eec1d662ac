"""CAPGD: gradient steps that adapt, with momentum, restarts and a constraint loss.

After Simonetto et al., "Towards Adaptive Attacks on Constrained Tabular Machine Learning" (2024), and APGD by Croce and
Hein (2020), whose checkpoints decide when a step is halved. The deliberate differences:

* the constraint loss is normalised by the spread of clean rows, relation by relation. In raw units a violation of ten
  dollars decides the sign of every component;
* every iterate is repaired, so that relations hold there and the constraint loss has no slope; it is taken where the
  step led before the repair, and turns the next step away from where repair would only take it back;
* of the iterates that are taken for wrong the first that satisfies the relations is kept, not the last of all;
* rows that are done leave the batch, and only the others start again;
* the ball is not made smaller for rounding, which the projection sees to: the margin only shortens the first step;
* categories switch as wholes (`tabular_bench.attacks.switching`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.moves import Moves
from tabular_bench.attacks.search import Search
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.threat import Access

_MOMENTUM: Final = 0.75
_ENOUGH: Final = 0.75  # share of a window's steps that have to improve a row for its step to stay as long as it is


@dataclass(frozen=True, slots=True)
class Capgd:
    """Gradient steps that adapt.

    Attributes
    ----------
    steps
        At least 1, of each run.
    restarts
        How often rows that are not done start again from a random point, at least 0. The first start is the clean row.
    margin
        The first step is ``2 * epsilon * (1 - margin)`` long; in [0, 1).
    switch_trials
        How many single category switches are tried with each step, at least 0.
    """

    steps: int = 10
    restarts: int = 1
    margin: float = 0.05
    switch_trials: int = 2

    def __post_init__(self) -> None:
        if self.steps < 1 or self.restarts < 0 or not 0 <= self.margin < 1 or self.switch_trials < 0:
            raise ValueError(
                f"expected steps >= 1, restarts and switch_trials >= 0, and a margin in [0, 1), found {self}"
            )

    @property
    def access(self) -> Access:
        """Gradients."""
        return "gradient"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return the first row that is done, or else the best, of each row's runs."""
        search, moves = Search(context, self.switch_trials), Moves(context)
        for start in range(1 + self.restarts):
            of = search.begin()
            if not of.size:
                break
            rows = context.rows.copy()
            if start:
                rows[of] = moves.random(of, on_surface=True)
            costs = np.full(len(rows), np.inf) if start else search.costs.copy()
            _Run(context, search, moves, rows, costs, 2.0 * (1.0 - self.margin)).go(self.steps)
        return search.best


def checkpoints(steps: int) -> list[int]:
    """Return after how many steps each row's progress is looked at.

    Parameters
    ----------
    steps
        Of a run, at least 1.
    """
    window, least, shrinkage = (max(share * steps // 100, 1) for share in (22, 6, 3))
    found, last = [], 0
    while last + window <= steps:
        last += window
        found.append(last)
        window = max(window - shrinkage, least)
    return found


class _Run:
    """One run of every row that is not done; all arrays have an entry for each attacked row.

    `going` is where a row steps from and `reached` where its last step led before it was projected.
    """

    def __init__(
        self,
        context: AttackContext,
        search: Search,
        moves: Moves,
        rows: FloatArray,
        costs: FloatArray,
        length: float,
    ) -> None:
        self._context, self._search, self._moves = context, search, moves
        self.rows, self.going, self.before, self.reached = rows, rows.copy(), rows.copy(), rows.copy()
        self.costs, self.length = costs, np.full(len(rows), length)
        self.best_rows, self.best_going, self.best_reached = rows.copy(), rows.copy(), rows.copy()
        self.best_costs = costs.copy()
        self.improvements = np.zeros(len(rows), dtype=np.int64)
        self.costs_at_checkpoint, self.is_halved = costs.copy(), np.zeros(len(rows), dtype=np.bool_)

    def go(self, steps: int) -> None:
        looks, last = set(checkpoints(steps)), 0
        for step in range(1, steps + 1):
            of = self._search.active()
            if not of.size:
                return
            self._step(of, 1.0 if step == 1 else _MOMENTUM)
            if step in looks:
                self._adapt(of, step - last)
                last = step

    def _step(self, of: IntArray, pull: float) -> None:
        moves, here = self._moves, self.going[of]
        gradients = self._search.gradients(self.rows[of], of) - self._penalty_gradients(self.reached[of])
        ahead = moves.clip(here + self.length[of, None] * moves.direction(gradients), of)
        reached = here + pull * (ahead - here) + (1.0 - pull) * (here - self.before[of])
        # Momentum is for numbers; what it makes of categories is none.
        reached = moves.clip(np.where(moves.numeric, reached, here), of)
        step = self._search.advance(reached, gradients, of)
        self.improvements[of] += step.costs < self.costs[of]
        self.before[of], self.going[of], self.rows[of] = here, step.going, step.rows
        self.reached[of], self.costs[of] = step.reached, step.costs
        better = of[step.costs < self.best_costs[of]]
        self.best_rows[better], self.best_going[better] = self.rows[better], self.going[better]
        self.best_reached[better], self.best_costs[better] = self.reached[better], self.costs[better]

    def _adapt(self, of: IntArray, window: int) -> None:
        """Halve the step of rows that make no progress, and take them back to their best point."""
        stuck = self.improvements[of] <= _ENOUGH * window
        stuck |= ~self.is_halved[of] & (self.best_costs[of] >= self.costs_at_checkpoint[of])
        back = of[stuck]
        self.length[back] /= 2.0
        self.rows[back], self.going[back], self.before[back] = (
            self.best_rows[back],
            self.best_going[back],
            self.best_going[back],
        )
        self.reached[back], self.costs[back] = self.best_reached[back], self.best_costs[back]
        self.is_halved[of] = stuck
        self.improvements[of] = 0
        self.costs_at_checkpoint[of] = self.best_costs[of]

    def _penalty_gradients(self, reached: FloatArray) -> FloatArray:
        """Return the gradient of the constraint loss where steps led, derived columns as they follow from there."""
        context = self._context
        if context.penalty is None:
            return np.zeros_like(reached)
        problem = context.projection.problem
        implied = context.projection.constraints.derive(problem.scaler.to_problem(reached))
        scaled = problem.scaler.to_scaled(implied)
        return np.nan_to_num(context.pull_back(scaled, context.penalty(scaled)[1]), nan=0.0, posinf=0.0, neginf=0.0)
