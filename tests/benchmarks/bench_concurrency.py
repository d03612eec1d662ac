"""Many episodes at a time with models that take their time: how near a run comes to what its calls alone allow."""

from __future__ import annotations

import heapq
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.runs.folder import RunFolder
from tests.acceptance.provided import AGENT, provided, sample
from tests.benchmarks.conftest import Table

WORKERS = 64
TRIALS = 3
"""Of the whole suite: some two hundred episodes."""

SLOW_S, QUICK_S = 0.5, 0.05

COMMAND = """
import re, sys
from pathlib import Path
from harness.cli.main import main
sys.argv[0] = "fraudbench"
try:
    main()
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
"""The command, which says at its end how much memory it took at most, in kilobytes.

Not by `getrusage`: its peak is at least that of the process that started this one, however small this one is.
"""


def _serve(connection: Connection) -> None:
    with provided(sample(), keeps_bodies=False) as provider:
        connection.send(provider.url)
        while (think_s := connection.recv()) is not None:
            provider.clear()
            provider.think_s = think_s
            connection.send(None)
            connection.recv()
            chats = provider.chats
            took_s = [chat.ended_s - chat.began_s for chat in chats if chat.ended_s is not None]
            connection.send((chats[0].began_s, chats[-1].ended_s, sum(took_s) / len(took_s)))


class Desk(NamedTuple):
    """A provider in a process of its own."""

    url: str
    connection: Connection


class Measured(NamedTuple):
    """What a run took: from its first call to its last, and at most; and the calls of its episodes, in their order.

    `call_s` is what the provider took for a call on average, by its own clock: never less than it was to think, and
    more where the processors were busy.
    """

    wall_s: float
    call_s: float
    peak_mb: float
    calls: list[int]


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    yield Desk(ours.recv(), ours)
    ours.send(None)
    process.join()


def play(desk: Desk, folder: Path, think_s: float, workers: int, processes: int) -> Measured:
    """Play the whole suite by the command."""
    desk.connection.send(think_s)
    desk.connection.recv()
    arguments = ["run", "--agent-url", desk.url, "--agent-model", AGENT, "--out", folder, "--trials", TRIALS]
    arguments += ["--workers", workers, "--processes", processes]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)], check=True, capture_output=True, text=True
    )
    desk.connection.send(None)
    began_s, ended_s, call_s = desk.connection.recv()
    run = RunFolder(folder)
    calls = {line.episode_id: len(line.calls) for line in run.model_calls()}
    order = [f"{scenario}/{run.config.agent_name}/{trial}" for scenario in run.config.tasks for trial in range(TRIALS)]
    return Measured(ended_s - began_s, call_s, int(done.stdout.split()[-1]) / 1e3, [calls[name] for name in order])


def ideal_s(run: Measured) -> float:
    """Return the time that the calls alone take where each episode goes to the first free worker."""
    free_at = [0.0] * WORKERS
    for count in run.calls:
        heapq.heappush(free_at, heapq.heappop(free_at) + count * run.call_s)
    return max(free_at)


def test_slow_calls(table: Table, desk: Desk, tmp_path: Path) -> None:
    shared = play(desk, tmp_path / "shared", SLOW_S, WORKERS, 2)
    what = f"{len(shared.calls)} episodes of {sum(shared.calls)} calls of 500 ms, {WORKERS} workers"
    table.add("what the provider took for each of them", 1e3 * shared.call_s, "ms")
    table.add(f"{what}: share of the ideal", 100 * ideal_s(shared) / shared.wall_s, "%", at_least=85)
    one = play(desk, tmp_path / "one", SLOW_S, WORKERS, 1)
    table.add("the same in one process", 100 * ideal_s(one) / one.wall_s, "%")
    few = play(desk, tmp_path / "few", 0.0, 4, 1)
    assert few.peak_mb < one.peak_mb
    table.add("each running episode", (one.peak_mb - few.peak_mb) / (WORKERS - 4), "MB", 2)


def test_quick_calls(table: Table, desk: Desk, tmp_path: Path) -> None:
    one = play(desk, tmp_path / "one", QUICK_S, WORKERS, 1)
    table.add("the same of 50 ms in one process", sum(one.calls) / one.wall_s, "/s")
    two = play(desk, tmp_path / "two", QUICK_S, WORKERS, 2)
    table.add("in two processes", sum(two.calls) / two.wall_s, "/s")
    table.add("time of two processes against one", two.wall_s / one.wall_s, "times", 0.75)
