"""Conversations at the parcel counter with agents and callers that a test makes up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from domains.kit.domain import Call
from domains.kit.knowledge import NoKnowledge
from domains.kit.tools import Actor
from harness.agents.load import AgentSpec, agent_responder
from harness.callers.scripted import ScriptedCaller
from harness.callers.view import Caller
from harness.episode.environment import Environment
from harness.episode.events import BeatNote, Called, Event, Returned, Said, Stopped, StoredGuess, StoredRequest
from harness.episode.limits import Limits
from harness.episode.turn import AgentBrief, Turn, View
from harness.orchestrator import Trajectory, caller_responder, play
from harness.scenario.instance import Instance
from tests.harness.scenario.drafts import published

SEARCH = Call("get_current_time", {})
"""A call that always succeeds and changes nothing."""

FAILING = Call("find_parcel", {"parcel_id": "PC-NONE"})


def brief(instance: Instance) -> AgentBrief:
    """Return what an agent of this instance is told."""
    domain = instance.domain
    return AgentBrief(domain=domain, policy=domain.policy, knowledge="", now=instance.now, seed=0)


@contextmanager
def opened(instance: Instance | None = None, limits: Limits | None = None) -> Iterator[Environment]:
    """Open an environment and close it again."""
    made = Environment(instance or published("p2a7c"), NoKnowledge(), limits or Limits())
    try:
        yield made
    finally:
        made.close()


@dataclass
class Agent:
    """Asks a function for each turn and keeps every view that it is given."""

    answer: Callable[[View], Any]
    views: list[View] = field(default_factory=list)

    def respond(self, view: View) -> Any:
        """Return whatever the function returns."""
        self.views.append(view)
        return self.answer(view)


def in_order(*turns: Any) -> Agent:
    """Return an agent that takes these turns and then says nothing more than a word."""
    left = list(turns)
    return Agent(lambda view: left.pop(0) if left else "Hm.")


@dataclass
class Reader(Agent):
    """An agent that is shown the structure of the conversation."""

    views: list[Any] = field(default_factory=list)


@dataclass
class Speaker:
    """A caller that takes the given turns and then hangs up."""

    turns: list[Any]

    def respond(self, view: View) -> Any:
        """Return the next turn."""
        turn = self.turns.pop(0) if self.turns else Turn("Bye.", ends="gave_up")
        if isinstance(turn, BaseException):
            raise turn
        return turn


def converse(
    agent: Agent, caller: Caller | None = None, instance: Instance | None = None, limits: Limits | None = None
) -> Trajectory:
    """Play a conversation; without another one, the caller is the scripted one."""
    made = instance or published("p2a7c")
    spec = AgentSpec("test", structured=isinstance(agent, Reader), make=lambda told: agent)
    with opened(made, limits) as environment:
        responder = agent_responder(spec, brief(made))
        return play(environment, responder, caller_responder(caller or ScriptedCaller(made)))


def stop(trajectory: Trajectory) -> Stopped:
    """Return the last event."""
    last = trajectory.events[-1]
    assert isinstance(last, Stopped)
    return last


def said(events: tuple[Event, ...], speaker: Actor) -> list[str]:
    """Return what one side said."""
    return [event.text for event in events if isinstance(event, Said) and event.speaker is speaker]


def returned(events: tuple[Event, ...]) -> list[Returned]:
    """Return what came of every call."""
    return [event for event in events if isinstance(event, Returned)]


def called(events: tuple[Event, ...]) -> list[Called]:
    """Return every call."""
    return [event for event in events if isinstance(event, Called)]


def note(beat: str = "ask", **parts: Any) -> BeatNote:
    """Return the meaning of a caller's words."""
    requests = tuple(StoredRequest(tool=tool, arguments=arguments) for tool, arguments in parts.pop("requests", ()))
    guesses = tuple(StoredGuess(**guess) for guess in parts.pop("guesses", ()))
    return BeatNote(beat=beat, requests=requests, guesses=guesses, **parts)
