"""CAPGD: gradient steps that adapt, with momentum, restarts and a constraint loss.

After Simonetto et al., "Towards Adaptive Attacks on Constrained Tabular Machine Learning" (2024), and APGD by Croce and
Hein (2020), whose checkpoints decide when a step is halved. The deliberate differences:

* the constraint loss is normalised by the spread of clean rows, relation by relation: in raw units a violation of ten
  dollars decides the sign of every component;
* every iterate is repaired, so that relations hold there and the constraint loss has no slope. It is taken where the
  step led before the repair, and turns the next step along the relations that the last one broke: without it, repair
  would take back what the next step does, too;
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
from tabular_bench.attacks.search import Place, Search
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.threat import Access

_MOMENTUM: Final = 0.75
_TINY: Final = 1e-300
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
    switch_trials: int = 4

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
            rows, costs = context.rows.copy(), search.costs
            if start:
                rows[of], costs = moves.random(of, on_surface=True), np.full(len(rows), np.inf)
            run = _Run(context, search, moves, Place.start(rows, costs), 2.0 * (1.0 - self.margin))
            run.go(self.steps)
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
    """One run of every row that is not done; all arrays have an entry for each attacked row."""

    def __init__(self, context: AttackContext, search: Search, moves: Moves, start: Place, length: float) -> None:
        self._context, self._search, self._moves = context, search, moves
        self._now, self._best = start, Place.start(start.rows, start.costs)
        self._before = start.going.copy()
        self._lengths = np.full(len(start.rows), length)
        self._improvements = np.zeros(len(start.rows), dtype=np.int64)
        self._costs_at_checkpoint = start.costs.copy()
        self._is_halved = np.zeros(len(start.rows), dtype=np.bool_)

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
        moves, now, best = self._moves, self._now, self._best
        here = now.going[of]
        gradients = self._search.gradients(now.rows[of], of)
        gradients = gradients - self._constraint_gradients(now.reached[of], gradients)
        ahead = moves.clip(here + self._lengths[of, None] * moves.direction(gradients, here), of)
        reached = here + pull * (ahead - here) + (1.0 - pull) * (here - self._before[of])
        # Momentum is for numbers; what it makes of categories is none.
        reached = moves.clip(np.where(moves.numeric, reached, here), of)
        place = self._search.advance(reached, gradients, of)
        self._improvements[of] += place.costs < now.costs[of]
        self._before[of] = here
        now.put(of, place)
        # No worse will do: where a score is as good as 1, going on is the only way to find out where it gives way.
        good = of[place.costs <= best.costs[of]]
        best.put(good, now.at(good))

    def _adapt(self, of: IntArray, window: int) -> None:
        """Halve the step of rows that make no progress, and take them back to their best point."""
        now, best = self._now, self._best
        is_stuck = self._improvements[of] <= _ENOUGH * window
        is_stuck |= ~self._is_halved[of] & (best.costs[of] >= self._costs_at_checkpoint[of])
        stuck = of[is_stuck]
        self._lengths[stuck] /= 2.0
        now.put(stuck, best.at(stuck))
        self._before[stuck] = best.going[stuck]
        self._is_halved[of] = is_stuck
        self._improvements[of] = 0
        self._costs_at_checkpoint[of] = best.costs[of]

    def _constraint_gradients(self, reached: FloatArray, gradients: FloatArray) -> FloatArray:
        """Return the gradient of the constraint loss where steps led, derived columns as they follow from there.

        Its weight is the one with which the detector's gradient, less this one, runs along the broken relations and
        not against them: a fixed weight would be too little for a steep detector and too much for a flat one.
        """
        context, weighted = self._context, np.zeros_like(reached)
        if context.penalty is None:
            return weighted
        scaler, constraints = context.projection.problem.scaler, context.projection.constraints
        implied = constraints.derive(scaler.to_problem(reached))
        broken = np.flatnonzero(~constraints.holds(implied))
        if not broken.size:
            return weighted
        there = scaler.to_scaled(implied[broken])
        found = np.where(self._moves.numeric, context.pull_back(there, context.penalty(there)[1]), 0.0)
        # The square of a very large or very small slope is not a number that can be used.
        found /= np.maximum(np.abs(found).max(axis=1, keepdims=True, initial=0.0), _TINY)
        against = np.maximum((found * gradients[broken]).sum(axis=1, keepdims=True), 0.0)
        weighted[broken] = found * against / np.maximum((found * found).sum(axis=1, keepdims=True), _TINY)
        return weighted
