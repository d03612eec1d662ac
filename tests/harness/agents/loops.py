"""Agents that run their own loop, on 127.0.0.1, as a test makes them up."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
REFUSAL = {"text": "I am not able to do that for you.", "end": None}


@dataclass(frozen=True)
class Raw:
    """An answer as it goes over the wire.

    Attributes
    ----------
    length
        What the header says, if not the truth.
    gap_s
        A pause before each byte of the body.
    resets
        Whether the connection is reset in the place of an answer.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    gap_s: float = 0.0
    resets: bool = False


@dataclass(frozen=True)
class Tools:
    """The bank's tools, as an agent reaches them."""

    url: str
    token: str

    def ask(self, method: str, path: str = "", body: bytes | None = None, **headers: str) -> tuple[int, Json]:
        """Send a request to the address with `path` behind it; return status and answer."""
        parts = urlsplit(self.url)
        sent = {"Authorization": f"Bearer {self.token}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        with closing(http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=10)) as connection:
            connection.request(method, parts.path + path, body, sent)
            response = connection.getresponse()
            assert response.getheader("Content-Type") == "application/json"
            return response.status, json.loads(response.read())

    def call(self, name: str, arguments: Any = None) -> tuple[int, Json]:
        return self.ask("POST", f"/{name}", json.dumps({} if arguments is None else arguments).encode())


Act = Callable[[Json, Tools], Any]
"""What an agent does with a message: its answer, as JSON or raw."""


@dataclass
class Loop:
    """A served agent.

    Attributes
    ----------
    messages
        What it was sent, with the headers of the request.
    released
        Set at the end; an agent that never answers waits for it.
    """

    url: str
    messages: list[Json] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def looping(act: Act) -> Iterator[Loop]:
    """Serve an agent for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            loop.messages.append(message)
            loop.headers.append(dict(self.headers))
            found = act(message, Tools(**message["tools"]))
            with suppress(OSError):
                self.send(found if isinstance(found, Raw) else Raw(json.dumps(found).encode()))

        def send(self, raw: Raw) -> None:
            if raw.resets:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            self.send_response(raw.status)
            for name, value in raw.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw.body) if raw.length is None else raw.length))
            self.end_headers()
            for byte in raw.body if raw.gap_s else ():
                loop.released.wait(raw.gap_s)
                self.wfile.write(bytes([byte]))
            if not raw.gap_s:
                self.wfile.write(raw.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            loop.errors.append(traceback.format_exc())

    server = Server(("127.0.0.1", 0), Handler)
    loop = Loop(f"http://127.0.0.1:{server.server_port}/talk")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield loop
    finally:
        loop.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
    assert not loop.errors, loop.errors
