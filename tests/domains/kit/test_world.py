"""The world: who may call what, and that a call either happens whole or leaves no trace."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from domains.kit.errors import CallRejected, Rejection, SetupError, ToolError
from domains.kit.store import RowRef
from domains.kit.tools import Actor
from domains.kit.world import CALL_UNLOCKED, World, unwrap_call
from tests.domains.kit.lab import Thing, call, moved, open_lab


def names(world: World, actor: Actor) -> list[str]:
    return [tool.name for tool in world.available(actor)]


def unlocked_call(world: World, target: Any, arguments: Any, **more: Any) -> Any:
    return world.call(Actor.AGENT, CALL_UNLOCKED, {"tool": target, "arguments": arguments, **more})


REJECTED: dict[str, tuple[Actor, str, dict[str, Any], Rejection]] = {
    "unknown": (Actor.AGENT, "fly", {}, Rejection.UNKNOWN_TOOL),
    "empty name": (Actor.AGENT, "", {}, Rejection.UNKNOWN_TOOL),
    "bad arguments": (Actor.AGENT, "look", {}, Rejection.BAD_ARGUMENTS),
    "the caller's": (Actor.AGENT, "wave", {}, Rejection.NOT_YOURS),
    "the agent's": (Actor.CALLER, "look", {"thing_id": "TH-1"}, Rejection.NOT_YOURS),
    "locked": (Actor.AGENT, "hidden", {}, Rejection.NOT_UNLOCKED),
    "not granted": (Actor.CALLER, "gift", {}, Rejection.NOT_GRANTED),
    "the agent's key": (Actor.CALLER, CALL_UNLOCKED, {"tool": "wave", "arguments": {}}, Rejection.NOT_YOURS),
    "locked, by the key": (Actor.AGENT, CALL_UNLOCKED, {"tool": "hidden", "arguments": {}}, Rejection.NOT_UNLOCKED),
    "open, by the key": (Actor.AGENT, CALL_UNLOCKED, {"tool": "look", "arguments": {}}, Rejection.NOT_UNLOCKED),
    "the caller's, by the key": (Actor.AGENT, CALL_UNLOCKED, {"tool": "gift", "arguments": {}}, Rejection.NOT_YOURS),
    "unknown, by the key": (Actor.AGENT, CALL_UNLOCKED, {"tool": "fly", "arguments": {}}, Rejection.UNKNOWN_TOOL),
    "the key alone": (Actor.AGENT, CALL_UNLOCKED, {}, Rejection.BAD_ARGUMENTS),
    "the key with more": (
        Actor.AGENT,
        CALL_UNLOCKED,
        {"tool": "hidden", "arguments": {}, "force": True},
        Rejection.BAD_ARGUMENTS,
    ),
    "the key with text": (Actor.AGENT, CALL_UNLOCKED, {"tool": "hidden", "arguments": "{}"}, Rejection.BAD_ARGUMENTS),
    "the key with a number": (Actor.AGENT, CALL_UNLOCKED, {"tool": 3, "arguments": {}}, Rejection.BAD_ARGUMENTS),
}


@pytest.mark.parametrize("case", REJECTED)
def test_a_call_that_cannot_reach_its_tool_is_an_error_result(world: World, case: str) -> None:
    actor, name, arguments, rejection = REJECTED[case]
    outcome = world.call(actor, name, arguments)
    assert (outcome.ok, outcome.rejection, outcome.changes, outcome.shown) == (False, rejection, (), ())
    assert isinstance(outcome.result, str)
    assert outcome.result


def test_the_key_cannot_call_itself(world: World) -> None:
    outcome = unlocked_call(world, CALL_UNLOCKED, {"tool": "hidden", "arguments": {}})
    assert (outcome.ok, outcome.rejection) == (False, None)
    assert "cannot be called this way" in outcome.result


def test_a_locked_tool_is_unlocked_called_and_recorded_as_itself(world: World) -> None:
    assert "hidden" not in names(world, Actor.AGENT)
    opened = call(world, "unlock_tool", tool="hidden")
    assert opened.result["arguments"] == world.tools["hidden"].schema()
    assert moved(opened) == [
        ("insert", "hidden", {"tool": "hidden", "holder": "agent", "opened_at": "2026-03-12T15:20:00Z"})
    ]
    assert "hidden" not in names(world, Actor.AGENT)
    outcome = unlocked_call(world, "hidden", {"number": 5})
    assert (outcome.ok, outcome.tool, outcome.arguments, outcome.result) == (True, "hidden", {"number": 5}, 5)
    assert call(world, "hidden", number=6).result == 6
    again = call(world, "unlock_tool", tool="hidden")
    assert (again.ok, again.changes) == (True, ())
    assert unlocked_call(world, "hidden", {"number": "5"}).rejection is Rejection.BAD_ARGUMENTS


@pytest.mark.parametrize("name", ["look", "gift", "nothing", ""])
def test_only_locked_agent_tools_can_be_unlocked(world: World, name: str) -> None:
    assert "There is no locked tool" in call(world, "unlock_tool", tool=name).result


def test_a_granted_tool_appears_in_the_callers_set(world: World) -> None:
    assert names(world, Actor.CALLER) == ["wave"]
    granted = call(world, "grant_tool", tool="gift")
    assert moved(granted)[0][2] == {"tool": "gift", "holder": "caller", "opened_at": "2026-03-12T15:20:00Z"}
    assert names(world, Actor.CALLER) == ["wave", "gift"]
    assert world.call(Actor.CALLER, "gift", {}).result == "taken"
    assert call(world, "grant_tool", tool="gift").changes == ()
    assert not call(world, "grant_tool", tool="hidden").ok
    assert world.call(Actor.AGENT, "gift", {}).rejection is Rejection.NOT_YOURS


def state(world: World) -> Any:
    return {table: world.store.rows(table) for table in world.store.template.models}


BUGS = {"break": ZeroDivisionError, "commit": ZeroDivisionError, "orphan": IntegrityError, "unwritable": TypeError}


@pytest.mark.parametrize("how", ["refuse", *BUGS])
def test_a_call_that_fails_leaves_no_trace(world: World, how: str) -> None:
    call(world, "make", name="before")
    before = state(world)
    if how == "refuse":
        outcome = call(world, "half_way", how=how)
        assert (outcome.ok, outcome.result, outcome.rejection, outcome.changes) == (False, "No.", None, ())
    else:
        with pytest.raises(BUGS[how]):
            call(world, "half_way", how=how)
    assert state(world) == before
    assert (world.unlocked, world.granted) == (set(), set())
    assert names(world, Actor.CALLER) == ["wave"]
    following = call(world, "make", name="after")
    assert moved(following) == [("insert", following.result["id"], following.result)]


def test_what_others_write_between_calls_is_undone(world: World) -> None:
    before = state(world)
    thing = world.find(Thing, "TH-1")
    thing.name = "slipped in"
    world.session.add(Thing(id="TH-X"))
    world.session.commit()
    outcome = call(world, "look", thing_id="TH-1")
    assert (outcome.result["name"], outcome.changes) == ("first", ())
    assert state(world) == before


def test_rows_that_a_result_shows_are_noted_once_in_order(world: World) -> None:
    assert call(world, "look", thing_id="TH-2").shown == (RowRef("order", "TH-2"),)
    assert call(world, "look", thing_id="TH-9").shown == ()
    made = call(world, "make", name="x")
    assert made.shown == (RowRef("order", made.result["id"]),)
    assert world.show(world.find(Thing, "TH-1"), "id", "count") == {"id": "TH-1", "count": 1}


def test_a_missing_row_is_a_refusal_that_helps(world: World) -> None:
    with pytest.raises(ToolError, match="No record 'TH-9' in order"):
        world.find(Thing, "TH-9")


def test_ids_repeat_in_a_replay_and_meet_no_stored_key() -> None:
    one, other = open_lab(), open_lab()
    first = [call(one, "make", name="x").result["id"] for _ in range(5)]
    assert first == [call(other, "make", name="y").result["id"] for _ in range(5)]
    assert len(set(first)) == 5
    third = open_lab()
    third.store.insert("order", {"id": first[0]})
    assert call(third, "make", name="x").result["id"] == first[1]
    for world in (one, other, third):
        world.close()


def test_a_call_can_end_the_conversation(world: World) -> None:
    assert call(world, "transfer_to_human", summary="enough").ends
    assert not call(world, "look", thing_id="TH-1").ends


def test_unwrapping_changes_nothing_else() -> None:
    assert unwrap_call("look", {"tool": "x", "arguments": {}}) == ("look", {"tool": "x", "arguments": {}})
    assert unwrap_call(CALL_UNLOCKED, {"tool": "x", "arguments": {"a": 1}}) == ("x", {"a": 1})


def test_errors_cross_to_another_process() -> None:
    rejected = pickle.loads(pickle.dumps(CallRejected(Rejection.NOT_YOURS, "no")))  # noqa: S301
    assert (rejected.reason, str(rejected)) == (Rejection.NOT_YOURS, "no")
    setup = pickle.loads(pickle.dumps(SetupError("/cast/a", "what")))  # noqa: S301
    assert (setup.path, setup.problem, str(setup)) == ("/cast/a", "what", "/cast/a: what")


# ------------------------------------------------------------------ the desk


def test_the_desk_takes_down_decisions_and_referrals(world: World) -> None:
    outcome = call(
        world, "record_decision", decision="refuse", rule_id="LAB-1", reason_code="none", evidence_ids=["TH-1", "é"]
    )
    assert moved(outcome)[0][2] == {
        "id": outcome.result["decision_id"],
        "decision": "refuse",
        "rule_id": "LAB-1",
        "reason_code": "none",
        "evidence_ids": '["TH-1","é"]',
        "note": "",
        "made_at": "2026-03-12T15:20:00Z",
    }
    referral = call(world, "escalate", reason_code="none", rule_id="LAB-1", summary="x")
    assert referral.changes[0].row.table == "escalations"
    assert not referral.ends


@pytest.mark.parametrize(("field", "word"), [("decision", "maybe"), ("rule_id", "LAB-2"), ("reason_code", "whim")])
def test_words_outside_the_vocabularies_are_refused(world: World, field: str, word: str) -> None:
    arguments = {"decision": "refuse", "rule_id": "LAB-1", "reason_code": "none", "evidence_ids": []} | {field: word}
    outcome = world.call(Actor.AGENT, "record_decision", arguments)
    assert (outcome.ok, outcome.rejection) == (False, None)
    assert f"{word!r} is not a {field.replace('_', ' ')}" in outcome.result


def test_the_desk_searches_and_reads(world: World) -> None:
    assert call(world, "kb_search", query="x").result == []
    assert "limit must be 1 to 10" in call(world, "kb_search", query="x", limit=11).result
    assert "There is no document 'x'" in call(world, "kb_read", document_id="x").result


def test_the_clock_is_the_desks(world: World) -> None:
    assert call(world, "get_current_time").result == {
        "now": "2026-03-12T11:20:00-04:00",
        "weekday": "Thursday",
        "time_zone": "America/New_York",
    }
