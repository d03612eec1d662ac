"""How far rows were moved, in one space. Always along the columns of each row, never over a matrix as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.schema import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of n rows from their clean rows, each of shape ``(n,)``.

    Attributes
    ----------
    l0
        The number of columns that differ.
    l1, l2, linf
        The sum, the Euclidean length and the largest of the absolute differences.
    """

    l0: IntArray
    l1: FloatArray
    l2: FloatArray
    linf: FloatArray


def distances(clean: FloatArray, rows: FloatArray) -> Distances:
    """Measure rows against their clean rows.

    Parameters
    ----------
    clean, rows
        Shape ``(n, d)``, both in the same space.

    Raises
    ------
    ValueError
        If they are not of one such shape.
    """
    if clean.ndim != 2 or clean.shape != rows.shape:
        raise ValueError(f"expected rows of one shape (n, d), found {clean.shape} and {rows.shape}")
    moved = np.abs(rows - clean)
    return Distances(
        l0=np.count_nonzero(moved, axis=1),
        l1=moved.sum(axis=1),
        l2=np.linalg.norm(moved, axis=1),
        linf=moved.max(axis=1, initial=0.0),
    )
