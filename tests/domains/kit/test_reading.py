"""Reading rows: by equality, in order, and from memory only as long as nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from domains.kit.errors import ToolError
from domains.kit.store import row_values
from domains.kit.world import World
from tests.domains.kit.lab import NOW, Part, Tag, Thing, call, open_lab


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ({}, ["TH-1", "TH-2"]),
        ({"name": "first"}, ["TH-1"]),
        ({"name": "second"}, []),
        ({"flag": True, "day": date(2026, 3, 1), "at": NOW}, ["TH-1"]),
        ({"group": None}, ["TH-1", "TH-2"]),
        ({"flag": None, "count": 0}, ["TH-2"]),
    ],
)
def test_rows_are_found_by_equality_nothing_included(
    world: World, values: Mapping[str, Any], keys: Sequence[str]
) -> None:
    assert [row.id for row in world.rows(Thing, **values)] == keys
    assert [row.id for row in world.store.recall(Thing, values)] == keys


def test_rows_come_in_the_order_of_their_keys(world: World) -> None:
    for key in ("TH-9", "TH-0", "TH-15"):
        world.store.insert("order", {"id": key})
    assert [row.id for row in world.rows(Thing)] == ["TH-0", "TH-1", "TH-15", "TH-2", "TH-9"]


def test_a_column_that_does_not_exist_is_an_error_and_not_an_empty_answer(world: World) -> None:
    with pytest.raises(KeyError, match="colour"):
        world.rows(Thing, colour="red")


def test_one_row_is_found_by_its_key_or_is_none(world: World) -> None:
    found = world.get(Tag, 7)  # type: ignore[arg-type]
    assert found is not None
    assert found.label == "seven"
    assert world.get(Thing, "TH-NONE") is None
    with pytest.raises(ToolError, match="No record 'TH-NONE' in order"):
        world.find(Thing, "TH-NONE")


def test_what_a_tool_has_just_added_is_found(world: World) -> None:
    world.session.add(Part(id="PT-B", thing_id="TH-1"))
    assert [part.id for part in world.rows(Part, thing_id="TH-1")] == ["PT-B"]


def test_a_row_that_is_read_can_be_changed_and_a_remembered_one_cannot(world: World) -> None:
    remembered = world.store.recall(Thing, {"id": "TH-1"})[0]
    call(world, "look", thing_id="TH-1")
    remembered.name = "changed in memory"
    world.find(Thing, "TH-2").name = "changed for good"
    world.store.commit()
    assert [row["name"] for row in world.store.rows("order")] == ["first", "changed for good"]


WRITES = (
    "UPDATE \"order\" SET name = name || 'x'",
    "DELETE FROM \"order\" WHERE id = 'TH-2'",
    "REPLACE INTO parts VALUES ('PT-C', 'TH-1')",
    "REPLACE INTO tags VALUES (7, 'other')",
    "UPDATE tags SET id = id + 1",
)
STEPS = st.one_of(
    st.tuples(st.just("call"), st.sampled_from(WRITES)),
    st.tuples(st.just("write"), st.sampled_from(WRITES)),
    st.tuples(st.sampled_from(["commit", "rollback", "refusal", "look"]), st.just("")),
)


def _take(world: World, step: str, statement: str) -> None:
    if step == "call":
        call(world, "run_sql", statement=statement)
    elif step == "write":
        world.session.execute(sql(statement))
    elif step == "commit":
        world.store.commit()
    elif step == "rollback":
        world.store.rollback()
    elif step == "refusal":
        call(world, "half_way", how="refuse")
    else:
        call(world, "look", thing_id="TH-1")


@settings(max_examples=60)
@given(st.lists(STEPS, max_size=8))
def test_memory_never_differs_from_what_is_stored(steps: list[tuple[str, str]]) -> None:
    world = open_lab()
    for step, statement in [("look", ""), *steps]:
        _take(world, step, statement)
        for model in (Thing, Part, Tag):
            remembered = [row_values(row) for row in world.store.recall(model, {})]
            assert remembered == world.store.rows(model.__tablename__)
    world.close()


def test_what_has_not_changed_is_not_read_again(world: World) -> None:
    before = world.store.recall(Part, {})
    call(world, "run_sql", statement="UPDATE tags SET label = 'other'")
    assert world.store.recall(Part, {}) is before
    call(world, "run_sql", statement="INSERT INTO parts VALUES ('PT-C', 'TH-1')")
    assert [part.id for part in world.store.recall(Part, {})] == ["PT-A", "PT-C"]
