"""The fraud score that works without training: a logistic scorecard with weights set by judgement.

Each term is a ramp over one measurement: 0 up to `start`, 1 from `full` on, linear between (a falling ramp has
`full` below `start`). The score is the logistic function of the intercept plus the weighted ramps. The weights say
what tellers are taught: a first payment, to somebody registered lately, of much of a balance that has only just
come in, soon after a change of telephone. No outcome was fitted, so a score orders payments and is no probability
of anything counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Term:
    """One ramp of the scorecard."""

    feature: str
    start: float
    full: float
    weight: float


INTERCEPT: Final = -4.5

TERMS: Final = (
    Term("amount_dollars", start=500, full=10_000, weight=1.2),
    Term("balance_share", start=0.3, full=0.9, weight=1.4),
    Term("payee_age_days", start=30, full=0, weight=1.4),
    Term("is_first_payment", start=0, full=1, weight=0.8),
    Term("is_external", start=0, full=1, weight=0.3),
    Term("hour", start=6, full=3, weight=0.5),
    Term("payments_today", start=0, full=4, weight=0.7),
    Term("account_age_days", start=90, full=0, weight=0.8),
    Term("fresh_money_share", start=0.2, full=0.8, weight=1.2),
    Term("days_since_channel_change", start=14, full=0, weight=1.2),
)


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A detector of weighted ramps.

    Attributes
    ----------
    terms
        One ramp for each feature, in the order of the columns.
    intercept
        The logit of a row on which every ramp is 0.
    """

    terms: tuple[Term, ...] = TERMS
    intercept: float = INTERCEPT

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(term.feature for term in self.terms)

    def predict_proba(self, rows: NDArray[float64]) -> NDArray[float64]:
        """Score rows.

        Parameters
        ----------
        rows
            Shape ``(n, d)``, one column for each of `feature_names`, in the units of the bank's features.

        Returns
        -------
        NDArray[float64]
            Shape ``(n,)``, values in 0..1; higher is more suspicious.

        Raises
        ------
        ValueError
            If `rows` has another shape or holds values that are not finite.
        """
        import numpy as np

        if rows.ndim != 2 or rows.shape[1] != len(self.terms):
            raise ValueError(f"expected rows of shape (n, {len(self.terms)}), found {rows.shape}")
        if not np.isfinite(rows).all():
            raise ValueError("expected finite values in every row; fill in what is missing first")
        start, full, weight = np.array([(term.start, term.full, term.weight) for term in self.terms]).T
        logit = np.clip((rows - start) / (full - start), 0.0, 1.0) @ weight + self.intercept
        scores: NDArray[float64] = 1.0 / (1.0 + np.exp(-logit))
        return scores
