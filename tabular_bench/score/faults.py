"""What can be wrong with the values of a user's table, each fault with column and rows.

Faults are collected and not raised one by one: whoever mends a table wants to know all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabular_bench.budget import Budget
from tabular_bench.constraints.feasibility import Checker
from tabular_bench.datasets.preparation import MAX_INFERRED_CATEGORIES
from tabular_bench.datasets.raw import RawTable, is_missing, is_text
from tabular_bench.errors import TableError
from tabular_bench.problem import Problem
from tabular_bench.protocol import STRICT, Protocol
from tabular_bench.schema import BoolArray, FloatArray, Schema

_SHOWN_ROWS = 5


def faults_of_values(table: RawTable, undeclared: list[str], may_lack: frozenset[str], impute: bool) -> list[str]:
    """Name columns with gaps, and undeclared columns of numbers with values that are none or infinite.

    Parameters
    ----------
    table
        As it was read.
    undeclared
        The columns that are to be inferred.
    may_lack
        The columns that are declared to have gaps.
    impute
        Whether gaps are going to be filled anyway.
    """
    faults = []
    for name, values in table.columns.items():
        place = f"{table.source}: column {name}"
        if name in undeclared and is_text(values):
            numbers = [_number(text) for text in values]
            odd = np.array([number is None and text is not None for number, text in zip(numbers, values, strict=True)])
            infinite = np.array([number is not None and np.isinf(number) for number in numbers])
            if infinite.any() and not odd.any():
                faults.append(
                    f"{place}: expected finite numbers, found {values[infinite][0]!r} in {_rows(table, infinite)}"
                )
                continue
            if odd.any() and 2 * odd.sum() < (~is_missing(values)).sum():
                faults.append(
                    f"{place}: expected numbers, found {values[odd][0]!r} in {_rows(table, odd)}; correct them, or "
                    'declare the column with kind = "category"'
                )
                continue
        absent = is_missing(values)
        if absent.any() and not impute and name not in may_lack:
            faults.append(
                f"{place}: expected a value in every row, found none in {_rows(table, absent)}; fill them in, let "
                "--impute do it, or list the column under missing in the constraint file"
            )
    return faults


def faults_of_columns(tables: list[RawTable], undeclared: list[str], wanted: set[str]) -> list[str]:
    """Name undeclared columns that cannot be inferred: constant ones, and those of too many texts.

    Parameters
    ----------
    tables
        The scored rows, and the reference rows if there are any.
    undeclared
        The columns that are to be inferred.
    wanted
        The columns that the detector reads.
    """
    faults = []
    for name in undeclared:
        place = f"{tables[0].source}: column {name}"
        kinds = {is_text(table.columns[name]) for table in tables}
        if len(kinds) > 1:
            faults.append(
                f"{place}: expected values of one kind in both tables, found numbers in one and texts in the other"
            )
            continue
        distinct = distinct_values(tables, name)
        if len(distinct) < 2:
            found = f"{distinct[0]!r} in every row" if distinct else "no value at all"
            advice = (
                "the detector reads it, so declare it under [[features]] with its kind and bounds to keep it"
                if name in wanted
                else "list it under ignore in the constraint file"
            )
            faults.append(f"{place}: expected different values, found {found}: it is constant; {advice}")
        elif kinds == {True} and len(distinct) > MAX_INFERRED_CATEGORIES:
            faults.append(
                f"{place}: expected numbers, or at most {MAX_INFERRED_CATEGORIES} categories, found {len(distinct)} "
                f"texts ({distinct[0]!r}, ...); list it under ignore, or declare its categories"
            )
    return faults


def feasible_rows(table: RawTable, rows: FloatArray, problem: Problem, drop: bool) -> BoolArray:
    """Tell of each row whether it keeps bounds, whole numbers and relations.

    Parameters
    ----------
    table
        The rows as they were read.
    rows
        The same as numbers, shape ``(n, d)``.
    problem
        Says what has to hold.
    drop
        Whether rows that do not are going to be left out.

    Returns
    -------
    BoolArray
        Shape ``(n,)``.

    Raises
    ------
    TableError
        If a row does not and none is to be left out, or if none would be left of a label.
    """
    protocol = Protocol("C2", STRICT)
    ball, mask = protocol.ball(problem.schema, Budget()), protocol.mask(problem.schema)
    report = Checker(problem.constraints, problem.scaler, ball, mask, STRICT).check(rows, rows)
    if report.feasible.all() or (drop and set(table.labels[report.feasible]) == {0, 1}):
        return report.feasible
    told = []
    for number, relation in enumerate(problem.constraints.relations):
        broken = report.violations[:, number] > 0
        if broken.any():
            first = int(np.flatnonzero(broken)[0])
            shown = ", ".join(
                f"{problem.schema.columns[column]} = {rows[first, column]:g}"
                for column in sorted(problem.constraints.columns[number])[:_SHOWN_ROWS]
            )
            told.append(
                f"{table.source}: relation {relation.label} ({relation.text.strip()}): broken in "
                f"{_rows(table, broken)}; there {shown}"
            )
    for family in ("bounds", "integers"):
        broken = ~getattr(report, family)
        if broken.any():
            told.append(_out_of_bounds(table, rows, problem.schema, broken, family))
    advice = (
        "correct the rows or the constraint file (a tolerance may be missing), or leave them out: --drop-infeasible"
    )
    raise TableError("\n".join(["the rows break what is declared:", *told, advice]))


def distinct_values(tables: list[RawTable], name: str) -> list[Any]:
    """Return the different values of a column in all tables, in ascending order.

    Parameters
    ----------
    tables
        Each with that column, of one kind.
    name
        Of the column.
    """
    found: set[Any] = set()
    for table in tables:
        values = table.columns[name]
        found.update(values[~is_missing(values)].tolist())
    return sorted(found)


def _out_of_bounds(table: RawTable, rows: FloatArray, schema: Schema, broken: BoolArray, family: str) -> str:
    first = int(np.flatnonzero(broken)[0])
    beyond = (rows[first] < schema.lower) | (rows[first] > schema.upper)
    named = [
        f"{schema.columns[column]} = {rows[first, column]:g}, "
        f"expected {schema.lower[column]:g} to {schema.upper[column]:g}"
        for column in np.flatnonzero(beyond)[:_SHOWN_ROWS]
    ]
    return f"{table.source}: {family} broken in {_rows(table, broken)}" + (
        f"; there {', '.join(named)}" if named else ""
    )


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _rows(table: RawTable, chosen: BoolArray) -> str:
    lines = table.lines[chosen]
    listed = ", ".join(map(str, lines[:_SHOWN_ROWS].tolist())) + (", ..." if len(lines) > _SHOWN_ROWS else "")
    return f"{len(lines)} of {len(table.lines)} rows ({'row' if len(lines) == 1 else 'rows'} {listed})"
