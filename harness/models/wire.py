"""The wire under the provider library: what really went out and came back, and an end when the time is up.

The library's own timeout starts anew with every read, it reshapes requests and answers, and it may send a request
again on its own. So its HTTP traffic is led through here, where each call has one deadline, one request, and an
answer of bounded size.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpcore
import httpx

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""No chat completion is as long as this."""

_KEEP_ALIVE: Final = httpx.Limits(max_connections=None, max_keepalive_connections=256, keepalive_expiry=20.0)
"""Concurrency is bounded by the workers of a run, not here."""


_OF_THE_WAY: Final = frozenset(("content-encoding", "content-length", "transfer-encoding"))


class AnswerTooLong(httpx.TransportError):
    """An answer is longer than `MAX_ANSWER_BYTES`."""


class SentTwice(httpx.TransportError):
    """The library wanted to send a second request to the address that has just answered."""


@dataclass(slots=True)
class Exchange:
    """One call as the wire saw it.

    Attributes
    ----------
    timeout_s
        How long the call may take from the moment in which it is sent.
    deadline
        Its end on the monotonic clock, in seconds; None before it is sent.
    check
        Looks at the body before it is sent; what it raises keeps it from being sent.
    status, headers, body
        Of the latest answer; None and empty before any.
    error
        What kept an answer from coming.
    """

    timeout_s: float
    check: Callable[[bytes], None] | None = None
    deadline: float | None = None
    sent_to: set[str] = field(default_factory=set)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    error: Exception | None = None


class Wire(httpx.BaseTransport):
    """A transport that observes the calling thread's exchange; without one it lets everything through.

    Connections, proxies and certificates are those of an HTTP client in this environment. It has no public place for
    deadlines, so its parts are reached for by their private names: a version without these must fail when the wire is
    made, and not run without deadlines.
    """

    def __init__(self) -> None:
        self._current = _Current()
        self._client = httpx.Client(limits=_KEEP_ALIVE, timeout=None)
        _put_deadlines_under(self._client, self._current)

    @contextmanager
    def exchange(self, timeout_s: float, check: Callable[[bytes], None] | None = None) -> Iterator[Exchange]:
        """Observe what the calling thread sends within the block, and end it `timeout_s` seconds after it is sent."""
        exchange = Exchange(timeout_s, check)
        self._current.exchange = exchange
        try:
            yield exchange
        finally:
            self._current.exchange = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read its whole answer."""
        exchange = self._current.exchange
        transport = self._client._transport_for_url(request.url)
        if exchange is None:
            return transport.handle_request(request)
        try:
            _admit(request, exchange)
            response = transport.handle_request(request)
            try:
                body = _read(response)
            finally:
                response.close()
        except Exception as error:
            exchange.error = error
            raise
        exchange.status, exchange.headers, exchange.body = response.status_code, response.headers, body
        headers = response.headers
        if "content-encoding" in headers:
            # The body is decoded by now, whatever its headers say of the way it travelled.
            headers = httpx.Headers([pair for pair in headers.multi_items() if pair[0] not in _OF_THE_WAY])
        return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    def close(self) -> None:
        """Do nothing: several clients of the library share this transport."""


def _admit(request: httpx.Request, exchange: Exchange) -> None:
    address = f"{request.method} {request.url}"
    if address in exchange.sent_to:
        raise SentTwice("the provider library wanted to send the request again, changed or not")
    exchange.sent_to.add(address)
    body = request.read()
    if exchange.check is not None:
        exchange.check(body)
    if exchange.deadline is None:
        exchange.deadline = time.monotonic() + exchange.timeout_s


def _read(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    length = 0
    for part in response.iter_bytes():
        parts.append(part)
        length += len(part)
        if length > MAX_ANSWER_BYTES:
            raise AnswerTooLong(f"expected an answer of at most {MAX_ANSWER_BYTES} bytes, found more")
    return b"".join(parts)


# ------------------------------------------------------------------ deadlines


class _Current(threading.local):
    """The exchange of the calling thread."""

    exchange: Exchange | None = None

    def cut(self, timeout_s: float | None, expired: type[Exception]) -> float | None:
        """Shorten a timeout to what is left until the deadline."""
        if self.exchange is None or self.exchange.deadline is None:
            return timeout_s
        left_s = self.exchange.deadline - time.monotonic()
        if left_s <= 0:
            raise expired("the deadline of the call has passed")
        return left_s if timeout_s is None else min(left_s, timeout_s)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, current: _Current) -> None:
        self._stream = stream
        self._current = current

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._current.cut(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._current.cut(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left_s = self._current.cut(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left_s), self._current)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, backend: httpcore.NetworkBackend, current: _Current) -> None:
        self._backend = backend
        self._current = current

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left_s = self._current.cut(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, left_s, local_address, socket_options), self._current)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


def _put_deadlines_under(client: httpx.Client, current: _Current) -> None:
    """Lead every socket of a client through the deadline."""
    for transport in [client._transport, *client._mounts.values()]:
        if transport is not None:
            pool = transport._pool  # type: ignore[attr-defined]
            pool._network_backend = _Backend(pool._network_backend, current)
