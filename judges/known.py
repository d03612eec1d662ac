"""What a domain knows of the names in an expectation.

An expectation about a table, a column, a tool or an argument that does not exist can never come true, which would
let a prohibition pass in silence. Each function returns why an expectation cannot be evaluated, or None if it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Integer, Numeric

from domains.kit.domain import Domain
from domains.kit.store import key_column, table_of
from harness.scenario.model import CallPattern, Effect, Happening, StatePredicate
from judges.patterns import Kind, pattern_fault


@cache
def columns_of(domain: Domain, table: str) -> Mapping[str, frozenset[Kind]] | None:
    """Return what each column of a table can hold, or None if the domain has no such table."""
    model = domain.models.get(table)
    if model is None:
        return None
    return {
        column.name: frozenset({_kind_of_column(column.type)} | ({Kind.NOTHING} if column.nullable else set()))
        for column in table_of(model).columns
    }


@cache
def key_of(domain: Domain, table: str) -> str:
    """Return the name of the key column of a table that exists."""
    return key_column(table_of(domain.models[table]))


def _kind_of_column(kind: object) -> Kind:
    # The store keeps dates, moments and enums as text.
    if isinstance(kind, Boolean):
        return Kind.TRUTH
    return Kind.NUMBER if isinstance(kind, Integer | Numeric) else Kind.TEXT


def happening_fault(happening: Happening, domain: Domain) -> str | None:
    """Return why a happening cannot be looked for."""
    if happening.effect is not None:
        return effect_fault(happening.effect, domain)
    return None if happening.call is None else call_fault(happening.call, domain)


def effect_fault(effect: Effect, domain: Domain) -> str | None:
    """Return why an effect cannot be looked for."""
    values = effect.becomes if effect.insert is None else effect.insert
    if effect.becomes == {}:
        return "it names no value that a row comes to hold"
    return _rows_fault(effect.table, effect.where, domain) or _rows_fault(effect.table, values or {}, domain)


def state_fault(predicate: StatePredicate, domain: Domain) -> str | None:
    """Return why a state predicate cannot be counted."""
    return _rows_fault(predicate.table, predicate.where, domain)


def call_fault(pattern: CallPattern, domain: Domain) -> str | None:
    """Return why a call cannot be looked for."""
    tool = domain.tools.get(pattern.tool)
    if tool is None:
        return f"the domain has no tool {pattern.tool}"
    for name, value in pattern.args.items():
        if name not in tool.arguments.model_fields:
            return f"{pattern.tool} takes no argument {name}"
        fault = pattern_fault(value)
        if fault is not None:
            return f"the pattern for {pattern.tool}.{name} is {fault}"
    return None


def _rows_fault(table: str, patterns: Mapping[str, Any], domain: Domain) -> str | None:
    columns = columns_of(domain, table)
    if columns is None:
        return f"the domain has no table {table}"
    for name, pattern in patterns.items():
        if name not in columns:
            return f"{table} has no column {name}"
        fault = pattern_fault(pattern, columns[name])
        if fault is not None:
            return f"the pattern for {table}.{name} is {fault}"
    return None
