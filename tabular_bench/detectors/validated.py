"""A detector behind a check of its input: values far from those of training are clipped, or the row is turned away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.training import demand_rows
from tabular_bench.errors import DetectorError
from tabular_bench.schema import BoolArray, FloatArray

Mode = Literal["clip", "reject"]


@dataclass(frozen=True, eq=False)
class ValidatedDetector:
    """Shows the inner detector values within limits only.

    Attributes
    ----------
    inner
        Scores what has passed.
    lower, upper
        Shape ``(d,)``: the limits; infinite for columns that are not checked.
    mode
        ``clip`` moves values to the limit. ``reject`` turns rows beyond the limits away, which is to say that they
        get the score 1: whoever is legitimate and unusual pays for it.
    """

    inner: Detector
    lower: FloatArray
    upper: FloatArray
    mode: Mode

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the d columns."""
        return self.inner.feature_names

    def rejected(self, rows: FloatArray) -> BoolArray:
        """Tell of each row, shape ``(n, d)``, whether a value is beyond the limits."""
        beyond: BoolArray = np.any((rows < self.lower) | (rows > self.upper), axis=1)
        return beyond

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        scores = self.inner.predict_proba(np.clip(rows, self.lower, self.upper))
        return np.where(self.rejected(rows), 1.0, scores) if self.mode == "reject" else scores


class DifferentiableValidatedDetector(ValidatedDetector):
    """The same around a detector with gradients."""

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        """Return the gradient of the signed logit of the inner detector, shape ``(n, d)``.

        When values are clipped, those beyond the limits change nothing and have the gradient 0. A row that is turned
        away has an infinite logit; its gradient is that of the detector it does not reach.
        """
        if not isinstance(self.inner, DifferentiableDetector):
            raise DetectorError(f"expected a detector with gradients, {type(self.inner).__name__} has none")
        if self.mode == "reject":
            return self.inner.gradient(rows, targets)
        gradients = self.inner.gradient(np.clip(rows, self.lower, self.upper), targets)
        return np.where((rows >= self.lower) & (rows <= self.upper), gradients, 0.0)


def validated(inner: Detector, lower: FloatArray, upper: FloatArray, mode: Mode) -> ValidatedDetector:
    """Put a detector behind a check; it keeps its gradient if it has one.

    Parameters
    ----------
    inner, lower, upper, mode
        As in `ValidatedDetector`.
    """
    kind = DifferentiableValidatedDetector if isinstance(inner, DifferentiableDetector) else ValidatedDetector
    return kind(inner, lower, upper, mode)
