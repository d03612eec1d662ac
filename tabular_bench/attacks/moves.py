"""The geometry that gradient attacks share: steps, random points, and the way back into ball and bounds.

All of it concerns numeric columns, which are those that the ball covers and the mask frees; `switching` has the rest.
"""

from __future__ import annotations

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.schema import BoolArray, FloatArray, IntArray

_TINY = 1e-300
_HALVINGS = 60  # of the factor that brings an L2 perturbation into the ball: to the last digits


class Moves:
    """Moves numeric columns of scaled rows.

    Parameters
    ----------
    context
        Has ball, bounds and mask.

    Attributes
    ----------
    numeric
        Shape ``(d,)``: the columns that move.
    """

    def __init__(self, context: AttackContext) -> None:
        budget = context.projection.budget
        self._context = context
        self._is_linf = budget.norm == "linf"
        self._epsilon = budget.epsilon
        self.numeric: BoolArray = context.mask & context.projection.ball.covered
        self._radius: FloatArray = np.where(self.numeric, context.radius, 0.0)
        # A clean row may lie out of bounds; it stays where it is.
        self._lowest, self._highest = context.rows - self._radius, context.rows + self._radius
        bounded = np.flatnonzero(self.numeric & (np.isfinite(context.lower) | np.isfinite(context.upper)))
        clean, radius = context.rows[:, bounded], self._radius[bounded]
        lowest = np.maximum(np.minimum(context.lower[bounded] - clean, 0.0), -radius)
        highest = np.minimum(np.maximum(context.upper[bounded] - clean, 0.0), radius)
        self._lowest[:, bounded], self._highest[:, bounded] = clean + lowest, clean + highest
        others = np.flatnonzero(~self.numeric)
        self._lowest[:, others], self._highest[:, others] = -np.inf, np.inf
        self._first, self._last = context.lower + _slack(context.lower), context.upper - _slack(context.upper)

    def direction(self, gradients: FloatArray, rows: FloatArray) -> FloatArray:
        """Return the steepest step of the length of epsilon.

        Parameters
        ----------
        gradients
            Shape ``(m, d)``, finite.
        rows
            Shape ``(m, d)``: where the step begins.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``; 0 outside numeric columns, where a column is at its bound already (an L2 step would be
            spent on it in vain), and everywhere in rows without a slope.
        """
        outwards = ((gradients > 0) & (rows >= self._last)) | ((gradients < 0) & (rows <= self._first))
        return self._steepest(np.where(self.numeric & ~outwards, gradients, 0.0))

    def _steepest(self, slopes: FloatArray) -> FloatArray:
        if self._is_linf:
            return self._radius * np.sign(slopes)
        # Divided twice: the square of a very large or very small slope is not a number that can be used.
        slopes /= np.maximum(np.abs(slopes).max(axis=1, keepdims=True, initial=0.0), _TINY)
        slopes /= np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), _TINY)
        steepest: FloatArray = self._epsilon * slopes
        return steepest

    def scaled(self, noise: FloatArray) -> FloatArray:
        """Return noise of deviation 1, shape ``(m, d)``, with the size of the ball; 0 outside numeric columns."""
        if self._is_linf:
            return self._radius * noise
        deviation = self._epsilon / max(int(self.numeric.sum()), 1) ** 0.5
        return np.where(self.numeric, deviation * noise, 0.0)

    def farthest(self, gradients: FloatArray, of: IntArray) -> FloatArray:
        """Return the points of ball and bounds that lie farthest along the gradients.

        On a linear model they are the best there are.

        Parameters
        ----------
        gradients
            Shape ``(m, d)``, finite.
        of
            Shape ``(m,)``: the attacked rows.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``: clean rows whose numeric columns have moved.
        """
        clean = self._context.rows[of]
        return self.clip(clean + 1e9 * self.direction(gradients, clean), of)

    def clip(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Return the points of ball and bounds that lie nearest to the numeric columns of rows.

        The projection of the context keeps to both as well, but does not end at the nearest point where an L2 ball
        and bounds meet.

        Parameters
        ----------
        rows
            Shape ``(m, d)``.
        of
            Shape ``(m,)``: the attacked row that each was made from.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``; other columns are those of `rows`.
        """
        clipped = np.clip(rows, self._lowest[of], self._highest[of])
        if self._is_linf:
            return clipped
        clean = self._context.rows[of]
        far = np.flatnonzero(np.linalg.norm(np.where(self.numeric, clipped - clean, 0.0), axis=1) > self._epsilon)
        clipped[far] = self._into_sphere(rows[far], of[far])
        return clipped

    def _into_sphere(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Shorten perturbations by one factor each, until what the bounds leave of them lies in the L2 ball."""
        clean, lowest, highest = self._context.rows[of], self._lowest[of], self._highest[of]
        delta = np.where(self.numeric, rows - clean, 0.0)

        def shortened(factor: FloatArray) -> FloatArray:
            return np.clip(clean + factor[:, None] * delta, lowest, highest)

        below = self._epsilon / np.linalg.norm(delta, axis=1)
        above = np.ones(len(rows))
        for _ in range(_HALVINGS if len(rows) else 0):
            middle = np.sqrt(below * above)
            moved = np.where(self.numeric, shortened(middle) - clean, 0.0)
            fits = np.linalg.norm(moved, axis=1) <= self._epsilon
            below, above = np.where(fits, middle, below), np.where(fits, above, middle)
        return np.where(self.numeric, shortened(below), rows)

    def random(self, of: IntArray, *, on_surface: bool = False) -> FloatArray:
        """Draw points of the ball, all of it equally likely, and bring them within bounds.

        Parameters
        ----------
        of
            Shape ``(m,)``: the attacked rows.
        on_surface
            Whether each point is moved outwards, away from its clean row, up to the surface of the ball.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``: clean rows whose numeric columns have moved.
        """
        rng, shape = self._context.rng, (len(of), self._context.rows.shape[1])
        if self._is_linf:
            drawn = np.where(self.numeric, rng.uniform(-1.0, 1.0, shape), 0.0)
            length = np.abs(drawn).max(axis=1, keepdims=True, initial=0.0)
            drawn = self._radius * (drawn / np.maximum(length, _TINY) if on_surface else drawn)
        else:
            drawn = self._steepest(np.where(self.numeric, rng.normal(size=shape), 0.0))
            if not on_surface:
                drawn *= rng.uniform(size=(len(of), 1)) ** (1.0 / max(int(self.numeric.sum()), 1))
        return self.clip(self._context.rows[of] + drawn, of)


def _slack(bound: FloatArray) -> FloatArray:
    """Return how far rounding may leave a column from its bound."""
    return 1e-12 * (1.0 + np.abs(np.where(np.isfinite(bound), bound, 0.0)))
