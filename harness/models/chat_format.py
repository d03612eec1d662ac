"""Between our messages and those of the chat-completions protocol, which the provider library speaks to everybody.

What a model sends beside text and calls (reasoning, signatures) is kept as it came and put back in the same place,
both beside the message and beside each of its calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from domains.kit.json import JsonValue
from harness.episode.turn import ToolOffer
from harness.models.contract import ChatMessage, Finish, ModelReply, Speaker, ToolRequest, Usage
from harness.models.faults import Unreadable

_CALLS: Final = "tool_calls"
"""Under this name `ChatMessage.opaque` keeps what stood beside each call, in their order."""

_NOT_OPAQUE: Final = frozenset(
    ("role", "content", "refusal", "annotations", "audio", "function_call", "images", _CALLS)
)
"""Parts of an answer that are read here, or that no provider wants to see again."""

_CALL_PARTS: Final = frozenset(("id", "type", "function", "index"))

_NO_OBJECT: Final = "arguments_as_written"
"""Holds the text of arguments that are no JSON object when they are shown to the model again."""

_FINISHES: Final = {
    "stop": Finish.STOP,
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "eos": Finish.STOP,
    "tool_calls": Finish.TOOL_CALLS,
    "tool_use": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
    "safety": Finish.CONTENT_FILTER,
    "recitation": Finish.CONTENT_FILTER,
    "prohibited_content": Finish.CONTENT_FILTER,
    "blocklist": Finish.CONTENT_FILTER,
    "spii": Finish.CONTENT_FILTER,
    "guardrail_intervened": Finish.CONTENT_FILTER,
    "refusal": Finish.REFUSAL,
}

_TAG: Final = "(?:think|thinking|thought|reasoning)"
_REASONING: Final = re.compile(rf"<({_TAG})>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_REASONING_END: Final = re.compile(rf"\A.*</{_TAG}>", re.IGNORECASE | re.DOTALL)

_NAME_CHARS: Final = 200
"""No reason, model or fingerprint is as long."""

_DEEPEST: Final = 64
"""Levels of an answer; no protocol has as many."""

_MOST_TOKENS: Final = 100_000_000
"""No call has as many."""


# ------------------------------------------------------------------ what is sent


def sent_message(message: ChatMessage) -> dict[str, JsonValue]:
    """Write a message as the protocol has it."""
    sent: dict[str, JsonValue] = {"role": message.speaker.value, "content": message.text}
    if message.answers is not None:
        sent["tool_call_id"] = message.answers
    if not message.opaque and not message.tool_requests:
        return sent
    opaque = dict(message.opaque)
    beside: Sequence[Mapping[str, JsonValue]] = opaque.pop(_CALLS, ())
    sent.update(opaque)
    if message.tool_requests:
        sent[_CALLS] = [
            {
                **(beside[place] if place < len(beside) else {}),
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": sendable_arguments(call.arguments)},
            }
            for place, call in enumerate(message.tool_requests)
        ]
    return sent


def sendable_arguments(arguments: str) -> str:
    """Return arguments that a provider takes back.

    Many refuse a conversation in which a call's arguments are no JSON object, even though their model wrote it: such
    a text is shown inside of one.
    """
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        is_object = False
    return arguments if is_object else json.dumps({_NO_OBJECT: arguments}, ensure_ascii=False)


def sent_tools(tools: Sequence[ToolOffer]) -> list[dict[str, JsonValue]]:
    """Write tools as the protocol has them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def sent_schema(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Write the schema of an answer as the protocol has it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": True}}


# ------------------------------------------------------------------ what comes back


def read_json(raw: bytes) -> JsonValue:
    """Read what a provider sent; None if it is no JSON that can be kept and sent back.

    Numbers that JSON does not have (NaN) become None, halves of characters become question marks.
    """
    try:
        return plain_json(json.loads(raw, parse_constant=lambda name: None))
    except (ValueError, RecursionError):
        return None


def plain_json(value: JsonValue, depth: int = 0) -> JsonValue:
    """Return a value that any JSON writer takes.

    Raises
    ------
    ValueError
        If it nests too deeply.
    """
    if depth > _DEEPEST:
        raise ValueError(f"expected at most {_DEEPEST} levels")
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {plain_json(name): plain_json(part, depth + 1) for name, part in value.items()}
    if isinstance(value, list):
        return [plain_json(part, depth + 1) for part in value]
    return value


def read_reply(body: JsonValue) -> ModelReply:
    """Read an answer of the protocol, whatever its provider left out or got wrong.

    Raises
    ------
    Unreadable
        If it is no chat completion.
    """
    if not isinstance(body, dict):
        raise Unreadable(f"expected an object as the answer, found {type(body).__name__}")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    found = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choices, list) or not isinstance(choice, dict) or not isinstance(found, dict):
        raise Unreadable(f"expected an answer with a choice that holds a message, found {_shown(choices)}")
    notes: list[str] = []
    if len(choices) > 1:
        notes.append(f"{len(choices)} choices came back; the first was taken")
    said = _name(choice.get("finish_reason"))
    message, refusal = _message(found, notes)
    finish = _finish(said, message, refusal)
    if not said:
        notes.append("no finish reason came back")
    elif finish is Finish.UNKNOWN:
        notes.append(f"unknown finish reason {said!r}")
    return ModelReply(
        message=message,
        finish=finish,
        finish_said=said,
        usage=_usage(body.get("usage"), message, notes),
        model=_name(body.get("model")),
        fingerprint=_name(body.get("system_fingerprint")) or None,
        notes=tuple(notes),
    )


