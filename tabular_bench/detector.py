"""The contract of a fraud detector: whoever scores rows, trained or written by hand, is used through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


class Detector(Protocol):
    """Scores rows of features by how likely each is fraud."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the d columns that `predict_proba` expects, in order."""
        ...

    def predict_proba(self, rows: NDArray[float64]) -> NDArray[float64]:
        """Return the probability of fraud of each row.

        Parameters
        ----------
        rows
            Shape ``(n, d)``, one column for each of `feature_names`.

        Returns
        -------
        NDArray[float64]
            Shape ``(n,)``, values in 0..1; higher is more suspicious.
        """
        ...
