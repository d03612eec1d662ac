"""`repair`: the projection of rows into budget and feasible set, which says of each row whether it got there.

A row that is there already is returned as it is. Otherwise:

1. columns outside the mask go back to their clean value; derived columns will follow their sources;
2. each one-hot block becomes the vertex of its largest entry (the first on a tie) and each binary column the nearer
   value; where more of them changed than the budget allows, the least decided ones go back;
3. numeric columns are clipped into ball and bounds, integer columns rounded within them;
4. derived columns are computed, unless no source moved, for then they stay as they were;
5. where a relation fails or a derived column has left ball or bounds, the columns that these relations tie together
   (and no others) go back towards their clean values as little as bisection finds necessary; if that is not enough,
   the switches among them are undone first.

Step 5 ends at the clean row at the latest, so every row whose clean row is feasible is repaired. Columns that no
failing relation touches keep their whole perturbation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabular_bench.budget import BALL_SLACK, Ball
from tabular_bench.constraints.catalogue import Constraints
from tabular_bench.constraints.feasibility import (
    BOUND_SLACK,
    INTEGER_SLACK,
    valid_blocks,
    whole_numbers,
    within_bounds,
)
from tabular_bench.scaling import Scaler
from tabular_bench.schema import BoolArray, FloatArray, IntArray

_BISECTIONS = 10  # to a thousandth of the perturbation


@dataclass(frozen=True, eq=False)
class RepairResult:
    """Rows after repair.

    Attributes
    ----------
    rows
        Shape ``(n, d)``, in problem space.
    repaired
        Shape ``(n,)``: whether the row is in budget and feasible set. Where not, its clean row is not either.
    """

    rows: FloatArray
    repaired: BoolArray


@dataclass(frozen=True)
class Repair:
    """Projects rows into budget and feasible set.

    Attributes
    ----------
    constraints
        The relations that the result satisfies.
    scaler
        The way to scaled space, where the ball is.
    ball
        The budget.
    mask
        Shape ``(d,)``: the columns that may move.
    """

    constraints: Constraints
    scaler: Scaler
    ball: Ball
    mask: BoolArray

    def __call__(self, clean: FloatArray, rows: FloatArray) -> RepairResult:
        """Repair rows.

        Parameters
        ----------
        clean, rows
            Shape ``(n, d)``, in problem space, finite; row i of `rows` was made from row i of `clean`.

        Returns
        -------
        RepairResult
            New rows; the arguments are not changed.
        """
        settled = self._is_settled(clean, rows)
        result = rows.copy()
        todo = np.flatnonzero(~settled)
        if todo.size:
            start = self._to_box(clean[todo], rows[todo])
            result[todo] = self._pull_back(clean[todo], start)
            settled[todo] = self._is_settled(clean[todo], result[todo])
        return RepairResult(result, settled)

    def _is_settled(self, clean: FloatArray, rows: FloatArray) -> BoolArray:
        """Tell of each row whether it is where it should be; what fails an early test is spared the later ones."""
        schema, fixed = self.constraints.schema, ~self.mask & ~self._derived
        settled: BoolArray = np.all(rows[:, fixed] == clean[:, fixed], axis=1)
        tests: tuple[Callable[[FloatArray, FloatArray], BoolArray], ...] = (
            lambda _, rows: valid_blocks(schema, rows, 0.0) & whole_numbers(schema, rows),
            lambda _, rows: within_bounds(schema, rows),
            lambda clean, rows: self.ball.contains(self.scaler.to_scaled(clean), self.scaler.to_scaled(rows)),
            lambda _, rows: self.constraints.holds(rows),
        )
        for test in tests:
            left = np.flatnonzero(settled)
            settled[left] = test(clean[left], rows[left])
        return settled

    @cached_property
    def _derived(self) -> BoolArray:
        derived = np.zeros(self.constraints.schema.width, dtype=np.bool_)
        derived[[derivation.column for derivation in self.constraints.derivations]] = True
        return derived

    @cached_property
    def _groups(self) -> list[IntArray]:
        """Columns that go back together. In an L2 ball every column shares the budget, so all of them do."""
        if self.ball.budget.norm == "l2":
            return [np.arange(self.constraints.schema.width)]
        return [np.array(sorted(group)) for group in self.constraints.groups]

    @cached_property
    def _tied(self) -> IntArray:
        """The columns of all groups, shape ``(t,)``."""
        return np.concatenate([*self._groups, np.zeros(0, dtype=np.int64)])

    @cached_property
    def _group_of(self) -> IntArray:
        """The group of each tied column, shape ``(t,)``."""
        return np.repeat(np.arange(len(self._groups)), [len(group) for group in self._groups])

    @cached_property
    def _group_of_relation(self) -> IntArray:
        """The group that each relation lies in."""
        members = [frozenset(group.tolist()) for group in self._groups]
        columns = self.constraints.columns
        return np.array(
            [next(number for number, group in enumerate(members) if group & found) for found in columns], dtype=np.int64
        )

    # Steps 1 to 3

    def _to_box(self, clean: FloatArray, rows: FloatArray) -> FloatArray:
        moved = np.where(self.mask & ~self._derived, rows, clean)
        moved = self._to_vertices(clean, moved)
        return self._to_range(clean, moved)

    def _to_vertices(self, clean: FloatArray, rows: FloatArray) -> FloatArray:
        schema, budget = self.constraints.schema, self.ball.budget
        binary = np.flatnonzero(schema.discrete & ~schema.one_hot)
        switched, decided = [], []
        result = rows.copy()
        for block in schema.blocks:
            part, old = rows[:, block.columns], clean[:, block.columns].argmax(axis=1)
            new = part.argmax(axis=1)
            every = np.arange(len(rows))
            result[:, block.columns] = np.eye(part.shape[1])[new]
            switched.append(new != old)
            decided.append(part[every, new] - part[every, old])
        for column in binary:
            result[:, column] = rows[:, column] >= 0.5
            switched.append(result[:, column] != clean[:, column])
            decided.append(2 * np.abs(rows[:, column] - clean[:, column]) - 1)
        if not switched:
            return result
        # A switch moves its columns by 1, which a ball that covers them allows from radius 1 on.
        unlimited = not self.ball.switches and budget.epsilon >= 1
        limit = len(switched) if unlimited else (budget.max_switches if self.ball.switches else 0)
        margin = np.where(np.array(switched).T, np.array(decided).T, -np.inf)
        rank = np.argsort(np.argsort(-margin, axis=1, kind="stable"), axis=1, kind="stable")
        undone = np.array(switched).T & (rank >= limit)
        columns = [block.columns for block in schema.blocks] + [slice(column, column + 1) for column in binary]
        for number, span in enumerate(columns):
            result[undone[:, number], span] = clean[undone[:, number], span]
        return result

    def _to_range(self, clean: FloatArray, rows: FloatArray) -> FloatArray:
        schema = self.constraints.schema
        movable = self.mask & ~self._derived & ~schema.discrete
        scaled_clean = self.scaler.to_scaled(clean)
        scaled = self.ball.clip(scaled_clean, self.scaler.to_scaled(rows))
        clipped = np.clip(self.scaler.to_problem(scaled), schema.lower, schema.upper)
        whole = schema.integer & ~schema.discrete
        clipped[:, whole] = self._to_whole(clean[:, whole], clipped[:, whole], self.scaler.scale[whole])
        # What did not move keeps every bit.
        return np.where(movable, np.where(scaled == scaled_clean, clean, clipped), rows)

    def _to_whole(self, clean: FloatArray, rows: FloatArray, scale: FloatArray) -> FloatArray:
        nearest = np.round(rows)
        towards_clean = np.where(rows >= clean, np.floor(rows + INTEGER_SLACK), np.ceil(rows - INTEGER_SLACK))
        if self.ball.budget.norm == "l2":
            return towards_clean
        reach = self.ball.budget.epsilon * scale * (1 + BALL_SLACK)
        return np.where(np.abs(nearest - clean) <= reach, nearest, towards_clean)

    # Steps 4 and 5

    def _derive(self, clean: FloatArray, rows: FloatArray) -> FloatArray:
        result = rows.copy()
        for derivation in self.constraints.derivations:
            sources = sorted(derivation.sources)
            moved = (result[:, sources] != clean[:, sources]).any(axis=1)
            if moved.any():
                values = self.constraints.evaluator.value(derivation.value, result[moved])
                result[moved, derivation.column] = values
        return result

    def _failing(self, clean: FloatArray, rows: FloatArray) -> BoolArray:
        """Tell of each row and group whether something in it fails, shape ``(n, groups)``.

        Only relations and derived columns can: everything else was put in its place, and going back keeps it there.
        """
        failing = np.zeros((len(rows), len(self._groups)), dtype=np.bool_)
        violated = self.constraints.violations(rows) > 0
        for relation, group in enumerate(self._group_of_relation):
            failing[:, group] |= violated[:, relation]
        if self.ball.budget.norm == "l2":
            failing[:, 0] |= ~self.ball.contains(self.scaler.to_scaled(clean), self.scaler.to_scaled(rows))
        for column, group in zip(self._tied, self._group_of, strict=True):
            if self._derived[column]:
                failing[:, group] |= self._is_out(clean[:, column], rows[:, column], int(column))
        return failing

    def _is_out(self, clean: FloatArray, values: FloatArray, column: int) -> BoolArray:
        """Tell of each value of a derived column whether it has left bounds, whole numbers or an L-infinity ball."""
        schema, budget = self.constraints.schema, self.ball.budget
        slack = BOUND_SLACK * np.maximum(1.0, np.abs(values))
        out: BoolArray = (values < schema.lower[column] - slack) | (values > schema.upper[column] + slack)
        if schema.integer[column]:
            out |= np.abs(values - np.round(values)) > INTEGER_SLACK
        if budget.norm == "linf":
            out |= np.abs(values - clean) / self.scaler.scale[column] > budget.epsilon * (1 + BALL_SLACK)
        return out

    def _pull_back(self, clean: FloatArray, start: FloatArray) -> FloatArray:
        result = self._derive(clean, start)
        if not self._groups:
            return result
        failing = self._failing(clean, result)
        if not failing.any():
            return result
        result, failing = self._bisect(clean, start, result, failing)
        if not failing.any():
            return result
        discrete = np.flatnonzero(self.constraints.schema.discrete)
        unswitched = start.copy()
        self._copy(failing, clean, unswitched, only=discrete)
        retry = self._derive(clean, unswitched)
        self._copy(failing, retry, result)
        still = failing & self._failing(clean, result)
        result, still = self._bisect(clean, unswitched, result, still)
        self._copy(still, clean, result)
        return result

    def _bisect(
        self, clean: FloatArray, start: FloatArray, result: FloatArray, failing: BoolArray
    ) -> tuple[FloatArray, BoolArray]:
        """Take failing groups back towards the clean row; returns the rows and the groups that nothing helped."""
        todo = np.flatnonzero(failing.any(axis=1))
        if not todo.size:
            return result, failing
        base, goal, best, asked = clean[todo], start[todo], result[todo], failing[todo]
        good, bad = np.zeros(asked.shape), np.ones(asked.shape)
        share = np.where(asked, 0.0, 1.0)
        helped = np.zeros(asked.shape, dtype=np.bool_)
        for step in range(_BISECTIONS + 1):
            trial = self._shrunk(base, goal, share)
            held = asked & ~self._failing(base, trial)
            self._copy(held, trial, best)
            helped |= held
            if step == 0:
                # Not even the clean values of the numeric columns go with these switches.
                asked = asked & held
                bad = np.where(asked, bad, 0.0)
                if not asked.any():
                    break
            else:
                good, bad = np.where(held, share, good), np.where(asked & ~held, share, bad)
            share = np.where(asked, (good + bad) / 2, share)
        result = result.copy()
        result[todo] = best
        unhelped = failing.copy()
        unhelped[todo] &= ~helped
        return result, unhelped

    def _shrunk(self, clean: FloatArray, rows: FloatArray, share: FloatArray) -> FloatArray:
        """Keep that share, shape ``(n, groups)``, of how far the numeric columns of each group have moved."""
        schema = self.constraints.schema
        moving = ~schema.discrete[self._tied]
        columns = self._tied[moving]
        kept = share[:, self._group_of[moving]]
        delta = (rows[:, columns] - clean[:, columns]) * kept
        whole = schema.integer[columns]
        delta[:, whole] = np.trunc(delta[:, whole] + np.copysign(1e-9, delta[:, whole]))
        shrunk = rows.copy()
        changed = np.where(delta == 0, clean[:, columns], clean[:, columns] + delta)
        shrunk[:, columns] = np.where(kept == 1.0, rows[:, columns], changed)
        return self._derive(clean, shrunk)

    def _copy(self, groups: BoolArray, source: FloatArray, target: FloatArray, only: IntArray | None = None) -> None:
        """Write the columns of the groups that are True, shape ``(n, groups)``, from one array into another."""
        chosen = np.ones(len(self._tied), dtype=np.bool_) if only is None else np.isin(self._tied, only)
        columns = self._tied[chosen]
        wanted = groups[:, self._group_of[chosen]]
        target[:, columns] = np.where(wanted, source[:, columns], target[:, columns])
