"""Runs that are cut off, continued, damaged or out of room: nothing is lost, nothing is there twice."""

from __future__ import annotations

import json
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.resources import data_root
from tests.acceptance.cli import AGENTS, COMMAND, episodes, fraudbench, grades, report

PLAY = ("run", "--agent", "stops_the_run:make_agent", "--tasks", "s*,u*", "--trials", 2, "--out", "run")


class Whole(NamedTuple):
    """The same run, never cut off."""

    run: Path
    report: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(AGENTS, tmp_path / "mine")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = shutil.copytree(AGENTS, tmp_path_factory.mktemp("whole") / "mine")
    fraudbench(*PLAY, cwd=folder)
    return Whole(folder / "run", reported(folder))


def reported(folder: Path) -> str:
    return fraudbench("report", "run", "--format", "json", cwd=folder).stdout


def is_whole(run: Path, whole: Whole) -> None:
    assert episodes(run) == episodes(whole.run)
    assert grades(run) == grades(whole.run)


def cut_off(folder: Path, whom: str, number: signal.Signals, workers: int = 1) -> subprocess.CompletedProcess[str]:
    """Start the run and let the agent send a signal in the middle of it."""
    (folder / "stop").write_text(f"{whom} {number.value}")
    # Every process of the run holds the ends of the pipes that are read here: none outlives this.
    done = subprocess.run(
        [*COMMAND, *map(str, PLAY), "--workers", str(workers)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (folder / "stopped").exists()
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


# ------------------------------------------------------------------ cut off


@pytest.mark.parametrize(("workers", "whom", "then"), [(1, "self", 2), (2, "parent", 1)])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    folder: Path, whole: Whole, workers: int, whom: str, then: int
) -> None:
    run = folder / "run"
    assert cut_off(folder, whom, signal.SIGKILL, workers).returncode == -signal.SIGKILL
    before = episodes(run)
    assert 0 < len(before) < len(episodes(whole.run))
    with (run / "episodes.jsonl").open("a") as torn, (run / "grades.jsonl").open("a") as torn_too:
        torn.write('{"schema_version":1,"episode_id":"s7f3a/stops')
        torn_too.write("{")
    assert report(run, folder)["not_attempted"] == len(episodes(whole.run)) - len(before)
    fraudbench(*PLAY, "--resume", "--workers", then, cwd=folder)
    is_whole(run, whole)
    assert reported(folder) == whole.report


def test_a_worker_that_is_killed_loses_its_episode_only(folder: Path, whole: Whole) -> None:
    done = cut_off(folder, "self", signal.SIGKILL, workers=2)
    assert done.returncode == 3
    assert "came to no end" in done.stderr
    assert "signal 9" in done.stderr
    assert len(episodes(folder / "run")) == len(episodes(whole.run)) - 1
    fraudbench(*PLAY, "--resume", cwd=folder)
    is_whole(folder / "run", whole)


def test_an_interrupted_run_says_how_to_go_on(folder: Path, whole: Whole) -> None:
    done = cut_off(folder, "self", signal.SIGINT)
    assert done.returncode == 3
    assert "--out run --resume" in done.stderr
    assert episodes(folder / "run").items() < episodes(whole.run).items()


# ------------------------------------------------------------------ no room


def test_a_full_disk_keeps_what_is_complete(folder: Path, whole: Whole) -> None:
    size = (whole.run / "episodes.jsonl").stat().st_size * 2 // 3
    done = subprocess.run(
        [*COMMAND, *map(str, PLAY), "--workers", "2"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    _says_that_there_is_no_room(done, folder / "run", whole)
    fraudbench(*PLAY, "--resume", cwd=folder)
    is_whole(folder / "run", whole)


@pytest.fixture
def small_disk(folder: Path, whole: Whole) -> Iterator[Path]:
    """A disk with room for a part of the run, in its place, where this process may mount one."""
    size = sum(file.stat().st_size for file in whole.run.iterdir()) * 2 // 3
    disk = folder / "run"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_was_given_room_again_holds_the_whole_run(folder: Path, small_disk: Path, whole: Whole) -> None:
    done = fraudbench(*PLAY, cwd=folder, status=None)
    _says_that_there_is_no_room(done, small_disk, whole)
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    fraudbench(*PLAY, "--resume", cwd=folder)
    is_whole(small_disk, whole)


def _says_that_there_is_no_room(done: subprocess.CompletedProcess[str], run: Path, whole: Whole) -> None:
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    stored = episodes(run)
    assert 0 < len(stored) < len(episodes(whole.run))
    assert stored.items() <= episodes(whole.run).items()


# ------------------------------------------------------------------ another configuration, version, scenario


def test_a_run_goes_on_under_its_own_configuration_only(folder: Path, whole: Whole) -> None:
    shutil.copytree(whole.run, folder / "run")
    (folder / "stops_the_run.py").write_text((folder / "only_words.py").read_text().replace("refuses", "make_agent"))
    changes = "--tasks s* --trials 3 --retrieval none --seed 5 --resample 2 --history latest"
    done = fraudbench(*PLAY, "--resume", *changes.split(), cwd=folder, status=2)
    for line in ("trials: 2 and 3", 'retrieval: "bm25" and "none"', "seed: 0 and 5", "resample: 0 and 2"):
        assert f"  {line}\n" in done.stderr
    for name in ("history", "tasks", "agent_hash", "scenarios_hash"):
        assert f"  {name}: " in done.stderr
    is_whole(folder / "run", whole)


@pytest.mark.parametrize("file", ["run.json", "episodes.jsonl", "grades.jsonl"])
def test_a_folder_of_another_version_is_named(folder: Path, whole: Whole, file: str) -> None:
    run = shutil.copytree(whole.run, folder / "run")
    text = (run / file).read_text()
    changed = re.sub('"schema_version": ?1', '"schema_version":2', text)
    assert changed != text
    (run / file).write_text(changed)
    done = fraudbench("report", "run", cwd=folder, status=2)
    assert file in done.stderr
    assert "version 1" in done.stderr
    assert "Read it with the fraudbench that wrote it." in done.stderr


UNREADABLE = {
    "half.json": '{"schema_version": 1, "id":',
    "twice.json": '{"schema_version": 1, "schema_version": 1}',
    "nan.json": '{"schema_version": NaN}',
    "deep.json": '{"cast": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "long.json": '{"schema_version": ' + "9" * 10_000 + "}",
    "list.json": "[]",
    "empty.json": "",
    "latin.json": '{"title": "caf\xe9"}',
    "unknown.json": '{"schema_version": 1, "id": "z0000\\u001b[2J", "{0}": 1}',
    "version.json": '{"schema_version": 99}',
}


def test_every_unreadable_scenario_is_named_and_none_is_played(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    shutil.copy(data_root("tasks") / "banking" / "core" / "s7f3a.json", mine)
    for name, text in UNREADABLE.items():
        (mine / name).write_text(text, encoding="latin-1")
    found = fraudbench("tasks", "check", "./mine/", cwd=tmp_path, status=1)
    refused = fraudbench("run", "--tasks", "./mine/", "--out", "run", cwd=tmp_path, status=2)
    for name in UNREADABLE:
        assert name in found.stdout
    assert any(name in refused.stderr for name in UNREADABLE)
    assert "\x1b" not in found.stdout + refused.stderr
    assert not (tmp_path / "run").exists()


def test_a_scenario_that_the_bank_cannot_build_spoils_its_own_episodes_only(tmp_path: Path) -> None:
    for name in ("s7f3a", "u4d1a"):
        scenario = json.loads((data_root("tasks") / "banking" / "core" / f"{name}.json").read_text())
        if name == "u4d1a":
            scenario["setup"]["rows"] = [{"table": "notes", "insert": {"about_id": 5}}]
        (tmp_path / f"{name}.json").write_text(json.dumps(scenario))
    done = fraudbench("run", "--agent", "oracle", "--tasks", "./", "--out", "run", cwd=tmp_path, status=None)
    stored = episodes(tmp_path / "run")
    broken = stored["u4d1a/oracle/0"]
    assert broken["stop_reason"] == "world_fault"
    assert "/setup/rows/0" in broken["fault_detail"]
    assert grades(tmp_path / "run")["s7f3a/oracle/0"]["secure"] is True
    assert "1 errored: world_fault" in done.stdout


# ------------------------------------------------------------------ the same again


def test_runs_with_one_seed_are_the_same_on_any_number_of_processes(tmp_path: Path) -> None:
    play = ("run", "--agent", "oracle", "--tasks", "s*,c*", "--seed", 7, "--resample", 5)
    fraudbench(*play, "--out", "one", cwd=tmp_path)
    fraudbench(*play, "--out", "two", "--workers", 2, cwd=tmp_path)
    assert "The runs are the same." in fraudbench("runs", "diff", "one", "two", cwd=tmp_path).stdout
    assert episodes(tmp_path / "one") == episodes(tmp_path / "two")
