"""What is kept of every call of a model: what was sent, what came back, and each try that failed.

A conversation is sent anew with every call. Of a call's messages only those are kept that the call before it, of the
same client in the same episode, did not send already; so is the list of tools. The whole is kept for cassettes;
records of a run shorten long texts. Times are kept apart, so that everything else repeats byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict

from domains.kit.json import JsonValue, canonical
from harness.episode.turn import ToolOffer
from harness.models.contract import ChatMessage, ModelReply, Role, ToolRequest

CALLS_SCHEMA_VERSION: Final = 1

_TEXT_CHARS: Final = 4000
"""A record's texts are cut to so many characters; a cassette's are not."""


_NOTHING_ELSE: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a try, or the whole call, gave no reply.

    Attributes
    ----------
    kind
        The name of the class of `harness.models.faults`.
    """

    __pydantic_config__: ClassVar = _NOTHING_ELSE

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What was asked.

    Attributes
    ----------
    model
        As the role's configuration names it.
    known_messages, messages
        How many of the messages were sent by the call before, and those that follow them.
    tools
        None if they are those of the call before.
    parameters
        What the request held beside the conversation, as it left; empty if none did.
    """

    __pydantic_config__: ClassVar = _NOTHING_ELSE

    model: str
    known_messages: int
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolOffer, ...] | None = None
    answer_schema: Mapping[str, JsonValue] | None = None
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call; exactly one of `reply` and `fault` is there.

    Attributes
    ----------
    index
        Which of the role's models was called, from 0.
    key, occurrence
        The digest of everything asked, and how often the episode had asked the same before.
    failed_tries
        In their order; the fault that was final is not among them.
    """

    __pydantic_config__: ClassVar = _NOTHING_ELSE

    role: Role
    index: int
    purpose: str
    key: str
    sent: Sent
    occurrence: int = 0
    failed_tries: tuple[Fault, ...] = ()
    reply: ModelReply | None = None
    fault: Fault | None = None

    @property
    def tries(self) -> int:
        """How many requests it took."""
        return len(self.failed_tries) + 1


@dataclass(frozen=True, slots=True)
class CallTiming:
    """How long one call took, with its tries and pauses, and how long it waited for the limits of its provider."""

    __pydantic_config__: ClassVar = _NOTHING_ELSE

    role: Role
    purpose: str
    wall_s: float
    waited_s: float


class EpisodeCalls(BaseModel):
    """The calls of one episode, in the order in which they began: one line of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = CALLS_SCHEMA_VERSION
    episode_id: str
    calls: tuple[ModelCall, ...]


def shortened(call: ModelCall) -> ModelCall:
    """Return a call with every long text cut, the digest of the whole beside what is left."""
    tools = None if call.sent.tools is None else tuple(map(_short_tool, call.sent.tools))
    sent = replace(call.sent, messages=tuple(map(_short_message, call.sent.messages)), tools=tools)
    reply = call.reply and replace(call.reply, message=_short_message(call.reply.message))
    return replace(call, sent=sent, reply=reply)


def _short(text: str) -> str:
    if len(text) <= _TEXT_CHARS:
        return text
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:_TEXT_CHARS]} [... {len(text)} characters in all, sha256 {whole}]"


def _short_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, Mapping):
        return {name: _short_value(part) for name, part in value.items()}
    return [_short_value(part) for part in value] if isinstance(value, list | tuple) else value


def _short_message(message: ChatMessage) -> ChatMessage:
    requests = tuple(ToolRequest(call.id, call.name, _short(call.arguments)) for call in message.tool_requests)
    return replace(message, text=_short(message.text), tool_requests=requests, opaque=_short_value(message.opaque))


def _short_tool(tool: ToolOffer) -> ToolOffer:
    return replace(tool, description=_short(tool.description), schema_text=_short(tool.schema_text))


# ------------------------------------------------------------------ digests that grow with the conversation


@dataclass(slots=True)
class Conversation:
    """What one client has sent in one episode, so that only what is new is digested and kept."""

    messages: tuple[ChatMessage, ...] = ()
    digests: tuple[str, ...] = ()
    tools: tuple[ToolOffer, ...] | None = None
    tools_digest: str = ""

    def take(self, messages: tuple[ChatMessage, ...], tools: tuple[ToolOffer, ...]) -> tuple[int, bool]:
        """Take a call's messages and tools; return how many messages were known, and whether the tools were."""
        known = 0
        for ours, theirs in zip(self.messages, messages, strict=False):
            if ours is not theirs and ours != theirs:
                break
            known += 1
        digests = list(self.digests[:known])
        for message in messages[known:]:
            before = digests[-1] if digests else ""
            digests.append(_digest(before, _written(message)))
        self.messages, self.digests = messages, tuple(digests)
        same_tools = self.tools == tools
        if not same_tools:
            self.tools = tools
            self.tools_digest = _digest(*(f"{tool.name}\n{tool.description}\n{tool.schema_text}" for tool in tools))
        return known, same_tools

    @property
    def digest(self) -> str:
        """The digest of all messages and tools of the latest call."""
        return _digest(self.digests[-1] if self.digests else "", self.tools_digest)


def _written(message: ChatMessage) -> str:
    """Write a message so that equal ones are written alike."""
    calls = [[call.id, call.name, call.arguments] for call in message.tool_requests]
    return canonical([message.speaker.value, message.text, calls, message.answers, message.opaque])


def _digest(*parts: str) -> str:
    whole = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        whole.update(f"{len(raw)}:".encode() + raw)
    return whole.hexdigest()[:32]
