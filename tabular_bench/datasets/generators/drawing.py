"""What several generators need: labels at an exact prevalence, gaps, choices by weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tabular_bench.datasets.raw import RawTable
from tabular_bench.schema import BoolArray, FloatArray


def finish(columns: dict[str, NDArray[Any]], labels: NDArray[Any], name: str) -> RawTable:
    """Return a raw table of generated columns.

    Parameters
    ----------
    columns
        Of equal length.
    labels
        True or 1 is fraud.
    name
        Of the generator.
    """
    count = len(labels)
    return RawTable(columns, labels.astype(np.int8), f"generated {name}", np.arange(count) + 2)


def exact_labels(count: int, prevalence: float, rng: Generator) -> BoolArray:
    """Draw which rows are fraud.

    Parameters
    ----------
    count
        Of rows.
    prevalence
        Their share; the number is rounded, and at least 5 so that every part of a split has some.
    rng
        Source of randomness.
    """
    labels = np.zeros(count, dtype=np.bool_)
    labels[rng.permutation(count)[: max(5, round(prevalence * count))]] = True
    return labels


def labels_by_risk(risk: FloatArray, prevalence: float, rng: Generator) -> BoolArray:
    """Draw labels with log-odds that grow with `risk`, shape ``(n,)``, at an exact prevalence."""
    noisy = risk + rng.logistic(size=len(risk))
    labels = np.zeros(len(risk), dtype=np.bool_)
    labels[np.argsort(-noisy, kind="stable")[: max(5, round(prevalence * len(risk)))]] = True
    return labels


def choose(options: Sequence[str], weights: Sequence[float], count: int, rng: Generator) -> NDArray[Any]:
    """Draw `count` of `options`, each as often as its weight says."""
    shares = np.cumsum(weights) / np.sum(weights)
    codes = np.minimum(np.searchsorted(shares, rng.random(count), side="right"), len(options) - 1)
    return np.array(options, dtype=object)[codes]


def with_gaps(values: NDArray[Any], share: float | FloatArray, rng: Generator) -> NDArray[Any]:
    """Return values of which about `share` (one number, or one for each row) are missing."""
    absent = rng.random(len(values)) < share
    if values.dtype == np.object_:
        return np.array([None if gone else value for gone, value in zip(absent, values, strict=True)], dtype=object)
    return np.where(absent, np.nan, values.astype(np.float64))


def standardise(values: NDArray[Any]) -> FloatArray:
    """Shift and scale to mean 0 and deviation 1; a constant becomes 0."""
    deviation = values.std()
    scaled: FloatArray = (values - values.mean()) / (deviation if deviation > 0 else 1.0)
    return scaled
