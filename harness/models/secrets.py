"""Keeps keys out of everything that a model call leaves behind: replies, faults, records, cassettes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from domains.kit.json import JsonValue
from harness.models.config import ModelsConfig
from harness.models.contract import ChatMessage, ModelReply, ToolRequest

REDACTED: Final = "[redacted]"

_SHORTEST: Final = 8
"""Shorter values would be found in innocent text."""

_SHAPES: Final = "|".join(
    (
        r"sk-(?<=\bsk-)[A-Za-z0-9_-]{16,}",
        r"AKIA(?<=\bAKIA)[A-Z0-9]{16}\b",
        r"ASIA(?<=\bASIA)[A-Z0-9]{16}\b",
        r"AIza(?<=\bAIza)[A-Za-z0-9_-]{30,}",
        # Words may follow a bearer, too; a token has a digit in it.
        *(rf"{word} (?=\S*\d)[A-Za-z0-9._~+/=-]{{12,}}" for word in ("Bearer", "bearer", "Basic", "basic")),
    )
)
"""What is a key by its looks, whoever it belongs to. Each begins with letters, by which it is quickly looked for."""


class Redactor:
    """Takes keys out of texts.

    Parameters
    ----------
    values
        The keys that are known.
    """

    def __init__(self, values: tuple[str, ...] = ()) -> None:
        longest_first = sorted({value for value in values if len(value) >= _SHORTEST}, key=lambda v: (-len(v), v))
        known = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(f"{known}|{_SHAPES}" if known else _SHAPES)

    def text(self, text: str) -> str:
        """Return the text without keys."""
        return self._pattern.sub(REDACTED, text)

    def value(self, value: JsonValue) -> JsonValue:
        """Return a JSON value without keys in its texts, names included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(name): self.value(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(part) for part in value]
        return value

    def message(self, message: ChatMessage) -> ChatMessage:
        """Return a message without keys."""
        if self._is_clean(message):
            return message
        return replace(
            message,
            text=self.text(message.text),
            tool_requests=tuple(
                ToolRequest(self.text(call.id), self.text(call.name), self.text(call.arguments))
                for call in message.tool_requests
            ),
            opaque=self.value(message.opaque),
        )

    def _is_clean(self, message: ChatMessage) -> bool:
        """Tell whether an ordinary message holds no key, by one search of all its parts."""
        parts = [message.text]
        for call in message.tool_requests:
            parts += (call.id, call.name, call.arguments)
        return not message.opaque and self._pattern.search("\n".join(parts)) is None

    def reply(self, reply: ModelReply) -> ModelReply:
        """Return a reply without keys."""
        message = self.message(reply.message)
        said = (reply.finish_said, reply.model, reply.fingerprint or "", *reply.notes)
        if self._pattern.search("\n".join(said)) is None:
            return reply if message is reply.message else replace(reply, message=message)
        return replace(
            reply,
            message=message,
            finish_said=self.text(reply.finish_said),
            model=self.text(reply.model),
            fingerprint=None if reply.fingerprint is None else self.text(reply.fingerprint),
            notes=tuple(map(self.text, reply.notes)),
        )


def redactor_for(config: ModelsConfig, environment: Mapping[str, str] | None = None) -> Redactor:
    """Return the redactor of the keys that a configuration names, and of the usual variables of providers."""
    found = os.environ if environment is None else environment
    named = {role.api_key_env for role in (config.agent, config.caller, *config.judge) if role is not None}
    return Redactor(
        tuple(value for name, value in found.items() if name in named or re.search(r"(?i)api_?key|token$", name))
    )
