"""How well scores rank fraud above the rest, and how low such a number can get.

A quantity that does not exist for the rows at hand is None. A reason goes with it in `Ranking.blanks`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tabular_bench.schema import BoolArray, FloatArray

FALSE_POSITIVE_RATES = (0.01, 0.001)
SATURATION_SLACK = 1e-3
# Of the way from the floor to a constant score: with rare fraud the absolute slack alone reaches past chance.
SATURATION_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the scores of some labelled rows are worth.

    Attributes
    ----------
    rows, positives
        How many there are.
    average_precision
        The area under precision and recall, as a step function.
    roc_auc
        The chance that a positive row scores above a negative one, ties counting half.
    recall_at
        By false-positive rate: the largest recall at no more than that.
    blanks
        By name, why a number is None.
    """

    rows: int
    positives: int
    average_precision: float | None
    roc_auc: float | None
    recall_at: dict[float, float | None]
    blanks: dict[str, str] = field(default_factory=dict)

    @property
    def prevalence(self) -> float | None:
        """The share of positives, None without rows."""
        return self.positives / self.rows if self.rows else None

    @property
    def saturated(self) -> bool | None:
        """Whether the average precision sits on its floor; None where there is no average precision."""
        if self.average_precision is None:
            return None
        return is_saturated(self.average_precision, self.positives, self.rows - self.positives)


def rank(labels: ArrayLike, scores: ArrayLike) -> Ranking:
    """Compute every ranking metric.

    Parameters
    ----------
    labels
        Shape ``(n,)``: 0 or 1.
    scores
        Shape ``(n,)``, finite; higher is more suspicious.

    Returns
    -------
    Ranking
        With None for what the rows do not determine.

    Raises
    ------
    ValueError
        If shapes differ, a label is neither 0 nor 1, or a score is not finite.
    """
    positive, values = _checked(labels, scores)
    count, total = int(positive.sum()), len(positive)
    blanks = {}
    if count in (0, total):
        why = "there is no row" if not total else f"every one of the {total} rows has the label {int(bool(count))}"
        names = ("average_precision", "roc_auc", *(f"recall_at_{rate}" for rate in FALSE_POSITIVE_RATES))
        blanks = dict.fromkeys(names, why)
    return Ranking(
        rows=total,
        positives=count,
        average_precision=average_precision(positive, values),
        roc_auc=roc_auc(positive, values),
        recall_at={rate: recall_at_false_positive_rate(positive, values, rate) for rate in FALSE_POSITIVE_RATES},
        blanks=blanks,
    )


def average_precision(labels: ArrayLike, scores: ArrayLike) -> float | None:
    """Return the mean precision over the positives, rows of equal score being taken together.

    Parameters
    ----------
    labels, scores
        As for `rank`.

    Returns
    -------
    float | None
        In 0..1; the share of positives for constant scores. None where only one class is present, for then the
        number says nothing about the scores.

    Raises
    ------
    ValueError
        As for `rank`.
    """
    curve = _curve(labels, scores)
    if curve is None:
        return None
    hits, alarms = curve
    gained = np.diff(hits, prepend=0.0)
    return float((gained * hits / (hits + alarms)).sum() / hits[-1])


def roc_auc(labels: ArrayLike, scores: ArrayLike) -> float | None:
    """Return the chance that a positive row scores above a negative one, ties counting half.

    Parameters
    ----------
    labels, scores
        As for `rank`.

    Returns
    -------
    float | None
        In 0..1; None where only one class is present.

    Raises
    ------
    ValueError
        As for `rank`.
    """
    curve = _curve(labels, scores)
    if curve is None:
        return None
    hits, alarms = (np.concatenate(([0.0], counted)) for counted in curve)
    return float((np.diff(alarms) * (hits[1:] + hits[:-1])).sum() / (2 * hits[-1] * alarms[-1]))


def recall_at_false_positive_rate(labels: ArrayLike, scores: ArrayLike, rate: float) -> float | None:
    """Return the largest recall of any threshold that raises no more than that share of false alarms.

    With fewer than ``1 / rate`` negatives it is the recall without a false alarm.

    Parameters
    ----------
    labels, scores
        As for `rank`.
    rate
        In 0..1.

    Returns
    -------
    float | None
        In 0..1; None where only one class is present.

    Raises
    ------
    ValueError
        As for `rank`, or if the rate is outside 0..1.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"expected a false-positive rate in 0..1, found {rate}")
    curve = _curve(labels, scores)
    if curve is None:
        return None
    hits, alarms = curve
    allowed = hits[alarms <= rate * alarms[-1]]
    return float(allowed[-1] / hits[-1]) if len(allowed) else 0.0


def lowest_average_precision(positives: int, negatives: int) -> float:
    """Return the average precision of the worst ranking: every negative above every positive.

    Parameters
    ----------
    positives, negatives
        How many rows there are of each; at least one positive.

    Raises
    ------
    ValueError
        If there is no positive, or a count is negative.
    """
    if positives < 1 or negatives < 0:
        raise ValueError(f"expected at least one positive and no negative count, found {positives}, {negatives}")
    found = np.arange(1, positives + 1)
    return float((found / (negatives + found)).mean())


def limit_of_lowest_average_precision(prevalence: float) -> float:
    """Return what `lowest_average_precision` tends to with ever more rows of that prevalence.

    Parameters
    ----------
    prevalence
        The share of positives, above 0 and below 1.

    Raises
    ------
    ValueError
        If it is not.
    """
    if not 0 < prevalence < 1:
        raise ValueError(f"expected a prevalence above 0 and below 1, found {prevalence}")
    return 1 + (1 - prevalence) / prevalence * math.log1p(-prevalence)


def is_saturated(average: float, positives: int, negatives: int) -> bool:
    """Tell whether an average precision is so near to its floor that it tells attacks no longer apart.

    Parameters
    ----------
    average
        The average precision.
    positives, negatives
        How many rows there are of each; at least one positive.

    Raises
    ------
    ValueError
        As for `lowest_average_precision`.
    """
    floor = lowest_average_precision(positives, negatives)
    chance = positives / (positives + negatives)
    return average <= floor + min(SATURATION_SLACK, SATURATION_SHARE * (chance - floor))


def _curve(labels: ArrayLike, scores: ArrayLike) -> tuple[FloatArray, FloatArray] | None:
    """Count true and false alarms at each distinct score as threshold, from the strictest on."""
    positive, values = _checked(labels, scores)
    if positive.all() or not positive.any():
        return None
    order = np.argsort(-values, kind="stable")
    values, positive = values[order], positive[order]
    last_of_score = np.flatnonzero(np.append(np.diff(values) != 0, True))
    hits = np.cumsum(positive, dtype=np.float64)[last_of_score]
    return hits, last_of_score + 1 - hits


def _checked(labels: ArrayLike, scores: ArrayLike) -> tuple[BoolArray, FloatArray]:
    found, values = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if found.ndim != 1 or found.shape != values.shape:
        raise ValueError(f"expected labels and scores of one shape (n,), found {found.shape} and {values.shape}")
    if not np.isin(found, (0, 1)).all():
        raise ValueError("expected labels 0 and 1 only")
    if not np.isfinite(values).all():
        raise ValueError(f"expected finite scores, found {int((~np.isfinite(values)).sum())} that are not")
    return found.astype(np.bool_), values
