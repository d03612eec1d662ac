"""Twenty kills in a row: what a run with models is in the end, and what was paid twice for it."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.killing import kill_again_and_again
from tests.acceptance.provided import models_file, provided, sample
from tests.benchmarks.conftest import Table

KILLS = 20


def test_kills_in_a_row(table: Table, tmp_path: Path) -> None:
    with provided(sample()) as provider:
        config = models_file(tmp_path, provider.url, "agent", "judge")
        run = ("run", "--config", config, "--workers", 4)
        twice = kill_again_and_again(provider, tmp_path, run, KILLS)
        share = 100 * twice / (len(provider.chats) - twice)
    table.add(f"calls paid twice after {KILLS} kills of a run with 4 workers", share, "%")
