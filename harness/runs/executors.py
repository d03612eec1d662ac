"""Where episodes run: one after the other, in processes or in threads, behind one contract.

A task is handed to a function that yields results; the results of all tasks come back in the order in which they
are ready. Whoever asks for them, and nobody else, writes them down.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, Protocol, TypeVar

from harness.errors import RunError

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

Work = Callable[[TaskT], Iterable[ResultT]]
"""What is done with a task. For processes that are not forked it must travel (pickle)."""

MAX_WORKERS: Final = 256

_THREADS_A_PROCESS: Final = 32
"""A call takes a provider's library some milliseconds: so many threads keep a process busy when they wait for half a
second each."""

_GRACE_S: Final = 5.0
"""How long a worker may take to end."""

_END: Final = None
"""Ends the results of one task, and the tasks of one worker."""


@dataclass(frozen=True, slots=True)
class Lost(Generic[TaskT]):
    """A task that came to no end: whatever results it gave before stand."""

    task: TaskT
    reason: str


class Executor(Protocol):
    """Runs tasks."""

    def run(
        self, work: Work[TaskT, ResultT], tasks: Sequence[TaskT], stop: threading.Event
    ) -> Generator[ResultT | Lost[TaskT], None, None]:
        """Yield the results of all tasks as they come.

        Once `stop` is set no further task begins; those in flight are finished. Closing the iterator abandons them.
        """
        ...


class Serial:
    """One task after the other, in this process."""

    def run(
        self, work: Work[TaskT, ResultT], tasks: Sequence[TaskT], stop: threading.Event
    ) -> Generator[ResultT | Lost[TaskT], None, None]:
        """Yield the results of all tasks in the order of the tasks."""
        for task in tasks:
            if stop.is_set():
                break
            yield from _guarded(work, task)


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of this process: for work that waits for others, such as a provider's answer."""

    workers: int

    def run(
        self, work: Work[TaskT, ResultT], tasks: Sequence[TaskT], stop: threading.Event
    ) -> Generator[ResultT | Lost[TaskT], None, None]:
        """Yield the results of all tasks as they come."""
        waiting: queue.SimpleQueue[TaskT] = queue.SimpleQueue()
        results: queue.SimpleQueue[ResultT | Lost[TaskT] | None] = queue.SimpleQueue()
        abandoned = threading.Event()
        for task in tasks:
            waiting.put(task)

        def serve() -> None:
            while not (stop.is_set() or abandoned.is_set()):
                try:
                    task = waiting.get_nowait()
                except queue.Empty:
                    break
                for result in _guarded(work, task):
                    results.put(result)
            results.put(_END)

        count = min(self.workers, len(tasks))
        try:
            for _ in range(count):
                # A thread cannot be ended from outside: as a daemon it does not keep the process when abandoned.
                threading.Thread(target=serve, daemon=True).start()
            while count:
                result = results.get()
                if result is _END:
                    count -= 1
                else:
                    yield result
        finally:
            abandoned.set()


