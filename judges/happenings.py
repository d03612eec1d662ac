"""What happened in an episode: rows that changed, calls that were made, and what the rows came to.

Nothing here asks the world again. The final state is the initial one, where it is needed at all, with the recorded
changes laid over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from domains.kit.desk import DECISIONS
from domains.kit.domain import Domain
from domains.kit.json import JsonValue
from domains.kit.knowledge import NoKnowledge
from domains.kit.rules import Outcome
from domains.kit.store import ChangeKind, RowRef
from domains.kit.tools import Actor
from harness.episode.events import Event, Returned, RowChange
from harness.scenario.instance import Instance
from harness.scenario.model import CallPattern, Effect, Happening
from judges.known import key_of
from judges.patterns import matches, matches_all

Row = Mapping[str, Any]

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Written:
    """One change of a row, and the call that made it."""

    event: Returned
    change: RowChange

    @property
    def row(self) -> Row:
        """The row as it was written; empty if it went."""
        return self.change.after or {}


@dataclass(frozen=True, slots=True)
class Record:
    """The calls of an episode with all that they changed, in order.

    Attributes
    ----------
    final
        The touched rows as they ended; None for those that are gone.
    """

    returned: tuple[Returned, ...]
    written: tuple[Written, ...]
    final: Mapping[RowRef, Row | None]

    @staticmethod
    def of(events: Sequence[Event]) -> Record:
        """Read a trajectory."""
        returned = tuple(event for event in events if isinstance(event, Returned))
        written = tuple(Written(event, change) for event in returned for change in event.changes)
        return Record(returned, written, {item.change.row: item.change.after for item in written})

    def inserted_by_agent(self, *tables: str) -> list[Written]:
        """Return the rows that the agent's calls added, in these tables if any are named."""
        return [
            item
            for item in self.written
            if item.change.kind is ChangeKind.INSERT
            and item.event.actor is Actor.AGENT
            and (not tables or item.change.table in tables)
        ]


# ---------------------------------------------------------------- effects


def effects(effect: Effect, record: Record) -> list[Written]:
    """Return every change that is this effect, whoever caused it and whether or not it was undone later."""
    return [item for item in record.written if _is_effect(effect, item.change)]


def _is_effect(effect: Effect, change: RowChange) -> bool:
    if change.table != effect.table or (effect.key is not None and change.key != effect.key):
        return False
    before, after = change.before, change.after
    # A condition may speak of the row as it was found ("a held payment is released") or as it became.
    if not any(side is not None and matches_all(effect.where, side) for side in (before, after)):
        return False
    if effect.delete:
        return change.kind is ChangeKind.DELETE
    if after is None:
        return False
    if effect.insert is not None:
        return change.kind is ChangeKind.INSERT and matches_all(effect.insert, after)
    becomes = effect.becomes or {}
    # Touching another column of a row that held the values all along does not make it come to hold them.
    is_new = before is None or any(before.get(name) != after.get(name) for name in becomes)
    return is_new and matches_all(becomes, after)


def still_holds(effect: Effect, item: Written, record: Record) -> bool:
    """Tell whether the row of an effect ended as the effect left it: still there, or still gone."""
    final = record.final[item.change.row]
    if effect.delete:
        return final is None
    return final is not None and matches_all(effect.insert or effect.becomes or {}, final)


# ---------------------------------------------------------------- calls


def is_call(pattern: CallPattern, event: Returned, domain: Domain) -> bool:
    """Tell whether a call, successful or not, is what a pattern describes."""
    return event.tool == pattern.tool and all(
        matches(wanted, value) and value is not _MISSING
        for name, wanted in pattern.args.items()
        for value in (_argument(event, name, domain),)
    )


def _argument(event: Returned, name: str, domain: Domain) -> Any:
    """Return an argument of a call; one that was left out has its default."""
    if name in event.arguments:
        return event.arguments[name]
    tool = domain.tools.get(event.tool)
    field = None if tool is None else tool.arguments.model_fields.get(name)
    return _MISSING if field is None or field.is_required() else field.get_default(call_default_factory=True)


def successes(pattern: CallPattern, record: Record, domain: Domain) -> list[Returned]:
    """Return the successful calls of a pattern."""
    return [event for event in record.returned if event.ok and is_call(pattern, event, domain)]


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield every text inside a JSON value, keys of objects apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


# ---------------------------------------------------------------- happenings


def occurrences(happening: Happening, record: Record, domain: Domain) -> tuple[int, ...]:
    """Return the events in which a happening came about, at whatever time."""
    if happening.effect is not None:
        return _ids(item.event.id for item in effects(happening.effect, record))
    return () if happening.call is None else _ids(event.id for event in successes(happening.call, record, domain))


def lasting(happening: Happening, record: Record, domain: Domain) -> tuple[int, ...]:
    """Return the events of a happening whose rows are still as it left them at the end."""
    effect = happening.effect
    if effect is None:
        return occurrences(happening, record, domain)
    return _ids(item.event.id for item in effects(effect, record) if still_holds(effect, item, record))


def _ids(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ids))


# ---------------------------------------------------------------- the decision


def carries_out(item: Written, outcome: Outcome, domain: Domain) -> bool:
    """Tell whether a new row shows that an outcome was carried out.

    That is a row in one of the outcome's protective tables; an outcome without tables is carried out by its
    record among the decisions.
    """
    tables = domain.protective_rows.get(outcome, frozenset()) or {DECISIONS}
    if item.change.table not in tables:
        return False
    return item.change.table != DECISIONS or item.row.get("decision") == outcome


# ---------------------------------------------------------------- the final state


def final_rows(instance: Instance, record: Record, tables: Sequence[str]) -> dict[str, list[Row]]:
    """Return the rows of these tables as the episode left them.

    Parameters
    ----------
    instance
        The scenario played; its initial rows are taken from a fresh world.
    record
        What the episode changed.
    tables
        Tables that the domain has.
    """
    world = instance.open_world(NoKnowledge())
    try:
        initial = {table: world.store.rows(table) for table in dict.fromkeys(tables)}
    finally:
        world.close()
    return {table: _patched(rows, table, key_of(instance.domain, table), record) for table, rows in initial.items()}


def _patched(rows: Sequence[Row], table: str, key: str, record: Record) -> list[Row]:
    state: dict[str, Row | None] = {str(row[key]): row for row in rows}
    state |= {ref.key: row for ref, row in record.final.items() if ref.table == table}
    return [row for row in state.values() if row is not None]
