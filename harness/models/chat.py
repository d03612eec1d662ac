"""Between a conversation and a chat: views become messages, replies become turns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from domains.kit.domain import Call
from domains.kit.json import JsonValue
from harness.episode.turn import ToolUse, Turn
from harness.models.contract import ChatMessage, Finish, ModelReply, Speaker, ToolRequest


def said(speaker: Speaker, text: str) -> ChatMessage:
    """Return a message of words."""
    return ChatMessage(speaker, text)


def tool_message(request: ToolRequest, use: ToolUse) -> ChatMessage:
    """Return the message that answers a tool request with what came of the call."""
    result = use.result if isinstance(use.result, str) else json.dumps(use.result, ensure_ascii=False)
    return ChatMessage(Speaker.TOOL, result if use.ok else f"Failed: {result}", answers=request.id)


def turn_of(reply: ModelReply) -> tuple[Turn, ChatMessage]:
    """Return a reply as a turn, and the message to keep in the chat.

    A reply cut off by the token limit may hold half a call: none of its calls is made, and none stays in the chat,
    where a provider would wait for its answer.
    """
    message = reply.message
    if reply.finish is Finish.LENGTH and message.tool_requests:
        message = replace(message, tool_requests=())
    calls = tuple(call_of(request) for request in message.tool_requests)
    return Turn(message.text, calls=calls), message


def call_of(request: ToolRequest) -> Call:
    """Return a tool request as a call; arguments that are no JSON object go along as text, to be turned away."""
    arguments = arguments_of(request)
    return Call(request.name, {"unreadable": request.arguments} if arguments is None else arguments)


def arguments_of(request: ToolRequest) -> Mapping[str, JsonValue] | None:
    """Return the arguments of a tool request, or None if its text is no JSON object."""
    try:
        found = json.loads(request.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
