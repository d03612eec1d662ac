"""What a role asks of a language model and what it gets back, whatever the provider.

A request says what is sent; what is not in it is not sent. A reply says what came back, with the parts that a
provider wants to see again (reasoning blocks, signatures) kept opaque and handed back unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from domains.kit.json import JsonValue
from harness.episode.turn import ToolOffer


class Role(StrEnum):
    """Who a model plays. Each has its own model, parameters, limits and line in the ledger."""

    AGENT = "agent"
    CALLER = "caller"
    JUDGE = "judge"


class Speaker(StrEnum):
    """The author of a message in a chat."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call as the model wrote it; `arguments` is its text, which need not be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat.

    Attributes
    ----------
    answers
        With a tool's message, the id of the call that it answers.
    opaque
        What the provider sent beside text and calls and wants back as it was.
    """

    speaker: Speaker
    text: str
    tool_requests: tuple[ToolRequest, ...] = ()
    answers: str | None = None
    opaque: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model.

    Attributes
    ----------
    purpose
        What the call is for, unique within its episode (``agent/12``); part of records and cassettes.
    tools
        What the model may call; empty for none.
    answer_schema
        A JSON Schema that the text of the answer must meet, or None for free text.
    """

    role: Role
    purpose: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolOffer, ...] = ()
    answer_schema: Mapping[str, JsonValue] | None = None


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one call; None where the provider did not say or no price is known."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came back.

    Attributes
    ----------
    message
        The assistant's message, to be appended to the chat unchanged.
    finish, finish_said
        The reason in our words, and in the provider's.
    model, fingerprint
        What the provider says it ran.
    notes
        What was put right or is doubtful in it, in plain words: for the record.
    """

    message: ChatMessage
    finish: Finish
    finish_said: str
    usage: Usage
    model: str
    fingerprint: str | None = None
    notes: tuple[str, ...] = ()


class ModelClient(Protocol):
    """Calls one model. Retries, limits, budgets and records are its business, not the caller's."""

    def complete(self, request: ModelRequest) -> ModelReply:
        """Return the model's reply.

        Raises
        ------
        ModelFault
            If there is none: see `harness.models.faults`.
        """
        ...
