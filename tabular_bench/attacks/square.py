"""Square search on feature vectors: random corners of the ball, in ever fewer columns, kept where the score gives way.

After Andriushchenko et al., "Square Attack" (2020). The differences are for tables, whose columns have no neighbours:

* the number of columns is halved at equal distances and not ever later, so that wide trials get their time;
* columns are drawn at random instead of as a tile of an image, and columns and signs are drawn for each row anew;
* one query a row and iteration, and none for a trial that the projection has taken back to where the row is;
* once a single column is left, columns are tried in turn, each on the side that it is not on, so that no query goes to
  a side that is known to be worse. A row that no side of any column improves is tried at values in between;
* in an L2 ball, a trial turns the perturbation on the sphere, by an angle that grows with success and shrinks without;
* where categories switch, some of the trials are whole switches, taken in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.switch_options import SwitchOptions
from tabular_bench.schema import BoolArray, FloatArray, IntArray
from tabular_bench.threat import Access

# How often the number of columns is halved, at equal distances: a table needs wide trials for longer than an image.
_HALVINGS: Final = 7
_WIDEST, _NARROWEST, _GROWTH = 1.0, 1e-3, 1.5


@dataclass(frozen=True, slots=True)
class Square:
    """Random search by scores.

    Attributes
    ----------
    iterations
        Trials a row, at least 1; the schedule is stretched over them, or over the queries that a row has if these
        are fewer.
    initial_share
        Share of the columns that the first trials move, in (0, 1].
    switch_share
        Share of the trials that switch a category instead, where any can, in 0..1.
    """

    iterations: int = 300
    initial_share: float = 0.4
    switch_share: float = 0.25

    def __post_init__(self) -> None:
        if self.iterations < 1 or not 0 < self.initial_share <= 1 or not 0 <= self.switch_share <= 1:
            raise ValueError(f"expected iterations >= 1 and shares in 0..1, found {self}")

    @property
    def access(self) -> Access:
        """Scores."""
        return "score"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return the row of the lowest margin that was found for each row."""
        detector = context.detector
        asked = np.flatnonzero(detector.left(context.all_rows) > 0)
        best = context.rows.copy()
        if not asked.size:
            return best
        margins = np.full(len(best), np.inf)
        scores = detector.scores(best[asked], asked)
        margins[asked] = detector.margins(scores, asked)
        clean_margins = margins.copy()
        active = asked[~detector.wrong(scores, asked)]
        proposals = _Proposals(self, context)
        steps = min(self.iterations, int(detector.left(active).max(initial=0)))
        for step in range(steps if proposals.any else 0):
            active = active[detector.left(active) > 0]
            now = best[active]
            trial = context.project(proposals.make(now, active, step / steps), active)
            is_new = (trial != now).any(axis=1)
            of, trial = active[is_new], trial if is_new.all() else trial[is_new]
            scores = detector.scores(trial, of) if of.size else np.zeros(0)
            found = detector.margins(scores, of)
            improved = np.zeros(len(active), dtype=np.bool_)
            improved[is_new] = found < margins[of]
            proposals.learn(active, improved)
            # A trial that is no worse is taken, too: on a model of steps, rows have to cross plateaus.
            kept = found <= margins[of]
            best[of[kept]], margins[of[kept]] = trial[kept], found[kept]
            open_ = np.ones(len(active), dtype=np.bool_)
            open_[is_new] = ~detector.wrong(scores, of)
            active = active[open_]
            if not active.size:
                break
        useless = margins >= clean_margins
        best[useless] = context.rows[useless]
        return best


class _Proposer(Protocol):
    """Moves the numeric columns of rows."""

    def make(self, rows: FloatArray, of: IntArray, done: float) -> FloatArray: ...

    def learn(self, of: IntArray, improved: BoolArray) -> None: ...


class _Proposals:
    """What to try next for each row."""

    def __init__(self, attack: Square, context: AttackContext) -> None:
        self._context = context
        self._columns = _moving_columns(context)
        linf = context.projection.budget.norm == "linf"
        self._numeric: _Proposer = (_Corners if linf else _Sphere)(attack, context, self._columns)
        self._options = SwitchOptions.of(context)
        self._order = context.rng.permutation(len(self._options))
        self._next = context.rng.integers(0, max(len(self._options), 1), len(context.rows))
        self._share = attack.switch_share if self._columns.size else 1.0
        self._switching = np.zeros(len(context.rows), dtype=np.bool_)

    @property
    def any(self) -> bool:
        """Whether there is anything to try."""
        return bool(self._columns.size or len(self._options))

    def make(self, rows: FloatArray, of: IntArray, done: float) -> FloatArray:
        if not len(self._options):
            return self._numeric.make(rows.copy(), of, done)
        switching = self._context.rng.random(len(of)) < self._share
        self._switching[of] = switching
        trial = rows.copy()
        numeric = np.flatnonzero(~switching)
        if numeric.size:
            trial[numeric] = self._numeric.make(rows[numeric], of[numeric], done)
        switched = np.flatnonzero(switching)
        if switched.size:
            which = of[switched]
            options = self._order[self._next[which] % len(self._order)]
            self._next[which] += 1
            clean = self._context.rows[which]
            trial[switched] = self._options.chosen(rows[switched], clean, options, self._context.rng)
        return trial

    def learn(self, of: IntArray, improved: BoolArray) -> None:
        numeric = ~self._switching[of]
        self._numeric.learn(of[numeric], improved[numeric])


