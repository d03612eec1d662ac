"""A world of one's own for the tests of the kit: a table with every kind of column, and tools that do everything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import text as sql
from sqlalchemy.orm import registry
from sqlmodel import Field, Session, SQLModel

from domains.kit import desk
from domains.kit.desk import DESK_TABLES
from domains.kit.draw import Draw
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.knowledge import NoKnowledge
from domains.kit.store import Moment, StoreTemplate
from domains.kit.tools import Actor, build_tool, collect_tools, tool
from domains.kit.world import CallOutcome, Controls, World

NOW = datetime(2026, 3, 12, 15, 20, tzinfo=UTC)


class LabRow(SQLModel, registry=registry()):
    """Base of the lab's tables."""


class Thing(LabRow, table=True):
    """A row with every kind of column; its table and some columns bear names that SQL reserves."""

    __tablename__ = "order"

    id: str = Field(primary_key=True)
    name: str = ""
    count: int = 0
    ratio: float | None = None
    flag: bool | None = None
    group: str | None = None
    day: date | None = None
    at: datetime | None = Field(default=None, sa_type=Moment)


class Part(LabRow, table=True):
    """A row that belongs to another and goes with it."""

    __tablename__ = "parts"

    id: str = Field(primary_key=True)
    thing_id: str = Field(foreign_key="order.id", ondelete="CASCADE")


class Tag(LabRow, table=True):
    """A row whose key is a number."""

    __tablename__ = "tags"

    id: int = Field(primary_key=True)
    label: str


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@tool()
def look(world: World, thing_id: str) -> JsonValue:
    """Show a thing.

    Parameters
    ----------
    thing_id
        The thing.
    """
    return world.show(world.find(Thing, thing_id))


@tool(writes=True)
def make(world: World, name: str, count: int = 0) -> JsonValue:
    """Make a thing.

    Parameters
    ----------
    name
        Its name.
    count
        Its count.
    """
    thing = Thing(id=world.new_id("TH"), name=name, count=count)
    world.session.add(thing)
    return world.show(thing)


@tool(writes=True)
def change(world: World, thing_id: str, values: dict[str, JsonValue]) -> JsonValue:
    """Change columns of a thing.

    Parameters
    ----------
    thing_id
        The thing.
    values
        The new values.
    """
    thing = world.find(Thing, thing_id)
    for name, value in values.items():
        setattr(thing, name, value)
    return None


@tool(writes=True)
def run_sql(world: World, statement: str) -> JsonValue:
    """Run any statement.

    Parameters
    ----------
    statement
        The statement.
    """
    world.session.execute(sql(statement))
    return None


@tool(writes=True)
def half_way(world: World, how: Literal["refuse", "break", "commit", "orphan", "unwritable"]) -> JsonValue:
    """Write two rows, open a lock, and then fail.

    Parameters
    ----------
    how
        In which way it fails.
    """
    world.session.add(Thing(id="TH-HALF", name="half"))
    world.session.flush()
    world.session.execute(sql("UPDATE \"order\" SET name = 'spoiled'"))
    world.unlocked.add("hidden")
    world.granted.add("gift")
    if how == "refuse":
        raise ToolError("No.")
    if how == "commit":
        world.session.commit()
    if how == "orphan":
        world.session.add(Part(id="PT-1", thing_id="TH-NONE"))
        return None
    if how == "unwritable":
        return {1, 2}
    raise ZeroDivisionError("the tool is broken")


@tool()
def take_all(
    world: World,
    colour: Colour,
    size: Literal["small", "large"],
    number: int,
    ratio: float,
    flag: bool,
    names: list[str],
    day: date | None = None,
    at: datetime | None = None,
    title: str | None = None,
) -> JsonValue:
    """Take an argument of every kind. Say what came.

    Nothing is written.

    Parameters
    ----------
    colour
        An enum.
    size
        One of two
        words.
    number
        A whole number.
    ratio
        A number.
    flag
        Yes or no.
    names
        A list.
    day
        A day.
    at
        A moment.
    title
        A text, or nothing.
    """
    values = (colour, size, number, ratio, flag, names, day, at, title)
    return [type(value).__name__ for value in values]


@tool(discoverable=True)
def hidden(world: World, number: int = 1) -> JsonValue:
    """Return a number.

    Parameters
    ----------
    number
        The number.
    """
    return number


@tool(actor=Actor.CALLER)
def wave(world: World) -> JsonValue:
    """Wave."""
    return "waved"


@tool(actor=Actor.CALLER, discoverable=True)
def gift(world: World) -> JsonValue:
    """Take a gift."""
    return "taken"


@tool(hears=["words"])
def send_message(world: World, words: str, to: str = "caller") -> JsonValue:
    """Send a message to the caller.

    Parameters
    ----------
    words
        What it says.
    to
        Whom it goes to.
    """
    return {"sent": True}


OWN_TOOLS = (look, make, change, run_sql, half_way, take_all, hidden, wave, gift, send_message)
TOOLS = collect_tools(desk) | {function.__name__: build_tool(function) for function in OWN_TOOLS}


def _fill(session: Session) -> None:
    session.add(Thing(id="TH-1", name="first", count=1, ratio=0.1, flag=True, day=date(2026, 3, 1), at=NOW))
    session.add(Thing(id="TH-2"))
    session.flush()
    session.add(Part(id="PT-A", thing_id="TH-2"))
    session.add(Tag(id=7, label="seven"))


@cache
def template() -> StoreTemplate:
    return StoreTemplate((*DESK_TABLES, Thing, Part, Tag), _fill)


def open_lab() -> World:
    """Open a fresh world."""
    return World(
        tools=TOOLS,
        store=template().open(),
        now=NOW,
        zone=ZoneInfo("America/New_York"),
        knowledge=NoKnowledge(),
        controls=Controls(),
        draw=Draw(("lab",)),
        vocabularies={
            "decision": frozenset({"refuse"}),
            "rule_id": frozenset({"LAB-1"}),
            "reason_code": frozenset({"none"}),
        },
    )


def call(world: World, name: str, /, **arguments: Any) -> CallOutcome:
    """Call an agent tool."""
    return world.call(Actor.AGENT, name, arguments)


def moved(outcome: CallOutcome) -> list[tuple[str, str, Mapping[str, Any] | None]]:
    """Return kind, key and the new values (only those that differ, for an update) of every change."""
    found: list[tuple[str, str, Mapping[str, Any] | None]] = []
    for item in outcome.changes:
        after = item.after
        if item.before is not None and after is not None:
            before = item.before
            after = {name: value for name, value in after.items() if value != before[name]}
        found.append((str(item.kind), item.row.key, after))
    return found
