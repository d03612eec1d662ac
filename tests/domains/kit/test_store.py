"""The store: every change of a row is recorded exactly, whoever makes it and however; stores are worlds apart."""

from __future__ import annotations

import json
import math
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import JSON, DateTime, LargeBinary, Numeric
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from domains.kit.errors import StoreEnded, ToolError
from domains.kit.store import Change, ChangeKind, RowRef, StoreTemplate, plain, raw_connection, row_values
from domains.kit.tools import Actor
from domains.kit.world import World
from tests.domains.kit.lab import Colour, Tag, Thing, call, moved, open_lab

EMPTY = {"name": "", "count": 0, "ratio": None, "flag": None, "group": None, "day": None, "at": None}


def test_the_base_rows_are_there_and_are_no_change(world: World) -> None:
    assert [row["id"] for row in world.store.rows("order")] == ["TH-1", "TH-2"]
    assert world.store.rows("order")[0] == {
        "id": "TH-1",
        "name": "first",
        "count": 1,
        "ratio": 0.1,
        "flag": True,
        "group": None,
        "day": "2026-03-01",
        "at": "2026-03-12T15:20:00Z",
    }
    assert world.store.take_changes() == ()
    assert call(world, "look", thing_id="TH-1").changes == ()
    with pytest.raises(KeyError):
        world.store.rows("nowhere")


def test_an_insert_an_update_and_a_delete_are_changes(world: World) -> None:
    made = call(world, "make", name="new", count=3)
    key = made.result["id"]
    after = {**EMPTY, "id": key, "name": "new", "count": 3}
    assert made.changes == (Change(ChangeKind.INSERT, RowRef("order", key), None, after),)
    assert made.result == after
    changed = call(world, "change", thing_id=key, values={"count": 4, "flag": False})
    assert changed.changes == (
        Change(ChangeKind.UPDATE, RowRef("order", key), after, {**after, "count": 4, "flag": False}),
    )
    gone = call(world, "run_sql", statement=f"DELETE FROM \"order\" WHERE id = '{key}'")
    assert gone.changes == (
        Change(ChangeKind.DELETE, RowRef("order", key), {**after, "count": 4, "flag": False}, None),
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('UPDATE "order" SET count = count + 1', [("update", "TH-1", {"count": 2}), ("update", "TH-2", {"count": 1})]),
        ('UPDATE "order" SET name = name', []),
        ("UPDATE \"order\" SET flag = 1 WHERE id = 'TH-1'", []),
        ("UPDATE \"order\" SET flag = NULL WHERE id = 'TH-1'", [("update", "TH-1", {"flag": None})]),
        ("INSERT INTO tags VALUES (8, 'eight')", [("insert", "8", {"id": 8, "label": "eight"})]),
        (
            "INSERT OR REPLACE INTO tags VALUES (7, 'again')",
            [("delete", "7", None), ("insert", "7", {"id": 7, "label": "again"})],
        ),
        (
            "INSERT INTO tags VALUES (7, 'x') ON CONFLICT (id) DO UPDATE SET label = 'y'",
            [("update", "7", {"label": "y"})],
        ),
        ("UPDATE tags SET id = 9", [("delete", "7", None), ("insert", "9", {"id": 9, "label": "seven"})]),
        ("DELETE FROM \"order\" WHERE id = 'TH-2'", [("delete", "PT-A", None), ("delete", "TH-2", None)]),
        ("DELETE FROM tags", [("delete", "7", None)]),
        ("SELECT 1", []),
    ],
)
def test_plain_sql_is_recorded_row_by_row(world: World, statement: str, expected: list[Any]) -> None:
    assert sorted(moved(call(world, "run_sql", statement=statement)), key=str) == sorted(expected, key=str)


def test_changes_are_in_the_order_in_which_they_happened(world: World) -> None:
    statement = "UPDATE tags SET label = 'b' WHERE id = 7"
    call(world, "run_sql", statement="INSERT INTO tags VALUES (1, 'a')")
    both = call(world, "half_way", how="refuse"), call(world, "run_sql", statement=statement)
    assert [moved(outcome) for outcome in both] == [[], [("update", "7", {"label": "b"})]]


