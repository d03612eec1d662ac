"""HopSkipJump: along the border of decisions towards the clean row, by answers yes or no alone, for all rows at once.

After Chen et al., "HopSkipJumpAttack" (2020), with the constants of their code. The differences:

* all rows walk together, and the probes of many rows are one question to the detector;
* the walk keeps to what the protocol allows apart from the ball, so that relations, whole numbers, the mask and the
  budget of switches hold on the way; a category that the starting point has switched stays switched, if it has to;
* after each hop the row is brought into the ball, and done if the detector is fooled there. Otherwise the nearest row
  that fools it is returned, which is outside the ball and no success;
* a first share of the starting points is drawn in the ball; of the others, one half ever further out, up to the range
  of the training rows, and one half where attacked rows are that the detector judges otherwise. A row for which none
  fools the detector is returned as it is;
* every loop is bounded, a direction that is zero or no number is not followed, and the best row is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.switch_options import SwitchOptions
from tabular_bench.budget import Norm
from tabular_bench.schema import BoolArray, FloatArray, IntArray
from tabular_bench.threat import Access

_UNBOUNDED: Final = 1e6  # deviations: no ball at all
_BALL_DRAWS: Final = 0.25
_SWITCHING_DRAWS: Final = 0.5
_START_PRECISION: Final = 1e-3
_FIRST_PROBE, _PROBE = 0.1, 0.01  # lengths of a probe, in distances from the clean row
_MAX_BISECTIONS, _MAX_HALVINGS = 40, 25
_CHUNK_VALUES: Final = 2**21  # values of probes at a time: 16 MB
_TINY: Final = 1e-300


def precision(norm: Norm, columns: int) -> float:
    """Return how closely the border is approached, as a share of the distance from the clean row.

    Parameters
    ----------
    norm
        In which distance is measured.
    columns
        How many columns move, at least 1.
    """
    return float(0.01 / columns if norm == "linf" else 0.01 / columns**0.5)


@dataclass(frozen=True, slots=True)
class HopSkipJump:
    """A walk along the border of decisions.

    Attributes
    ----------
    iterations
        Hops, at least 0.
    initial_probes
        Questions for the direction of the first hop, at least 1; they grow with the square root of its number.
    most_probes
        The most for a hop, at least 1.
    draws
        Starting points that are tried, at least 1.
    """

    iterations: int = 10
    initial_probes: int = 100
    most_probes: int = 10_000
    draws: int = 100

    def __post_init__(self) -> None:
        if self.iterations < 0 or min(self.initial_probes, self.most_probes, self.draws) < 1:
            raise ValueError(f"expected iterations >= 0, and probes and draws >= 1, found {self}")

    @property
    def access(self) -> Access:
        """Decisions."""
        return "decision"

    def probes(self, iteration: int) -> int:
        """Return how many questions a hop's direction takes; the first hop has the number 0."""
        return min(int(self.initial_probes * (iteration + 1) ** 0.5), self.most_probes)

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return for each row one in the ball that fools the detector, or the nearest one that does."""
        walk = _Walk(context)
        walk.start(self.draws)
        walk.approach("l2", _START_PRECISION)
        walk.finish()
        for iteration in range(self.iterations):
            if not walk.active.size:
                break
            walk.hop(self.probes(iteration), iteration)
            walk.approach(walk.norm, walk.precision)
            walk.finish()
        return walk.best


class _Walk:
    """Where each row is, and where it is best."""

    def __init__(self, context: AttackContext) -> None:
        self._context, self._detector = context, context.detector
        budget, ball = context.projection.budget, context.projection.ball
        self.norm: Norm = budget.norm
        self._roam = replace(context.projection, budget=replace(budget, epsilon=_UNBOUNDED))
        self._covered = ball.covered
        self._moves = context.mask & ball.covered
        self._columns = np.flatnonzero(self._moves)
        self._options = SwitchOptions.of(context)
        self.precision = precision(self.norm, max(len(self._columns), 1))
        self.best = context.rows.copy()
        self._distance = np.full(len(self.best), np.inf)
        self._now = context.rows.copy()
        asked = np.flatnonzero(self._detector.left(context.all_rows) > 0)
        fooled = self._fooled(context.rows[asked], asked)
        self.active = asked[~fooled]
        judged = np.where(fooled, 1 - context.targets[asked], context.targets[asked])
        # By label: the attacked rows that the detector takes for the other one.
        self._examples = [asked[judged != label] for label in (0, 1)]

    # Questions

    def _fooled(self, rows: FloatArray, of: IntArray) -> BoolArray:
        """Ask about rows, one for each of different attacked rows; no is the answer where no question is left."""
        answers = np.zeros(len(of), dtype=np.bool_)
        allowed = np.flatnonzero(self._detector.left(of) > 0)
        if allowed.size:
            answers[allowed] = self._detector.fooled(rows[allowed], of[allowed])
        return answers

    def _lengths(self, moved: FloatArray) -> FloatArray:
        moved = moved[:, self._covered]
        lengths: FloatArray = (
            np.abs(moved).max(axis=1, initial=0.0) if self.norm == "linf" else np.linalg.norm(moved, axis=1)
        )
        return lengths

    def _centres(self, of: IntArray) -> FloatArray:
        """Return the clean rows with the categories of where the rows are now."""
        return np.where(self._covered, self._context.rows[of], self._now[of])

    # The start

    def start(self, draws: int) -> None:
        """Find for each row one that fools the detector; rows without one leave."""
        searching = self.active
        # However few questions there are, most are left for the walk.
        affordable = np.maximum(self._detector.left(searching) // 4, 1)
        in_ball = max(1, round(_BALL_DRAWS * draws))
        done = [searching[:0]]
        found = [searching[:0]]
        for draw in range(draws):
            searching, affordable = searching[draw < affordable], affordable[draw < affordable]
            if not searching.size:
                break
            near = draw < in_ball
            share = 0.0 if near else ((draw + 1 - in_ball) / (draws - in_ball)) ** 2
            project = self._context.project if near else self._roam
            trial = project(self._drawn(searching, share, by_example=draw % 2 == 0), searching)
            fooled = self._fooled(trial, searching)
            self._now[searching[fooled]] = trial[fooled]
            (done if near else found).append(searching[fooled])
            searching, affordable = searching[~fooled], affordable[~fooled]
        inside = np.concatenate(done)
        self.best[inside] = self._now[inside]
        self.active = np.sort(np.concatenate(found))
        self._undo_switches()

    def _drawn(self, of: IntArray, share: float, by_example: bool) -> FloatArray:
        """Draw corners of the ball, or points up to that share of the way to others or to the ends of the range."""
        context, columns, rng = self._context, self._columns, self._context.rng
        rows = context.rows[of].copy()
        clean = rows[:, columns]
        if not share:
            radius = context.radius[columns] / (len(columns) ** 0.5 if self.norm == "l2" else 1.0)
            moved = radius * rng.choice([-1.0, 1.0], clean.shape)
        else:
            moved = share * self._outwards(clean)
            if by_example:
                self._towards_examples(of, moved)
        rows[:, columns] = np.clip(clean + moved, context.lower[columns], context.upper[columns])
        switching = np.flatnonzero(rng.random(len(of)) < _SWITCHING_DRAWS) if len(self._options) else of[:0]
        for _ in range(self._options.limit if switching.size else 0):
            options = rng.integers(0, len(self._options), len(switching))
            rows[switching] = self._options.chosen(rows[switching], context.rows[of[switching]], options, rng)
        return rows

    def _outwards(self, clean: FloatArray) -> FloatArray:
        """Draw moves of all columns or some, within the range of the training rows."""
        rng, scaler = self._context.rng, self._context.projection.problem.scaler
        lowest, highest = (scaler.to_scaled(end)[self._columns] for end in (scaler.lowest, scaler.highest))
        moved = rng.uniform(np.minimum(lowest - clean, 0.0), np.maximum(highest - clean, 0.0))
        some = rng.random(clean.shape) < np.maximum(2 * rng.random((len(clean), 1)), 0.1)
        return np.where(some, moved, 0.0)

    def _towards_examples(self, of: IntArray, moved: FloatArray) -> None:
        """Replace moves by the whole way to an attacked row that is taken for what each row should be taken for."""
        for label, examples in enumerate(self._examples):
            rows = np.flatnonzero(self._context.targets[of] == label)
            if examples.size and rows.size:
                drawn = self._context.rng.choice(examples, len(rows))
                moved[rows] = (self._context.rows[drawn] - self._context.rows[of[rows]])[:, self._columns]

    def _undo_switches(self) -> None:
        """Take the clean categories back where the detector is fooled without the switch."""
        clean = self._context.rows
        switched = (np.where(self._covered, 0.0, self._now - clean)[self.active] != 0).any(axis=1)
        of = self.active[switched]
        trial = self._roam(np.where(self._covered, self._now[of], clean[of]), of)
        fooled = self._fooled(trial, of)
        self._now[of[fooled]] = trial[fooled]

    # The walk

    def approach(self, norm: Norm, precision: float) -> None:
        """Go back towards the clean rows by bisection, up to the border.

        Parameters
        ----------
        norm
            ``l2``: along a straight line; ``linf``: by clipping to ever smaller boxes.
        precision
            When to stop, as a share of the way.
        """
        of = self.active
        centres = self._centres(of)
        starts = self._now[of].copy()
        moved = starts - centres
        reach = np.where(self._covered, np.abs(moved), 0.0).max(axis=1, initial=0.0)
        low, high = np.zeros(len(of)), np.ones(len(of))
        for _ in range(_MAX_BISECTIONS):
            open_ = np.flatnonzero((high - low > precision) & (reach > 0) & (self._detector.left(of) > 0))
            if not open_.size:
                break
            share = ((low + high) / 2)[open_, None]
            if norm == "l2":
                kept = share * moved[open_]
            else:
                kept = np.clip(moved[open_], -share * reach[open_, None], share * reach[open_, None])
            trial = self._roam(np.where(self._covered, centres[open_] + kept, starts[open_]), of[open_])
            fooled = self._fooled(trial, of[open_])
            self._now[of[open_[fooled]]] = trial[fooled]
            high[open_[fooled]] = share[fooled, 0]
            low[open_[~fooled]] = share[~fooled, 0]

    def finish(self) -> None:
        """Keep what is nearest; rows that fool the detector in the ball are done, and rows without questions, too."""
        of = self.active
        distance = self._lengths(self._now[of] - self._context.rows[of])
        nearer = distance < self._distance[of]
        self.best[of[nearer]], self._distance[of[nearer]] = self._now[of[nearer]], distance[nearer]
        trial = self._context.project(self._now[of], of)
        inside = self._fooled(trial, of)
        self.best[of[inside]] = trial[inside]
        self.active = of[~inside & (self._detector.left(of) > 0)]

    def hop(self, probes: int, iteration: int) -> None:
        """Move away from the border in the direction in which probes find it furthest."""
        for of in self._groups(probes):
            distance = self._lengths(self._now[of] - self._context.rows[of])
            length = np.maximum((_PROBE if iteration else _FIRST_PROBE) * distance, _TINY)
            direction = self._direction(of, probes, length)
            usable = np.isfinite(direction).all(axis=1) & (direction != 0).any(axis=1)
            self._step(of[usable], direction[usable], distance[usable] / (iteration + 1) ** 0.5)

    def _groups(self, probes: int) -> Iterator[IntArray]:
        size = max(1, _CHUNK_VALUES // (probes * max(self._now.shape[1], 1)))
        for start in range(0, len(self.active), size):
            yield self.active[start : start + size]

    def _direction(self, of: IntArray, probes: int, length: FloatArray) -> FloatArray:
        """Estimate the direction that leads away from the border, shape ``(m, d)``; zero where it cannot be told."""
        direction = np.zeros((len(of), self._now.shape[1]))
        # Some questions are left for the step and the way back.
        counts = np.minimum(probes, self._detector.left(of) // 2)
        asking = np.flatnonzero(counts > 0)
        if not asking.size or not self._columns.size:
            return direction
        counts = counts[asking]
        each = np.repeat(asking, counts)
        here = self._now[of[each]]
        trial = self._noise(len(each))
        trial *= (length[each] / np.maximum(np.sqrt(np.einsum("ij,ij->i", trial, trial)), _TINY))[:, None]
        trial += here
        trial = self._roam(trial, of[each])
        answers = np.where(self._detector.fooled(trial, of[each]), 1.0, -1.0)
        # As far as they really moved; all probes of a row have the same length, which the direction does without.
        trial -= here
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        mean = np.add.reduceat(answers, first) / counts
        weights = np.where(np.repeat(np.abs(mean) == 1.0, counts), answers, answers - np.repeat(mean, counts))
        trial *= weights[:, None]
        slopes = np.add.reduceat(trial, first, axis=0)
        slopes[:, ~self._moves] = 0.0
        if self.norm == "linf":
            slopes = np.sign(slopes)
        else:
            slopes /= np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), _TINY)
        direction[asking] = slopes
        return direction

    def _noise(self, count: int) -> FloatArray:
        """Draw probes of any length, shape ``(count, d)``, 0 in columns that do not move."""
        rng, shape = self._context.rng, (count, len(self._moves))
        if self.norm == "l2":
            drawn = rng.standard_normal(shape, dtype=np.float32)
        else:
            drawn = rng.random(shape, dtype=np.float32) * 2 - 1
        noise = drawn.astype(np.float64)
        noise[:, ~self._moves] = 0.0
        return noise

    def _step(self, of: IntArray, direction: FloatArray, length: FloatArray) -> None:
        """Take the longest of ever shorter steps after which the detector is still fooled, if there is one."""
        for _ in range(_MAX_HALVINGS):
            if not of.size:
                return
            trial = self._roam(self._now[of] + length[:, None] * direction, of)
            fooled = self._fooled(trial, of)
            self._now[of[fooled]] = trial[fooled]
            left = ~fooled & (self._detector.left(of) > 0)
            of, direction, length = of[left], direction[left], length[left] / 2
