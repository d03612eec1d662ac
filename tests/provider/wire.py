"""HTTP/1.1 on a local port, with full control over how bytes are sent: late, one by one, or not to the end."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from math import ceil

from tests.provider.faults import Answer

_MOST_HEADER_BYTES = 2**16
_MOST_WAITING = 1024
"""Connections that wait to be accepted."""


@dataclass(frozen=True)
class HttpRequest:
    """A request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Connection:
    """A client's connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read(self) -> HttpRequest:
        """Wait for the next request."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return HttpRequest(method, target.partition("?")[0], headers, body)

    async def send(self, answer: Answer) -> bool:
        """Send an answer as it wants to be sent; return whether all of it went to a client that was still there."""
        pieces = [answer.body]
        if answer.cut_at is not None:
            pieces = [answer.body[: answer.cut_at]]
        elif answer.gap_s:
            pieces = [bytes([byte]) for byte in answer.body]
        if answer.cut_at != 0:
            self.writer.write(_head(answer))
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            if answer.gap_s:
                await asyncio.sleep(answer.gap_s)
        if answer.cut_at is not None:
            self._reset()
        return not self.writer.is_closing() and not self.reader.at_eof()

    def _reset(self) -> None:
        """Close so that the other side sees a reset and not an orderly end."""
        connection: socket.socket = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Handler = Callable[[HttpRequest, Connection], Awaitable[None]]


def _head(answer: Answer) -> bytes:
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Unknown"
    headers = {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body)), **dict(answer.headers)}
    if answer.retry_at_s is not None:
        headers["Retry-After"] = formatdate(ceil(time.time() + answer.retry_at_s), usegmt=True)
    lines = [f"HTTP/1.1 {answer.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _serve_connection(connection: Connection, handle: Handler) -> None:
    try:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not connection.writer.is_closing():
                await handle(await connection.read(), connection)
    finally:
        connection.writer.close()


async def _serve(listener: socket.socket, handle: Handler, stop: asyncio.Event, failures: list[BaseException]) -> None:
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Else the second of two short writes waits until the client has acknowledged the first: 40 ms.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = asyncio.ensure_future(_serve_connection(Connection(reader, writer), handle))
        tasks.add(task)
        task.add_done_callback(ended)

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            failures.append(error)

    server = await asyncio.start_server(connected, sock=listener, limit=_MOST_HEADER_BYTES, backlog=_MOST_WAITING)
    await stop.wait()
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def serving_connections(handle: Handler) -> Iterator[int]:
    """Hand every request to the handler, in one thread, for as long as the context lasts; yields the port.

    An error of the handler closes that connection and is raised when the context ends.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=_MOST_WAITING)
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    failures: list[BaseException] = []
    serve = _serve(listener, handle, stop, failures)
    thread = threading.Thread(target=loop.run_until_complete, args=(serve,), daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
    if failures:
        raise failures[0]
