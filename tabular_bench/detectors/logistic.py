"""Logistic regression, both classes weighted the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detectors.training import TrainingSet, demand_rows, logistic
from tabular_bench.schema import FloatArray
from tabular_bench.threads import one_thread

MAX_ITERATIONS = 2_000


@dataclass(frozen=True, eq=False)
class LogisticDetector:
    """The logistic function of a weighted sum.

    Attributes
    ----------
    feature_names
        The d columns.
    weights
        Shape ``(d,)``.
    bias
        Added to the sum.
    """

    feature_names: tuple[str, ...]
    weights: FloatArray
    bias: float

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        # einsum sums on one thread, and each row the same whatever rows stand beside it.
        return logistic(np.einsum("ij,j->i", np.ascontiguousarray(rows), self.weights) + self.bias)

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        """Return the gradient of the signed logit, shape ``(n, d)``."""
        demand_rows(rows, self.feature_names)
        sign = np.where(np.asarray(targets) == 1, -1.0, 1.0)
        return sign[:, None] * self.weights

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything but the names."""
        return {"weights": self.weights, "bias": np.array(self.bias)}

    @classmethod
    def from_arrays(cls, feature_names: tuple[str, ...], arrays: dict[str, NDArray[np.generic]]) -> LogisticDetector:
        """Rebuild from `to_arrays`."""
        return cls(feature_names, arrays["weights"].astype(np.float64), float(arrays["bias"].astype(np.float64)))


def train_logistic(training: TrainingSet) -> LogisticDetector:
    """Fit the weights, with an L2 penalty of one half their squared length.

    Parameters
    ----------
    training
        Scaled rows.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(class_weight="balanced", max_iter=MAX_ITERATIONS)
    with one_thread():
        model.fit(training.rows, training.labels)
    return LogisticDetector(
        training.feature_names, np.array(model.coef_[0], dtype=np.float64), float(model.intercept_[0])
    )
