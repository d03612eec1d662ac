"""What a detector is trained on, and what every detector asks of the rows that it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabular_bench.dataset import Dataset
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.errors import DetectorError, TableError
from tabular_bench.scaling import Scaler
from tabular_bench.schema import FloatArray


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows to learn from.

    Attributes
    ----------
    rows
        Shape ``(n, d)``, finite, in scaled space.
    labels
        Shape ``(n,)``, int8: 1 is fraud. Both labels occur.
    feature_names
        The names of the d columns.
    seed
        Of everything random in training.
    amount_column
        The column whose largest values a bank would look at first; None where a table has none.
    scaler
        The way back to problem space, for detectors that expect rows there.
    """

    rows: FloatArray
    labels: NDArray[np.int8]
    feature_names: tuple[str, ...]
    seed: int
    amount_column: str | None = None
    scaler: Scaler | None = None

    def __post_init__(self) -> None:
        if self.rows.shape != (len(self.labels), len(self.feature_names)):
            raise TableError(
                f"expected training rows of shape ({len(self.labels)}, {len(self.feature_names)}), one for each label "
                f"and one column for each name, found {self.rows.shape}"
            )
        if not np.isfinite(self.rows).all():
            raise TableError("expected finite training rows; fill gaps in first")
        if set(np.unique(self.labels)) != {0, 1}:
            raise TableError(f"expected training rows of both labels 0 and 1, found {np.unique(self.labels).tolist()}")

    @classmethod
    def of(cls, dataset: Dataset) -> TrainingSet:
        """Take the training part of a data set, in scaled space, under its seed.

        Parameters
        ----------
        dataset
            Prepared and split.
        """
        rows, labels = dataset.part("train")
        scaler = dataset.problem.scaler
        return cls(scaler.to_scaled(rows), labels, dataset.schema.columns, dataset.seed, dataset.amount_column, scaler)

    @property
    def imbalance(self) -> float:
        """How many negatives there are for each positive: the weight that makes both classes count the same."""
        positives = int(self.labels.sum())
        return (len(self.labels) - positives) / positives

    def extended(self, rows: FloatArray, labels: NDArray[np.int8]) -> TrainingSet:
        """Return the set with more rows.

        Parameters
        ----------
        rows, labels
            Shapes ``(m, d)`` and ``(m,)``.
        """
        return replace(
            self, rows=np.concatenate([self.rows, rows]), labels=np.concatenate([self.labels, labels.astype(np.int8)])
        )


# Given the detector as it is by now, rows, labels and the number of the batch: the rows to be learned beside them.
Adversary = Callable[[DifferentiableDetector, FloatArray, NDArray[np.int8], int], FloatArray]


def demand_rows(rows: FloatArray, feature_names: tuple[str, ...]) -> None:
    """Refuse rows that a detector was not made for.

    Parameters
    ----------
    rows
        To be scored.
    feature_names
        Of the detector.

    Raises
    ------
    DetectorError
        If the number of columns is another, or a value is not finite.
    """
    if rows.ndim != 2 or rows.shape[1] != len(feature_names):
        raise DetectorError(f"expected rows of shape (n, {len(feature_names)}), found {rows.shape}")
    if not np.isfinite(rows).all():
        raise DetectorError("expected finite rows, found NaN or infinity; fill gaps in before scoring")


def demand_columns(detector: Detector, columns: tuple[str, ...]) -> None:
    """Refuse a detector that was made for other columns, or for the same ones in another order.

    Rows carry no names, so that a detector would score a shuffled table without complaint. This is to be called
    once, before a detector is given rows of that table.

    Parameters
    ----------
    detector
        With the names that it expects.
    columns
        Of the table, in order.

    Raises
    ------
    DetectorError
        Naming what is missing, what is too much, or where the order differs first.
    """
    expected = tuple(detector.feature_names)
    if expected == columns:
        return
    lacking = [name for name in expected if name not in columns]
    surplus = [name for name in columns if name not in expected]
    if lacking or surplus:
        told = [f"the table lacks {_some(lacking)}"] * bool(lacking)
        told += [f"the detector does not know {_some(surplus)}"] * bool(surplus)
        raise DetectorError(
            f"the detector expects {len(expected)} columns, the table has {len(columns)}: {'; '.join(told)}"
        )
    if len(expected) != len(columns):
        raise DetectorError(
            f"the detector expects {len(expected)} columns, some of them twice: {_some(list(expected))}"
        )
    first = next(number for number, name in enumerate(expected) if name != columns[number])
    raise DetectorError(
        f"the detector expects the same columns in another order: column {first} is {expected[first]!r} there and "
        f"{columns[first]!r} here; bring the table into the order of the detector"
    )


def logistic(logits: FloatArray) -> FloatArray:
    """Turn logits into probabilities, exactly in both tails: scores that saturate would make false ties.

    Parameters
    ----------
    logits
        Any shape, finite.
    """
    probabilities: FloatArray = np.exp(-np.logaddexp(0.0, -logits))
    return probabilities


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Let torch compute on one thread; cheap enough for every question, which `tabular_bench.threads` is not."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
