"""What the whole suite costs: the four reference agents on one worker and on two, and the check of all scenarios."""

from __future__ import annotations

import time
from pathlib import Path

from harness.agents.load import REFERENCE_AGENTS
from harness.cli.grading import grader_for
from harness.resources import data_root
from harness.retrieval.corpus import load_corpus
from harness.runs.engine import resolve_config, run
from harness.runs.executors import executor_for
from harness.scenario.files import load_library
from tests.benchmarks.conftest import Table
from tests.benchmarks.measure import command_cpu_s, cpu_with_children_s

ROUNDS = 3


def test_the_four_reference_agents(table: Table, tmp_path: Path) -> None:
    library = load_library([data_root("tasks")])
    domains = sorted({scenario.domain for scenario in library.scenarios.values()})
    grader = grader_for(*(load_corpus(data_root("corpus"), domain) for domain in domains))

    def play(workers: int, number: int) -> None:
        for agent in REFERENCE_AGENTS:
            config = resolve_config(library, name=agent, agent=agent)
            folder = tmp_path / f"{workers}-{number}-{agent}"
            result = run(config, library, folder, grader=grader, executor=executor_for(workers))
            assert result.is_complete

    play(1, -1)
    one, two, wall = [], [], []
    for number in range(ROUNDS):
        one.append(cpu_with_children_s(lambda: play(1, number)))  # noqa: B023 - called at once
        started = time.perf_counter()
        two.append(cpu_with_children_s(lambda: play(2, number)))  # noqa: B023
        wall.append(time.perf_counter() - started)
    episodes = len(REFERENCE_AGENTS) * len(library.scenarios)
    table.add(f"the whole suite, four reference agents ({episodes} episodes)", min(one), "s", 10)
    table.add("the same on two workers, by the clock", min(wall), "s")
    table.add("processor time of two workers against one", min(two) / min(one), "times", 1.15)


def test_checking_every_scenario(table: Table) -> None:
    check = "import sys; from harness.cli.main import main; sys.argv = ['fraudbench', 'tasks', 'check']; main()"
    table.add("fraudbench tasks check", command_cpu_s(["-c", check], rounds=1), "s", 20)
