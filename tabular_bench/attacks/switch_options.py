"""Whole category switches, for attacks that cannot see which of them would help."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from tabular_bench.attack import AttackContext
from tabular_bench.schema import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SwitchOptions:
    """Every switch that an attacker may make: each value of each category or binary column that can be moved.

    There is none where discrete columns lie in the ball like any other, or where no switch is allowed.

    Attributes
    ----------
    spans
        The matrix columns of each group: one-hot blocks and single binary columns.
    group, value
        Shape ``(o,)``: option number to the number of its span, and to the value that it sets: the entry of a block
        that becomes 1, or 0 or 1.
    limit
        How many groups of a row may differ from the clean row.
    """

    spans: tuple[slice, ...]
    group: IntArray
    value: IntArray
    limit: int

    @classmethod
    def of(cls, context: AttackContext) -> SwitchOptions:
        """List the options of an attack.

        Parameters
        ----------
        context
            What the attack was given.
        """
        ball, schema = context.projection.ball, context.schema
        limit = ball.budget.max_switches if ball.switches else 0
        free = context.mask if limit else np.zeros(schema.width, dtype=np.bool_)
        spans = [block.columns for block in schema.blocks if free[block.start]]
        binary = np.flatnonzero(free & schema.discrete & ~schema.one_hot)
        spans += [slice(column, column + 1) for column in binary]
        sizes = np.array([max(span.stop - span.start, 2) for span in spans], dtype=np.int64)
        group = np.repeat(np.arange(len(spans)), sizes)
        value = np.concatenate([np.arange(0), *(np.arange(size) for size in sizes)])
        return cls(tuple(spans), group, value, limit)

    def __len__(self) -> int:
        return len(self.group)

    def chosen(self, rows: FloatArray, clean: FloatArray, options: IntArray, rng: Generator) -> FloatArray:
        """Return rows in which one option each has been taken.

        Where that would be a switch too many, another switch of the row, drawn at random, is undone for it.

        Parameters
        ----------
        rows
            Shape ``(m, d)``, in scaled space, with at most `limit` switches each. Not changed.
        clean
            Shape ``(m, d)``: what they were made from.
        options
            Shape ``(m,)``.
        rng
            Draws what is undone.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``.
        """
        result = rows.copy()
        every, groups = np.arange(len(rows)), self.group[options]
        switched = np.stack([(rows[:, span] != clean[:, span]).any(axis=1) for span in self.spans], axis=1)
        switched[every, groups] = False
        undone = np.where(switched, rng.random(switched.shape), -1.0).argmax(axis=1)
        too_many = switched.sum(axis=1) >= self.limit
        for number, span in enumerate(self.spans):
            back = too_many & (undone == number)
            result[back, span] = clean[back, span]
            taken = np.flatnonzero(groups == number)
            if span.stop - span.start == 1:
                result[taken, span.start] = self.value[options[taken]]
            else:
                result[taken, span] = 0.0
                result[taken, span.start + self.value[options[taken]]] = 1.0
        return result
