"""Parts that a provider's models play. See `recorded.py` for the one that plays an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema

from tests.provider.protocol import Behaviour, ChatRequest, Json, Reply

_STATEMENT = re.compile(r"^- (?P<id>\S+): ", re.MULTILINE)


def echo(request: ChatRequest) -> Reply:
    """Say what was heard."""
    return Reply(request.heard)


def says(text: str) -> Behaviour:
    """Play somebody who always says the same."""
    return lambda request: Reply(text)


def in_order(*replies: Reply) -> Behaviour:
    """Play somebody who takes these turns in every conversation, whatever is said, and stays with the last."""
    return lambda request: replies[min(request.position, len(replies) - 1)]


def answers(make: Callable[[ChatRequest], Any]) -> Behaviour:
    """Play somebody who answers with a value, which must meet the schema that was asked for."""

    def play(request: ChatRequest) -> Reply:
        value = make(request)
        jsonschema.validate(value, request.answer_schema or {})
        return Reply(json.dumps(value))

    return play


def judge(verdict_on: Callable[[str], str] = lambda statement: "pass") -> Behaviour:
    """Play a judge who gives one verdict on each statement in the prompt, by its id."""

    def give(request: ChatRequest) -> Json:
        prompt = request.heard.rpartition("\nBEGIN RECORD")[0]
        found = [match["id"] for match in _STATEMENT.finditer(prompt)]
        return {
            "verdicts": [{"id": name, "verdict": verdict_on(name), "events": [0], "reason": "So."} for name in found]
        }

    return answers(give)
