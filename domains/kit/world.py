"""The world of one episode: a store, a clock, and the only door through which it is changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlmodel import Session, SQLModel

from domains.kit.draw import Draw, record_id
from domains.kit.errors import CallRejected, Rejection, ToolError
from domains.kit.json import JsonValue
from domains.kit.knowledge import Knowledge
from domains.kit.store import Change, RowRef, RowT, Store, key_column, row_values, table_of
from domains.kit.tools import Access, Actor, Tool

CALL_UNLOCKED: Final = "call_unlocked_tool"
"""The agent tool through which unlocked tools are called."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the caller really holds. Pushes and call-backs reach only these.

    Attributes
    ----------
    app_as
        Key of the customer whose app the caller holds, if any.
    devices, phones
        Keys of the devices and telephone numbers that the caller can answer on.
    """

    app_as: str | None = None
    devices: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What one tool call did.

    Attributes
    ----------
    result
        What the participant reads: a JSON value, or the message of the refusal.
    rejection
        Set if the call never reached its tool.
    shown
        The stored rows that the result shows, in order.
    ends
        Whether the call ends the conversation (a hand-over to a human).
    """

    tool: str
    arguments: Mapping[str, JsonValue]
    ok: bool
    result: JsonValue
    rejection: Rejection | None = None
    changes: tuple[Change, ...] = ()
    shown: tuple[RowRef, ...] = ()
    ends: bool = False


@dataclass(slots=True)
class World:
    """One episode's state and tools. Participants reach it only through `call`.

    Attributes
    ----------
    resources
        What a domain's tools consult besides the store, by name (a fraud detector, say).
    """

    tools: Mapping[str, Tool]
    store: Store
    now: datetime
    zone: ZoneInfo
    knowledge: Knowledge
    controls: Controls
    draw: Draw
    vocabularies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    unlocked: set[str] = field(default_factory=set)
    granted: set[str] = field(default_factory=set)
    _shown: list[RowRef] = field(default_factory=list)
    _ids: int = 0
    _made: set[str] = field(default_factory=set)
    _ends: bool = False

    @property
    def session(self) -> Session:
        """The session that tools read and write through."""
        return self.store.session

    # ---------------------------------------------------------------- for tools

    def new_id(self, prefix: str) -> str:
        """Return a fresh record id, the same in every replay of the same calls."""
        while True:
            self._ids += 1
            made = record_id(self.draw.child("made", self._ids), prefix)
            if made not in self._made and not self.store.has_key(made):
                self._made.add(made)
                return made

    def find(self, model: type[RowT], key: str) -> RowT:
        """Return the row with this key.

        Raises
        ------
        ToolError
            If there is none.
        """
        row = self.get(model, key)
        if row is None:
            name = table_of(model).name
            raise ToolError(f"No record {key!r} in {name}. Check the id; look it up first if you are not sure of it.")
        return row

    def get(self, model: type[RowT], key: str) -> RowT | None:
        """Return the row with this key, or None."""
        return next(iter(self.rows(model, **{key_column(table_of(model)): key})), None)

    def rows(self, model: type[RowT], **values: Any) -> list[RowT]:
        """Return the rows whose columns have these values, in the order of their keys."""
        return self.store.select(model, values)

    def show(self, row: SQLModel, *columns: str) -> dict[str, JsonValue]:
        """Return a row (or some of its columns) as a result and note that the participant has seen it."""
        table = table_of(type(row))
        self._shown.append(RowRef(table.name, str(getattr(row, key_column(table)))))
        values = row_values(row)
        return {name: values[name] for name in columns} if columns else values

    def end_conversation(self) -> None:
        """Let the current call end the conversation."""
        self._ends = True

    # ---------------------------------------------------------- for the harness

    def available(self, actor: Actor) -> list[Tool]:
        """Return the tools that a participant can call now, in the domain's order.

        Unlocked agent tools are reached through `call_unlocked_tool` and are not listed.
        """
        return [
            tool
            for tool in self.tools.values()
            if tool.actor is actor
            and (tool.access is Access.BASE or (actor is Actor.CALLER and tool.name in self.granted))
        ]

    def call(self, actor: Actor, name: str, arguments: Mapping[str, JsonValue]) -> CallOutcome:
        """Run one tool call and return what came of it.

        A refusal by the tool or a call that cannot reach one is a failed outcome and changes nothing. Any other
        exception of a tool is a bug in it: what it did is undone and the exception passes through. So is whatever
        anybody but a tool has written since the last call.
        """
        target, inner = unwrap_call(name, arguments)
        self.store.rollback()
        self._shown, self._ends = [], False
        unlocked, granted = set(self.unlocked), set(self.granted)
        try:
            tool = self._resolve(actor, name, target)
            # What cannot be written as JSON is a bug in the tool, found here and not when the record is written.
            result = json.loads(json.dumps(tool.run(self, **tool.parse(inner)), allow_nan=False))
            self.store.commit()
        except BaseException as error:
            self.store.rollback()
            self.unlocked, self.granted = unlocked, granted
            if not isinstance(error, ToolError):
                raise
            rejection = error.reason if isinstance(error, CallRejected) else None
            return CallOutcome(target, inner, ok=False, result=str(error), rejection=rejection)
        return CallOutcome(
            target,
            inner,
            ok=True,
            result=result,
            changes=self.store.take_changes(),
            shown=tuple(dict.fromkeys(self._shown)),
            ends=self._ends,
        )

    def _resolve(self, actor: Actor, called: str, target: str) -> Tool:
        for name in (called, target):
            if name not in self.tools:
                raise CallRejected(Rejection.UNKNOWN_TOOL, f"There is no tool called {name!r}.")
            if self.tools[name].actor is not actor:
                raise CallRejected(Rejection.NOT_YOURS, f"{name} is not one of your tools.")
        tool = self.tools[target]
        if tool.access is Access.DISCOVERABLE:
            if actor is Actor.AGENT and target not in self.unlocked:
                raise CallRejected(Rejection.NOT_UNLOCKED, f"{target} is locked. Unlock it with unlock_tool first.")
            if actor is Actor.CALLER and target not in self.granted:
                raise CallRejected(Rejection.NOT_GRANTED, f"{target} has not been granted to the caller.")
        elif called == CALL_UNLOCKED and target != CALL_UNLOCKED:
            raise CallRejected(Rejection.NOT_UNLOCKED, f"{target} needs no unlocking; call it directly.")
        return tool

    def close(self) -> None:
        """Release the store."""
        self.store.close()


def unwrap_call(name: str, arguments: Mapping[str, JsonValue]) -> tuple[str, Mapping[str, JsonValue]]:
    """Return the tool that a call is really about: the one inside `call_unlocked_tool`, or the call itself."""
    if name == CALL_UNLOCKED and arguments.keys() == {"tool", "arguments"}:
        target, inner = arguments["tool"], arguments["arguments"]
        if isinstance(target, str) and isinstance(inner, Mapping):
            return target, inner
    return name, arguments