@settings(max_examples=40)
@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    count=st.integers(-(2**53) + 1, 2**53 - 1),
    ratio=st.none() | st.floats(-1e12, 1e12),
    flag=st.none() | st.booleans(),
)
def test_any_value_comes_back_as_it_went_in(name: str, count: int, ratio: float | None, flag: bool | None) -> None:
    world = open_lab()
    values = {"name": name, "count": count, "ratio": ratio, "flag": flag}
    outcome = call(world, "change", thing_id="TH-2", values=values)
    assert outcome.ok
    stored = next(row for row in world.store.rows("order") if row["id"] == "TH-2")
    shown = call(world, "look", thing_id="TH-2").result
    for change in outcome.changes:
        assert change.after == stored
    assert stored == shown == {**EMPTY, "id": "TH-2", **values}
    assert type(stored["flag"]) is type(flag)
    assert type(stored["ratio"]) is type(ratio)
    world.close()


@pytest.mark.parametrize("name", ["'; DROP TABLE tags; --", '"quoted"', "{role.name}", "nul\x00byte", "\x1b[2J", "é😀‮"])
def test_text_that_means_something_elsewhere_is_text(world: World, name: str) -> None:
    made = call(world, "make", name=name)
    assert made.result["name"] == made.changes[0].after["name"] == name  # type: ignore[index]
    assert world.store.rows("tags") == [{"id": 7, "label": "seven"}]


def test_moments_and_days_are_text_in_order_of_time(world: World) -> None:
    early = datetime(999, 1, 1, tzinfo=UTC)
    late = datetime(2026, 3, 12, 10, 20, tzinfo=ZoneInfo("America/New_York"))
    world.store.insert("order", {"id": "A", "at": early, "day": date(999, 1, 1)})
    world.store.insert("order", {"id": "B", "at": late, "day": date(2026, 3, 12)})
    rows = {row["id"]: row for row in world.store.rows("order")}
    assert (rows["A"]["at"], rows["B"]["at"]) == ("0999-01-01T00:00:00Z", "2026-03-12T14:20:00Z")
    assert world.find(Thing, "A").at == early
    assert world.find(Thing, "B").at == late
    assert row_values(world.find(Thing, "B")) == rows["B"]


def test_foreign_keys_hold(world: World) -> None:
    with pytest.raises(IntegrityError, match="FOREIGN KEY"):
        call(world, "half_way", how="orphan")
    assert world.store.rows("parts") == [{"id": "PT-A", "thing_id": "TH-2"}]


def test_two_stores_are_worlds_apart_and_the_template_stays() -> None:
    one, other = open_lab(), open_lab()
    call(one, "run_sql", statement="UPDATE \"order\" SET name = 'mine'")
    assert {row["name"] for row in one.store.rows("order")} == {"mine"}
    assert {row["name"] for row in other.store.rows("order")} == {"first", ""}
    third = open_lab()
    assert third.store.rows("order") == other.store.rows("order")
    for world in (one, other, third):
        world.close()


def test_sixty_four_open_stores_do_not_meet() -> None:
    worlds = [open_lab() for _ in range(64)]
    for number, world in enumerate(worlds):
        call(world, "make", name=f"of {number}")
    for number, world in enumerate(worlds):
        assert [row["name"] for row in world.store.rows("order") if str(row["name"]).startswith("of")] == [
            f"of {number}"
        ]
        world.close()


def test_stores_can_be_opened_and_used_from_many_threads() -> None:
    def work(number: int) -> list[str]:
        world = open_lab()
        try:
            call(world, "make", name=f"of {number}")
            return sorted(str(row["name"]) for row in world.store.rows("order"))
        finally:
            world.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(40))) == [["", "first", f"of {number}"] for number in range(40)]


