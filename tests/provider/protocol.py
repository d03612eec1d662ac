"""The chat-completions protocol as a server sees it: what is asked, what a part answers, and the JSON of the answer."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Json = dict[str, Any]

CREATED = 1_770_000_000
"""Every completion is of the same second, so that the same request gets the same bytes."""

_PIECES = 8
"""How many pieces a text is streamed in, if it has as many characters."""


@dataclass(frozen=True)
class ChatRequest:
    """The body of a request for a completion."""

    body: Json

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Json]:
        return list(self.body.get("messages", []))

    @property
    def position(self) -> int:
        """How many turns the model has taken in this conversation."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def heard(self) -> str:
        """The latest words of the other side."""
        return next((text_of(message) for message in reversed(self.messages) if message["role"] == "user"), "")

    @property
    def answer_schema(self) -> Json | None:
        """The JSON Schema that the answer must meet, if one is asked for."""
        asked = self.body.get("response_format") or {}
        return asked["json_schema"]["schema"] if asked.get("type") == "json_schema" else None

    def problem(self) -> str | None:
        """Say what is wrong with the request, as a strict provider does: calls without answers, unknown ids."""
        if not self.messages:
            return "The body needs a list of messages."
        waiting: Counter[str] = Counter()
        for message in self.messages:
            if message["role"] == "tool":
                if not waiting[message["tool_call_id"]]:
                    return f"There is no call {message['tool_call_id']!r} to answer."
                waiting[message["tool_call_id"]] -= 1
            elif waiting.total():
                break
            waiting.update(call["id"] for call in message.get("tool_calls") or [])
        return f"There is no answer to the calls {sorted(+waiting)}." if waiting.total() else None

    @cached_property
    def digest(self) -> str:
        """A digest of the body, the same for the same request whenever it comes."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()


def text_of(message: Json) -> str:
    """Return the words of a message, whose content is a text, a list of parts, or nothing."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@dataclass(frozen=True)
class Call:
    """A tool call of the model. Arguments in text form are sent as they are; without an id, one is made up."""

    tool: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Reply:
    """A model's turn. `extra` is put into the message as it is."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


Behaviour = Callable[[ChatRequest], Reply]
"""A part to play. The conversation so far is all it goes by, so that a request that is sent again gets the same."""


def completion(request: ChatRequest, reply: Reply) -> Json:
    """Return a reply as the protocol's JSON, with a count of tokens that is a quarter of the characters."""
    message: Json = {"role": "assistant", "content": reply.text or None, "refusal": None, **reply.extra}
    if reply.calls:
        message["tool_calls"] = [_call(request, index, call) for index, call in enumerate(reply.calls)]
    sent, made = _tokens(request.messages), _tokens(message)
    return {
        "id": f"chatcmpl-{request.digest[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": f"{request.model}-2026-02-01",
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": reply.finish or ("tool_calls" if reply.calls else "stop"),
            }
        ],
        "usage": {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made},
        "system_fingerprint": "fp_local",
    }


def _call(request: ChatRequest, index: int, call: Call) -> Json:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    name = call.id or f"call_{request.digest[:8]}_{request.position}_{index}"
    return {"id": name, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _tokens(value: object) -> int:
    return len(json.dumps(value)) // 4 + 1


def stream(whole: Json, *, with_usage: bool) -> bytes:
    """Return a completion as server-sent events: the role, text and arguments in pieces, the end, then the usage."""
    head = {key: whole[key] for key in ("id", "created", "model", "system_fingerprint")}
    events: list[Json] = []

    def add(delta: Json, finish: str | None = None) -> None:
        events.append({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    for choice in whole.get("choices", []):
        message = dict(choice["message"])
        add({"role": message.pop("role"), "content": ""})
        for name in [name for name, value in message.items() if isinstance(value, str)]:
            for piece in _pieces(message[name]):
                add({name: piece})
        for index, call in enumerate(message.get("tool_calls") or []):
            opening = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            add({"tool_calls": [opening]})
            for piece in _pieces(call["function"]["arguments"]):
                add({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        add({}, choice.get("finish_reason"))
    if with_usage and "usage" in whole:
        events.append({"choices": [], "usage": whole["usage"]})
    lines = [json.dumps({**head, "object": "chat.completion.chunk", **event}) for event in events]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def _pieces(text: str) -> list[str]:
    size = len(text) // _PIECES + 1
    return [text[start : start + size] for start in range(0, len(text), size)]