def _moving_columns(context: AttackContext) -> IntArray:
    """Return the columns that a step can move; not whole numbers whose next value is out of reach."""
    projection, schema = context.projection, context.schema
    free = context.radius > 0
    if projection.ball.switches:
        free &= ~schema.discrete
    if projection.protocol.projects and projection.protocol.preset.repairs:
        reach = context.radius * projection.problem.scaler.scale
        free &= ~(schema.integer & (reach * (1 + 1e-6) < 1))
    return np.flatnonzero(free)


def _columns_at_once(attack: Square, columns: int, done: float) -> int:
    share = attack.initial_share * 0.5 ** int((_HALVINGS + 1) * done)
    return int(max(1, round(share * columns)))


class _Corners:
    """Trials at the corners of the L-infinity ball."""

    def __init__(self, attack: Square, context: AttackContext, columns: IntArray) -> None:
        self._attack, self._context, self._columns = attack, context, columns
        # Both sides of each column beside each other, so that one number drawn is a column and a side.
        clean, radius = context.rows[:, columns], context.radius[columns]
        self._sides = np.empty((*clean.shape, 2))
        # A clean value may lie out of bounds; no side of it does so further.
        self._sides[..., 0] = np.minimum(np.maximum(clean - radius, context.lower[columns]), clean)
        self._sides[..., 1] = np.maximum(np.minimum(clean + radius, context.upper[columns]), clean)
        self._order = context.rng.permutation(len(columns))
        self._next = context.rng.integers(0, max(len(columns), 1), len(context.rows))
        self._failures = np.zeros(len(context.rows), dtype=np.int64)
        self._is_started = self._is_single = False

    def make(self, rows: FloatArray, of: IntArray, done: float) -> FloatArray:
        rng, width = self._context.rng, len(self._columns)
        count = _columns_at_once(self._attack, width, done)
        self._is_single = self._is_started and count == 1
        if not self._is_started:
            self._is_started = True
            picked = 2 * np.arange(width) + rng.integers(0, 2, (len(of), width))
        elif count > 1:
            picked = rng.integers(0, 2 * width, (len(of), count))
        else:
            picked = self._other_sides(rows, of)[:, None]
        values = self._sides.reshape(-1)[picked + (2 * width * of)[:, None]]
        stuck = np.flatnonzero(self._failures[of] >= width)
        if stuck.size:
            low, high = np.moveaxis(self._sides[of[stuck, None], picked[stuck] // 2], 2, 0)
            values[stuck] = rng.uniform(low, high)
        cells = np.arange(0, rows.size, rows.shape[1])[:, None] + self._columns[picked // 2]
        rows.reshape(-1)[cells] = values
        return rows

    def _other_sides(self, rows: FloatArray, of: IntArray) -> IntArray:
        """Return the next column of each row, and the side that it is not on; any side if it is on neither."""
        column = self._order[self._next[of] % len(self._columns)]
        self._next[of] += 1
        now = rows[np.arange(len(of)), self._columns[column]]
        low, high = self._sides[of, column].T
        side = self._context.rng.integers(0, 2, len(of))
        side[now == high] = 0
        side[now == low] = 1
        return 2 * column + side

    def learn(self, of: IntArray, improved: BoolArray) -> None:
        self._failures[of] = np.where(improved, 0, self._failures[of] + self._is_single)


class _Sphere:
    """Trials on the surface of the L2 ball."""

    def __init__(self, attack: Square, context: AttackContext, columns: IntArray) -> None:
        self._attack, self._context, self._columns = attack, context, columns
        self._step = np.full(len(context.rows), _WIDEST)

    def make(self, rows: FloatArray, of: IntArray, done: float) -> FloatArray:
        context, columns = self._context, self._columns
        count = _columns_at_once(self._attack, len(columns), done)
        picked = context.rng.integers(0, len(columns), (len(of), count))
        turn = np.zeros((len(of), len(columns)))
        turn[np.arange(len(of))[:, None], picked] = context.rng.choice([-1.0, 1.0], picked.shape)
        epsilon = context.projection.budget.epsilon
        clean = context.rows[of][:, columns]
        moved = rows[:, columns] - clean
        moved += turn * (self._step[of] * epsilon / np.linalg.norm(turn, axis=1))[:, None]
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        moved *= epsilon / np.maximum(length, 1e-300)
        rows[:, columns] = np.clip(clean + moved, context.lower[columns], context.upper[columns])
        return rows

    def learn(self, of: IntArray, improved: BoolArray) -> None:
        # At one success in five the step stays as it is.
        factor = np.where(improved, _GROWTH, _GROWTH**-0.25)
        self._step[of] = np.clip(self._step[of] * factor, _NARROWEST, _WIDEST)
