"""A provider on 127.0.0.1 that speaks the chat-completions protocol, plays parts, and misbehaves as planned.

::

    with serving({"echo": echo}, faults=FaultPlan.always("429")) as provider:
        ...  # POST to provider.url + "/chat/completions"
        assert provider.chats[0].fault == "429"

One thread runs an event loop, so that a request that waits costs nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.provider.faults import FAULTS, Answer, FaultPlan, changed, openai_error
from tests.provider.protocol import Behaviour, ChatRequest, Json, completion, stream
from tests.provider.wire import Connection, HttpRequest, serving_connections

CHAT_PATH = "/v1/chat/completions"
_SECRETS = {"authorization", "api-key", "x-api-key"}


@dataclass
class Exchange:
    """One request and what became of it.

    Attributes
    ----------
    headers
        By lower-case name, without the values of secrets.
    raw
        The body, or nothing if bodies are not kept.
    began_s, ended_s
        On the monotonic clock; the end is None while it is being answered.
    digest
        Of the body; the same for the same request.
    paid
        Whether the model worked for it, delivered or not.
    delivered
        Whether the last byte was sent to a client that was still there.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    began_s: float
    ended_s: float | None = None
    digest: str = ""
    status: int | None = None
    fault: str | None = None
    paid: bool = False
    delivered: bool = False

    @property
    def body(self) -> Json:
        """What was sent."""
        sent: Json = json.loads(self.raw)
        return sent


@dataclass
class Provider:
    """The server's parts and records; a test may change them between requests.

    Attributes
    ----------
    behaviours
        What each model plays; a model that is not here is answered with 404.
    faults
        When to misbehave.
    think_s
        How long a model thinks.
    key
        The only API key that is let in, or None for any.
    keeps_bodies
        Whether requests are kept with their bodies, which takes memory in a long run.
    errors
        What went wrong in a behaviour; `serving` raises if there is any left.
    """

    behaviours: dict[str, Behaviour]
    faults: FaultPlan = field(default_factory=FaultPlan)
    think_s: float = 0.0
    key: str | None = None
    keeps_bodies: bool = True
    port: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    _chat_count: int = 0

    @property
    def url(self) -> str:
        """The base URL, as a client takes it."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Exchange]:
        """The requests for completions, in order of arrival."""
        return [exchange for exchange in self.exchanges if exchange.path == CHAT_PATH]

    @property
    def paid(self) -> Counter[str]:
        """How often each body was paid for, by digest."""
        return Counter(exchange.digest for exchange in self.exchanges if exchange.paid)

    def clear(self) -> None:
        """Forget all requests and errors, and misbehave no more."""
        self.exchanges.clear()
        self.errors.clear()
        self.faults = FaultPlan()
        self.most_in_flight = self.in_flight
        self._chat_count = 0

    async def handle(self, request: HttpRequest, connection: Connection) -> None:
        """Answer one request and keep a record of it."""
        exchange = Exchange(
            number=len(self.exchanges),
            method=request.method,
            path=request.path,
            headers={name: "***" if name in _SECRETS else value for name, value in request.headers.items()},
            raw=request.body if self.keeps_bodies else b"",
            began_s=time.monotonic(),
        )
        self.exchanges.append(exchange)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self._answer(request, exchange)
            exchange.status = answer.status
            await asyncio.sleep(answer.first_byte_s + (self.think_s if exchange.paid else 0.0))
            exchange.delivered = await connection.send(answer)
        finally:
            self.in_flight -= 1
            exchange.ended_s = time.monotonic()

    def _answer(self, request: HttpRequest, exchange: Exchange) -> Answer:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        if (request.method, request.path) == ("GET", "/v1/models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "local"} for name in self.behaviours]
            return _json(200, {"object": "list", "data": models})
        if (request.method, request.path) != ("POST", CHAT_PATH):
            return _error(404, f"Unknown request URL: {request.method} {request.path}.", "unknown_url")
        try:
            chat = ChatRequest(json.loads(request.body))
            problem = chat.problem()
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            return _error(400, f"The body is no request: {error!r}", "invalid_body")
        if problem:
            return _error(400, problem, "invalid_body")
        return self._complete(chat, exchange)

    def _complete(self, chat: ChatRequest, exchange: Exchange) -> Answer:
        exchange.digest = chat.digest
        exchange.fault = self.faults.choose(chat, self._chat_count)
        self._chat_count += 1
        fault, pace = FAULTS[exchange.fault] if exchange.fault else None, self.faults.pace
        if fault and fault.instead:
            return fault.instead(pace)
        if chat.model not in self.behaviours:
            return _error(404, f"The model `{chat.model}` does not exist.", "model_not_found")
        try:
            whole = changed(fault, completion(chat, self.behaviours[chat.model](chat)))
        except Exception as error:  # noqa: BLE001  a part's mistake must reach the test, not die in the server's thread
            self.errors.append(f"{chat.model}: {error!r}")
            return _error(400, f"The part failed: {error!r}", "part_failed")
        exchange.paid = True
        answer = _json(200, whole)
        if chat.body.get("stream"):
            with_usage = bool((chat.body.get("stream_options") or {}).get("include_usage"))
            answer = Answer(200, stream(whole, with_usage=with_usage), "text/event-stream")
        return fault.deliver(answer, pace) if fault else answer


def _json(status: int, body: Json) -> Answer:
    return Answer(status, json.dumps(body).encode())


def _error(status: int, message: str, code: str) -> Answer:
    return _json(status, openai_error(message, "invalid_request_error", code))


@contextmanager
def serving(behaviours: Mapping[str, Behaviour], **settings: Any) -> Iterator[Provider]:
    """Serve the behaviours, by the names of their models, for as long as the context lasts.

    Settings are the fields of `Provider`.
    """
    provider = Provider(dict(behaviours), **settings)
    with serving_connections(provider.handle) as port:
        provider.port = port
        yield provider
    if provider.errors:
        raise AssertionError("a part failed: " + "; ".join(provider.errors))
