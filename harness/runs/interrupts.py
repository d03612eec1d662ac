"""Ctrl-C during a run: the first asks for an end, the second makes one, and neither tears what is being stored."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ending:
    """Whether a run is to come to its end.

    Attributes
    ----------
    stop
        Set when no further episode shall begin.
    is_asked_for
        Whether Ctrl-C was the reason.
    """

    stop: threading.Event = field(default_factory=threading.Event)
    is_asked_for: bool = False


@contextmanager
def finishing(told: Callable[[], None] | None) -> Iterator[Ending]:
    """Let the first Ctrl-C ask for an end, and the second make one.

    Parameters
    ----------
    told
        Told of the first.
    """
    ending = Ending()
    if not _is_ours():
        yield ending
        return

    def ask(number: int, frame: object) -> None:
        if ending.is_asked_for:
            raise KeyboardInterrupt
        ending.is_asked_for = True
        ending.stop.set()
        if told is not None:
            told()

    usual = signal.signal(signal.SIGINT, ask)
    try:
        yield ending
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C until the block is done, so that what is stored and what is counted agree."""
    if not _is_ours():
        yield
        return
    came: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if came:
            signal.raise_signal(signal.SIGINT)


def _is_ours() -> bool:
    """Tell whether Ctrl-C may be handled: by the main thread only, and only if Python can put its handler back."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None
