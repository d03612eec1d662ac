"""The detector as an attack sees it: every question is counted for its row, and refused past a limit."""

from __future__ import annotations

import numpy as np

from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.errors import AccessDenied, AttackError, DetectorError, NotApplicable, QueryBudgetSpent
from tabular_bench.schema import BoolArray, FloatArray, IntArray
from tabular_bench.threat import Access, ThreatModel


class CountedDetector:
    """Answers an attack, and counts.

    Parameters
    ----------
    detector
        Expects scaled rows.
    targets
        Shape ``(n,)``: the true labels of the attacked rows.
    threshold
        A score of at least this is a prediction of fraud.
    threat
        Says what may be asked.
    max_queries
        The limit a row; None is no limit.

    Attributes
    ----------
    queries
        Shape ``(n,)``: rows scored or judged on behalf of each attacked row.
    gradient_calls
        Shape ``(n,)``: rows differentiated on behalf of each attacked row. They count towards the limit, too.
    """

    def __init__(
        self,
        detector: Detector,
        targets: IntArray,
        threshold: float,
        threat: ThreatModel,
        max_queries: int | None = None,
    ) -> None:
        self._detector = detector
        self._targets = targets.astype(np.int8)
        self._is_fraud: BoolArray = np.equal(targets, 1)
        self._threat = threat
        self._max_queries = max_queries
        self.threshold = threshold
        self.queries = np.zeros(len(targets), dtype=np.int64)
        self.gradient_calls = np.zeros(len(targets), dtype=np.int64)

    def scores(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Score rows.

        Parameters
        ----------
        rows
            Shape ``(m, d)``, in scaled space.
        of
            Shape ``(m,)``: the attacked row on whose behalf each is asked about; may repeat.

        Returns
        -------
        FloatArray
            Shape ``(m,)``, in 0..1.

        Raises
        ------
        AccessDenied
            If the threat model gives no scores.
        QueryBudgetSpent
            If a row would be asked about more often than allowed; nothing is then asked.
        """
        self._demand("score")
        return self._ask(rows, of)

    def decisions(self, rows: FloatArray, of: IntArray) -> BoolArray:
        """Tell of each row whether it is taken for fraud; parameters and errors as for `scores`."""
        judged: BoolArray = self._ask(rows, of) >= self.threshold
        return judged

    def fooled(self, rows: FloatArray, of: IntArray) -> BoolArray:
        """Tell of each row whether it is classified wrongly; parameters and errors as for `scores`."""
        return np.not_equal(self.decisions(rows, of), self._is_fraud[of])

    def margins(self, scores: FloatArray, of: IntArray) -> FloatArray:
        """Return how far scores, shape ``(m,)``, are on the right side of the threshold; asks nothing.

        Attacks lower it. At 0 a row that is fraud is still caught, and one that is not is already taken for it.
        """
        distance = scores - self.threshold
        return np.where(self._is_fraud[of], distance, -distance)

    def wrong(self, scores: FloatArray, of: IntArray) -> BoolArray:
        """Tell of scores, shape ``(m,)``, whether they classify their row wrongly; asks nothing."""
        return np.not_equal(scores >= self.threshold, self._is_fraud[of])

    def gradients(self, rows: FloatArray, of: IntArray) -> FloatArray:
        """Differentiate the loss of rows; a step along the result makes the detector more wrong.

        Parameters
        ----------
        rows, of
            As for `scores`.

        Returns
        -------
        FloatArray
            Shape ``(m, d)``, finite: `DifferentiableDetector.gradient` at the true labels.

        Raises
        ------
        AccessDenied
            If the threat model gives no gradients.
        NotApplicable
            If the detector has none.
        QueryBudgetSpent
            If a row would be asked about more often than allowed; nothing is then asked.
        """
        self._demand("gradient")
        if not isinstance(self._detector, DifferentiableDetector):
            raise NotApplicable(f"expected a detector with gradients, {type(self._detector).__name__} has none")
        self._count(self.gradient_calls, rows, of)
        found = np.asarray(self._detector.gradient(rows, self._targets[of]), dtype=np.float64)
        if found.shape != rows.shape or not np.isfinite(found).all():
            raise DetectorError(f"expected finite gradients of shape {rows.shape}, found shape {found.shape} or NaN")
        return found

    def left(self, of: IntArray) -> IntArray:
        """Return how often each attacked row in `of` may still be asked about; a very large number without limit."""
        if self._max_queries is None:
            return np.full(of.shape, np.iinfo(np.int64).max)
        return self._max_queries - (self.queries + self.gradient_calls)[of]

    def _demand(self, access: Access) -> None:
        if not self._threat.allows(access):
            raise AccessDenied(f"the threat model {self._threat.name} gives {self._threat.access}s, not {access}s")

    def _ask(self, rows: FloatArray, of: IntArray) -> FloatArray:
        self._count(self.queries, rows, of)
        return checked_scores(self._detector, rows)

    def _count(self, counter: IntArray, rows: FloatArray, of: IntArray) -> None:
        if rows.ndim != 2 or of.shape != (len(rows),):
            raise AttackError(f"expected rows of shape (m, d) and m row numbers, found {rows.shape} and {of.shape}")
        asked = np.bincount(of, minlength=len(self._targets))
        if self._max_queries is not None:
            over = (self.queries + self.gradient_calls + asked > self._max_queries) & (asked > 0)
            if over.any():
                raise QueryBudgetSpent(f"{over.sum()} rows would be asked about more than {self._max_queries} times")
        counter += asked


def checked_scores(detector: Detector, rows: FloatArray) -> FloatArray:
    """Score rows and hold the detector to its contract.

    Parameters
    ----------
    detector
        Expects rows like these.
    rows
        Shape ``(n, d)``.

    Returns
    -------
    FloatArray
        Shape ``(n,)``, in 0..1.

    Raises
    ------
    DetectorError
        If the scores have another shape, are not finite or lie outside 0..1.
    """
    scores = np.asarray(detector.predict_proba(rows), dtype=np.float64)
    if scores.shape != (len(rows),):
        raise DetectorError(
            f"{type(detector).__name__}: expected scores of shape ({len(rows)},), found {scores.shape}; "
            "return the probability of fraud only, one number a row"
        )
    if not (np.isfinite(scores) & (scores >= 0) & (scores <= 1)).all():
        raise DetectorError(f"{type(detector).__name__}: expected scores in 0..1, found others or NaN")
    return scores
