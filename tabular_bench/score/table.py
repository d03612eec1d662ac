"""The user's table: read, every fault in it named at once, and what is not declared inferred and said.

Kinds and bounds are inferred from every row at hand. Deviations, in which epsilon counts, are those of the reference
rows: a table of their own, or the scored rows themselves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tabular_bench.constraints.catalogue import Catalogue, Constraints
from tabular_bench.constraints.expression import names_in
from tabular_bench.datasets.csv_file import describe_file, read_csv_table, read_header
from tabular_bench.datasets.preparation import demand_derivations, encode, kind_of
from tabular_bench.datasets.raw import RawTable, is_missing, is_text
from tabular_bench.declaration import Declaration, FeatureDeclaration
from tabular_bench.errors import DeclarationError, TableError, UnknownName
from tabular_bench.problem import Problem
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Feature, FloatArray, IntArray, Schema
from tabular_bench.score.columns import mentioned
from tabular_bench.score.faults import distinct_values, faults_of_columns, faults_of_values, feasible_rows
from tabular_bench.score.ready import ReadyModel

_SHOWN_FAULTS = 20


@dataclass(frozen=True, eq=False)
class UserTable:
    """Rows to be scored, and the ground they stand on.

    Attributes
    ----------
    problem
        Columns, relations and scaler.
    rows
        Shape ``(n, d)``, in problem space.
    labels
        Shape ``(n,)``: 1 is fraud.
    lines
        Shape ``(n,)``: the row of each in the file, the header being row 1.
    reference
        Rows and labels that deviations (and thresholds) are measured on; None if those are the scored rows.
    columns
        What is known of each feature, and how: ``declared`` or ``inferred``.
    files
        Size and SHA-256 of each file that was read.
    notes
        Sentences on what was done to the rows.
    """

    problem: Problem
    rows: FloatArray
    labels: NDArray[np.int8]
    lines: IntArray
    reference: tuple[FloatArray, NDArray[np.int8]] | None
    columns: tuple[tuple[Feature, Literal["declared", "inferred"]], ...]
    files: tuple[dict[str, str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is read.

    Attributes
    ----------
    reference
        Another table of the same columns, for deviations and thresholds.
    impute
        Whether gaps are filled: numbers with the median of the reference rows, texts with their commonest.
    drop_infeasible
        Whether rows that break a relation or a bound are left out. Otherwise they are an error.
    """

    reference: Path | None = None
    impute: bool = False
    drop_infeasible: bool = False


def bare_declaration(target: str, positive: tuple[str, ...] = ("1",)) -> Declaration:
    """Return the declaration of a table of which only the labels are known.

    Parameters
    ----------
    target
        The column of labels.
    positive
        Labels that mean fraud.
    """
    nothing: frozenset[str] = frozenset()
    return Declaration(
        target=target,
        positive=positive,
        negative=None,
        ignore=(),
        infer=True,
        features=(),
        immutable=nothing,
        derived=nothing,
        missing=nothing,
        catalogue=Catalogue(),
    )


def read_user_table(path: Path, declaration: Declaration, model: ReadyModel, options: TableOptions) -> UserTable:
    """Read a table for a detector.

    Parameters
    ----------
    path
        A CSV file.
    declaration
        What is known of its columns. The rest is inferred.
    model
        Columns that it does not read, and that nothing declares, are ignored.
    options
        How it is read.

    Raises
    ------
    TableError
        If a table cannot be used; the message lists every fault of its values.
    DeclarationError
        If the declaration does not fit it.
    """
    known = {entry.name for entry in declaration.features}
    declaration, notes = _narrowed(path, declaration, model)
    tables = [read_csv_table(file, declaration) for file in (path, options.reference) if file is not None]
    tables[1:] = [_of_the_same_columns(table, tables[0]) for table in tables[1:]]
    declared = {entry.name for entry in declaration.features}
    undeclared = [name for name in tables[0].columns if name not in declared]
    may_lack = declaration.missing | {entry.name for entry in declaration.features if entry.missing}
    faults = [fault for table in tables for fault in faults_of_values(table, undeclared, may_lack, options.impute)]
    _refuse(faults + faults_of_columns(tables, undeclared, set(model.names or ())))
    if options.impute:
        notes += _filled(tables, may_lack)
    entries = _entries(tables, declaration, undeclared)
    constraints = Constraints(Schema(tuple(_feature(entry) for entry in entries)), declaration.catalogue)
    demand_derivations(constraints.schema, constraints)
    encoded = []
    for table in tables:
        rows, filled = encode(table, entries, constraints.schema, np.arange(len(table.labels)))
        encoded.append(rows)
        notes += [f"{table.source}: {name}: gaps of {count} rows filled as declared." for name, count in filled.items()]
    problem = _problem(constraints, encoded[-1])
    kept = feasible_rows(tables[0], encoded[0], problem, options.drop_infeasible)
    if not kept.all():
        notes.append(f"{path}: {int((~kept).sum())} of {len(kept)} rows break a relation or a bound and were left out.")
        problem = problem if options.reference else _problem(constraints, encoded[0][kept])
    return UserTable(
        problem=problem,
        rows=encoded[0][kept],
        labels=tables[0].labels[kept],
        lines=tables[0].lines[kept],
        reference=(encoded[1], tables[1].labels) if options.reference else None,
        columns=tuple((f, "declared" if f.name in known else "inferred") for f in constraints.schema.features),
        files=tuple(describe_file(Path(table.source)) for table in tables),
        notes=tuple(notes),
    )


