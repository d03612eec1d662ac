"""Stratified draws: a share of the rows, and the split into three parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabular_bench.dataset import Split
from tabular_bench.schema import IntArray
from tabular_bench.seeds import generator

TRAIN_SHARE = 0.6
VALIDATION_SHARE = 0.2
MIN_ROWS_OF_A_CLASS = 5  # so that every part has at least one


def stratified_share(labels: NDArray[np.int8], share: float, *names: str | int) -> IntArray:
    """Draw that share of the rows of each label.

    Parameters
    ----------
    labels
        Shape ``(n,)``.
    share
        In 0..1; each label keeps at least one row.
    *names
        Of the random stream, a seed first.

    Returns
    -------
    IntArray
        Row numbers in ascending order.
    """
    rng = generator(*names)
    kept = [rng.permutation(rows)[: max(1, round(share * len(rows)))] for rows in _by_label(labels)]
    return np.sort(np.concatenate(kept))


def split_rows(labels: NDArray[np.int8], seed: int) -> Split:
    """Split rows 60/20/20, each label apart.

    Parameters
    ----------
    labels
        Shape ``(n,)``, each label at least `MIN_ROWS_OF_A_CLASS` times.
    seed
        Of the split.

    Returns
    -------
    Split
        Row numbers in ascending order.
    """
    rng = generator(seed, "split")
    parts: tuple[list[IntArray], ...] = ([], [], [])
    for rows in _by_label(labels):
        shuffled = rng.permutation(rows)
        held = max(1, round(VALIDATION_SHARE * len(rows)))
        first = len(rows) - 2 * held
        for part, chosen in zip(parts, np.split(shuffled, [first, first + held]), strict=True):
            part.append(chosen)
    train, validation, test = (np.sort(np.concatenate(part)) for part in parts)
    return Split(train, validation, test)


def _by_label(labels: NDArray[np.int8]) -> list[IntArray]:
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]
