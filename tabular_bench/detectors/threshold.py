"""From scores to decisions: a threshold by a declared rule, set on the validation rows and never on the test rows.

A threshold lies half-way between two scores that occur, so that rounding in the last digit decides nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tabular_bench.errors import InputError, UnknownName
from tabular_bench.schema import FloatArray

RuleKind = Literal["f1", "capacity", "false_positive_rate", "fixed"]

RULES: dict[str, str] = {
    "f1": "the best F1 score",
    "capacity": "as many alarms as can be looked at, as a share of all rows",
    "false_positive_rate": "at most this share of legitimate rows stopped",
    "fixed": "this score",
}


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """How a threshold is chosen.

    Attributes
    ----------
    kind
        A key of `RULES`.
    value
        In 0..1; None for ``f1``, which has none.
    """

    kind: RuleKind
    value: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in RULES:
            raise UnknownName("threshold rule", self.kind, RULES)
        if (self.value is None) != (self.kind == "f1"):
            raise InputError(f"threshold rule {self.kind}: expected {'no' if self.kind == 'f1' else 'a'} value")
        if self.value is not None and not 0 <= self.value <= 1:
            raise InputError(f"threshold rule {self.kind}: expected a value in 0..1, found {self.value}")

    @classmethod
    def parse(cls, text: str) -> ThresholdRule:
        """Read ``f1``, ``capacity=0.01``, ``false_positive_rate=0.01`` or ``fixed=0.5``; `str` writes it.

        Parameters
        ----------
        text
            As above.

        Raises
        ------
        InputError
            If it is none of these.
        """
        kind, equals, value = text.partition("=")
        if kind not in RULES:
            raise InputError(f"expected a threshold rule ({', '.join(RULES)}), found {text!r}")
        try:
            return cls(kind, float(value) if equals else None)  # type: ignore[arg-type]
        except ValueError:
            raise InputError(f"threshold rule {kind}: expected a number, found {value!r}") from None

    def __str__(self) -> str:
        return self.kind if self.value is None else f"{self.kind}={self.value:g}"


BEST_F1 = ThresholdRule("f1")


def choose_threshold(rule: ThresholdRule, labels: ArrayLike, scores: ArrayLike) -> float:
    """Choose the threshold; a score of at least this is a prediction of fraud.

    Parameters
    ----------
    rule
        The declared one.
    labels
        Shape ``(n,)``, of the validation rows: 0 or 1.
    scores
        Shape ``(n,)``: their scores, finite.

    Returns
    -------
    float
        At least 0. Above every score where the rule allows no alarm.

    Raises
    ------
    ValueError
        If there is no row, shapes differ, or the rule needs a label that does not occur.
    """
    truth, values = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if truth.ndim != 1 or truth.shape != values.shape or not len(truth) or not np.isfinite(values).all():
        raise ValueError(f"expected finite scores and as many labels, found shapes {values.shape} and {truth.shape}")
    if rule.kind == "fixed" and rule.value is not None:
        return rule.value
    distinct, place = np.unique(values, return_inverse=True)
    # Entry i counts the rows that are stopped if the cut is just below the i-th score; the last cut stops none.
    stopped = _from_the_top(np.bincount(place).astype(np.float64))
    hits = _from_the_top(np.bincount(place, weights=truth).astype(np.float64))
    alarms = stopped - hits
    if rule.kind == "f1":
        if not hits[0]:
            raise ValueError("the best F1 score needs at least one positive row among the validation rows")
        f1 = 2 * hits / (stopped + hits[0])
        best = int(np.flatnonzero(f1 >= f1.max() - 1e-12)[-1])
    else:
        counted = stopped if rule.kind == "capacity" else alarms
        if not counted[0]:
            raise ValueError("a false-positive rate needs at least one negative row among the validation rows")
        allowed = math.floor((rule.value or 0.0) * counted[0] + 1e-9)
        best = int(np.flatnonzero(counted <= allowed)[0])
    return _cut_below(best, distinct)


def _from_the_top(counts: FloatArray) -> FloatArray:
    return np.append(np.cumsum(counts[::-1])[::-1], 0.0)


def _cut_below(place: int, distinct: FloatArray) -> float:
    if place == len(distinct):
        highest = float(distinct[-1])
        return (highest + 1) / 2 if highest < 1 else float(np.nextafter(highest, 2))
    above = float(distinct[place])
    below = float(distinct[place - 1]) if place else 0.0
    half_way = (below + above) / 2
    # Between two neighbouring floating-point numbers there is no other.
    return half_way if half_way > below or not place else above
