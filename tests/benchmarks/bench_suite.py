"""What the whole suite costs: the four reference agents on one worker and on two, and the check of all scenarios."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from harness.agents.load import REFERENCE_AGENTS
from harness.cli.grading import grader_for
from harness.resources import data_root
from harness.retrieval.corpus import load_corpus
from harness.runs.engine import resolve_config, run
from harness.runs.executors import executor_for
from harness.scenario.files import load_library
from tests.benchmarks.conftest import Table
from tests.benchmarks.measure import command_cpu_s, cpu_with_children_s

ROUNDS = 4
MAIN = "import sys; from harness.cli.main import main; sys.argv[0] = 'fraudbench'; main()"


class Measured(NamedTuple):
    """The best of some rounds, in seconds of processor time, and of two workers by the clock."""

    episodes: int
    one_s: float
    two_s: float
    two_wall_s: float


def measure(folder: Path) -> Measured:
    """Play the suite in turns on one worker and on two."""
    library = load_library([data_root("tasks")])
    domains = sorted({scenario.domain for scenario in library.scenarios.values()})
    grader = grader_for(*(load_corpus(data_root("corpus"), domain) for domain in domains))

    def play(workers: int, number: int) -> None:
        for agent in REFERENCE_AGENTS:
            config = resolve_config(library, name=agent, agent=agent)
            path = folder / f"{workers}-{number}-{agent}"
            assert run(config, library, path, grader=grader, executor=executor_for(workers)).is_complete

    play(1, -1)
    one, two, wall = [], [], []
    for number in range(ROUNDS):
        one.append(cpu_with_children_s(lambda: play(1, number)))  # noqa: B023 - called at once
        started = time.perf_counter()
        two.append(cpu_with_children_s(lambda: play(2, number)))  # noqa: B023
        wall.append(time.perf_counter() - started)
    return Measured(len(REFERENCE_AGENTS) * len(library.scenarios), min(one), min(two), min(wall))


def test_the_four_reference_agents(table: Table, tmp_path: Path) -> None:
    # In a process of its own: where other benchmarks have left threads behind, workers are not forked.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        found = process.submit(measure, tmp_path).result()
    table.add(f"the whole suite, four reference agents ({found.episodes} episodes)", found.one_s, "s", 10)
    table.add("the same on two workers, by the clock", found.two_wall_s, "s")
    table.add("processor time of two workers against one", found.two_s / found.one_s, "times", 1.15)


def test_the_command(table: Table, tmp_path: Path) -> None:
    def demo(workers: int, number: int) -> float:
        out = str(tmp_path / f"{workers}-{number}")
        return command_cpu_s(["-c", MAIN, "demo", "--out", out, "--workers", str(workers)], rounds=1)

    rounds = [(demo(1, number), demo(2, number)) for number in range(ROUNDS)]
    one_s, two_s = (min(side) for side in zip(*rounds, strict=True))
    table.add("fraudbench demo, one worker", one_s, "s")
    table.add("processor time of it with two workers against one", two_s / one_s, "times", 1.15)


def test_checking_every_scenario(table: Table) -> None:
    table.add("fraudbench tasks check", command_cpu_s(["-c", MAIN, "tasks", "check"], rounds=1), "s", 20)
