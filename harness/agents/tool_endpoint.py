"""The bank's tools over HTTP, on this machine only, for agents that run a loop of their own.

::

    GET  URL            ->  {"tools": [{"name": ..., "description": ..., "parameters": a JSON Schema}, ...]}
    POST URL/NAME       the arguments as a JSON object  ->  {"ok": true or false, "result": ...}
    anything wrong      ->  {"error": what, and what to do}, with a status that is not 200

Every episode has a session: an address and a token of its own, which lead to its own world and end with it. A request
changes nothing. It waits until the thread that plays the episode has made the call as a turn of the agent.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final
from urllib.parse import unquote

from pydantic_core import from_json

from domains.kit.domain import Call
from domains.kit.json import JsonValue
from harness.episode.turn import ToolOffer, ToolUse

MAX_BODY_BYTES: Final = 1024 * 1024
"""Far above what the arguments of one call may be."""

MAX_WAITING: Final = 20
"""Calls of one session that may wait at the same time."""

_DISCARDED_BYTES: Final = 16 * MAX_BODY_BYTES
_HOST: Final = "127.0.0.1"
_POLL_S: Final = 0.05
_SILENCE_S: Final = 30.0
"""How long a connection may be silent in the middle of a request."""

_ADDRESS: Final = re.compile(r"/episodes/(?P<id>[0-9a-f]{16})/tools(?P<rest>.*)")
_TOOL: Final = re.compile(r"/[^/?#]+")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class WaitingCall:
    """A call that the agent has made and waits for."""

    call: Call
    result: Future[ToolUse] = field(default_factory=Future)


class Refused(Exception):
    """A request that is not served.

    Parameters
    ----------
    status
        The status of the answer.
    message
        What is wrong, and what to do.
    """

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class ToolSession:
    """The tools of one episode, between the agent's requests and the thread that plays the episode.

    Parameters
    ----------
    port
        Where the endpoint listens.
    on_close
        Told once when the session is over.

    Attributes
    ----------
    id
        Unlike any other's, in this run or elsewhere: agents tell conversations apart by it.
    token
        What the agent must show.
    tools
        What the agent can call now.
    was_called
        Whether the agent has called a tool in this turn.
    """

    def __init__(self, port: int, on_close: Callable[[ToolSession], None]) -> None:
        self.id = secrets.token_hex(8)
        self.token = secrets.token_urlsafe(32)
        self.url = f"http://{_HOST}:{port}/episodes/{self.id}/tools"
        self.tools: tuple[ToolOffer, ...] = ()
        self.was_called = False
        self._on_close = on_close
        self._lock = threading.Lock()
        self._take: Callable[[WaitingCall], None] | None = None
        self._waiting: list[WaitingCall] = []
        self._is_closed = False

    def begin_turn(self, take: Callable[[WaitingCall], None]) -> None:
        """Hand calls to `take` from now on; it must not block."""
        with self._lock:
            self._take = take
            self.was_called = False

    def end_turn(self) -> None:
        """Take no calls until the next turn; those that wait are turned away."""
        with self._lock:
            self._take = None
            waiting, self._waiting = self._waiting, []
        for call in waiting:
            if not call.result.done():
                call.result.set_exception(self._refusal())

    def close(self) -> None:
        """Take no calls any more, and end the session."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        self.end_turn()
        if not was_closed:
            self._on_close(self)

    def call(self, call: Call) -> ToolUse:
        """Wait for the result of a call.

        Raises
        ------
        Refused
            If it is not the agent's turn, is not any more, or too many calls wait already.
        """
        waiting = WaitingCall(call)
        with self._lock:
            if self._take is None:
                raise self._refusal()
            self._waiting = [other for other in self._waiting if not other.result.done()]
            if len(self._waiting) >= MAX_WAITING:
                raise Refused(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    f"{MAX_WAITING} calls of this conversation are waiting already; wait for their results first",
                )
            self._waiting.append(waiting)
            self.was_called = True
            self._take(waiting)
        return waiting.result.result()

    def _refusal(self) -> Refused:
        if self._is_closed:
            return Refused(HTTPStatus.GONE, "the conversation is over; no call is made any more")
        return Refused(
            HTTPStatus.CONFLICT, "it is not your turn: tools can be called from a message until you answer it"
        )