def _message(found: Mapping[str, JsonValue], notes: list[str]) -> tuple[ChatMessage, str]:
    refusal = found.get("refusal")
    refusal = refusal if isinstance(refusal, str) else ""
    opaque = {name: value for name, value in found.items() if name not in _NOT_OPAQUE and value not in (None, [], {})}
    content = found.get("content")
    if isinstance(content, list):
        opaque["content"] = content
    text = _without_reasoning(_text(content), notes)
    calls, beside = _calls(found.get(_CALLS), notes)
    if any(beside):
        opaque[_CALLS] = beside
    return ChatMessage(Speaker.ASSISTANT, text or refusal, calls, opaque=opaque), refusal


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in ("text", None)]
    return "".join(text for text in texts if isinstance(text, str))


def _without_reasoning(text: str, notes: list[str]) -> str:
    """Cut out reasoning that leaked into the text: whole blocks, and all before a closing tag that stands alone."""
    for pattern, what in ((_REASONING, "in tags"), (_REASONING_END, "with a closing tag only")):
        shorter = pattern.sub("", text)
        if shorter != text:
            notes.append(f"reasoning {what} was cut out of the text ({len(text) - len(shorter)} characters)")
            text = shorter.strip()
    return text


def _calls(found: JsonValue, notes: list[str]) -> tuple[tuple[ToolRequest, ...], list[dict[str, JsonValue]]]:
    calls: list[ToolRequest] = []
    beside: list[dict[str, JsonValue]] = []
    seen: set[str] = set()
    for place, call in enumerate(found if isinstance(found, list) else []):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise Unreadable(f"expected a tool call with a function, found {_shown(call)}")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        said = str(call.get("id") or "")
        unique = _unique(said or f"call-{place + 1}", seen)
        if unique != said:
            notes.append(
                f"tool call {place + 1} came with " + (f"the id {said[:40]!r} of another" if said else "no id")
            )
        calls.append(ToolRequest(unique, str(function.get("name") or ""), arguments))
        beside.append({name: value for name, value in call.items() if name not in _CALL_PARTS and value is not None})
    return tuple(calls), beside


def _unique(wanted: str, seen: set[str]) -> str:
    name, number = wanted, 1
    while name in seen:
        number += 1
        name = f"{wanted}-{number}"
    seen.add(name)
    return name


def _finish(said: str, message: ChatMessage, refusal: str) -> Finish:
    finish = _FINISHES.get(said.lower() or "stop", Finish.UNKNOWN)
    if finish in (Finish.LENGTH, Finish.CONTENT_FILTER):
        return finish
    if refusal and not message.tool_requests:
        return Finish.REFUSAL
    if finish is Finish.STOP and message.tool_requests:
        # Some servers say that they stopped where they ask for a call.
        return Finish.TOOL_CALLS
    return finish


# ------------------------------------------------------------------ usage


def _usage(found: JsonValue, message: ChatMessage, notes: list[str]) -> Usage:
    if not isinstance(found, dict):
        notes.append("the provider did not report its usage")
        return Usage()
    # Something was sent, and something came back where there is text or a call: zero tokens cannot be.
    is_empty = not message.text and not message.tool_requests
    return Usage(
        _tokens(found, "prompt_tokens", 1, notes), _tokens(found, "completion_tokens", 0 if is_empty else 1, notes)
    )


def _tokens(found: Mapping[str, JsonValue], name: str, least: int, notes: list[str]) -> int | None:
    value: Any = found.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST_TOKENS:
        return value
    notes.append(f"the reported usage is not believed: {name} {_shown(value)}")
    return None


def _name(value: JsonValue) -> str:
    """Return what should be a short text and may be anything."""
    return str(value or "")[:_NAME_CHARS]


def _shown(value: JsonValue) -> str:
    return f"{value!r:.60}"