@dataclass(frozen=True, slots=True)
class Processes:
    """Worker processes: for work that computes, or that computes so much while it waits that one process is too few.

    Where it is safe they are forked, and share what this process has built; elsewhere each builds its own.

    Attributes
    ----------
    workers
        Tasks at a time.
    processes
        How many processes share them, each with threads for its part; None for one each.
    """

    workers: int
    processes: int | None = None

    def run(
        self, work: Work[TaskT, ResultT], tasks: Sequence[TaskT], stop: threading.Event
    ) -> Generator[ResultT | Lost[TaskT], None, None]:
        """Yield the results of all tasks as they come; a worker that dies loses only the tasks that it had."""
        count = self.processes or self.workers
        shares = _Shares(tasks, count)
        pool = _Pool[TaskT](work)
        try:
            for share in range(shares.count):
                pool.start(share, self.workers // count + (share < self.workers % count), shares)
            while pool.members:
                for connection in wait(list(pool.members)):
                    assert isinstance(connection, Connection)
                    member = pool.members[connection]
                    try:
                        place, message = connection.recv()
                    except (EOFError, OSError):
                        yield from pool.bury(connection)
                        if shares.left and not stop.is_set():
                            pool.start(member.share, member.threads, shares)
                        continue
                    if message is not _END:
                        yield message
                        continue
                    del member.tasks[place]
                    if shares.left and not stop.is_set():
                        pool.give(connection, shares.take(member.share))
                    elif not member.tasks:
                        pool.dismiss(connection)
        finally:
            pool.abandon()


def executor_for(workers: int) -> Executor:
    """Return the executor for work that computes, on so many processes.

    Raises
    ------
    RunError
        If the number is not 1 to `MAX_WORKERS`.
    """
    return Serial() if _in_range(workers) == 1 else Processes(workers)


def threads_for(workers: int, processes: int = 1) -> Executor:
    """Return the executor for work that waits for others, on so many threads of so many processes.

    Raises
    ------
    RunError
        If there are not 1 to `MAX_WORKERS` threads, or not 1 to as many processes.
    """
    if not 1 <= processes <= _in_range(workers):
        raise RunError(f"expected 1 to {workers} processes, as there are {workers} workers, found {processes}")
    return Threads(workers) if processes == 1 else Processes(workers, processes)


def processes_for(workers: int) -> int:
    """Return how many processes so many threads are shared out to where nobody says it."""
    return max(1, min(-(-workers // _THREADS_A_PROCESS), os.cpu_count() or 1))


def _in_range(workers: int) -> int:
    if not 1 <= workers <= MAX_WORKERS:
        raise RunError(f"expected 1 to {MAX_WORKERS} workers, found {workers}")
    return workers


def _guarded(work: Work[TaskT, ResultT], task: TaskT) -> Iterator[ResultT | Lost[TaskT]]:
    try:
        yield from work(task)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one task must not end the others; it is reported as lost
        yield Lost(task, f"{type(error).__name__}: {error}")


# ------------------------------------------------------------------ processes


def _context() -> BaseContext:
    """Fork on Linux while no other thread could hold a lock in the copy; start afresh otherwise."""
    is_safe = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if is_safe else "spawn")


@contextmanager
def _interrupt_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while a worker starts, so that it does not meet one that cannot ignore it yet."""
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)


class _Shares(Generic[TaskT]):
    """Tasks dealt out in runs of neighbours: they often need the same things, and each worker builds its own."""

    def __init__(self, tasks: Sequence[TaskT], workers: int) -> None:
        self.count = min(workers, len(tasks))
        cuts = [len(tasks) * number // self.count for number in range(self.count + 1)] if tasks else []
        self._shares = [deque(tasks[start:end]) for start, end in pairwise(cuts)]

    @property
    def left(self) -> int:
        """How many tasks are left."""
        return sum(map(len, self._shares))

    def left_of(self, share: int) -> int:
        """How many tasks of a share are left."""
        return len(self._shares[share])

    def take(self, share: int) -> TaskT:
        """Return the next task of a share, or the last of the longest one where that is used up."""
        if self._shares[share]:
            return self._shares[share].popleft()
        return max(self._shares, key=len).pop()


@dataclass(slots=True)
class _Member(Generic[TaskT]):
    """A worker process, and the tasks that it has, by numbers that are given out once."""

    share: int
    threads: int
    process: BaseProcess
    tasks: dict[int, TaskT]


class _Pool(Generic[TaskT]):
    """Workers by the connection to each."""

    def __init__(self, work: Work[TaskT, Any]) -> None:
        self._work = work
        self._given = 0
        self.members: dict[Connection, _Member[TaskT]] = {}

    def start(self, share: int, threads: int, shares: _Shares[TaskT]) -> None:
        """Start a worker and give it as many tasks of its share as it has threads, or one of another."""
        context = _context()
        ours, theirs = context.Pipe()
        # A forked worker inherits our ends of all pipes; while it holds one, that worker does not notice our death.
        inherited = [*self.members, ours] if context.get_start_method() == "fork" else []
        process = context.Process(target=_serve, args=(self._work, theirs, inherited, threads))  # type: ignore[attr-defined]
        with _interrupt_held_back():
            process.start()
        theirs.close()
        self.members[ours] = _Member(share, threads, process, {})
        for _ in range(max(1, min(threads, shares.left_of(share)))):
            self.give(ours, shares.take(share))

    def give(self, connection: Connection, task: TaskT) -> None:
        self._given += 1
        self.members[connection].tasks[self._given] = task
        # Where it died while it was idle, reading from it will tell.
        with suppress(OSError):
            connection.send((self._given, task))

    def dismiss(self, connection: Connection) -> None:
        """Let a worker without further tasks go."""
        connection.close()
        _reap(self.members.pop(connection).process)

    def bury(self, connection: Connection) -> Iterator[Lost[TaskT]]:
        """Yield the tasks that a dead worker had, with how it died."""
        member = self.members.pop(connection)
        connection.close()
        _reap(member.process)
        code = member.process.exitcode
        how = f"exit status {code}" if code is None or code >= 0 else f"signal {-code}"
        for task in member.tasks.values():
            yield Lost(task, f"the worker process ended in the middle of it ({how})")

    def abandon(self) -> None:
        """End every worker that is left, whatever it is doing."""
        for connection, member in self.members.items():
            member.process.terminate()
            connection.close()
        for member in self.members.values():
            _reap(member.process)
        self.members.clear()


def _reap(process: BaseProcess) -> None:
    """See a worker off; one that does not go, for a thread of somebody's agent still runs in it, is made to."""
    process.join(_GRACE_S)
    if process.is_alive():
        process.kill()
        process.join()


def _serve(work: Work[Any, Any], connection: Connection, inherited: Sequence[Connection], threads: int) -> None:
    """Run tasks until there are no more, or nobody is left to read the results."""
    # Ctrl-C reaches the whole group; only the parent acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for other in inherited:
        other.close()
    # What the parent has built is shared as long as nobody writes to it, and the collector writes to all it looks at.
    gc.freeze()
    with suppress(EOFError, OSError):
        if threads == 1:
            while True:
                _answer(work, connection.recv(), connection.send)
        waiting: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        sending = threading.Lock()

        def send(message: tuple[int, Any]) -> None:
            with sending:
                connection.send(message)

        def answer() -> None:
            with suppress(OSError):
                while True:
                    _answer(work, waiting.get(), send)

        for _ in range(threads):
            # As daemons they do not keep the process when nobody is left to read what they do.
            threading.Thread(target=answer, daemon=True).start()
        while True:
            waiting.put(connection.recv())


def _answer(work: Work[Any, Any], given: tuple[int, Any], send: Callable[[tuple[int, Any]], None]) -> None:
    place, task = given
    for result in _guarded(work, task):
        send((place, result))
    send((place, _END))
