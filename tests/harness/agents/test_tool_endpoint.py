"""The bank's tools over HTTP: for the holder of the token only, on this machine only, and never longer than needed."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.agents.tool_endpoint import MAX_BODY_BYTES, MAX_WAITING, ToolEndpoint, ToolSession, WaitingCall
from harness.episode.turn import ToolOffer, ToolUse
from tests.harness.agents.loops import Tools

OFFER = ToolOffer("freeze_card", "Freezes a card.", json.dumps({"type": "object", "properties": {}}))


@pytest.fixture
def session() -> Iterator[ToolSession]:
    """A session in the middle of a turn, in which every call succeeds and returns what it was given."""
    opened = ToolEndpoint().open()
    opened.tools = (OFFER,)
    opened.begin_turn(lambda waiting: waiting.result.set_result(_used(waiting)))
    with closing(opened):
        yield opened


def _used(waiting: WaitingCall) -> ToolUse:
    call = waiting.call
    return ToolUse("c1", call.tool, call.arguments, ok=True, result=[call.tool, call.arguments])


def tools_of(session: ToolSession) -> Tools:
    return Tools(session.url, session.token)


def test_tools_are_listed_and_called(session: ToolSession) -> None:
    tools = tools_of(session)
    listed = {"name": "freeze_card", "description": "Freezes a card.", "parameters": OFFER.parameters}
    assert tools.ask("GET") == (200, {"tools": [listed]})
    arguments = {"card": "é \U0001f4b3", "amount": 10**30, "none": None, "deep": [[{}]]}
    assert tools.call("freeze_card", arguments) == (200, {"ok": True, "result": ["freeze_card", arguments]})
    assert tools.call("unheard%20of%2F%3F") == (200, {"ok": True, "result": ["unheard of/?", {}]})


@pytest.mark.parametrize(
    "authorization", ["", "Bearer ", "Bearer x", "bearer {token}", "Bearer {token} ", "Bearer {token}x", "{token}", "é"]
)
def test_nothing_is_served_without_the_token(session: ToolSession, authorization: str) -> None:
    tools = tools_of(session)
    shown = authorization.format(token=session.token)
    if shown.endswith(" "):
        shown += "x"
    for method, path, body in (("GET", "", None), ("POST", "/freeze_card", b"{}"), ("GET", "/../..", None)):
        status, answer = tools.ask(method, path, body, Authorization=shown)
        assert (status, answer.keys()) == (401, {"error"})
    assert not session.was_called


def test_a_wrong_token_and_a_session_that_is_not_there_look_the_same(session: ToolSession) -> None:
    elsewhere = Tools(session.url.replace(session.id, "0" * 16), session.token)
    wrong = Tools(session.url, "x" * len(session.token))
    root = Tools(session.url.partition("/episodes")[0], session.token)
    assert elsewhere.call("freeze_card") == wrong.call("freeze_card") == root.ask("POST", "/", b"{}")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("POST", "/freeze_card", b"", 400, "expected the arguments as JSON"),
        ("POST", "/freeze_card", b"card=1", 400, "expected the arguments as JSON"),
        ("POST", "/freeze_card", b'{"card": NaN}', 400, "expected the arguments as JSON"),
        ("POST", "/freeze_card", b'{"card": "\\ud83d"}', 400, "expected the arguments as JSON"),
        ("POST", "/freeze_card", b'{"card": "\xff"}', 400, "expected the arguments as JSON"),
        ("POST", "/freeze_card", b"[" * 10_000, 400, "expected the arguments as JSON"),
        ("POST", "/freeze_card", b"[]", 400, "as a JSON object, found list"),
        ("POST", "/freeze_card", b"null", 400, "as a JSON object, found NoneType"),
        ("POST", "/freeze_card", b" " * (MAX_BODY_BYTES + 1), 413, "a body may have 1048576 bytes, not 1048577"),
        ("POST", "", b"{}", 405, "a tool is called with POST URL/NAME"),
        ("GET", "/freeze_card", None, 405, "a tool is called with POST URL/NAME"),
        ("POST", "/freeze_card/now", b"{}", 404, "expected the address of the tools"),
        ("POST", "/", b"{}", 404, "expected the address of the tools"),
        ("POST", "/freeze_card?now=1", b"{}", 404, "expected the address of the tools"),
        ("POST", "more", b"{}", 404, "expected the address of the tools"),
        ("DELETE", "/freeze_card", None, 501, "Unsupported method"),
    ],
)
def test_what_is_no_call_is_answered_in_plain_words(
    session: ToolSession, method: str, path: str, body: bytes | None, status: int, words: str
) -> None:
    found, answer = tools_of(session).ask(method, path, body)
    assert (found, answer.keys()) == (status, {"error"})
    assert words in answer["error"]
    assert not session.was_called


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Content-Length: -1", 400),
        (b"Content-Length: many", 400),
        (b"Content-Length: 9" + b"9" * 30, 400),
        (b"Transfer-Encoding: chunked", 411),
        (b"X: " + b"y" * 70_000, 431),
    ],
)
def test_what_is_no_request_is_answered_too(session: ToolSession, head: bytes, status: int) -> None:
    path = urlsplit(session.url).path.encode()
    request = b"POST " + path + b"/freeze_card HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(session.url).port or 0), timeout=10) as connection:
        connection.sendall(request)
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert b'{"error": ' in answer


def test_half_a_body_is_no_call(session: ToolSession) -> None:
    path = urlsplit(session.url).path
    head = f"POST {path}/freeze_card HTTP/1.1\r\nAuthorization: Bearer {session.token}\r\nContent-Length: 9\r\n\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(session.url).port or 0), timeout=10) as connection:
        connection.sendall(head.encode() + b"{}")
        connection.shutdown(socket.SHUT_WR)
        assert b"expected 9 bytes, found 2" in connection.makefile("rb").read()
    assert not session.was_called


def test_it_listens_on_this_machine_only_while_there_is_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[Any] = []
    bind = socket.socket.bind
    monkeypatch.setattr(socket.socket, "bind", lambda self, address: (bound.append(address), bind(self, address))[1])
    endpoint = ToolEndpoint()
    assert bound == []
    first, second = endpoint.open(), endpoint.open()
    assert bound == [("127.0.0.1", 0)]
    first.close()
    assert tools_of(second).ask("GET")[0] == 200
    assert tools_of(first).ask("GET")[0] == 401
    second.close()
    second.close()
    with pytest.raises(ConnectionRefusedError):
        tools_of(second).ask("GET")
    with closing(endpoint.open()) as third:
        assert tools_of(third).ask("GET")[0] == 200


def test_sessions_have_nothing_in_common() -> None:
    endpoint = ToolEndpoint()
    sessions = [endpoint.open() for _ in range(20)]
    assert len({session.id for session in sessions}) == len({session.token for session in sessions}) == 20
    assert min(len(session.token) for session in sessions) >= 40
    for session in sessions:
        session.close()


def test_calls_that_wait_when_the_turn_or_the_session_ends_are_let_go() -> None:
    taken: queue.SimpleQueue[WaitingCall] = queue.SimpleQueue()
    with ThreadPoolExecutor(4) as agents, closing(ToolEndpoint().open()) as session:
        for end, status in ((session.end_turn, 409), (session.close, 410)):
            session.begin_turn(taken.put)
            found = [agents.submit(tools_of(session).call, "freeze_card") for _ in range(4)]
            waiting = [taken.get(timeout=10) for _ in range(4)]
            waiting[2].result.set_result(_used(waiting[2]))
            end()
            assert sorted(call.result(timeout=10)[0] for call in found) == [200, status, status, status]


def test_only_so_many_calls_wait_at_once() -> None:
    taken: queue.SimpleQueue[WaitingCall] = queue.SimpleQueue()
    with ThreadPoolExecutor(MAX_WAITING) as agents, closing(ToolEndpoint().open()) as session:
        session.begin_turn(taken.put)
        found = [agents.submit(tools_of(session).call, "freeze_card") for _ in range(MAX_WAITING)]
        waiting = [taken.get(timeout=10) for _ in range(MAX_WAITING)]
        assert tools_of(session).call("freeze_card")[0] == 429
        for call in waiting:
            call.result.set_result(_used(call))
        assert {call.result(timeout=10)[0] for call in found} == {200}
        late = threading.Thread(target=lambda: taken.get(timeout=10).result.set_result(_used(waiting[0])))
        late.start()
        assert tools_of(session).call("freeze_card")[0] == 200
        late.join()
