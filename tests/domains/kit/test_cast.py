"""The cast: drawn afresh for every seed, private values apart from everything else, faults named with their place."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.kit.cast import Attribute, CastContext, CastKind, CastSpec, Member, NewRow, digit_runs
from domains.kit.draw import Draw
from domains.kit.errors import SetupError
from domains.parcels.cast import CAST_KINDS

NOW = datetime(2026, 3, 12, 15, 20, tzinfo=UTC)


class Size(StrEnum):
    SMALL = "small"


class BoxSpec(CastSpec):
    size: Size = Size.SMALL
    beside: tuple[str, ...] = ()
    weight: int = 1
    since: str = "-P1D"


def build_box(role: str, spec: BoxSpec, context: CastContext) -> Member:
    for place, other in enumerate(spec.beside):
        context.member(other, f"/cast/{role}/beside/{place}", ["box", "bag"])
    if spec.weight < 0:
        raise ValueError("a box weighs something")
    context.moment(role, "since", spec.since)
    context.day(role, "since", spec.since)
    key = context.new_id(role, "BX")
    return Member(role, "box", "boxes", key, role, {"id": Attribute(key, key)}, (NewRow("boxes", {"id": key}),))


KINDS: Mapping[str, CastKind[Any]] = {**CAST_KINDS, "box": CastKind("box", BoxSpec, build_box)}


def context(cast: Mapping[str, Any], seed: int = 0, **more: Any) -> CastContext:
    draw = Draw(("instance", seed, "test"))
    return CastContext(cast, KINDS, NOW, ZoneInfo("America/New_York"), draw, **more)


def build(cast: Mapping[str, Any], seed: int = 0, **more: Any) -> Mapping[str, Member]:
    return context(cast, seed, **more).build_all()


def test_members_are_built_after_those_that_they_refer_to() -> None:
    members = build({"a": {"is": "box", "beside": ["b", "c"]}, "b": {"is": "box", "beside": ["c"]}, "c": {"is": "box"}})
    assert list(members) == ["c", "b", "a"]


def test_lists_and_words_stand_for_tuples_and_enums() -> None:
    assert list(build({"a": {"is": "box", "size": "small", "beside": []}})) == ["a"]


def test_the_same_seed_gives_the_same_cast_and_another_seed_another() -> None:
    cast = {"a": {"is": "person"}, "b": {"is": "person"}}
    assert build(cast, 1) == build(cast, 1)
    assert build(cast, 1)["a"].key != build(cast, 2)["a"].key


def test_a_new_member_does_not_move_the_others() -> None:
    small = build({"a": {"is": "person"}})
    large = build({"a": {"is": "person"}, "b": {"is": "person"}, "p": {"is": "parcel", "to": "b"}})
    assert small["a"] == large["a"]


@settings(max_examples=40)
@given(st.integers(0, 10**9))
def test_private_values_share_no_run_of_digits(seed: int) -> None:
    roles = {f"r{n}": {"is": "person"} for n in range(12)}
    parcels = {f"p{n}": {"is": "parcel", "to": f"r{n}"} for n in range(12)}
    members = build(roles | parcels, seed, reserved=digit_runs("20260312") | {"5555"})
    values = [str(members[role].attributes["phone"].value) for role in roles]
    values += [str(members[role].attributes["code"].value) for role in parcels]
    seen = digit_runs("20260312") | {"5555"}
    for value in values:
        runs = digit_runs(value)
        assert runs
        assert not runs & seen
        seen |= runs
    assert len({member.key for member in members.values()}) == 24
    assert len({members[role].attributes["name"].value for role in roles}) == 12


def test_an_id_that_is_taken_is_not_drawn() -> None:
    cast = {"a": {"is": "person"}}
    taken = build(cast)["a"].key
    assert build(cast, used={taken})["a"].key != taken


def test_a_pool_that_is_empty_says_so() -> None:
    asked = context({})
    assert asked.distinct(Draw(("x",)), lambda draw: "only") == "only"
    with pytest.raises(SetupError, match="no value left to draw"):
        asked.distinct(Draw(("x",)), lambda draw: "only")
    with pytest.raises(SetupError, match="no private value left to draw"):
        context({}, reserved={"1234"}).private(Draw(("x",)), lambda draw: "12-34")


FAULTS: dict[str, tuple[Mapping[str, Any], str, str]] = {
    "unknown kind": (
        {"a": {"is": "dragon"}},
        "/cast/a/is",
        "expected one of box, mandate, parcel, person, found 'dragon'",
    ),
    "no kind": ({"a": {}}, "/cast/a/is", "found None"),
    "kind that is no text": ({"a": {"is": ["person"]}}, "/cast/a/is", "found ['person']"),
    "unknown key": ({"a": {"is": "person", "age": 3}}, "/cast/a/age", "expected a field of person ("),
    "missing key": ({"a": {"is": "parcel"}}, "/cast/a/to", "expected a value, found nothing"),
    "wrong type": ({"a": {"is": "box", "weight": "1e3"}}, "/cast/a/weight", "expected a valid integer, found '1e3'"),
    "wrong item": ({"a": {"is": "box", "beside": ["a", 3]}}, "/cast/a/beside/1", "expected a valid string, found 3"),
    "no such word": ({"a": {"is": "box", "size": " small"}}, "/cast/a/size", "expected 'small', found ' small'"),
    "unknown role": ({"a": {"is": "parcel", "to": "b"}}, "/cast/a/to", "expected a role of the cast (a), found 'b'"),
    "wrong kind": (
        {"a": {"is": "parcel", "to": "b"}, "b": {"is": "box"}},
        "/cast/a/to",
        "expected a role that is person; 'b' is 'box'",
    ),
    "one of two kinds": (
        {"a": {"is": "box", "beside": ["b"]}, "b": {"is": "person"}},
        "/cast/a/beside/0",
        "expected a role that is box or bag; 'b' is 'person'",
    ),
    "itself": ({"a": {"is": "box", "beside": ["a"]}}, "/cast/a", "entries need each other: a -> a"),
    "a circle": (
        {n: {"is": "box", "beside": [m]} for n, m in [("a", "b"), ("b", "c"), ("c", "a")]},
        "/cast/a",
        "entries need each other: a -> b -> c -> a",
    ),
    "a bad moment": ({"a": {"is": "box", "since": "once"}}, "/cast/a/since", "expected a duration"),
    "a distant moment": ({"a": {"is": "box", "since": "-P9999Y"}}, "/cast/a/since", "leads out of the calendar"),
    "a value that makes no sense": ({"a": {"is": "box", "weight": -1}}, "/cast/a", "no box can be made of this entry"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_named_with_its_place(case: str) -> None:
    cast, path, problem = FAULTS[case]
    with pytest.raises(SetupError) as caught:
        build(cast)
    assert caught.value.path == path
    assert problem in caught.value.problem


def test_runs_of_digits_span_separators() -> None:
    assert digit_runs("12-34 5") == {"1234", "2345"}
    assert digit_runs("123") == digit_runs("") == set()
