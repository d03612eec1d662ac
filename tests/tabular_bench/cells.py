"""Real rows that a library carries, scaled, for tests of detectors and defences."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tabular_bench.constraints.catalogue import Catalogue, Constraints
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.problem import Problem
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Feature, FloatArray, Schema

TRAINING_ROWS = 380


@cache
def tumours() -> tuple[FloatArray, NDArray[np.int8], Schema]:
    """Return the rows in their own units, the labels (1: malignant), and the columns."""
    from sklearn.datasets import load_breast_cancer

    loaded = load_breast_cancer()
    labels = (1 - loaded.target).astype(np.int8)
    return loaded.data, labels, Schema(tuple(Feature(str(name), lower=0) for name in loaded.feature_names))


@cache
def problem() -> Problem:
    rows, _, schema = tumours()
    return Problem(Constraints(schema, Catalogue()), Scaler.fit(rows[:TRAINING_ROWS], schema))


@cache
def training(seed: int = 42) -> TrainingSet:
    rows, labels, schema = tumours()
    scaler = problem().scaler
    scaled = scaler.to_scaled(rows[:TRAINING_ROWS])
    return TrainingSet(scaled, labels[:TRAINING_ROWS], schema.columns, seed, "mean area", scaler)


@cache
def held_out() -> tuple[FloatArray, NDArray[np.int8]]:
    """Return scaled rows that were not trained on, and their labels."""
    rows, labels, _ = tumours()
    return problem().scaler.to_scaled(rows[TRAINING_ROWS:]), labels[TRAINING_ROWS:]
