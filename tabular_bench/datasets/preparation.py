"""From a raw table to a `Dataset`: features settled, rows split, gaps filled, categories encoded.

Whatever is learned from data (the median that fills a gap, the categories of an undeclared feature) is learned from
the training rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.constraints.catalogue import Constraints
from tabular_bench.dataset import Dataset, Provenance
from tabular_bench.datasets.raw import RawTable, is_missing, is_text
from tabular_bench.datasets.split import MIN_ROWS_OF_A_CLASS, split_rows
from tabular_bench.declaration import Declaration, FeatureDeclaration
from tabular_bench.errors import DeclarationError, TableError
from tabular_bench.schema import Feature, FloatArray, IntArray, Kind, Schema

MISSING = "missing"
MAX_INFERRED_CATEGORIES = 100


def prepare(
    table: RawTable,
    declaration: Declaration,
    *,
    name: str,
    seed: int,
    provenance: Provenance,
    notes: dict[str, str] | None = None,
) -> Dataset:
    """Make a table ready for use.

    Parameters
    ----------
    table
        At least five rows of each label.
    declaration
        Of its features and relations. Columns without an entry are inferred.
    name
        Of the data set.
    seed
        Of the split.
    provenance
        Where the rows come from.
    notes
        Kept with the data set; what was filled in here is added.

    Returns
    -------
    Dataset
        Finite, encoded, split.

    Raises
    ------
    TableError
        If the table cannot be used; the message names source, column and row.
    DeclarationError
        If a relation or a derived feature does not fit the table.
    """
    counts = np.bincount(table.labels, minlength=2)
    if counts.min() < MIN_ROWS_OF_A_CLASS:
        raise TableError(
            f"{table.source}: expected at least {MIN_ROWS_OF_A_CLASS} rows of each label, "
            f"found {counts[1]} positive and {counts[0]} negative"
        )
    split = split_rows(table.labels, seed)
    declared = settle_features(table, declaration)
    schema = Schema(tuple(_feature(entry, table, split.train) for entry in declared))
    rows, filled = encode(table, declared, schema, split.train)
    constraints = Constraints(schema, declaration.catalogue)
    demand_derivations(schema, constraints)
    told = dict(notes or {}) | {f"filled in {column}": f"{count} rows" for column, count in filled.items()}
    return Dataset(
        name,
        rows,
        table.labels,
        schema,
        declaration.catalogue,
        split,
        seed,
        provenance,
        told,
        _amount_column(declaration, schema),
    )


def _amount_column(declaration: Declaration, schema: Schema) -> str | None:
    if declaration.amount is not None and declaration.amount not in schema.columns:
        raise DeclarationError(
            f"amount: expected a column of numbers ({', '.join(schema.columns[:12])}), found {declaration.amount!r}"
        )
    return declaration.amount


def encode(
    table: RawTable, declared: Sequence[FeatureDeclaration], schema: Schema, known: IntArray
) -> tuple[FloatArray, dict[str, int]]:
    """Write a table as numbers: gaps filled, categories as 0/1 blocks.

    Parameters
    ----------
    table
        Has every declared column.
    declared
        The features, in order.
    schema
        Of these features, their categories known.
    known
        The rows from whose median gaps are filled.

    Returns
    -------
    tuple[FloatArray, dict[str, int]]
        Shape ``(n, d)``, finite; and by column, in how many rows a gap was filled.

    Raises
    ------
    TableError
        If a value is missing that may not be, or is not of its column's kind.
    """
    filled: dict[str, int] = {}
    blocks = [
        _encode(entry, feature, table, known, filled) for entry, feature in zip(declared, schema.features, strict=True)
    ]
    return np.column_stack(blocks), filled


def settle_features(table: RawTable, declaration: Declaration) -> list[FeatureDeclaration]:
    """Return the declared features, and after them those that are inferred from the table.

    Parameters
    ----------
    table
        Has every declared column.
    declaration
        Says what is known.

    Raises
    ------
    TableError
        If a column cannot be inferred: it is constant, lacks values, or looks like an identifier.
    DeclarationError
        If the file lists a feature that the table does not have.
    """
    declared = list(declaration.features)
    known = {entry.name for entry in declared}
    inferred = [
        _infer(name, values, table, declaration)
        for name, values in table.columns.items()
        if declaration.infer and name not in known and name not in declaration.ignore
    ]
    every = [*declared, *inferred]
    names = {entry.name for entry in every}
    for listed in (declaration.immutable, declaration.derived, declaration.missing):
        if unknown := sorted(listed - names):
            raise DeclarationError(
                f"expected features of {table.source}, found {', '.join(unknown)}; it has {', '.join(sorted(names))}"
            )
    if not every:
        raise TableError(f"{table.source}: expected at least one feature beside the target")
    return every


def _infer(name: str, values: NDArray[Any], table: RawTable, declaration: Declaration) -> FeatureDeclaration:
    may_lack = name in declaration.missing
    present = values[~is_missing(values)]
    distinct = sorted(set(present.tolist()))
    if len(distinct) < 2:
        found = f"{distinct[0]!r} in every row" if distinct else "no value at all"
        raise TableError(f"{table.source}: column {name}: expected different values, found {found}; ignore the column")
    mutability = declaration.mutability_of(name)
    if is_text(values):
        if len(distinct) > MAX_INFERRED_CATEGORIES:
            raise TableError(
                f"{table.source}: column {name}: expected numbers, or at most {MAX_INFERRED_CATEGORIES} categories, "
                f"found {len(distinct)} texts ({distinct[0]!r}, ...); ignore the column or declare its categories"
            )
        return FeatureDeclaration(name, "category", mutability=mutability, missing=may_lack)
    return FeatureDeclaration(name, kind_of(distinct), mutability=mutability, missing=may_lack)


def kind_of(distinct: list[float]) -> Kind:
    """Return what a column of numbers is taken for: binary, whole, or real.

    Parameters
    ----------
    distinct
        Its different values, in ascending order.
    """
    if distinct == [0.0, 1.0]:
        return "binary"
    return "integer" if all(value.is_integer() for value in distinct) else "numeric"


def _feature(entry: FeatureDeclaration, table: RawTable, train: IntArray) -> Feature:
    categories: tuple[str, ...] = ()
    if entry.kind == "category":
        values = table.columns[entry.name]
        categories = entry.categories or tuple(sorted({text for text in values[train] if text is not None}))
        if entry.missing:
            categories = (*categories, MISSING)
    return Feature(entry.name, entry.kind, entry.lower, entry.upper, entry.mutability, entry.unit, categories)


def _encode(
    entry: FeatureDeclaration, feature: Feature, table: RawTable, train: IntArray, filled: dict[str, int]
) -> FloatArray:
    values = table.columns[entry.name]
    if is_text(values) != (feature.kind == "category"):
        wanted, found = ("texts", "numbers") if feature.kind == "category" else ("numbers", "texts")
        raise TableError(f"{table.source}: column {entry.name}: expected {wanted}, found {found}")
    absent = is_missing(values)
    if absent.any():
        if not entry.missing:
            raise TableError(
                f"{table.source}: column {entry.name}, row {table.lines[absent][0]}: expected a value, found none "
                f"({absent.sum()} rows lack it); fill it in, or list the column under missing"
            )
        filled[entry.name] = int(absent.sum())
    if feature.kind == "category":
        return _one_hot(feature, values, table)
    known = values[train][~absent[train]]
    if not known.size:
        raise TableError(f"{table.source}: column {entry.name}: expected values to learn from, found none in training")
    middle = float(np.median(known))
    if feature.kind in ("integer", "binary"):
        middle = float(np.round(middle))
        fractional = ~absent & (values != np.round(values))
        if fractional.any():
            raise TableError(
                f"{table.source}: column {entry.name}, row {table.lines[fractional][0]}: expected a whole number, "
                f"found {values[fractional][0]}"
            )
    return np.where(absent, middle, values)[:, None]


def _one_hot(feature: Feature, values: NDArray[Any], table: RawTable) -> FloatArray:
    number = {category: index for index, category in enumerate(feature.categories)}
    codes = np.array([number.get(MISSING if text is None else text, -1) for text in values])
    if (codes < 0).any():
        first = int(np.flatnonzero(codes < 0)[0])
        listed = ", ".join(feature.categories[:10]) + (", ..." if len(feature.categories) > 10 else "")
        raise TableError(
            f"{table.source}: column {feature.name}, row {table.lines[first]}: expected a known category ({listed}), "
            f"found {values[first]!r}; declare the categories if this one is meant"
        )
    encoded: FloatArray = np.eye(len(feature.categories))[codes]
    return encoded


def demand_derivations(schema: Schema, constraints: Constraints) -> None:
    """Refuse derived features that no relation derives.

    Parameters
    ----------
    schema
        Of the features.
    constraints
        Over that schema.

    Raises
    ------
    DeclarationError
        Naming the first such feature.
    """
    followed = {schema.columns[derivation.column] for derivation in constraints.derivations}
    for feature in schema.features:
        if feature.mutability == "derived" and feature.name not in followed:
            name = feature.name
            raise DeclarationError(f"derived feature {name}: expected a relation {name} == ..., found none")
