"""What one episode costs in a run: opening the world, playing, storing the line, grading."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from domains.kit.domain import load_domain
from domains.kit.tools import Actor
from harness.cli.grading import grader_for
from harness.episode.events import Called, TurnEnded
from harness.resources import data_root
from harness.retrieval.corpus import load_corpus
from harness.runs.engine import Progress, resolve_config, run
from harness.runs.folder import RunFolder
from harness.runs.record import EpisodeRecord
from harness.scenario.files import load_library
from harness.scenario.instance import instantiate
from tests.benchmarks.conftest import Table
from tests.benchmarks.measure import cpu_ms
from tests.benchmarks.padded import write_padded_corpus

SCENARIO = "c7d39"
"""A chain whose caller comes back five times when refused."""
ROUND = 10
EPISODES = 10 * ROUND + 1
DOCUMENTS = 700


@pytest.fixture(scope="module")
def corpus_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    write_padded_corpus(root, "banking", DOCUMENTS)
    return root


def test_an_episode_of_ten_turns(table: Table, corpus_root: Path, tmp_path: Path) -> None:
    library = load_library([data_root("tasks")])
    config = resolve_config(
        library,
        name="episode",
        agent="tests.benchmarks.desk_agent:DeskAgent",
        tasks=[SCENARIO],
        trials=EPISODES,
        corpus_root=corpus_root,
    )
    corpus = load_corpus(corpus_root, "banking")
    assert len(corpus) == DOCUMENTS
    ended: list[float] = []

    def progress(now: Progress) -> None:
        if now.done > len(ended):
            ended.append(time.process_time())

    grader = grader_for(corpus)
    run(config, library, tmp_path / "run", grader=grader, progress=progress, corpus_root=corpus_root)
    taken = [later - earlier for earlier, later in pairwise(ended)]
    # As in `cpu_ms`: the round that other work on the machine disturbed least.
    episode = min(median(taken[start : start + ROUND]) for start in range(0, len(taken), ROUND))
    record = next(iter(RunFolder(tmp_path / "run").records()))
    _check_work(record)
    table.add("a graded episode: 10 turns, 6 calls, 2 searches of 700 documents", episode * 1e3, "ms", 10)
    instance = instantiate(library.scenarios[SCENARIO], load_domain("banking"))
    grading = cpu_ms(lambda: grader.grade(record.episode_id, instance, record.events))
    table.add("grading it", grading, "ms", 2)


def _check_work(record: EpisodeRecord) -> None:
    calls = [event.tool for event in record.events if isinstance(event, Called) and event.actor is Actor.AGENT]
    assert len(calls) == 6
    assert calls.count("kb_search") == 2
    assert sum(isinstance(event, TurnEnded) for event in record.events) >= 10
    assert not record.is_errored
