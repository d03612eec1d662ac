"""The contract of a fraud detector: whoever scores rows, trained or written by hand, is used through it.

Inside the bench detectors are given rows in scaled space; `tabular_bench.scaling` says what that is and adapts
detectors that expect rows in their own units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy import float64, int8
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


@runtime_checkable
class DifferentiableDetector(Detector, Protocol):
    """A detector that also tells in which direction its score is wrong soonest."""

    def gradient(self, rows: NDArray[float64], targets: NDArray[int8]) -> NDArray[float64]:
        """Return the gradient of the loss of each row with respect to that row.

        The loss is the signed logit, ``logit`` for target 0 and ``-logit`` for target 1. For two classes it points
        the way that cross-entropy points, but does not vanish where the score is saturated.

        Parameters
        ----------
        rows
            Shape ``(n, d)``, as for `predict_proba`.
        targets
            Shape ``(n,)``, the true labels 0 or 1.

        Returns
        -------
        NDArray[float64]
            Shape ``(n, d)``, finite. A step along it makes the detector more wrong.
        """
        ...
