"""Detectors that cannot be fooled because they see nothing: flagged, not celebrated.

A detector that says the same of every row loses nothing to any attack. Tables must say so next to its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tabular_bench.metrics.ranking import roc_auc

FlagName = Literal["constant", "stops_all", "stops_none", "no_skill", "inverted", "not_judged"]

# Standard errors of the area under the curve of a detector that draws lots.
SIGNIFICANT = 3.0


@dataclass(frozen=True, slots=True)
class Flag:
    """One thing that makes a detector's robustness worthless.

    Attributes
    ----------
    name
        Which it is.
    detail
        The numbers behind it.
    """

    name: FlagName
    detail: str


def flags(labels: ArrayLike, scores: ArrayLike, threshold: float) -> tuple[Flag, ...]:
    """Say what disqualifies a detector, judged by its scores of clean rows.

    Parameters
    ----------
    labels
        Shape ``(n,)``: 0 or 1.
    scores
        Shape ``(n,)``, finite.
    threshold
        A score of at least this is a prediction of fraud.

    Returns
    -------
    tuple[Flag, ...]
        Empty for a detector that tells fraud from the rest.

    Raises
    ------
    ValueError
        As `tabular_bench.metrics.ranking.rank` does.
    """
    truth, values = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    area = roc_auc(truth, values)
    found = []
    if not len(values):
        return (Flag("not_judged", "there is no row to judge it by"),)
    if values.min() == values.max():
        found.append(Flag("constant", f"every one of {len(values)} rows has the score {values[0]:g}"))
    stopped = int((values >= threshold).sum())
    if stopped == len(values):
        found.append(Flag("stops_all", f"all {stopped} rows score at least the threshold {threshold:g}"))
    if stopped == 0:
        found.append(Flag("stops_none", f"none of {len(values)} rows scores at least the threshold {threshold:g}"))
    if area is None:
        found.append(Flag("not_judged", "the rows are all of one class"))
        return tuple(found)
    positives = int(truth.sum())
    negatives = len(truth) - positives
    error = ((positives + negatives + 1) / (12 * positives * negatives)) ** 0.5
    told = f"ROC-AUC {area:.3f}, a draw of lots gives 0.500 +- {error:.3f}"
    if area < 0.5 - SIGNIFICANT * error:
        found.append(Flag("inverted", told))
    elif area <= 0.5 + SIGNIFICANT * error:
        found.append(Flag("no_skill", told))
    return tuple(found)
