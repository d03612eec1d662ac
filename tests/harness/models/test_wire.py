"""The wire: one deadline however slowly bytes come, one request, an answer of bounded size, and others left alone."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from harness.models import wire
from harness.models.wire import AnswerTooLong, SentTwice, Wire

OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"
"""For a machine that has much else to do; the slow servers below would take far longer."""

Serve = Callable[[socket.socket], None]


@contextmanager
def listening(serve: Serve) -> Iterator[str]:
    """Serve every connection by a function of its socket, which has read one request."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection: socket.socket) -> None:
            try:
                with connection, connection.makefile("rb") as stream:
                    head = b"".join(iter(stream.readline, b"\r\n")).lower()
                    stream.read(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
                    serve(connection)
            except OSError:
                pass  # The client has left, as it should.

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def says(raw: bytes) -> Serve:
    return lambda connection: connection.sendall(raw)


def drips(raw: bytes) -> Serve:
    def serve(connection: socket.socket) -> None:
        for place in range(len(raw)):
            connection.sendall(raw[place : place + 1])
            time.sleep(0.005)

    return serve


def waits(connection: socket.socket) -> None:
    connection.recv(1)


@pytest.fixture(scope="module")
def line() -> Wire:
    return Wire()


def client(line: Wire) -> httpx.Client:
    return httpx.Client(transport=line, timeout=60.0)


@pytest.mark.parametrize(
    "serve",
    [
        pytest.param(waits, id="silence"),
        pytest.param(drips(b"HTTP/1.1 200 OK\r\n" + b"x-pad: " + b"y" * 1000), id="dripping head"),
        pytest.param(drips(b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n" + b"z" * 1000), id="dripping body"),
        pytest.param(
            drips(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nz\r\n" * 500), id="chunks"
        ),
    ],
)
def test_a_deadline_is_one_of_the_clock(line: Wire, serve: Serve) -> None:
    with listening(serve) as url, line.exchange(0.2) as exchange, pytest.raises(httpx.TimeoutException):
        client(line).post(url, content=b"{}")
    assert isinstance(exchange.error, httpx.TimeoutException)
    assert exchange.status is None


def test_the_deadline_begins_when_the_request_is_sent(line: Wire) -> None:
    with listening(says(OK)) as url, line.exchange(0.2) as exchange:
        time.sleep(0.3)
        assert client(line).post(url, content=b"{}").text == "ok"
    assert (exchange.status, exchange.body, exchange.error) == (200, b"ok", None)


def test_no_thread_is_left_behind(line: Wire) -> None:
    with listening(waits) as url:
        before = threading.active_count()
        for _ in range(5):
            with line.exchange(0.05), pytest.raises(httpx.TimeoutException):
                client(line).post(url, content=b"{}")
        # The server has one thread for each connection until it sees that the client has left.
        for _ in range(100):
            if threading.active_count() <= before:
                break
            time.sleep(0.005)
        assert threading.active_count() <= before


def test_a_second_request_to_the_same_address_is_held_back(line: Wire) -> None:
    with listening(says(OK)) as url, line.exchange(5.0) as exchange:
        session = client(line)
        session.post(f"{url}/token", content=b"{}")
        session.post(f"{url}/chat", content=b"{}")
        with pytest.raises(SentTwice):
            session.post(f"{url}/chat", content=b'{"changed": true}')
        assert exchange.status == 200
    with listening(says(OK)) as url, line.exchange(5.0):
        assert client(line).post(f"{url}/chat", content=b"{}").status_code == 200


def test_what_a_look_at_the_body_raises_keeps_it_from_being_sent(line: Wire) -> None:
    def refuse(body: bytes) -> None:
        raise ValueError(body.decode())

    sent = threading.Event()

    def serve(connection: socket.socket) -> None:
        sent.set()
        connection.sendall(OK)

    with listening(serve) as url, line.exchange(5.0, refuse) as exchange, pytest.raises(ValueError, match="private"):
        client(line).post(url, content=b"private")
    assert isinstance(exchange.error, ValueError)
    assert not sent.is_set()


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_end_is_broken_off(line: Wire, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    monkeypatch.setattr(wire, "MAX_ANSWER_BYTES", 100_000)
    body = b"z" * 100_001
    head = b"HTTP/1.1 200 OK\r\n"
    if packed:
        body, head = gzip.compress(body), head + b"content-encoding: gzip\r\n"
    raw = head + f"content-length: {len(body)}\r\n\r\n".encode() + body
    with listening(says(raw)) as url, line.exchange(5.0) as exchange, pytest.raises(AnswerTooLong):
        client(line).post(url, content=b"{}")
    assert exchange.body == b""


def test_a_packed_answer_is_unpacked(line: Wire) -> None:
    body = gzip.compress(b'{"a": 1}')
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nx-id: 7\r\ncontent-length: {len(body)}\r\n\r\n"
    with listening(says(head.encode() + body)) as url, line.exchange(5.0) as exchange:
        response = client(line).post(url, content=b"{}")
    assert response.json() == {"a": 1}
    assert exchange.body == b'{"a": 1}'
    assert exchange.headers["x-id"] == "7"


def test_without_an_exchange_nothing_is_bounded_or_kept(line: Wire) -> None:
    with listening(drips(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nokok")) as url:
        session = client(line)
        assert session.post(url, content=b"{}").text == "okok"
        assert session.post(url, content=b"{}").text == "okok"


def test_an_exchange_belongs_to_its_thread(line: Wire) -> None:
    seen: list[int] = []
    with listening(says(OK)) as url, line.exchange(0.0001) as exchange:
        thread = threading.Thread(target=lambda: seen.append(client(line).post(url, content=b"{}").status_code))
        thread.start()
        thread.join()
    assert seen == [200]
    assert exchange.status is None