class ToolEndpoint:
    """Serves the sessions of all episodes of this process; it listens only while there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, ToolSession] = {}
        self._server: _Server | None = None

    def open(self) -> ToolSession:
        """Return a new session."""
        with self._lock:
            if self._server is None:
                self._server = _Server(self._sessions.get)
                threading.Thread(target=self._server.serve_forever, args=(_POLL_S,), daemon=True).start()
            session = ToolSession(self._server.port, self._forget)
            self._sessions[session.id] = session
            return session

    def _forget(self, session: ToolSession) -> None:
        with self._lock:
            del self._sessions[session.id]
            if not self._sessions and self._server is not None:
                self._server.shutdown()
                self._server.server_close()
                self._server = None


class _Server(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, find: Callable[[str], ToolSession | None]) -> None:
        super().__init__((_HOST, 0), _Handler)
        self.port: int = self.server_address[1]
        self.find = find

    def handle_error(self, request: Any, client_address: Any) -> None:
        _log.debug("a request for a tool could not be answered", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "fraudbench"
    sys_version = ""
    timeout = _SILENCE_S
    # Else an answer's body may wait until the client has acknowledged its head: 40 ms for every call of a tool.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(self._offers)

    def do_POST(self) -> None:
        self._answer(self._call)

    def _answer(self, serve: Callable[[bytes], JsonValue]) -> None:
        try:
            # The body is read in any case: an answer to half a request may be lost on its way.
            status, value = HTTPStatus.OK, serve(self._body())
        except Refused as refused:
            status, value = refused.status, {"error": str(refused)}
        self._send(status, value)

    def _offers(self, body: bytes) -> JsonValue:
        session, name = self._admitted()
        if name is not None:
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "a tool is called with POST URL/NAME")
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in session.tools
        ]
        return {"tools": tools}

    def _call(self, body: bytes) -> JsonValue:
        session, name = self._admitted()
        if name is None:
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "a tool is called with POST URL/NAME")
        use = session.call(Call(name, _arguments(body)))
        return {"ok": use.ok, "result": use.result}

    def _admitted(self) -> tuple[ToolSession, str | None]:
        """Return the session and the name of the tool that the address names, if the token is the session's."""
        found = _ADDRESS.fullmatch(self.path)
        session = self.server.find(found["id"]) if found else None
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        # Compared also where there is no session, so that the two cannot be told apart.
        expected = f"Bearer {secrets.token_urlsafe(32) if session is None else session.token}".encode()
        if not hmac.compare_digest(given, expected) or found is None or session is None:
            raise Refused(
                HTTPStatus.UNAUTHORIZED,
                "no conversation has this address and token; send `Authorization: Bearer TOKEN` to the address, "
                "both as they stand in the message that you are working on",
            )
        if found["rest"] and not _TOOL.fullmatch(found["rest"]):
            raise Refused(HTTPStatus.NOT_FOUND, "expected the address of the tools, or that with /NAME behind it")
        return session, unquote(found["rest"])[1:] or None

    def _body(self) -> bytes:
        text = self.headers.get("Content-Length")
        if text is None:
            if self.headers.get("Transfer-Encoding") is not None:
                raise Refused(HTTPStatus.LENGTH_REQUIRED, "send the body with its Content-Length, and not in chunks")
            return b""
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise Refused(HTTPStatus.BAD_REQUEST, "expected a number as Content-Length")
        length = int(text)
        if length > MAX_BODY_BYTES:
            self._discard(min(length, _DISCARDED_BYTES))
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {MAX_BODY_BYTES} bytes, not {length}")
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refused(HTTPStatus.BAD_REQUEST, f"expected {length} bytes, found {len(body)}")
        return body

    def _discard(self, length: int) -> None:
        while length > 0 and (part := self.rfile.read(min(length, 2**16))):
            length -= len(part)

    def _send(self, status: HTTPStatus, value: JsonValue) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request, or has another method, in the form of every other answer."""
        status = HTTPStatus(code)
        self._send(status, {"error": message or status.phrase})

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a run prints its own progress."""


def _arguments(body: bytes) -> dict[str, JsonValue]:
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"expected the arguments as JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(HTTPStatus.BAD_REQUEST, f"expected the arguments as a JSON object, found {type(found).__name__}")
    return found
