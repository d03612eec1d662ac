"""Trials of gradient attacks: projected, asked about, and the best of each row kept.

A row is *done* once it is classified wrongly and satisfies the relations; it is then not asked about any more. What a
row is worth is its `cost`: the logit of its score, signed so that less is more wrong, plus the constraint loss. Logits
and not scores, for where a model is very sure, scores hardly differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.switching import Switching
from tabular_bench.schema import BoolArray, FloatArray, IntArray

_WEIGHT = 1e3  # of the constraint loss: no gain in logits makes up for a broken relation
_QUESTIONS_A_STEP = 2  # one gradient, and at least one score


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where m rows are.

    Attributes
    ----------
    reached
        Shape ``(m, d)``: where the last step led, before the projection.
    rows
        Shape ``(m, d)``: after it.
    going
        Shape ``(m, d)``: from where to go on: `rows`, but with whole numbers as they were before rounding, since many
        small steps would otherwise never add up to one.
    costs
        Shape ``(m,)``: what the rows are worth; infinite for one that was not asked about.
    """

    reached: FloatArray
    rows: FloatArray
    going: FloatArray
    costs: FloatArray

    @classmethod
    def start(cls, rows: FloatArray, costs: FloatArray) -> Place:
        """Return a place that no step has led to; arrays are copied."""
        return cls(rows.copy(), rows.copy(), rows.copy(), costs.copy())

    def at(self, of: IntArray) -> Place:
        """Return the place of some rows."""
        return Place(self.reached[of], self.rows[of], self.going[of], self.costs[of])

    def put(self, of: IntArray, place: Place) -> None:
        """Move some rows to another place."""
        self.reached[of], self.rows[of], self.going[of] = place.reached, place.rows, place.going
        self.costs[of] = place.costs


class Search:
    """Keeps the best row that was found for each attacked row.

    Parameters
    ----------
    context
        What the attack was given.
    switch_trials
        As in `Switching`.

    Attributes
    ----------
    best
        Shape ``(n, d)``: a row that is done, or else the one of least cost.
    costs
        Shape ``(n,)``: of `best`; infinite for rows that must not be asked about at all.
    """

    def __init__(self, context: AttackContext, switch_trials: int) -> None:
        self._context = context
        self._switching = Switching(context, switch_trials)
        self._integers = np.flatnonzero(context.schema.integer & ~context.schema.discrete)
        self._is_done = np.zeros(len(context.rows), dtype=np.bool_)
        self.best = context.rows.copy()
        self.costs = np.full(len(self.best), np.inf)
        asked = context.all_rows[context.detector.left(context.all_rows) > 0]
        self._ask(self.best[asked], asked)

    def begin(self) -> IntArray:
        """Return what `active` does, at the start of a run, in which every switch may be tried again."""
        self._switching.forget(self._context.all_rows)
        return self.active()

    def active(self) -> IntArray:
        """Return the rows that are not done and can still be asked about."""
        every = self._context.all_rows
        return every[~self._is_done & (self._context.detector.left(every) >= _QUESTIONS_A_STEP)]

    def gradients(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Return the gradients of the loss with respect to the columns that can be moved, shape ``(m, d)``; counted.

        Parameters
        ----------
        rows, of
            Shapes ``(m, d)`` and ``(m,)``.
        """
        return self._context.pull_back(rows, self._context.detector.gradients(rows, of))

    def advance(self, reached: FloatArray, gradients: FloatArray, of: IntArray) -> Place:
        """Try where a step led, as it is and with other categories, and go on from the best of these.

        Parameters
        ----------
        reached
            Shape ``(m, d)``, with whole categories.
        gradients
            Shape ``(m, d)``: what `gradients` returned for the step.
        of
            Shape ``(m,)``: the attacked rows, each once, all `active`.

        Returns
        -------
        Place
            Of the m rows.
        """
        numbers = np.arange(len(of))
        plain = self._context.project(reached, of)
        varied, sources = self._switching.propose(reached, gradients, of)
        if not len(varied):
            return Place(reached, plain, self._going(reached, plain), self._ask(plain, of))
        projected = self._context.project(varied, of[sources])
        # A switch that the projection has undone is no trial.
        differs = (projected != plain[sources]).any(axis=1)
        every = np.concatenate([reached, varied[differs]])
        tried = np.concatenate([plain, projected[differs]])
        sources = np.concatenate([numbers, sources[differs]])
        affordable = np.flatnonzero(_rank_within(sources) < self._context.detector.left(of)[sources])
        costs = np.full(len(tried), np.inf)
        costs[affordable] = self._ask(tried[affordable], of[sources[affordable]])
        chosen = _leaders(sources, costs)
        self._switching.forget(of[chosen >= len(of)])
        return Place(every[chosen], tried[chosen], self._going(every[chosen], tried[chosen]), costs[chosen])

    def _going(self, reached: FloatArray, rows: FloatArray) -> FloatArray:
        columns = self._integers
        if not self._context.projection.protocol.projects or not columns.size:
            return rows
        going = rows.copy()
        scale = self._context.projection.problem.scaler.scale[columns]
        before, after = reached[:, columns], rows[:, columns]
        going[:, columns] = np.where(np.abs(before - after) * scale < 1.0, before, after)
        return going

    def _ask(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Score rows, keep those that are better than what was best, and return their costs."""
        detector = self._context.detector
        scores = detector.scores(rows, of)
        violation = self._violations(rows, of)
        costs = self._logits(scores, of) + _WEIGHT * violation
        succeeds = detector.wrong(scores, of) & (violation == 0)
        leading = _leaders(of, costs, ~succeeds)
        row = of[leading]
        better = np.where(succeeds[leading], ~self._is_done[row], costs[leading] < self.costs[row])
        kept = leading[better]
        self.best[of[kept]], self.costs[of[kept]] = rows[kept], costs[kept]
        self._is_done[of[kept]] = succeeds[kept]
        return costs

    def _violations(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Return the constraint loss, shape ``(m,)``; at a fraction of what it costs together with its gradient."""
        if self._context.penalty is None:
            return np.zeros(len(rows))
        projection = self._context.projection
        found = projection.constraints.violations(projection.to_problem(rows, of), normalised=True)
        loss: FloatArray = found.sum(axis=1)
        return loss

    def _logits(self, scores: FloatArray, of: IntArray) -> FloatArray:
        logits = np.log(np.maximum(scores, 1e-300)) - np.log(np.maximum(1.0 - scores, 1e-17))
        return np.where(self._context.targets[of] == 1, logits, -logits)


def _leaders(of: IntArray, *keys: FloatArray | BoolArray) -> IntArray:
    """Return for each number in `of`, in order, where it has the least keys, the last key first; the first on a tie."""
    order = np.lexsort((*keys, of))
    return order[np.diff(of[order], prepend=-1) > 0]


def _rank_within(of: IntArray) -> IntArray:
    """Tell of each entry how many entries before it have the same number."""
    order = np.argsort(of, kind="stable")
    is_first = np.diff(of[order], prepend=-1) > 0
    start = np.maximum.accumulate(np.where(is_first, np.arange(len(of)), 0))
    ranks = np.empty(len(of), dtype=np.int64)
    ranks[order] = np.arange(len(of)) - start
    return ranks
