"""Defences that train as usual: none, a check of the input, other models beside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.defence import DefenceContext
from tabular_bench.detector import Detector
from tabular_bench.detectors.ensemble import train_ensemble
from tabular_bench.detectors.model import Model
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.detectors.validated import Mode, validated

DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class NoDefence:
    """The model as it is."""

    def train(self, model: Model, training: TrainingSet, context: DefenceContext) -> Detector:
        """Train the model."""
        return model.train(training)


@dataclass(frozen=True, slots=True)
class InputValidation:
    """Limits for every number: the range of the training rows, and so many deviations around their mean.

    Columns that switch are left alone, for every rare category is many deviations from its mean.

    Attributes
    ----------
    mode
        What becomes of values beyond the limits.
    deviations
        Standard deviations on either side.
    """

    mode: Mode
    deviations: float = DEVIATIONS

    def train(self, model: Model, training: TrainingSet, context: DefenceContext) -> Detector:
        """Train the model on rows as they are, and put it behind the limits."""
        rows = training.rows
        mean, reach = rows.mean(axis=0), self.deviations * rows.std(axis=0)
        free = context.problem.schema.discrete
        lower = np.where(free, -np.inf, np.maximum(rows.min(axis=0), mean - reach))
        upper = np.where(free, np.inf, np.minimum(rows.max(axis=0), mean + reach))
        return validated(model.train(training), lower, upper, self.mode)


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Soft voting of different models in place of the model, whichever that is."""

    def train(self, model: Model, training: TrainingSet, context: DefenceContext) -> Detector:
        """Train the ensemble."""
        return train_ensemble(training)
