"""Conversations from the first word to the last: whoever fails, the episode ends with the right reason."""

from __future__ import annotations

from typing import Any

import pytest

from domains.kit import store as kit_store
from domains.kit.domain import Call
from domains.kit.tools import Actor
from domains.kit.world import World
from harness.callers import status as caller_status_module
from harness.episode.events import StopReason
from harness.episode.limits import Limits
from harness.episode.turn import Turn
from harness.orchestrator import play, state_digest
from tests.harness.episode.stage import (
    FAILING,
    SEARCH,
    Agent,
    Speaker,
    converse,
    in_order,
    opened,
    returned,
    said,
    stop,
)
from tests.harness.scenario.drafts import published

INSTANCE = published("p5e08")


def raising(error: BaseException) -> Agent:
    def answer(view: Any) -> Any:
        raise error

    return Agent(answer)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


FAULTS: dict[str, tuple[Agent, str]] = {
    "raises": (raising(KeyError("lost")), "KeyError: 'lost'"),
    "raises without a message": (raising(Mute()), "Mute: (it has no readable message)"),
    "raises an odd message": (raising(ValueError("\ud800" * 9)), "ValueError: ?????????"),
    "asks Python to exit": (raising(SystemExit(3)), "SystemExit: 3"),
    "recurses": (Agent(lambda view: (lambda f: f(f))(lambda f: f(f))), "RecursionError"),
    "returns nothing": (Agent(lambda view: None), "expected a Turn (or text) from respond, found NoneType"),
    "returns a number": (Agent(lambda view: 7), "found int"),
    "returns a coroutine": (Agent(lambda view: iter(())), "found tuple_iterator"),
    "returns half a turn": (Agent(lambda view: Turn(calls=("x",))), "expected Call(tool, arguments)"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", FAULTS)
def test_an_agent_that_fails_ends_its_episode_with_its_fault(case: str) -> None:
    agent, detail = FAULTS[case]
    trajectory = converse(agent)
    assert stop(trajectory).reason is StopReason.AGENT_FAULT
    assert detail in stop(trajectory).detail
    assert len(said(trajectory.events, Actor.CALLER)) == 1


@pytest.mark.parametrize("fault", [KeyError("lost"), SystemExit(1), None, 3, Turn(text=3)])  # type: ignore[arg-type]
def test_a_caller_that_fails_ends_its_episode_with_its_fault(fault: Any) -> None:
    trajectory = converse(in_order(), Speaker([Turn("Hello.", yields=True), fault]))
    assert stop(trajectory).reason is StopReason.CALLER_FAULT
    assert said(trajectory.events, Actor.AGENT) == ["Hm."]


def test_an_interruption_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        converse(raising(KeyboardInterrupt()))


def test_a_tool_that_fails_is_the_worlds_fault_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: World, prefix: str) -> str:
        raise ZeroDivisionError("the tool is broken")

    monkeypatch.setattr(World, "new_id", broken)
    call = Call("try_code", {"parcel_id": INSTANCE.cast["parcel"].key, "code": "1"})
    trajectory = converse(in_order(Turn("Let me see.", (call,))), instance=INSTANCE)
    assert stop(trajectory).reason is StopReason.WORLD_FAULT
    assert stop(trajectory).detail.startswith("try_code: ZeroDivisionError: the tool is broken (test_play.py, line ")
    assert returned(trajectory.events) == []
    assert trajectory.state_digest == state_digest(())


def test_a_store_that_fails_is_the_worlds_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: kit_store.Store) -> None:
        raise OSError("disk full")

    with opened(INSTANCE) as environment:
        monkeypatch.setattr(kit_store.Store, "commit", full)
        trajectory = play(environment, lambda env: Turn(calls=(SEARCH,)), lambda env: Turn("Hello.", yields=True))
    assert stop(trajectory).reason is StopReason.WORLD_FAULT


def test_a_status_that_cannot_be_told_is_not_the_callers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise ValueError("no reading")

    monkeypatch.setattr(caller_status_module, "read_reply", broken)
    trajectory = converse(in_order())
    assert stop(trajectory).reason is StopReason.WORLD_FAULT
    assert "how the caller's turn stands cannot be told: ValueError: no reading" in stop(trajectory).detail


