"""Category switches in the order of what the gradient promises: a signed step never turns a one-hot block over.

The gain of a switch is, to first order, the difference of the gradient between the new value and the one in place.
That is a guess (a switch is no small step), so that the best guesses are tried, each together with the numeric step,
and only what the detector says counts.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.switch_options import SwitchOptions
from tabular_bench.schema import BoolArray, FloatArray, IntArray


class Switching:
    """Proposes switches, none of them twice for a row until it is told that the row has become another one.

    Parameters
    ----------
    context
        What the attack was given.
    trials
        How many single switches are tried with each step, at least 0. Where several are allowed at once, the best of
        them are tried together, too.
    """

    def __init__(self, context: AttackContext, trials: int) -> None:
        self._context = context
        self._options = SwitchOptions.of(context)
        self._trials = min(trials, len(self._options))
        starts = np.array([span.start for span in self._options.spans], dtype=np.int64)
        is_block = np.array([span.stop - span.start > 1 for span in self._options.spans], dtype=np.bool_)
        group, value = self._options.group, self._options.value
        # An option is in place where this column holds that value.
        self._column = starts[group] + np.where(is_block[group], value, 0)
        self._holds = np.where(is_block[group], 1.0, value)
        self._tried = np.zeros((len(context.rows), len(self._options)), dtype=np.bool_)
        self._tried_together = np.zeros(len(context.rows), dtype=np.bool_)

    def forget(self, of: IntArray) -> None:
        """Let every switch of these attacked rows, shape ``(m,)``, be tried again."""
        self._tried[of] = False
        self._tried_together[of] = False

    def propose(self, rows: FloatArray, gradients: FloatArray, of: IntArray) -> tuple[FloatArray, IntArray]:
        """Return variations of rows with other categories, the most promising first.

        Parameters
        ----------
        rows
            Shape ``(m, d)``, with whole categories.
        gradients
            Shape ``(m, d)``: of the loss, at about these rows.
        of
            Shape ``(m,)``: the attacked rows, each once.

        Returns
        -------
        tuple[FloatArray, IntArray]
            Shapes ``(p, d)`` and ``(p,)``: the variations, and which of `rows` each was made from.
        """
        if not self._trials:
            return rows[:0], np.zeros(0, dtype=np.int64)
        clean, every = self._context.rows[of], np.arange(len(rows))
        gains, undone = self._gains(rows, clean, gradients)
        gains[self._tried[of]] = -np.inf
        ranked = np.argsort(-gains, axis=1, kind="stable")
        found = [self._together(clean, rows, gradients, of)] if self._options.limit > 1 else []
        for rank in range(self._trials):
            option = ranked[:, rank]
            some = every[gains[every, option] > 0]
            self._tried[of[some], option[some]] = True
            result = self._back(rows[some], clean[some], undone[some, option[some]])
            found.append((self._taken(result, clean[some], option[some]), some))
        return np.concatenate([rows for rows, _ in found]), np.concatenate([some for _, some in found])

    def _gains(self, rows: FloatArray, clean: FloatArray, gradients: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the gain of each option, and the group that goes back for it or -1; both of shape ``(m, o)``.

        Nothing is gained by what is in place. With as many switches as allowed, the one that loses least goes back
        for another, and its loss comes off the gain; in a group that is switched already, that one is replaced.
        """
        group = self._options.group
        in_place, at_clean = self._contributions(rows, gradients), self._contributions(clean, gradients)
        switched = self._of_groups(rows != clean) > 0
        gains = self._holds * gradients[:, self._column] - in_place[:, group]
        losses = np.where(switched, in_place - at_clean, np.inf)
        full = switched.sum(axis=1, keepdims=True) >= self._options.limit
        adds = full & ~switched[:, group]
        gains = np.where(adds, gains - losses.min(axis=1, keepdims=True), gains)
        gains[rows[:, self._column] == self._holds] = -np.inf
        return gains, np.where(adds, losses.argmin(axis=1)[:, None], -1)

    def _together(
        self, clean: FloatArray, rows: FloatArray, gradients: FloatArray, of: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Return rows with the best switches that may be made at once, in place of those that they have."""
        gains = self._holds * gradients[:, self._column]
        gains -= self._contributions(clean, gradients)[:, self._options.group]
        firsts = np.flatnonzero(np.diff(self._options.group, prepend=-1))
        best = np.stack(
            [first + gains[:, first:last].argmax(axis=1) for first, last in pairwise([*firsts, len(self._options)])],
            axis=1,
        )
        best_gains = np.take_along_axis(gains, best, axis=1)
        ranked = np.argsort(-best_gains, axis=1, kind="stable")[:, : self._options.limit]
        result = rows.copy()
        for span in self._options.spans:
            result[:, span] = clean[:, span]
        for rank in range(ranked.shape[1]):
            chosen = ranked[:, rank]
            some = np.flatnonzero(np.take_along_axis(best_gains, chosen[:, None], axis=1)[:, 0] > 0)
            result[some] = self._taken(result[some], clean[some], best[some, chosen[some]])
        several = (self._of_groups(result != clean) > 0).sum(axis=1) > 1
        some = np.flatnonzero(several & (result != rows).any(axis=1) & ~self._tried_together[of])
        self._tried_together[of[some]] = True
        return result[some], some

    def _taken(self, rows: FloatArray, clean: FloatArray, option: IntArray) -> FloatArray:
        return self._options.chosen(rows, clean, option, self._context.rng)

    def _back(self, rows: FloatArray, clean: FloatArray, group: IntArray) -> FloatArray:
        """Return rows in which one group each, shape ``(m,)``, is the clean row's again; -1 is none."""
        for number, span in enumerate(self._options.spans):
            back = group == number
            rows[back, span] = clean[back, span]
        return rows

    def _contributions(self, rows: FloatArray, gradients: FloatArray) -> FloatArray:
        """Return what each group adds to the linearised loss, shape ``(m, groups)``."""
        return self._of_groups(rows * gradients)

    def _of_groups(self, values: FloatArray | BoolArray) -> FloatArray:
        """Sum values, shape ``(m, d)``, over the columns of each group; returns shape ``(m, groups)``."""
        return np.stack([values[:, span].sum(axis=1) for span in self._options.spans], axis=1).astype(np.float64)
