"""Views: a participant sees all words and its own tool uses, and nothing else."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.kit.domain import Call
from domains.kit.tools import Actor
from harness.episode.environment import Environment, view_items
from harness.episode.events import EVENTS, Returned, Said
from harness.episode.turn import Message, StructuredView, ToolOffer, ToolUse, Turn, View
from tests.harness.episode.stage import Agent, converse, note, opened
from tests.harness.scenario.drafts import published

INSTANCE = published("p5e08")
PARCEL, VISITOR = INSTANCE.cast["parcel"].key, INSTANCE.cast["visitor"].key

AGENT_CALLS = [
    Call("find_parcel", {"parcel_id": PARCEL}),
    Call("find_parcel", {"parcel_id": "agent-secret"}),
    Call("try_code", {"parcel_id": PARCEL, "code": "agent-secret"}),
    Call("unlock_tool", {"tool": "hand_over"}),
    Call("call_unlocked_tool", {"tool": "hand_over", "arguments": {"parcel_id": PARCEL, "person_id": VISITOR}}),
    Call("agent-secret", {"agent-secret": ["agent-secret"]}),
]
CALLER_CALLS = [Call("my_parcels", {}), Call("my_parcels", {"caller-secret": 1}), Call("caller-secret", {})]
NOTE = note(
    "note-secret",
    requests=[("note-secret", {"note-secret": "note-secret"})],
    guesses=[{"table": "note-secret", "key": "k", "column": "c", "value": "note-secret"}],
    evidence=("note-secret",),
    decision_point=True,
)

TEXT = st.sampled_from(["", "Hello.", "A word."])
AGENT_TURNS = st.builds(
    Turn, TEXT, st.lists(st.sampled_from(AGENT_CALLS), max_size=4).map(tuple), st.sampled_from([None, True])
)
CALLER_TURNS = st.builds(
    lambda text, calls, noted: Turn(text, calls, yields=True, note=NOTE if noted else None),
    TEXT,
    st.lists(st.sampled_from(CALLER_CALLS), max_size=3).map(tuple),
    st.booleans(),
)
TURNS = st.lists(
    st.tuples(st.just(Actor.AGENT), AGENT_TURNS) | st.tuples(st.just(Actor.CALLER), CALLER_TURNS), max_size=8
)


def written(view: View) -> str:
    """Return everything that can be read in a view, offers included."""
    return json.dumps(dataclasses.asdict(view), default=str)


@settings(max_examples=60)
@given(TURNS)
def test_a_view_holds_all_words_and_ones_own_tool_uses(turns: list[tuple[Actor, Turn]]) -> None:
    with opened(INSTANCE) as environment:
        for speaker, turn in turns:
            environment.deliver(speaker, turn)
            for role in Actor:
                check(environment, role)


def check(environment: Environment, role: Actor) -> None:
    view, events = environment.view(role), environment.events
    words = [(event.speaker, event.text) for event in events if isinstance(event, Said)]
    own = [event for event in events if isinstance(event, Returned) and event.actor is role]
    assert [(message.speaker, message.text) for message in view.messages] == words
    uses = [item for item in view.items if isinstance(item, ToolUse)]
    assert [(use.call_id, use.tool, use.arguments, use.ok, use.result) for use in uses] == [
        (event.call_id, event.tool, event.arguments, event.ok, event.result) for event in own
    ]
    assert view.items == view_items(events, role)
    assert {offer.name for offer in view.tools} == {tool.name for tool in environment.world.available(role)}
    text = written(view)
    assert "note-secret" not in text
    assert ("caller-secret" if role is Actor.AGENT else "agent-secret") not in text
    assert "before" not in text
    assert type(view) is View


@settings(max_examples=30)
@given(TURNS)
def test_a_trajectory_is_read_back_as_it_was_written(turns: list[tuple[Actor, Turn]]) -> None:
    with opened(INSTANCE) as environment:
        for speaker, turn in turns:
            environment.deliver(speaker, turn)
        events = tuple(environment.events)
    assert EVENTS.validate_json(EVENTS.dump_json(events), strict=True) == events
    assert [event.id for event in events] == list(range(len(events)))


def test_items_are_in_the_order_of_the_conversation() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, Turn("Hello.", yields=True))
        environment.deliver(Actor.AGENT, Turn("One moment.", (AGENT_CALLS[0],)))
        environment.deliver(Actor.AGENT, Turn("There it is."))
        kinds = [item.text if isinstance(item, Message) else item.tool for item in environment.view(Actor.AGENT).items]
        assert kinds == ["Hello.", "One moment.", "find_parcel", "There it is."]
        assert environment.view(Actor.AGENT).heard == "Hello."
        assert environment.view(Actor.CALLER).heard == "There it is."


def test_before_any_word_nothing_is_heard() -> None:
    with opened(INSTANCE) as environment:
        assert environment.view(Actor.AGENT).heard == ""
        assert environment.view(Actor.CALLER).items == ()


def test_a_model_driven_agent_gets_a_plain_view_and_a_reference_agent_the_structure() -> None:
    agent = Agent(lambda view: "No.")
    converse(agent)
    assert agent.views
    for view in agent.views:
        assert type(view) is View
        assert {name for name in dir(view) if not name.startswith("_")} == {
            "role",
            "items",
            "tools",
            "messages",
            "heard",
        }
        assert "claims_kinship" not in written(view)
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, Turn("Hello.", yields=True, note=NOTE))
        structure = environment.structured_view()
        assert isinstance(structure, StructuredView)
        assert [wish.tool for wish in structure.requests] == ["note-secret"]
        assert [guess.value for guess in structure.guesses] == ["note-secret"]
        assert structure.contact.reveals("note-secret")
        environment.deliver(Actor.CALLER, Turn("Well.", yields=True))
        assert (environment.structured_view().requests, environment.structured_view().guesses) == ((), ())


def test_what_a_participant_does_to_its_view_changes_no_record() -> None:
    def tamper(view: View) -> Turn:
        for item in view.items:
            if isinstance(item, ToolUse):
                item.result.clear()
                item.arguments.clear()  # type: ignore[attr-defined]
        for offer in view.tools:
            offer.parameters.clear()
        return Turn("Next.") if any(isinstance(item, ToolUse) for item in view.items) else Turn(calls=(AGENT_CALLS[0],))

    events = converse(Agent(tamper), instance=INSTANCE).events
    (first,) = [event for event in events if isinstance(event, Returned)]
    assert first.arguments == {"parcel_id": PARCEL}
    assert first.result["id"] == PARCEL


def test_an_agents_arguments_are_its_own() -> None:
    mine: dict[str, Any] = {"parcel_id": PARCEL}

    def answer(view: View) -> Any:
        if any(isinstance(item, ToolUse) for item in view.items):
            mine["parcel_id"] = "changed afterwards"
            return "Done."
        return Turn(calls=(Call("find_parcel", mine),))

    events = converse(Agent(answer), instance=INSTANCE).events
    (first,) = [event for event in events if isinstance(event, Returned)]
    assert first.arguments == {"parcel_id": PARCEL}


def test_an_agent_cannot_write_notes() -> None:
    forged = Agent(lambda view: Turn("No.", note=NOTE))
    events = converse(forged).events
    assert all(event.note is None for event in events if isinstance(event, Said) and event.speaker is Actor.AGENT)


def test_a_granted_tool_appears_in_the_callers_view_only() -> None:
    with opened(INSTANCE) as environment:
        names = [offer.name for offer in environment.view(Actor.CALLER).tools]
        assert names == ["my_parcels"]
        assert "hand_over" not in [offer.name for offer in environment.view(Actor.AGENT).tools]
        assert "my_parcels" not in [offer.name for offer in environment.view(Actor.AGENT).tools]


def test_offers_are_equal_and_hand_out_schemas_of_the_readers_own() -> None:
    with opened(INSTANCE) as environment:
        one, other = (environment.view(Actor.AGENT).tools for _ in range(2))
        assert one == other
        offer = next(offer for offer in one if offer.name == "find_parcel")
        assert isinstance(offer, ToolOffer)
        assert offer.parameters["required"] == ["parcel_id"]
        assert offer.parameters == environment.world.tools["find_parcel"].schema()


@pytest.mark.parametrize("role", list(Actor))
def test_a_callers_calls_stay_with_the_caller(role: Actor) -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, Turn("Hello.", (CALLER_CALLS[0],), yields=True))
        uses = [item for item in environment.view(role).items if isinstance(item, ToolUse)]
        assert [use.tool for use in uses] == (["my_parcels"] if role is Actor.CALLER else [])
