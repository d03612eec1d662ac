"""Numbers that all threads and processes of a run share."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized, SynchronizedArray
from typing import Any, Final

_PATIENCE_S: Final = 2.0
"""Whoever holds a number for so long has died over it."""


def shared_number() -> Synchronized[float]:
    """Return a number that stays one when it travels to a worker process, however that is started.

    Change it within `alone_with`.
    """
    return multiprocessing.get_context("spawn").Value("d", 0.0)


def shared_integer() -> Synchronized[int]:
    """Return an integer of 64 bits, shared as a number is."""
    return multiprocessing.get_context("spawn").Value("q", 0)


def shared_numbers(count: int) -> SynchronizedArray[float]:
    """Return numbers that are shared together."""
    return multiprocessing.get_context("spawn").Array("d", count)


@contextmanager
def alone_with(shared: Synchronized[Any] | SynchronizedArray[Any]) -> Iterator[None]:
    """Let nobody else change shared numbers within the block.

    A worker that was killed in the middle of a change may leave it half made, but it keeps nobody waiting for good.
    """
    lock = shared.get_lock()
    is_ours = lock.acquire(timeout=_PATIENCE_S)
    try:
        yield
    finally:
        if is_ours:
            lock.release()
