"""The contract between the harness and its participants.

A participant gets the floor with a view of what it may know, and answers with a turn. It changes nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domains.kit.domain import Call, Domain
from domains.kit.json import JsonValue
from domains.kit.rules import Contact, Guess, Request
from domains.kit.tools import Actor
from domains.kit.world import World
from harness.episode.events import BeatNote


@dataclass(frozen=True, slots=True)
class Turn:
    """What a participant does when it has the floor: words, tool calls, or both.

    Attributes
    ----------
    text
        Words for the other side; they are delivered before the calls run.
    calls
        Tool calls, run in order. A participant that calls keeps the floor to see the results, unless `yields`.
    yields
        Whether the floor passes to the other side. By default it does when there are no calls.
    ends
        A reason to end the conversation with this turn.
    note
        The structured meaning of a scripted caller's words.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    yields: bool | None = None
    ends: str | None = None
    note: BeatNote | None = None

    @property
    def passes_the_floor(self) -> bool:
        """Whether the other side speaks next."""
        return not self.calls if self.yields is None else self.yields


@dataclass(frozen=True, slots=True)
class Message:
    """Words in a view."""

    speaker: Actor
    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One of the viewer's own calls in a view, with its result."""

    call_id: str
    tool: str
    arguments: Mapping[str, JsonValue]
    ok: bool
    result: JsonValue


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that the viewer can call now.

    Attributes
    ----------
    schema_text
        The JSON Schema of its arguments, as text.
    """

    name: str
    description: str
    schema_text: str

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """The JSON Schema of its arguments, a copy of the reader's own."""
        schema: dict[str, JsonValue] = json.loads(self.schema_text)
        return schema


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a participant may know when it has the floor.

    Attributes
    ----------
    items
        The conversation and the viewer's own tool uses, in order. The other side's tool uses are not in it.
    tools
        What the viewer can call now.
    """

    role: Actor
    items: tuple[Message | ToolUse, ...]
    tools: tuple[ToolOffer, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation alone."""
        return tuple(item for item in self.items if isinstance(item, Message))

    @property
    def heard(self) -> str:
        """The other side's latest words, or an empty text before any."""
        return next((item.text for item in reversed(self.messages) if item.speaker is not self.role), "")


@dataclass(frozen=True, slots=True)
class StructuredView(View):
    """A view with the structured meaning of the conversation, for agents that have no language model.

    Attributes
    ----------
    requests, guesses
        What the latest caller turn wants and gives.
    contact
        The fold of everything so far.
    world
        The state, for rules to read. Participants change it by turns only.
    """

    requests: tuple[Request, ...]
    guesses: tuple[Guess, ...]
    contact: Contact
    world: World


@dataclass(frozen=True, slots=True)
class AgentBrief:
    """What an agent is told before the conversation.

    Attributes
    ----------
    policy
        The desk's standing instructions, the same in every scenario.
    knowledge
        What the retrieval condition adds: how to search, or the whole corpus.
    seed
        For agents that draw; different in every episode, the same in every re-run.
    """

    domain: Domain
    policy: str
    knowledge: str
    now: datetime
    seed: int


class Agent(Protocol):
    """The participant that is measured."""

    def respond(self, view: View) -> Turn | str:
        """Return the next turn; plain text stands for a turn with words only."""
        ...


class StructuredAgent(Protocol):
    """An agent without a language model: it reads meaning instead of words."""

    def respond(self, view: StructuredView) -> Turn:
        """Return the next turn."""
        ...


AgentFactory = Callable[[AgentBrief], Agent]
StructuredAgentFactory = Callable[[AgentBrief], StructuredAgent]
