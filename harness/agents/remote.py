"""An agent that runs a loop of its own behind an HTTP address: it gets the caller's words and calls the tools back."""

from __future__ import annotations

import json
import os
import queue
import time
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from domains.kit.tools import Actor
from harness.agents.exchange import KEY_VARIABLE, Address, Exchange
from harness.agents.tool_endpoint import ToolEndpoint, WaitingCall
from harness.episode.turn import AgentBrief, Message, ToolUse, Turn, View
from harness.errors import ParticipantError
from harness.models.faults import TooSlow, Unauthorised

TURN_TIMEOUT_S: Final = 600.0


class _Answer(BaseModel):
    """What the agent says when it is done."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str
    end: Annotated[str, Field(min_length=1)] | None = None


class RemoteAgent:
    """Sends every caller turn to an agent and makes the calls that it asks for until it answers.

    Every call is a turn of its own that keeps the floor, so it is run, limited and recorded like that of any other
    agent; its result goes back to the agent's request when the floor comes back.

    Parameters
    ----------
    brief
        What the agent is told.
    address
        Where it is.
    endpoint
        Where it finds the tools.
    turn_timeout_s
        From the caller's words to the agent's answer, its calls included.

    Raises
    ------
    Unauthorised
        If the key for it cannot be sent.
    """

    def __init__(
        self, brief: AgentBrief, address: Address, endpoint: ToolEndpoint, turn_timeout_s: float = TURN_TIMEOUT_S
    ) -> None:
        self._brief = brief
        self._address = address
        self._key = _key()
        self._turn_timeout_s = turn_timeout_s
        self._session = endpoint.open()
        self._seen = 0
        self._exchange: Exchange | None = None
        self._news: queue.SimpleQueue[WaitingCall | bytes | Exception] = queue.SimpleQueue()
        self._deadline = 0.0
        self._waiting: WaitingCall | None = None

    def respond(self, view: View) -> Turn:
        """Return the agent's next call or its answer.

        Raises
        ------
        ModelFault
            If the agent cannot be reached, breaks off, does not answer in time, or does not take messages from here.
        ParticipantError
            If what it answers is no answer.
        """
        self._session.tools = view.tools
        try:
            if self._waiting is None:
                self._send(view)
            else:
                used = next(item for item in reversed(view.items) if isinstance(item, ToolUse))
                self._waiting.result.set_result(used)
                self._waiting = None
            news = self._next()
            if isinstance(news, WaitingCall):
                self._waiting = news
                return Turn(calls=(news.call,))
            answer = _read(news)
        except BaseException:
            self._end_turn()
            raise
        self._end_turn()
        self._seen = len(view.items)
        return Turn(answer.text, ends=answer.end)

    def close(self) -> None:
        """End the conversation: what still waits for the bank, or for the agent, waits no longer."""
        self._session.close()
        self._end_turn()

    def _send(self, view: View) -> None:
        words = [
            item.text for item in view.items[self._seen :] if isinstance(item, Message) and item.speaker is Actor.CALLER
        ]
        message = {
            "session": self._session.id,
            "message": "\n".join(words),
            "tools": {"url": self._session.url, "token": self._session.token},
            "policy": self._brief.policy,
            "knowledge": self._brief.knowledge,
            "now": self._brief.now.isoformat(),
            "seed": self._brief.seed,
        }
        self._news = queue.SimpleQueue()
        self._deadline = time.monotonic() + self._turn_timeout_s
        self._session.begin_turn(self._news.put)
        self._exchange = Exchange(
            self._address,
            json.dumps(message).encode(),
            self._key,
            self._turn_timeout_s,
            has_acted=lambda: self._session.was_called,
            deliver=self._news.put,
        )

    def _next(self) -> WaitingCall | bytes:
        try:
            news = self._news.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise TooSlow(f"the agent gave no whole answer within {self._turn_timeout_s:g} s") from None
        if isinstance(news, Exception):
            raise news
        return news

    def _end_turn(self) -> None:
        self._session.end_turn()
        if self._exchange is not None:
            self._exchange.give_up()
            self._exchange = None


def _read(body: bytes) -> _Answer:
    try:
        return _Answer.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ParticipantError(
            'expected {"text": words, "end": null or a reason} from the agent, '
            f"found {body[:200].decode('utf-8', 'replace')!r}: {place + ': ' if place else ''}{first['msg']}"
        ) from None


def _key() -> str | None:
    key = os.environ.get(KEY_VARIABLE)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise Unauthorised(f"the value of {KEY_VARIABLE} holds a character that no header can carry")
    return key or None
