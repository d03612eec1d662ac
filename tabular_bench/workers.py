"""Cells in worker processes: each holds a bench of its own, and what one of them dies of costs one cell.

A batch is the cells of one detector. A worker is given batches of the data set that it has at hand before any other, so
that two workers seldom make the same rows. Workers are started afresh and not forked: this process need not know what
its libraries do with threads.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from tabular_bench.cell import CellSpec
from tabular_bench.errors import TabularError
from tabular_bench.registry import Measured, Record, attempt

Batch = Sequence[CellSpec]
Place = tuple[str, int]

# Linear algebra asks for these when it is loaded. Two workers with two threads each would wait for each other.
_ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
_GRACE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What a worker builds its bench from.

    Attributes
    ----------
    data_root, cache
        As in `tabular_bench.runner.Bench`.
    code
        The `tabular_bench.registry.code_hash` that records name.
    """

    data_root: Path | None
    cache: Path | None
    code: str


@dataclass(eq=False, slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    place: Place | None = None
    cells: deque[CellSpec] = field(default_factory=deque)


class _Plan:
    """The batches that nobody has yet."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._waiting = [list(batch) for batch in batches if batch]

    def __len__(self) -> int:
        return len(self._waiting)

    def put_back(self, cells: Batch) -> None:
        if cells:
            self._waiting.insert(0, list(cells))

    def next_for(self, own: Place | None, others: set[Place | None]) -> list[CellSpec]:
        """Return a batch of one's own data set, or one of a data set that nobody has, or any."""
        places = [_place(batch) for batch in self._waiting]
        number = next((n for n, place in enumerate(places) if place == own), None)
        if number is None:
            number = next((n for n, place in enumerate(places) if place not in others), 0)
        return self._waiting.pop(number)


def compute_in_processes(
    batches: Sequence[Batch], settings: BenchSettings, workers: int
) -> Generator[Record, None, None]:
    """Compute batches of cells, and yield the record of each cell as soon as it is there.

    A worker that dies fails the cell that it was in; another goes on with the rest. Closing the iterator ends all
    workers.

    Parameters
    ----------
    batches
        Each the cells of one detector, in the order in which they are computed.
    settings
        Of every worker's bench.
    workers
        How many processes, at least 1.
    """
    plan, members = _Plan(batches), dict[Connection, _Worker]()
    try:
        for _ in range(min(workers, len(plan))):
            _start(plan, members, settings)
        while members:
            for ready in wait(list(members)):
                assert isinstance(ready, Connection)
                worker = members[ready]
                try:
                    record: Record = ready.recv()
                except (EOFError, OSError):
                    del members[ready]
                    yield _failed(worker, settings.code)
                    plan.put_back(list(worker.cells)[1:])
                    if len(plan):
                        _start(plan, members, settings)
                    continue
                worker.cells.popleft()
                yield record
                if not worker.cells:
                    _give_more(worker, plan, members)
    finally:
        _end(list(members.values()))


def _start(plan: _Plan, members: dict[Connection, _Worker], settings: BenchSettings) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, settings), daemon=True)
    process.start()
    there.close()
    members[here] = _Worker(process, here)
    _give_more(members[here], plan, members)


def _give_more(worker: _Worker, plan: _Plan, members: dict[Connection, _Worker]) -> None:
    if not len(plan):
        del members[worker.connection]
        _end([worker])
        return
    batch = plan.next_for(worker.place, {other.place for other in members.values()})
    worker.place, worker.cells = _place(batch), deque(batch)
    try:
        worker.connection.send(batch)
    except OSError:
        return  # It has died: reading from it says so.


def _place(batch: Batch) -> Place:
    return batch[0].dataset, batch[0].seed


def _failed(worker: _Worker, code: str) -> Record:
    worker.process.join()
    status = worker.process.exitcode or 0
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    hint = "; is there enough memory?" if status == -signal.SIGKILL else ""

    def report(cell: CellSpec) -> Measured:
        raise TabularError(f"the worker process {how} in this cell{hint}")

    return attempt(worker.cells[0], report, code)


def _end(workers: Sequence[_Worker]) -> None:
    """End workers that have nothing more to do, or are not to go on."""
    for worker in workers:
        worker.connection.close()
        worker.process.terminate()
    for worker in workers:
        worker.process.join(_GRACE_S)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _serve(connection: Connection, settings: BenchSettings) -> None:
    """Compute what comes down the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # A Ctrl-C in the terminal is for the parent, which ends its workers.
    os.environ.update(_ONE_THREAD)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from tabular_bench.runner import Bench

    bench = Bench(settings.data_root, settings.cache)
    try:
        while True:
            for cell in connection.recv():
                connection.send(attempt(cell, bench.compute, settings.code))
    except (EOFError, OSError):
        return


def _end_with_parent() -> None:
    """Leave nothing behind that computes for nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)