ENDS: dict[str, tuple[Any, Limits, StopReason]] = {
    "ends": (Turn("Goodbye.", ends="done"), Limits(), StopReason.AGENT_ENDED),
    "hands over": (Turn(calls=(Call("transfer_to_human", {"summary": "x"}),)), Limits(), StopReason.AGENT_HANDED_OFF),
    "calls forever": (Turn(calls=(SEARCH,)), Limits(), StopReason.TURN_LIMIT),
    "calls forever, many at once": (Turn(calls=(SEARCH,) * 10), Limits(), StopReason.TOOL_LIMIT),
    "fails forever": (Turn(calls=(FAILING,)), Limits(), StopReason.ERROR_LIMIT),
    "keeps the floor": (Turn("And another thing.", yields=False), Limits(), StopReason.TURN_LIMIT),
    "says nothing": ("", Limits(), StopReason.CALLER_DONE),
    "talks forever": ("One moment.", Limits(), StopReason.CALLER_DONE),
    "talks at length": ("x" * 1_000_000, Limits(), StopReason.CALLER_DONE),
    "takes its time": ("One moment.", Limits(seconds=0.0), StopReason.TIME_LIMIT),
}


@pytest.mark.parametrize("case", ENDS)
def test_every_conversation_comes_to_an_end(case: str) -> None:
    turn, limits, reason = ENDS[case]
    trajectory = converse(Agent(lambda view: turn), limits=limits)
    assert stop(trajectory).reason is reason
    assert [event.type for event in trajectory.events].count("stopped") == 1


def test_a_turn_of_the_agent_after_the_last_one_is_not_asked_for() -> None:
    agent = in_order(Turn("Goodbye.", ends="done"), "never said")
    assert "never said" not in said(converse(agent).events, Actor.AGENT)
    assert len(agent.views) == 1


def test_text_alone_is_a_turn() -> None:
    assert said(converse(in_order("Good morning.")).events, Actor.AGENT)[0] == "Good morning."


def test_the_same_conversation_twice_is_the_same_to_the_byte() -> None:
    call = Call("try_code", {"parcel_id": INSTANCE.cast["parcel"].key, "code": "1"})
    one, other = (converse(in_order(Turn("Hm.", (call, call))), instance=INSTANCE) for _ in range(2))
    assert one == other
    assert one.state_digest != state_digest(())


def test_calls_applied_again_give_the_same_state() -> None:
    parcel, visitor = INSTANCE.cast["parcel"].key, INSTANCE.cast["visitor"].key
    handing = {"tool": "hand_over", "arguments": {"parcel_id": parcel, "person_id": visitor}}
    calls = (
        Call("try_code", {"parcel_id": parcel, "code": "1"}),
        Call("call_unlocked_tool", handing),
        Call("unlock_tool", {"tool": "hand_over"}),
        Call("try_code", {"parcel_id": parcel, "code": 1}),
        Call("escalate", {"reason_code": "none", "rule_id": "none", "summary": "é"}),
        Call("call_unlocked_tool", handing),
        Call("call_unlocked_tool", handing),
    )
    played = converse(in_order(Turn(calls=calls[:4]), Turn("So.", calls[4:])), instance=INSTANCE)
    with opened(INSTANCE) as environment:
        for event in played.events:
            if event.type == "called":
                environment.deliver(event.actor, Turn(calls=(Call(event.tool, event.arguments),)))
        again = tuple(environment.events)
        final = {table: environment.world.store.rows(table) for table in INSTANCE.domain.models}
    assert state_digest(again) == played.state_digest
    assert [(r.ok, r.result, r.changes) for r in returned(again)] == [
        (r.ok, r.result, r.changes) for r in returned(played.events)
    ]
    assert final["parcels"][0]["status"] == "collected"
    assert [r.ok for r in returned(again)] == [True, False, True, False, True, True, False]


def test_the_digest_is_of_final_values() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(SEARCH,)))
        assert state_digest(tuple(environment.events)) == state_digest(())
        environment.deliver(Actor.AGENT, Turn(calls=(Call("unlock_tool", {"tool": "hand_over"}),)))
        assert state_digest(tuple(environment.events)) != state_digest(())
