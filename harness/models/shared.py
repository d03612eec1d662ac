"""Numbers that all threads and processes of a run share."""

from __future__ import annotations

import multiprocessing
from multiprocessing.sharedctypes import Synchronized


def shared_number() -> Synchronized[float]:
    """Return a number that stays one when it travels to a worker process, however that is started.

    Take it in a ``with`` block to change it.
    """
    return multiprocessing.get_context("spawn").Value("d", 0.0)


def shared_integer() -> Synchronized[int]:
    """Return an integer of 64 bits, shared as a number is."""
    return multiprocessing.get_context("spawn").Value("q", 0)