def test_an_update_that_meets_no_row_says_so(world: World) -> None:
    assert world.store.update("order", "TH-2", {"count": 5}) == 1
    assert world.store.update("order", "TH-9", {"count": 5}) == 0
    assert world.find(Thing, "TH-2").count == 5
    assert world.store.update("tags", "7", {"label": "x"}) == 1


def test_what_the_harness_puts_in_stays_when_a_call_fails(world: World) -> None:
    world.store.insert("tags", {"id": 1, "label": "one"})
    world.store.take_changes()
    for how in ("refuse", "refuse"):
        assert not call(world, "half_way", how=how).ok
    assert [row["id"] for row in world.store.rows("tags")] == [1, 7]


def test_keys_of_base_rows_and_inserted_rows_are_known(world: World) -> None:
    world.store.insert("order", {"id": "TH-NEW"})
    known = ("TH-1", "PT-A", "7", "TH-NEW")
    assert all(world.store.has_key(key) for key in known)
    assert not world.store.has_key("TH-3")


def _model(kind: Any, of: Any) -> type[SQLModel]:
    class Row(SQLModel, registry=registry()):
        pass

    fields = {"id": (str, Field(primary_key=True)), "content": (of, Field(sa_type=kind) if kind else Field())}
    annotations = {name: of for name, (of, _) in fields.items()}
    body = {"__annotations__": annotations, "__tablename__": "odd", "__module__": __name__}
    return type(Row)("Odd", (Row,), body | {name: field for name, (_, field) in fields.items()}, table=True)


@pytest.mark.parametrize(
    ("kind", "value"),
    [(JSON, dict), (DateTime, datetime), (LargeBinary, bytes), (Numeric, Decimal), (None, Colour)],
    ids=["json", "datetime", "bytes", "decimal", "enum"],
)
def test_a_column_that_the_log_would_write_otherwise_is_refused(kind: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r"odd\.content: expected a column of text, whole numbers.*found"):
        StoreTemplate([_model(kind, value)], lambda session: None)


def test_a_table_needs_exactly_one_key() -> None:
    class Row(SQLModel, registry=registry()):
        pass

    class Pair(Row, table=True):
        __tablename__ = "pairs"
        one: str = Field(primary_key=True)
        two: str = Field(primary_key=True)

    with pytest.raises(TypeError, match="pairs needs exactly one primary-key column, found 2"):
        StoreTemplate([Pair], lambda session: None)


def test_a_moment_without_a_zone_is_not_stored(world: World) -> None:
    with pytest.raises(ValueError, match="time zone"):
        world.store.insert("order", {"id": "X", "at": datetime(2026, 1, 1)})


