"""Tables whose categories are 0/1 columns already: the columns of a declared group become one category again.

Left as columns of their own they would switch one by one, and no row that an attack makes would have a category.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.datasets.raw import RawTable, is_text
from tabular_bench.errors import TableError


def merge_one_hot(table: RawTable, groups: Mapping[str, tuple[str, ...]]) -> RawTable:
    """Return a table with one column of texts for each group, in the place of its first column.

    Parameters
    ----------
    table
        Has every column of every group.
    groups
        By the name of the category, its columns. A category is called like its column, without the name of the
        group in front of it if all columns begin with that.

    Raises
    ------
    TableError
        If a row has not exactly one 1 in a group, and zeros beside it.
    """
    columns: dict[str, NDArray[Any]] = {}
    first = {names[0]: group for group, names in groups.items()}
    merged = {name for names in groups.values() for name in names}
    for name, values in table.columns.items():
        if name in first:
            columns[first[name]] = _merged(table, first[name], groups[first[name]])
        elif name not in merged:
            columns[name] = values
    return RawTable(columns, table.labels, table.source, table.lines)


def categories_of(group: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the categories of a group are called.

    Parameters
    ----------
    group
        The name of the category.
    names
        Of its columns.
    """
    for mark in ("=", "_"):
        prefix = group + mark
        if all(name.startswith(prefix) and name != prefix for name in names):
            return tuple(name.removeprefix(prefix) for name in names)
    return names


def _merged(table: RawTable, group: str, names: tuple[str, ...]) -> NDArray[Any]:
    place = f"{table.source}: one-hot columns {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    texts = [name for name in names if is_text(table.columns[name])]
    if texts:
        raise TableError(f"{place}: expected 0 or 1, found texts in {texts[0]}")
    matrix = np.column_stack([table.columns[name] for name in names])
    wrong = ~(np.isin(matrix, (0, 1)).all(axis=1) & (matrix.sum(axis=1) == 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        found = ", ".join(f"{value:g}" for value in matrix[row, :10])
        raise TableError(
            f"{place}: expected one 1 and zeros in every row, found {found} in row {table.lines[row]} "
            f"({int(wrong.sum())} of {len(matrix)} rows); a category without a column of its own needs one"
        )
    categories: NDArray[Any] = np.array(categories_of(group, names), dtype=object)
    merged: NDArray[Any] = categories[matrix.argmax(axis=1)]
    return merged
