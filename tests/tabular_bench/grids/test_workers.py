"""Grids in worker processes: what fails, dies or is cut off costs no more than its own cell."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tabular_bench.cell import CellSpec
from tabular_bench.grid import run_grid
from tabular_bench.registry import Record, read_records
from tests.acceptance.cli import COMMAND

OWN = "tests.tabular_bench.grids.own_attacks"
ROOT = Path(__file__).resolve().parents[3]


def cell(attack: str, model: str = "random", seed: int = 42) -> CellSpec:
    return CellSpec("ccfd", model, attack, "A", seed=seed)


def told(records: list[Record]) -> dict[str, tuple[str, str | None]]:
    return {f"{record.spec.model}/{record.spec.attack}": (record.status, record.error) for record in records}


def without_times(path: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for record in read_records(path):
        plain = record.model_dump(exclude={"started_at", "runtime_s"})
        if plain["measured"]:
            del plain["measured"]["metrics"]["attack"]["runtime_s"]
        assert record.key not in found
        found[record.key] = plain
    return found


def test_a_cell_that_fails_and_a_worker_that_dies_do_not_stop_the_others(tmp_path: Path) -> None:
    cells = [
        cell("noise"),
        cell(f"{OWN}:Raising"),
        cell(f"{OWN}:Dying"),
        cell("noise(draws=2)"),
        cell("capgd"),
        cell("noise", "always", 7),
    ]
    seen: list[Record] = []
    waiting: list[int] = []
    path = tmp_path / "cells.jsonl"
    records = run_grid(cells, path, workers=2, on_start=waiting.append, on_record=seen.append)
    assert waiting == [6]
    assert seen == records == list(read_records(path))
    assert told(records) == {
        "random/noise": ("done", None),
        f"random/{OWN}:Raising": ("failed", "ZeroDivisionError: by nothing"),
        f"random/{OWN}:Dying": (
            "failed",
            "the worker process was killed by signal 9 in this cell; is there enough memory?",
        ),
        "random/noise(draws=2)": ("done", None),
        "random/capgd": ("not_applicable", "capgd against random: it needs gradients, the model has none"),
        "always/noise": ("done", None),
    }
    again = run_grid(cells[:2], path, on_start=waiting.append)
    assert told(again) == {f"random/{OWN}:Raising": ("failed", "ZeroDivisionError: by nothing")}


GRID = f"""
[[grid]]
datasets = ["ccfd"]
models = ["never", "random"]
attacks = ["{OWN}:Slow", "noise(draws=2)"]
protocols = ["A", "C2"]
seeds = [42, 123]
trivial = false
"""


@pytest.fixture(scope="module")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The registry of the grid, computed in one go by two workers."""
    folder = tmp_path_factory.mktemp("uncut")
    running = command(folder, "--workers", "2")
    said = running.communicate()
    assert running.returncode == 0, said
    return folder / "registry.jsonl"


def command(folder: Path, *options: str) -> subprocess.Popen[str]:
    (folder / "grid.toml").write_text(GRID)
    arguments = ["grid", str(folder / "grid.toml"), "--out", str(folder / "registry.jsonl"), *options]
    return subprocess.Popen(
        [*COMMAND, "tabular", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def cut_off(folder: Path, number: int) -> tuple[int, str]:
    """Send a signal to the command once some cells are done; returns its status and what it said."""
    running = command(folder)
    while lines_of(folder / "registry.jsonl") < 3 and running.poll() is None:
        time.sleep(0.02)
    os.kill(running.pid, number)
    _, said = running.communicate()
    return running.returncode, said


def test_a_grid_that_was_killed_goes_on_where_it_was(tmp_path: Path, uncut: Path) -> None:
    status, _ = cut_off(tmp_path, signal.SIGKILL)
    assert status == -signal.SIGKILL
    before = lines_of(tmp_path / "registry.jsonl")
    assert 3 <= before < 16
    resumed = command(tmp_path)
    _, said = resumed.communicate()
    assert resumed.returncode == 0
    assert f"16 cells, {before} of them recorded already" in said
    assert without_times(tmp_path / "registry.jsonl") == without_times(uncut)


def test_ctrl_c_ends_a_grid_cleanly(tmp_path: Path, uncut: Path) -> None:
    status, said = cut_off(tmp_path, signal.SIGINT)
    assert status == 130
    assert "The same command goes on from there" in said
    assert "Traceback" not in said
    recorded = without_times(tmp_path / "registry.jsonl")
    assert recorded.items() <= without_times(uncut).items()
