"""Gaussian noise: what chance finds in the ball. An attack that is no better has found nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.moves import Moves
from tabular_bench.attacks.switch_options import SwitchOptions
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.threat import Access


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Draws rows around each row and keeps the one of the lowest margin.

    Attributes
    ----------
    draws
        How many rows are drawn for each row, at least 1.
    deviation
        The standard deviation of the noise as a share of epsilon, more than 0. In an L2 ball it is that of the length
        of the perturbation, whatever the number of columns.
    switch_share
        The share of the draws that switch a category, where any can, in 0..1.
    """

    draws: int = 20
    deviation: float = 1.0
    switch_share: float = 0.5

    def __post_init__(self) -> None:
        if self.draws < 1 or not self.deviation > 0 or not 0 <= self.switch_share <= 1:
            raise ValueError(f"expected draws >= 1, deviation > 0 and a switch_share in 0..1, found {self}")

    @property
    def access(self) -> Access:
        """Scores."""
        return "score"

    def perturb(self, context: AttackContext) -> FloatArray:
        """Return the best row that was drawn for each row."""
        detector, best = context.detector, context.rows.copy()
        moves, options = Moves(context), SwitchOptions.of(context)
        margins = np.full(len(best), np.inf)
        of = context.all_rows
        for draw in range(1 + self.draws):
            of = of[detector.left(of) > 0]
            if not of.size:
                break
            drawn = context.project(self._drawn(context, moves, options, of), of) if draw else best[of]
            scores = detector.scores(drawn, of)
            found = detector.margins(scores, of)
            better = found < margins[of]
            best[of[better]], margins[of[better]] = drawn[better], found[better]
            of = of[~detector.wrong(scores, of)]
        return best

    def _drawn(self, context: AttackContext, moves: Moves, options: SwitchOptions, of: IntArray) -> FloatArray:
        clean, rng = context.rows[of], context.rng
        drawn = clean + self.deviation * moves.scaled(rng.normal(size=clean.shape))
        switching = np.flatnonzero(rng.random(len(of)) < self.switch_share) if len(options) else of[:0]
        if switching.size:
            chosen = rng.integers(0, len(options), len(switching))
            drawn[switching] = options.chosen(drawn[switching], clean[switching], chosen, rng)
        return moves.clip(drawn, of)
