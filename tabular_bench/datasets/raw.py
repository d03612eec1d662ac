"""A table as it is read or generated: named columns, values missing, categories as text, labels settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.schema import IntArray


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of equal length.

    Attributes
    ----------
    columns
        Numbers are float64 with NaN where one is missing; texts are arrays of ``str`` with ``None``.
    labels
        Shape ``(n,)``, int8: 1 is fraud.
    source
        For messages: a file, or the name of a generator.
    lines
        Shape ``(n,)``: the row of each in the file, the header being row 1.
    """

    columns: dict[str, NDArray[Any]]
    labels: NDArray[np.int8]
    source: str
    lines: IntArray

    def take(self, rows: IntArray) -> RawTable:
        """Return some of the rows.

        Parameters
        ----------
        rows
            Row numbers, from 0.
        """
        columns = {name: values[rows] for name, values in self.columns.items()}
        return RawTable(columns, self.labels[rows], self.source, self.lines[rows])


def is_text(values: NDArray[Any]) -> bool:
    """Tell whether a column holds texts."""
    return bool(values.dtype == np.object_)


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of each value of a column whether it is missing."""
    if is_text(values):
        return np.array([value is None for value in values], dtype=np.bool_)
    missing: NDArray[np.bool_] = np.isnan(values)
    return missing
