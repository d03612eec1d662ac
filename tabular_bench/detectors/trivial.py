"""Detectors that know nothing or one thing. They stand in every table: what they reach, no model may be praised for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detectors.training import TrainingSet, demand_rows
from tabular_bench.errors import NotApplicable
from tabular_bench.schema import FloatArray
from tabular_bench.seeds import derive_seed

_U = np.uint64
_TIE_BREAK = 1e-12


@dataclass(frozen=True, slots=True)
class ConstantDetector:
    """The same score for every row.

    Attributes
    ----------
    feature_names
        The d columns.
    score
        In 0..1.
    """

    feature_names: tuple[str, ...]
    score: float

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        return np.full(len(rows), self.score)


@dataclass(frozen=True, slots=True)
class RandomDetector:
    """A score that is uniform over rows, and always the same for the same row.

    Attributes
    ----------
    feature_names
        The d columns.
    seed
        Of the scores.
    """

    feature_names: tuple[str, ...]
    seed: int

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        mixed: NDArray[np.uint64] = np.full(len(rows), derive_seed(self.seed, "random detector") % 2**64, np.uint64)
        # Adding 0.0 gives the two zeros the same bits.
        for column in np.ascontiguousarray((rows + 0.0).T).view(np.uint64):
            mixed = _scrambled(mixed ^ column)
        return (mixed >> _U(11)).astype(np.float64) / 2.0**53


@dataclass(frozen=True, slots=True)
class LargestFirstDetector:
    """The larger the amount, the more suspicious; nothing else is looked at.

    Attributes
    ----------
    feature_names
        The d columns.
    amount
        The number of the column of amounts.
    lots
        Decide between equal amounts, of which a table with a largest allowed one has many.
    """

    feature_names: tuple[str, ...]
    amount: int
    lots: RandomDetector

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        # The tails of the arc tangent fall off slowly, so that the largest amounts, too, keep different scores.
        by_amount = 0.5 + np.arctan(rows[:, self.amount]) / np.pi
        return (1 - _TIE_BREAK) * by_amount + _TIE_BREAK * self.lots.predict_proba(rows)


def never(training: TrainingSet) -> ConstantDetector:
    """Make the detector that lets everything pass.

    Parameters
    ----------
    training
        Gives the columns.
    """
    return ConstantDetector(training.feature_names, 0.0)


def always(training: TrainingSet) -> ConstantDetector:
    """Make the detector that stops everything.

    Parameters
    ----------
    training
        Gives the columns.
    """
    return ConstantDetector(training.feature_names, 1.0)


def at_random(training: TrainingSet) -> RandomDetector:
    """Make the detector that draws lots.

    Parameters
    ----------
    training
        Gives columns and seed.
    """
    return RandomDetector(training.feature_names, training.seed)


def largest_first(training: TrainingSet) -> LargestFirstDetector:
    """Make the detector that goes by the amount.

    Parameters
    ----------
    training
        Names the column of amounts; gives the seed of the lots.

    Raises
    ------
    NotApplicable
        If the table has none.
    """
    if training.amount_column not in training.feature_names:
        raise NotApplicable(
            "largest amount first: expected a table with a column of amounts, found "
            + ("none named" if training.amount_column is None else f"no column {training.amount_column!r}")
        )
    column = training.feature_names.index(training.amount_column)
    return LargestFirstDetector(training.feature_names, column, at_random(training))


def _scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over the whole of a 64-bit number (the finaliser of splitmix64)."""
    numbers = numbers + _U(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> _U(27))) * _U(0x94D049BB133111EB)
    return numbers ^ (numbers >> _U(31))