def test_values_in_json_form() -> None:
    assert plain(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00Z"
    assert plain(date(2026, 1, 1)) == "2026-01-01"
    assert type(plain(Colour.RED)) is str
    assert (plain(None), plain(True), plain(1.5)) == (None, True, 1.5)


def test_a_float_keeps_its_last_digit(world: World) -> None:
    assert 0.1 + 0.2 != 0.3
    outcome = call(world, "change", thing_id="TH-2", values={"ratio": 0.1 + 0.2})
    assert outcome.changes[0].after is not None
    assert math.isclose(outcome.changes[0].after["ratio"], 0.1 + 0.2, rel_tol=0, abs_tol=0)
    json.dumps(outcome.changes[0].after, allow_nan=False)


def test_a_row_that_a_session_remembers_is_read_afresh_by_the_next_call(world: World) -> None:
    kept = world.find(Tag, 7)  # type: ignore[arg-type]
    call(world, "run_sql", statement="UPDATE tags SET label = 'changed'")
    again = world.session.get(Tag, 7)
    assert again is not None
    assert (kept.label, again.label) == ("seven", "changed")


def test_a_row_that_is_put_in_takes_defaults_and_names_only_columns(world: World) -> None:
    world.store.insert("order", {"id": "TH-3", "flag": True, "day": date(2026, 1, 2)})
    row = next(row for row in world.store.rows("order") if row["id"] == "TH-3")
    assert row == {**EMPTY, "id": "TH-3", "flag": True, "day": "2026-01-02"}
    with pytest.raises(KeyError, match="order has no column colour"):
        world.store.insert("order", {"id": "TH-4", "colour": "red"})


def test_a_computed_default_is_refused() -> None:
    class Row(SQLModel, registry=registry()):
        pass

    class Stamped(Row, table=True):
        __tablename__ = "stamped"
        id: str = Field(primary_key=True)
        number: int = Field(sa_column_kwargs={"default": lambda: 3})

    with pytest.raises(TypeError, match=r"stamped\.number: expected a plain default"):
        StoreTemplate([Stamped], lambda session: None)


# ------------------------------------------------------------------ stores that are used again


def everything(world: World) -> dict[str, Any]:
    return {table: world.store.rows(table) for table in world.store.template.models}


@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(
            [
                ("make", {"name": "x"}),
                ("change", {"thing_id": "TH-1", "values": {"count": 9, "flag": None}}),
                ("half_way", {"how": "refuse"}),
                ("run_sql", {"statement": 'DELETE FROM "order"'}),
                ("run_sql", {"statement": "INSERT INTO tags VALUES (1, 'x')"}),
                ("run_sql", {"statement": "CREATE TABLE other (id INTEGER)"}),
                ("run_sql", {"statement": "DROP TABLE tags"}),
                ("unlock_tool", {"tool": "hidden"}),
                ("fly", {}),
            ]
        ),
        max_size=6,
    )
)
def test_whatever_was_done_to_a_store_the_next_one_begins_anew(calls: list[tuple[str, dict[str, Any]]]) -> None:
    world = open_lab()
    base = everything(world)
    for name, arguments in calls:
        with suppress(SQLAlchemyError):
            world.call(Actor.AGENT, name, arguments)
    world.store.session.add(Thing(id="TH-X"))
    world.close()
    following = open_lab()
    assert everything(following) == base
    assert following.store.take_changes() == ()
    assert following.unlocked == set()
    made = call(following, "make", name="y")
    assert moved(made) == [("insert", made.result["id"], made.result)]
    following.close()


ENDING = ["COMMIT", "ROLLBACK", "ROLLBACK; BEGIN", "INSERT OR ROLLBACK INTO tags VALUES (7, 'x')"]


@pytest.mark.parametrize("statement", ENDING)
def test_a_statement_that_ends_the_stores_transaction_is_a_bug_and_spoils_no_other_store(statement: str) -> None:
    world = open_lab()
    base = everything(world)
    call(world, "make", name="x")
    raw = raw_connection(world.store.session.connection())

    def end(world: World) -> None:
        for part in statement.split(";"):
            raw.execute(part)

    world.tools = {**world.tools, "look": replace(world.tools["look"], run=lambda world, thing_id: end(world))}
    with pytest.raises((StoreEnded, sqlite3.IntegrityError)):
        call(world, "look", thing_id="TH-1")
    with pytest.raises(StoreEnded):
        call(world, "make", name="y")
    world.close()
    following = open_lab()
    assert everything(following) == base
    following.close()


def test_a_refusal_cannot_hide_that_a_store_was_lost() -> None:
    world = open_lab()

    def end(world: World, thing_id: str) -> None:
        raw_connection(world.store.session.connection()).execute("ROLLBACK")
        raise ToolError("No.")

    world.tools = {**world.tools, "look": replace(world.tools["look"], run=end)}
    with pytest.raises(StoreEnded, match="a statement has ended the transaction"):
        call(world, "look", thing_id="TH-1")
    world.close()


def test_a_store_is_closed_once() -> None:
    one = open_lab()
    one.close()
    one.close()
    two, three = open_lab(), open_lab()
    call(two, "make", name="x")
    assert len(three.store.rows("order")) == 2
    two.close()
    three.close()
