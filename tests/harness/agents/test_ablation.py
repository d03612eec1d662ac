"""History ablation: nothing before the latest caller turn is seen."""

from __future__ import annotations

from domains.kit.domain import Call
from domains.kit.tools import Actor
from harness.agents.ablation import latest_turn, latest_turn_of_structure
from harness.agents.load import AgentSpec, agent_responder
from harness.episode.environment import Environment
from harness.episode.turn import Message, ToolUse, Turn, View
from tests.harness.episode.stage import Agent, brief, note, opened
from tests.harness.scenario.drafts import instance

INSTANCE = instance(cast__parcel={"is": "parcel", "to": {"text": "addressee", "evidence": ["code_doubtful"]}})
PARCEL = INSTANCE.cast["parcel"].key
TRY = Call("try_code", {"parcel_id": PARCEL, "code": "1"})
LOOK = Call("find_parcel", {"parcel_id": PARCEL})


def converse(environment: Environment) -> None:
    """Two caller turns, each followed by a look, a try and a word."""
    for beat in ("first", "second"):
        meaning = note(beat, evidence=("claims_kinship",), requests=[(beat, {})])
        environment.deliver(Actor.CALLER, Turn(f"The {beat}.", yields=True, note=meaning))
        environment.deliver(Actor.AGENT, Turn("Let me see.", (TRY, LOOK)))
    environment.deliver(Actor.AGENT, Turn("Still looking.", yields=False))


def kinds(view: View) -> list[str]:
    return [item.text if isinstance(item, Message) else item.tool for item in view.items]


def test_a_view_begins_with_the_latest_caller_words() -> None:
    with opened(INSTANCE) as environment:
        converse(environment)
        full = environment.view(Actor.AGENT)
        latest = latest_turn(full)
        assert kinds(latest) == ["The second.", "Let me see.", "try_code", "find_parcel", "Still looking."]
        assert (latest.tools, latest.role, latest.heard) == (full.tools, full.role, "The second.")
        assert all(isinstance(item, Message | ToolUse) for item in latest.items)


def test_before_any_caller_words_nothing_is_cut() -> None:
    with opened(INSTANCE) as environment:
        assert latest_turn(environment.view(Actor.AGENT)).items == ()
        environment.deliver(Actor.AGENT, Turn("Hello?"))
        assert kinds(latest_turn(environment.view(Actor.AGENT))) == ["Hello?"]


def test_a_structured_view_forgets_the_contact_but_not_the_rows() -> None:
    with opened(INSTANCE) as environment:
        converse(environment)
        full = environment.structured_view()
        latest = latest_turn_of_structure(full)
        assert latest.contact.turn == full.contact.turn == 2
        assert {item.turn for item in latest.contact.evidence} == {2}
        assert [wish.tool for _, wish in latest.contact.requests] == ["second"]
        assert [call.tool for call in latest.contact.calls] == ["try_code", "find_parcel"]
        assert len(latest.contact.written("code_tries")) == 1
        assert len(full.contact.written("code_tries")) == 2
        assert len(latest.world.store.rows("code_tries")) == 2
        assert latest.requests == full.requests
        assert kinds(latest) == kinds(latest_turn(full))


def test_an_agent_is_wrapped_as_asked() -> None:
    agent = Agent(lambda view: "Hm.")
    spec = AgentSpec("test", structured=False, make=lambda told: agent)
    with opened(INSTANCE) as environment:
        converse(environment)
        for history in ("full", "latest"):
            agent_responder(spec, brief(INSTANCE), history)(environment)
    assert [len(view.items) for view in agent.views] == [9, 5]
