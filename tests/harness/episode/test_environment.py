"""The environment: turns are carried out whole, and whatever a participant hands over has a recorded outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.kit.domain import Call
from domains.kit.errors import Rejection
from domains.kit.store import ChangeKind
from domains.kit.tools import Actor
from harness.episode.environment import describe
from harness.episode.events import EVENTS, Called, Returned, Said, StopReason, TurnEnded
from harness.episode.limits import Limits, next_speaker, stop_reason
from harness.episode.turn import Turn
from harness.errors import ParticipantError
from tests.harness.episode.stage import FAILING, SEARCH, called, opened, returned, said
from tests.harness.scenario.drafts import published

INSTANCE = published("p5e08")
PARCEL = INSTANCE.cast["parcel"].key
CODE = INSTANCE.cast["parcel"].attributes["code"].value


def try_code(code: str) -> Call:
    return Call("try_code", {"parcel_id": PARCEL, "code": code})


def test_words_and_calls_of_one_turn_are_both_delivered() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn("Let me look.", (SEARCH,)))
        kinds = [type(event).__name__ for event in environment.events]
        assert kinds == ["Said", "Called", "Returned", "TurnEnded"]
        assert [event.id for event in environment.events] == [0, 1, 2, 3]
        assert next_speaker(environment.events) is Actor.AGENT
        environment.deliver(Actor.AGENT, Turn("There.", (SEARCH,), yields=True))
        assert next_speaker(environment.events) is Actor.CALLER
        assert [event.turn for event in environment.events] == [0] * 4 + [1] * 4


def test_several_calls_of_one_tool_all_run_in_order() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(try_code("1"), try_code("2"), try_code("2"), try_code(CODE))))
        events = tuple(environment.events)
        assert [event.arguments["code"] for event in called(events)] == ["1", "2", "2", CODE]
        assert [event.result["matched"] for event in returned(events)] == [False, False, False, True]
        assert [event.call_id for event in returned(events)] == ["c1", "c2", "c3", "c4"]
        assert len({event.changes[0].key for event in returned(events)}) == 4


def test_a_call_is_recorded_as_written_and_as_run() -> None:
    inner = {"parcel_id": PARCEL, "person_id": INSTANCE.cast["visitor"].key}
    wrapped = Call("call_unlocked_tool", {"tool": "hand_over", "arguments": inner})
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(wrapped, Call("unlock_tool", {"tool": "hand_over"}), wrapped)))
        events = tuple(environment.events)
        assert [event.tool for event in called(events)] == ["call_unlocked_tool", "unlock_tool", "call_unlocked_tool"]
        assert called(events)[0].arguments == {"tool": "hand_over", "arguments": inner}
        locked, _, done = returned(events)
        assert (locked.tool, locked.ok, locked.rejection) == ("hand_over", False, Rejection.NOT_UNLOCKED)
        assert (done.tool, done.ok, done.arguments) == ("hand_over", True, inner)
        (change,) = done.changes
        assert (change.kind, change.row.table) == (ChangeKind.UPDATE, "parcels")
        assert done.shown == (("parcels", PARCEL),)


BAD_ARGUMENTS: Mapping[str, tuple[Any, str]] = {
    "a set": ({"parcel_id": {1}}, "no JSON"),
    "an object": ({"parcel_id": object()}, "no JSON"),
    "bytes": ({"parcel_id": b"x"}, "no JSON"),
    "NaN": ({"parcel_id": float("nan")}, "no JSON"),
    "infinity": ({"parcel_id": [float("inf")]}, "no JSON"),
    "a key that is no text": ({("a", "b"): 1}, "no JSON"),
    "an endless number": ({"parcel_id": 10**5000}, "no JSON"),
    "half of a surrogate pair": ({"parcel_id": "\ud83d"}, "no text"),
    "half of a surrogate pair as key": ({"\udc00": 1}, "no text"),
    "too long": ({"parcel_id": "x" * 1_000_000}, "longer than 20000 characters"),
    "too many": ({str(number): number for number in range(10_000)}, "longer than 20000 characters"),
    "too deep": ({"parcel_id": json.loads("[" * 40 + "]" * 40)}, "nested more than 32 levels"),
}


def _circle() -> dict[str, Any]:
    circle: dict[str, Any] = {}
    circle["parcel_id"] = circle
    return circle


def _bottomless() -> dict[str, Any]:
    nest: Any = "x"
    for _ in range(5000):
        nest = [nest]
    return {"parcel_id": nest}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [*BAD_ARGUMENTS.values(), (_circle(), "no JSON"), (_bottomless(), "nested more than 32 levels")],
    ids=[*BAD_ARGUMENTS, "a circle", "bottomless"],
)
def test_arguments_that_no_record_can_hold_are_an_error_result(arguments: Any, problem: str) -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(Call("find_parcel", arguments), SEARCH)))
        events = tuple(environment.events)
        assert called(events)[0].arguments == {}
        bad, good = returned(events)
        assert (bad.ok, bad.rejection, bad.changes, good.ok) == (False, Rejection.BAD_ARGUMENTS, (), True)
        assert problem in bad.result
        assert len(bad.result) < 300
        assert EVENTS.validate_json(EVENTS.dump_json(events)) == events


def test_any_mapping_will_do_as_arguments() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=[Call("find_parcel", MappingProxyType({"parcel_id": PARCEL}))]))  # type: ignore[arg-type]
        assert returned(tuple(environment.events))[0].ok


@pytest.mark.parametrize(
    "name", ["", "fly", "x" * 100_000, "\ud800", "find parcel", "__class__", "{find_parcel}", "\x00"]
)
def test_an_unknown_tool_is_an_error_result(name: str) -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(Call(name, {"parcel_id": PARCEL}),)))
        (outcome,) = returned(tuple(environment.events))
        assert (outcome.ok, outcome.rejection) == (False, Rejection.UNKNOWN_TOOL)
        assert len(outcome.tool) <= 200
        EVENTS.dump_json(tuple(environment.events))


NO_TURNS: Mapping[str, tuple[Any, str]] = {
    "nothing": (None, "expected a Turn (or text) from respond, found NoneType"),
    "text": ("Hello.", "found str"),
    "a dict": ({"text": "Hello."}, "found dict"),
    "a class": (Turn, "found type"),
    "text that is none": (Turn(text=None), "expected text of a turn to be str, found NoneType"),  # type: ignore[arg-type]
    "bytes": (Turn(text=b"x"), "found bytes"),  # type: ignore[arg-type]
    "calls that are none": (Turn(calls=None), "expected calls of a turn to be tuple or list, found NoneType"),  # type: ignore[arg-type]
    "calls from a generator": (Turn(calls=(call for call in [SEARCH])), "found generator"),  # type: ignore[arg-type]
    "a call alone": (Turn(calls=SEARCH), "found Call"),  # type: ignore[arg-type]
    "a call that is none": (Turn(calls=(SEARCH, "look")), "expected Call(tool, arguments) in the turn, found 'look'"),  # type: ignore[arg-type]
    "a call without a name": (Turn(calls=(Call(None, {}),)), "expected Call(tool, arguments)"),  # type: ignore[arg-type]
    "arguments as text": (Turn(calls=(Call("x", "{}"),)), "expected Call(tool, arguments)"),  # type: ignore[arg-type]
    "arguments as a list": (Turn(calls=(Call("x", []),)), "expected Call(tool, arguments)"),  # type: ignore[arg-type]
    "no as text": (Turn("Hm.", yields="no"), "expected yields of a turn to be bool or NoneType, found str"),  # type: ignore[arg-type]
    "an end that is no text": (Turn("Hm.", ends=True), "expected ends of a turn to be str or NoneType, found bool"),  # type: ignore[arg-type]
    "a note that is none": (Turn("Hm.", note={"beat": "x"}), "expected note of a turn to be BeatNote"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", NO_TURNS)
def test_what_is_no_turn_is_refused_before_anything_happens(case: str) -> None:
    turn, problem = NO_TURNS[case]
    with opened(INSTANCE) as environment:
        with pytest.raises(ParticipantError) as caught:
            environment.deliver(Actor.AGENT, turn)
        assert problem in str(caught.value)
        assert environment.events == []
        assert environment.world.store.take_changes() == ()


# ------------------------------------------------------------------ limits


def test_a_long_message_is_cut_and_the_record_says_so() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn("é" * 1_000_000))
        (message,) = [event for event in environment.events if isinstance(event, Said)]
        assert (len(message.text), message.cut_from) == (20_000, 1_000_000)
        environment.deliver(Actor.AGENT, Turn("é" * 20_000))
        assert [event.cut_from for event in environment.events if isinstance(event, Said)] == [1_000_000, None]


@pytest.mark.parametrize(
    "text", ["\x00\x1b[2J\x07", "{role.name} }}", "<script>x</script>", "‮abc", "\r\n\t", "😀", " "]
)
def test_odd_text_is_delivered_as_it_is(text: str) -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, Turn(text, yields=True))
        assert environment.view(Actor.AGENT).heard == text
        events = tuple(environment.events)
        assert EVENTS.validate_json(EVENTS.dump_json(events)) == events


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn("a\ud83db", ends="\udc00"))
        assert said(tuple(environment.events), Actor.AGENT) == ["a?b"]
        EVENTS.dump_json(tuple(environment.events))


def test_a_turn_without_words_says_nothing() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn())
        (event,) = environment.events
        assert isinstance(event, TurnEnded)
        assert event.yields


def test_calls_beyond_those_of_a_turn_are_failed_and_not_run() -> None:
    with opened(INSTANCE, Limits(calls_per_turn=2)) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(try_code("1"),) * 4))
        outcomes = returned(tuple(environment.events))
        assert [outcome.ok for outcome in outcomes] == [True, True, False, False]
        assert outcomes[3].result == "Not run: at most 2 calls in one turn."
        assert called(tuple(environment.events))[3].arguments == {"parcel_id": PARCEL, "code": "1"}
        assert len(environment.world.store.rows("code_tries")) == 2


@pytest.mark.parametrize(
    ("call", "limits", "recorded", "reason"),
    [
        (SEARCH, Limits(calls=3), 3, StopReason.TOOL_LIMIT),
        (FAILING, Limits(failed_calls=4), 4, StopReason.ERROR_LIMIT),
        (SEARCH, Limits(), 60, StopReason.ERROR_LIMIT),
    ],
)
def test_a_million_calls_in_one_turn_end_the_episode(
    call: Call, limits: Limits, recorded: int, reason: StopReason
) -> None:
    with opened(INSTANCE, limits) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(call,) * 1_000_000))
        assert len(returned(tuple(environment.events))) == recorded
        assert stop_reason(environment.events, limits) is reason


def test_nothing_is_run_after_the_conversation_has_been_handed_over() -> None:
    hand_over = Call("transfer_to_human", {"summary": "x"})
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(try_code("1"), hand_over, try_code("2"))))
        outcomes = returned(tuple(environment.events))
        assert [(outcome.ok, outcome.ends) for outcome in outcomes] == [(True, False), (True, True), (False, False)]
        assert outcomes[2].result == "Not run: the conversation has been handed over."
        assert len(environment.world.store.rows("code_tries")) == 1
        assert stop_reason(environment.events, Limits()) is StopReason.AGENT_HANDED_OFF


# ------------------------------------------------------------------ anything at all

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=6)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from([*INSTANCE.domain.tools, "x"]) | st.text(st.characters(), max_size=4)
CALLS = st.builds(
    Call, NAMES, st.dictionaries(st.sampled_from(["parcel_id", "code", "tool", "arguments"]), ANYTHING, max_size=3)
)


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(Actor)), st.text(st.characters(), max_size=5), st.lists(CALLS, max_size=3)),
        max_size=4,
    )
)
def test_whatever_is_said_and_called_is_recorded(turns: list[tuple[Actor, str, list[Call]]]) -> None:
    with opened(INSTANCE) as environment:
        for speaker, text, calls in turns:
            environment.deliver(speaker, Turn(text, tuple(calls)))
        events = tuple(environment.events)
        assert EVENTS.validate_json(EVENTS.dump_json(events), strict=True) == events
        calls_made = sum(len(calls) for _, _, calls in turns)
        assert len(called(events)) == len(returned(events)) == calls_made
        pairs = [(a, b) for a, b in pairwise(events) if isinstance(a, Called)]
        assert all(isinstance(b, Returned) and b.call_id == a.call_id for a, b in pairs)


def test_an_exception_is_described_whatever_it_is() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert describe(KeyError("x")) == "KeyError: 'x'"
    assert describe(Silent()) == "Silent: (it has no readable message)"
    assert describe(ValueError("\ud800")) == "ValueError: ?"
    assert len(describe(ValueError("x" * 10**6))) == 2000
