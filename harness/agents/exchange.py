"""One message to an agent that is served over HTTP, and its answer: sent in a thread, so that it can be given up."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from harness.errors import ParticipantError, RunError
from harness.models.diagnosis import retry_after_s
from harness.models.faults import (
    BadRequest,
    FatalFault,
    ModelFault,
    RateLimited,
    RetryableFault,
    TooSlow,
    Unauthorised,
    Unavailable,
)
from harness.models.retry import Clock, Patience, patiently, pause_s
from harness.models.secrets import Redactor

KEY_VARIABLE: Final = "FRAUDBENCH_AGENT_KEY"
"""The environment variable with the key that is shown to the agent."""

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
_TRIES: Final = 5
_NOT_TAKEN: Final = (429, 503)
"""What an agent answers that has not taken the message."""

_EXCERPT_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Address:
    """Where an agent is served."""

    url: str

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_plain = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_plain = False
        holds_more = set(self.url) & set("@?#;&")
        if not is_plain or holds_more or " " in self.url or not self.url.isascii() or not self.url.isprintable():
            # What stands before an @ or behind a ? may be a secret.
            found = f"one with {min(holds_more)}" if holds_more else f"{self.url!r:.200}"
            raise RunError(
                f"expected the address of an agent (http://127.0.0.1:8080/talk), plain and without a key, found {found}"
            )

    @property
    def place(self) -> str:
        """The address without its scheme."""
        return self.url.partition("://")[2].rstrip("/")

    def connection(self, timeout_s: float) -> http.client.HTTPConnection:
        """Return a connection that is not open yet; proxies of the environment are not asked."""
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=timeout_s, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)

    @property
    def path(self) -> str:
        """What is asked for at the server."""
        return urlsplit(self.url).path or "/"


class _NoOtherTry(Exception):
    """A fault after which the message must not be sent again, because the agent may have it."""

    def __init__(self, fault: ModelFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class Exchange:
    """A message on its way.

    It is sent again only where the agent cannot have taken it: no connection came about, or the answer says so by
    its status (429, 503) and nothing was called.

    Parameters
    ----------
    address
        Where the agent is.
    body
        The message, as JSON.
    key
        What to show the agent, or None.
    timeout_s
        Until the whole answer is there, further tries and pauses included.
    has_acted
        Tells whether the agent has called a tool since the message was sent.
    deliver
        Is given the body of the answer, or why there is none, in another thread.
    """

    def __init__(
        self,
        address: Address,
        body: bytes,
        key: str | None,
        timeout_s: float,
        has_acted: Callable[[], bool],
        deliver: Callable[[bytes | Exception], None],
    ) -> None:
        self._address = address
        self._body = body
        self._headers = {"Content-Type": "application/json", "Connection": "close"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._redactor = Redactor((key or "",))
        self._timeout_s = timeout_s
        self._has_acted = has_acted
        self._deliver = deliver
        self._is_given_up = threading.Event()
        self._socket: socket.socket | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def give_up(self) -> None:
        """Hang up; what is delivered from now on is of no interest."""
        self._is_given_up.set()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        patience = Patience(_TRIES, self._timeout_s, self._timeout_s)
        try:
            body = patiently(
                self._try,
                patience,
                lambda number: pause_s(0, self._address.url, number),
                clock=Clock(sleep=self._pause),
            )
            self._deliver(body)
        except _NoOtherTry as final:
            self._deliver(final.fault)
        except Exception as fault:  # noqa: BLE001 - the thread's boundary: whoever waits must hear of any fault
            self._deliver(fault)

    def _pause(self, seconds: float) -> None:
        self._is_given_up.wait(seconds)

    def _try(self, timeout_s: float) -> bytes:
        with closing(self._address.connection(timeout_s)) as connection:
            try:
                connection.connect()
            except TimeoutError as error:
                raise TooSlow(f"no connection to the agent at {self._address.url}") from error
            except ssl.SSLCertVerificationError as error:
                raise FatalFault(f"the certificate of {self._address.url} is not trusted: {error}") from error
            except (OSError, ValueError) as error:
                raise Unavailable(f"the agent at {self._address.url} cannot be reached: {error}") from error
            self._socket = connection.sock
            if self._is_given_up.is_set():
                raise _NoOtherTry(Unavailable("the message was given up before it was sent"))
            try:
                connection.request("POST", self._address.path, self._body, self._headers)
                with connection.getresponse() as response:
                    body = _read(response)
            except TimeoutError as error:
                raise _NoOtherTry(TooSlow("the agent gave no whole answer in time")) from error
            except (OSError, http.client.HTTPException) as error:
                raise _NoOtherTry(Unavailable(f"the agent broke off: {type(error).__name__}: {error}")) from error
        if response.status == 200:
            return body
        said = self._redactor.text(body.decode("utf-8", "replace"))[:_EXCERPT_CHARS]
        fault = _fault_of(response, f"the agent answered with status {response.status}: {said!r}")
        if isinstance(fault, RetryableFault) and (response.status not in _NOT_TAKEN or self._has_acted()):
            raise _NoOtherTry(fault)
        raise fault


def _read(response: http.client.HTTPResponse) -> bytes:
    body = response.read(MAX_ANSWER_BYTES + 1)
    if len(body) > MAX_ANSWER_BYTES:
        raise ParticipantError(f"expected an answer of at most {MAX_ANSWER_BYTES} bytes from the agent, found more")
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    return body


def _fault_of(response: http.client.HTTPResponse, said: str) -> ModelFault | ParticipantError:
    """Say what an answer means whose status is not 200."""
    status = response.status
    if status in (401, 403, 407):
        return Unauthorised(f"{said}. A key is sent if it stands in the environment variable {KEY_VARIABLE}.")
    if status in (404, 405, 410, 501) or 300 <= status < 400:
        return BadRequest(f"{said}. Name the address that takes the messages itself; redirections are not followed.")
    wait_s = retry_after_s({name.lower(): value for name, value in response.getheaders()})
    if status == 429:
        return RateLimited(said, wait_s)
    if status >= 500 or status == 408:
        return Unavailable(said, wait_s)
    return ParticipantError(f"expected status 200 from the agent; {said}")
