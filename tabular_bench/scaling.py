"""The two spaces, and the way between them.

* **Problem space** is what people mean: dollars, months, counts, and categories as exact 0/1 blocks. Data sets,
  schemas, relations, `repair` and every feasibility check live here.
* **Scaled space** is what models see and attacks move in: numeric and integer columns shifted and divided by their
  mean and standard deviation *in the training rows*; 0/1 columns as they are. Detectors of the bench, gradients,
  the epsilon ball and attack steps live here.

The way is ``scaled = (problem - shift) / scale``, column by column. A detector that expects problem-space rows (a
user's own, or the bank's) is brought in by `ScaledFront`; one trained here is handed out by `ProblemFront`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.detector import Detector
from tabular_bench.schema import FloatArray, Schema


@dataclass(frozen=True, eq=False)
class Scaler:
    """An invertible affine map of each column, fitted on training rows only.

    Attributes
    ----------
    shift, scale
        Shape ``(d,)``; `scale` is positive. Discrete columns have shift 0 and scale 1. A column that is constant in
        training has scale 1, so there epsilon counts in the column's own unit.
    lowest, highest
        Shape ``(d,)``: the range of the training rows in problem space.
    """

    shift: FloatArray
    scale: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def fit(cls, rows: FloatArray, schema: Schema) -> Scaler:
        """Measure training rows.

        Parameters
        ----------
        rows
            Shape ``(n, d)`` with n >= 1, in problem space, finite. Training rows only.
        schema
            Says which columns are discrete.

        Raises
        ------
        ValueError
            If there is no row or a value is not finite.
        """
        if rows.shape[0] == 0 or not np.isfinite(rows).all():
            raise ValueError("expected at least one training row and finite values only")
        deviation = rows.std(axis=0)
        # A constant column's deviation is rounding noise, not a scale.
        noise = 1e-12 * np.maximum(np.abs(rows).max(axis=0), 1.0)
        scale = np.where(schema.discrete | (deviation <= noise), 1.0, deviation)
        shift = np.where(schema.discrete, 0.0, rows.mean(axis=0))
        return cls(shift, scale, rows.min(axis=0), rows.max(axis=0))

    def to_scaled(self, rows: FloatArray) -> FloatArray:
        """Map problem-space rows, shape ``(n, d)`` or ``(d,)``, to scaled space."""
        scaled: FloatArray = (rows - self.shift) / self.scale
        return scaled

    def to_problem(self, rows: FloatArray) -> FloatArray:
        """Map scaled rows, shape ``(n, d)`` or ``(d,)``, to problem space."""
        problem: FloatArray = rows * self.scale + self.shift
        return problem


@dataclass(frozen=True, slots=True)
class ScaledFront:
    """A detector of problem-space rows, made to accept scaled rows.

    Attributes
    ----------
    detector
        Expects problem-space rows.
    scaler
        The way between the spaces.
    """

    detector: Detector
    scaler: Scaler

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.detector.feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score scaled rows, shape ``(n, d)``; returns shape ``(n,)``."""
        return self.detector.predict_proba(self.scaler.to_problem(rows))


@dataclass(frozen=True, slots=True)
class ProblemFront:
    """A detector of scaled rows, made to accept problem-space rows.

    Attributes
    ----------
    detector
        Expects scaled rows.
    scaler
        The way between the spaces.
    """

    detector: Detector
    scaler: Scaler

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.detector.feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score problem-space rows, shape ``(n, d)``; returns shape ``(n,)``."""
        return self.detector.predict_proba(self.scaler.to_scaled(rows))
