"""Measuring processor time and memory."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

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


def cpu_with_children_s(work: Callable[[], object]) -> float:
    """Return the processor time of one call in seconds, that of the processes it starts and awaits included."""
    gc.collect()
    started = time.process_time() + _children_s()
    work()
    return time.process_time() + _children_s() - started


def command_cpu_s(arguments: Sequence[str], *, rounds: int) -> float:
    """Return the processor time of ``python`` with these arguments in seconds: the best of some rounds."""
    return min(
        cpu_with_children_s(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True))
        for _ in range(rounds)
    )


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Memory(NamedTuple):
    """Memory in megabytes: what the process grew by, and what of it Python itself gave out."""

    resident_mb: float
    traced_mb: float


def memory_of_each(make: Callable[[], object], count: int) -> Memory:
    """Return the memory of each of `count` things that are held at once, in a process of its own.

    `make` is called once beforehand for what all of them share; it must be a function of a module.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return Memory(pool.apply(_resident_of_each_mb, (make, count)), pool.apply(_traced_of_each_mb, (make, count)))


def _resident_of_each_mb(make: Callable[[], object], count: int) -> float:
    shared = [make()]
    gc.collect()
    before = _resident_mb()
    shared += [make() for _ in range(count)]
    return (_resident_mb() - before) / count


def _traced_of_each_mb(make: Callable[[], object], count: int) -> float:
    shared = [make()]
    tracemalloc.start()
    shared += [make() for _ in range(count)]
    return tracemalloc.get_traced_memory()[0] / count / 1e6


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6
