"""A part that holds conversations again which were held in process.

A model that is called over the wire has words only. So that a reference agent, which reads meaning, can be played
through it, an episode is played in process first and one side of it is recorded. The part finds its place in a
conversation by all that was said, called and returned so far, so it also notices a client that loses or changes
anything of that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from domains.kit.tools import Actor
from harness.episode.events import Called, Event, Returned, Said, TurnEnded
from tests.provider.protocol import Call, ChatRequest, Json, Reply, text_of

_FAILED = "Failed: "
"""How a client may mark the result of a call that was turned away."""


@dataclass(frozen=True)
class Step:
    """A turn, and what its participant was told and returned since the turn before."""

    heard: tuple[str, ...]
    reply: Reply


def steps(
    events: Iterable[Event],
    actor: Actor = Actor.AGENT,
    *,
    words: Callable[[Said], str] = lambda said: said.text,
    end_tool: str | None = None,
) -> list[Step]:
    """Return one side of a trajectory.

    Parameters
    ----------
    words
        What the participant's model would write for words of its own.
    end_tool
        The tool by which the participant's model ends the conversation; it takes the reason.
    """
    found: list[Step] = []
    heard: list[str] = []
    results: list[str] = []
    text, calls = "", list[Call]()
    for event in events:
        match event:
            case Said(speaker=speaker) if speaker is not actor:
                heard.append(event.text)
            case Said():
                text = words(event)
            case Called(actor=caller) if caller is actor:
                calls.append(Call(event.tool, event.arguments))
            case Returned(actor=caller) if caller is actor:
                results.append(event.result if isinstance(event.result, str) else json.dumps(event.result))
            case TurnEnded(speaker=speaker) if speaker is actor:
                if event.ends and end_tool:
                    calls.append(Call(end_tool, {"reason": event.ends}))
                found.append(Step(tuple(heard), Reply(text, tuple(calls))))
                heard, results, text, calls = results, [], "", []
            case _:
                pass
    return found


class Recorded:
    """Plays recorded sides of conversations; a `Behaviour`.

    Parameters
    ----------
    is_added
        Tells of a user's message whether the client added it of its own accord and nobody said it.
    """

    def __init__(self, is_added: Callable[[str], bool] = lambda text: False) -> None:
        self._is_added = is_added
        self._replies: dict[str, Reply] = {}

    def add(self, side: Iterable[Step], system: str | None = None) -> None:
        """Add one side of an episode.

        Parameters
        ----------
        side
            Its turns.
        system
            The system prompt that the episode is known by, if its words do not tell it from others.

        Raises
        ------
        ValueError
            If the same conversation is to go on in two ways.
        """
        place = _digest(system)
        for number, step in enumerate(side):
            place = _digest(place, *map(_plain, step.heard))
            if self._replies.setdefault(place, step.reply) != step.reply:
                raise ValueError(f"turn {number} has two replies: {self._replies[place]} and {step.reply}")
            place = _digest(place, _turn(step.reply.text, [(call.tool, call.arguments) for call in step.reply.calls]))

    def __call__(self, request: ChatRequest) -> Reply:
        """Return the turn that comes next.

        Raises
        ------
        LookupError
            If no such conversation was recorded.
        """
        system = "".join(text_of(message) for message in request.messages if message["role"] == "system")
        for start in (None, system):
            reply = self._replies.get(self._place(start, request.messages))
            if reply is not None:
                return reply
        raise LookupError(f"not recorded: turn {request.position} after {request.messages[-1]}")

    def _place(self, system: str | None, messages: Iterable[Json]) -> str:
        place, heard = _digest(system), list[str]()
        for message in messages:
            text = text_of(message)
            if message["role"] == "tool" or (message["role"] == "user" and not self._is_added(text)):
                heard.append(_plain(text))
            elif message["role"] == "assistant":
                calls = [call["function"] for call in message.get("tool_calls") or []]
                said = _turn(text, [(call["name"], json.loads(call["arguments"])) for call in calls])
                place, heard = _digest(_digest(place, *heard), said), []
        return _digest(place, *heard)


def _turn(text: str, calls: list[tuple[str, Any]]) -> str:
    return json.dumps([text, calls], sort_keys=True)


def _plain(text: str) -> str:
    """Return a text, or the value that it writes down, in one form."""
    text = text.removeprefix(_FAILED)
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return text


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
