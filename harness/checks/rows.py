"""Expectations and changes of rows can come true: the rows are there, and their columns hold such words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from domains.kit.json import JsonValue
from domains.kit.knowledge import NoKnowledge
from domains.kit.store import key_column, table_of
from harness.checks.case import Case
from harness.problem import Problem
from harness.scenario.model import Happening


def check_rows(case: Case) -> Iterator[Problem]:
    """Each row that an expectation names by key exists, and each word in a column is one that it can hold."""
    bank = _Bank(case)
    expect = case.instance.expect
    for group in ("prohibited", "wanted", "required"):
        happenings: tuple[Happening, ...] = getattr(expect, group)
        for place, happening in enumerate(happenings):
            effect = happening.effect
            if effect is None or effect.table not in case.house.domain.models:
                continue
            path = f"/expect/{group}/{place}/effect"
            if effect.key is not None and effect.key not in bank.keys(effect.table):
                yield case.problem(
                    f"{path}/key", f"the key of a row of {effect.table}", repr(effect.key), "Name another role."
                )
            for name, values in (("where", effect.where), ("becomes", effect.becomes), ("insert", effect.insert)):
                yield from _words(case, bank, effect.table, values or {}, f"{path}/{name}")
    for place, predicate in enumerate(expect.state):
        if predicate.table in case.house.domain.models:
            yield from _words(case, bank, predicate.table, predicate.where, f"/expect/state/{place}/where")
    for place, row in enumerate(case.scenario.setup.rows):
        yield from _words(case, bank, row.table, row.insert or row.update or {}, f"/setup/rows/{place}")


def _words(case: Case, bank: _Bank, table: str, values: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for column, pattern in values.items():
        held = bank.words(table, column)
        if not held:
            continue
        for word in _literals(pattern):
            if word not in held | case.house.domain.vocabularies.stored_words | {""}:
                yield case.problem(
                    f"{path}/{column}",
                    f"a word that stands in {table}.{column} (such as {', '.join(sorted(held)[:8])})",
                    repr(word),
                    "Correct the word.",
                )


def _literals(pattern: Any) -> Iterator[str]:
    """Yield the texts that a pattern names; references that stand for a value of the cast are none of them."""
    if isinstance(pattern, str) and "{" not in pattern:
        yield pattern
    elif isinstance(pattern, list | tuple):
        for option in pattern:
            yield from _literals(option)
    elif isinstance(pattern, Mapping) and pattern.keys() == {"not"}:
        yield from _literals(pattern["not"])


class _Bank:
    """The rows with which a scenario begins, and which columns hold nothing but the domain's closed words."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._rows: dict[str, Sequence[Mapping[str, JsonValue]]] = {}

    def keys(self, table: str) -> set[str]:
        """Return the keys of a table's rows."""
        name = self._key(table)
        return {str(row[name]) for row in self._all(table)}

    def words(self, table: str, column: str) -> set[str]:
        """Return the words in a column, of rows that the scenario did not bring; empty if it holds others, too."""
        name = self._key(table)
        held = {row.get(column) for row in self._all(table) if row[name] not in self._own(table)} - {None, ""}
        words = {word for word in held if isinstance(word, str)}
        return words if words == held and words <= self._case.house.domain.vocabularies.stored_words else set()

    def _own(self, table: str) -> set[object]:
        name, instance = self._key(table), self._case.instance
        brought = {values[name] for where, values in instance.inserts if where == table}
        return brought | {key for where, key, _ in instance.updates if where == table}

    def _key(self, table: str) -> str:
        return key_column(table_of(self._case.house.domain.models[table]))

    def _all(self, table: str) -> Sequence[Mapping[str, JsonValue]]:
        if not self._rows:
            world = self._case.instance.open_world(NoKnowledge())
            try:
                self._rows = {name: world.store.rows(name) for name in self._case.house.domain.models}
            finally:
                world.close()
        return self._rows[table]
