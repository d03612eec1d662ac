"""Measuring processor time and memory, and printing a figure beside what is promised."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")


def cpu_ms(work: Callable[[], object], *, repeats: int = 20, rounds: int = 5) -> float:
    """Return the processor time of one call in milliseconds: the best of some rounds, each a mean of `repeats`.

    The best round is the one that other work on the machine disturbed least.
    """
    work()
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        started = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, (time.process_time() - started) / repeats)
    return best * 1e3


def resident_mb() -> float:
    """Return the resident memory of this process in megabytes (Linux; elsewhere there is nothing to read)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def memory_of_each_mb(make: Callable[[], _T], count: int, close: Callable[[_T], object]) -> float:
    """Return by how much the process grows for each of `count` things that are held at once, in megabytes."""
    gc.collect()
    before = resident_mb()
    held = [make() for _ in range(count)]
    grown = (resident_mb() - before) / count
    for item in held:
        close(item)
    return grown


def report(what: str, measured: float, unit: str, promised: float | None = None) -> None:
    """Print one line of the table."""
    beside = "" if promised is None else f"   promised: at most {promised:g} {unit}"
    print(f"  {what:<58} {measured:>9.3f} {unit}{beside}")