def _of_the_same_columns(table: RawTable, scored: RawTable) -> RawTable:
    """Bring the reference into the order of the scored rows, without what these do not have."""
    if lacking := [name for name in scored.columns if name not in table.columns]:
        raise TableError(f"{table.source}: expected the columns of {scored.source}, it lacks {_some(lacking)}")
    return replace(table, columns={name: table.columns[name] for name in scored.columns})


def _problem(constraints: Constraints, rows: FloatArray) -> Problem:
    return Problem(constraints.scaled_by(rows), Scaler.fit(rows, constraints.schema))


def _refuse(faults: list[str]) -> None:
    if len(faults) > _SHOWN_FAULTS:
        faults = [*faults[:_SHOWN_FAULTS], f"and {len(faults) - _SHOWN_FAULTS} more"]
    if faults:
        raise TableError(faults[0] if len(faults) == 1 else "\n".join(["the table has several faults:", *faults]))


def _narrowed(path: Path, declaration: Declaration, model: ReadyModel) -> tuple[Declaration, list[str]]:
    """Leave out columns that neither detector nor declaration names; read those as texts that it takes whole."""
    header = [name for name in read_header(path) if name != declaration.target]
    for role in ("immutable", "derived", "missing", "ignore"):
        for name in getattr(declaration, role):
            if name not in header and name not in declaration.one_hot:
                raise DeclarationError(f"{role}: {UnknownName('column', name, header)}")
    declared = {entry.name for entry in declaration.features}
    whole = tuple(
        FeatureDeclaration(
            name, "category", mutability=declaration.mutability_of(name), missing=name in declaration.missing
        )
        for name in header
        if name in model.whole and name not in declared | set(declaration.ignore)
    )
    named = declared | declaration.immutable | declaration.derived | declaration.missing
    named |= {name for names in declaration.one_hot.values() for name in names}
    named |= {name for relation in declaration.catalogue.relations for name in names_in(relation.statement)}
    kept = mentioned(model, header) | named
    unread = [name for name in header if name not in kept and name not in declaration.ignore]
    if not declaration.infer:
        unread = []
    narrowed = replace(declaration, features=(*declaration.features, *whole), ignore=(*declaration.ignore, *unread))
    notes = [f"Left out, since neither the detector nor a declaration names them: {_some(unread)}."] if unread else []
    return narrowed, notes


def _entries(tables: list[RawTable], declaration: Declaration, undeclared: list[str]) -> list[FeatureDeclaration]:
    """Return every feature with kind, bounds and categories, in the order of the file."""
    declared = {entry.name: entry for entry in declaration.features}
    entries = []
    for name, values in tables[0].columns.items():
        entry = declared.get(name)
        if entry is None:
            mutability = declaration.mutability_of(name)
            entry = FeatureDeclaration(name, mutability=mutability, missing=name in declaration.missing)
            distinct = distinct_values(tables, name)
            if is_text(values):
                entry = replace(entry, kind="category")
            else:
                entry = replace(entry, kind=kind_of(distinct), lower=distinct[0], upper=distinct[-1])
        if entry.kind == "category" and not entry.categories:
            # The reference rows decide what is known, as training rows would.
            entry = replace(entry, categories=tuple(distinct_values(tables[-1:], name)))
        entries.append(entry)
    return entries


def _feature(entry: FeatureDeclaration) -> Feature:
    categories = (*entry.categories, "missing") if entry.kind == "category" and entry.missing else entry.categories
    return Feature(entry.name, entry.kind, entry.lower, entry.upper, entry.mutability, entry.unit, categories)


def _filled(tables: list[RawTable], may_lack: frozenset[str]) -> list[str]:
    """Fill gaps by what the reference rows have most in the middle, or most often."""
    notes = []
    for name, values in tables[-1].columns.items():
        if name in may_lack or not any(is_missing(table.columns[name]).any() for table in tables):
            continue
        present = values[~is_missing(values)]
        if is_text(values):
            counted = Counter(present.tolist())
            filling: Any = min(counted, key=lambda text: (-counted[text], text))
        else:
            filling = float(np.median(present))
            if kind_of(sorted(set(present.tolist()))) != "numeric":
                filling = float(np.round(filling))
        for table in tables:
            absent = is_missing(table.columns[name])
            if absent.any():
                table.columns[name][absent] = filling
                notes.append(f"{table.source}: {name}: {filling} put into {int(absent.sum())} rows without a value.")
    return notes


def _some(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
