"""Soft voting of different models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.detector import Detector
from tabular_bench.detectors.boosting import train_xgboost
from tabular_bench.detectors.logistic import train_logistic
from tabular_bench.detectors.network import train_network
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.schema import FloatArray


@dataclass(frozen=True, eq=False)
class EnsembleDetector:
    """The mean of what its members say.

    It offers no gradient: trees have none, and the gradient of the others would be passed off as that of the whole.
    To attack a member and show its rows to the ensemble is a threat model with a surrogate.

    Attributes
    ----------
    members
        By name; of the same columns.
    """

    members: dict[str, Detector]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the d columns."""
        return next(iter(self.members.values())).feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        scores: FloatArray = np.mean([member.predict_proba(rows) for member in self.members.values()], axis=0)
        return scores


def train_ensemble(training: TrainingSet) -> EnsembleDetector:
    """Train logistic regression, boosted trees and a network.

    Parameters
    ----------
    training
        Scaled rows.
    """
    return EnsembleDetector(
        {
            "logistic": train_logistic(training),
            "xgboost": train_xgboost(training),
            "mlp": train_network(training),
        }
    )
