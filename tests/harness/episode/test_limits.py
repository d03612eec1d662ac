"""Who speaks next and when it is over: pure and total functions of the events."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.tools import Actor
from harness.episode.events import Called, Event, Returned, Said, Stopped, StopReason, TurnEnded
from harness.episode.limits import Limits, next_speaker, stop_reason

AGENT, CALLER = Actor.AGENT, Actor.CALLER


def ended(speaker: Actor = CALLER, yields: bool = True, ends: str | None = None, turn: int = 0) -> TurnEnded:
    return TurnEnded(id=0, turn=turn, speaker=speaker, yields=yields, ends=ends)


def result(ok: bool = True, ends: bool = False) -> Returned:
    return Returned(id=0, turn=0, actor=AGENT, call_id="c1", tool="x", arguments={}, ok=ok, result=None, ends=ends)


@pytest.mark.parametrize(
    ("events", "speaker"),
    [
        ([], CALLER),
        ([ended(CALLER)], AGENT),
        ([ended(AGENT)], CALLER),
        ([ended(CALLER, yields=False)], CALLER),
        ([ended(CALLER), ended(AGENT, yields=False)], AGENT),
        ([ended(CALLER), ended(AGENT, yields=False), result(), ended(AGENT)], CALLER),
        ([Said(id=0, turn=0, speaker=CALLER, text="Hi.")], CALLER),
    ],
)
def test_the_floor(events: list[Event], speaker: Actor) -> None:
    assert next_speaker(events) is speaker


REASONS: dict[str, tuple[list[Event], StopReason | None]] = {
    "nothing yet": ([], None),
    "going on": ([result(), ended()], None),
    "the caller is done": ([ended(CALLER, ends="got_it")], StopReason.CALLER_DONE),
    "the agent ends": ([ended(AGENT, ends="bye")], StopReason.AGENT_ENDED),
    "an empty reason is a reason": ([ended(AGENT, ends="")], StopReason.AGENT_ENDED),
    "handed off": ([result(ends=True), ended(AGENT, yields=False)], StopReason.AGENT_HANDED_OFF),
    "handed off before another call": (
        [result(ends=True), result(ok=False), ended(AGENT)],
        StopReason.AGENT_HANDED_OFF,
    ),
    "too many calls": ([result()] * 5 + [ended(AGENT)], StopReason.TOOL_LIMIT),
    "too many failures": ([result(ok=False)] * 3 + [ended(AGENT)], StopReason.ERROR_LIMIT),
    "too many turns": ([ended(turn=8), ended(turn=9)], StopReason.TURN_LIMIT),
    "the last turn but one": ([ended(turn=8)], None),
    "already stopped": ([Stopped(id=0, turn=0, reason=StopReason.AGENT_FAULT)], StopReason.AGENT_FAULT),
}


@pytest.mark.parametrize("case", REASONS)
def test_why_it_is_over(case: str) -> None:
    events, reason = REASONS[case]
    assert stop_reason(events, Limits(turns=10, calls=5, failed_calls=3)) is reason


def test_the_clock_stops_an_episode_only_where_there_is_a_limit() -> None:
    assert stop_reason([ended()], Limits(seconds=2.0), 2.0) is StopReason.TIME_LIMIT
    assert stop_reason([ended()], Limits(seconds=2.0), 1.9) is None
    assert stop_reason([ended()], Limits(), 1e9) is None


ACTORS = st.sampled_from(list(Actor))
EVENTS: st.SearchStrategy[list[Any]] = st.lists(
    st.builds(ended, ACTORS, st.booleans(), st.none() | st.just("x"), st.integers(0, 20))
    | st.builds(result, st.booleans(), st.booleans())
    | st.builds(Said, id=st.just(0), turn=st.just(0), speaker=ACTORS, text=st.text(max_size=3))
    | st.builds(Stopped, id=st.just(0), turn=st.just(0), reason=st.sampled_from(list(StopReason)))
    | st.just(Called(id=0, turn=0, actor=AGENT, call_id="c1", tool="x", arguments={})),
    max_size=12,
)
LIMITS = st.builds(Limits, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))


@given(EVENTS, LIMITS)
def test_routing_and_stopping_are_pure_and_total(events: list[Any], limits: Limits) -> None:
    before = copy.deepcopy(events)
    speaker, reason = next_speaker(events), stop_reason(events, limits)
    assert speaker in Actor
    assert reason is None or reason in StopReason
    assert (next_speaker(tuple(events)), stop_reason(tuple(events), limits)) == (speaker, reason)
    assert events == before


@given(EVENTS, LIMITS)
def test_what_is_over_stays_over_by_the_same_reason(events: list[Any], limits: Limits) -> None:
    reason = stop_reason(events, limits)
    if reason is not None:
        assert stop_reason([*events, Stopped(id=0, turn=0, reason=reason)], limits) is reason
