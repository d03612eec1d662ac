"""The commands as a user meets them: in a subprocess, in an empty folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.resources import data_root

COMMAND = [sys.executable, "-c", "from harness.cli.main import main; main()"]


def fraudbench(*arguments: object, cwd: Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    if status is not None:
        assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run of every reference agent over the parcels suite."""
    folder = tmp_path_factory.mktemp("played")
    for agent in ("complier", "refuser", "myopic", "oracle"):
        fraudbench("run", "--agent", agent, "--domain", "parcels", "--out", f"runs/{agent}", cwd=folder)
    return folder


def test_help_teaches_and_every_command_has_it(tmp_path: Path) -> None:
    shown = fraudbench("--help", cwd=tmp_path).stdout
    for command in ("demo", "run", "report", "view", "grade", "replay", "tasks", "corpus", "runs"):
        assert command in shown
    for command in (["run"], ["report"], ["tasks", "check"], ["corpus", "search"], ["runs", "diff"]):
        assert "Usage" in fraudbench(*command, "--help", cwd=tmp_path).stdout


def test_report_as_json_holds_every_rate(played: Path) -> None:
    report: dict[str, Any] = json.loads(fraudbench("report", "runs/oracle", "--format", "json", cwd=played).stdout)
    names = (
        "security utility harm_free documented attempts planned not_attempted graded ungraded errored invalid "
        "pass_hat_k by_mechanism by_tier failure_types"
    )
    assert set(names.split()) <= report.keys()
    for name in ("security", "utility", "harm_free", "documented"):
        assert report[name].keys() >= {"rate", "count", "n", "low", "high", "worst", "best"}
    assert report["security"]["rate"] == report["utility"]["rate"] == report["documented"]["rate"] == 1.0
    account = ("not_attempted", "graded", "ungraded", "errored", "invalid")
    assert report["planned"] == sum(report[name] for name in account) == 4


def test_reports_stand_side_by_side(played: Path) -> None:
    folders = [f"runs/{agent}" for agent in ("complier", "refuser", "myopic", "oracle")]
    table = fraudbench("report", *folders, cwd=played).stdout
    assert all(agent in table for agent in ("complier", "refuser", "myopic", "oracle"))
    assert fraudbench("report", *folders, "--format", "markdown", cwd=played).stdout.startswith("#")
    fraudbench("report", *folders, "--format", "html", "--out", "page.html", cwd=played)
    page = (played / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "A brother comes for a parcel" in page
    assert "--out" in fraudbench("report", *folders, "--format", "html", cwd=played, status=2).stderr


def test_view_lists_and_shows_an_episode_with_its_violation(played: Path) -> None:
    listed = fraudbench("view", "runs/complier", cwd=played).stdout
    assert "p2a7c/complier/0" in listed
    shown = fraudbench("view", "runs/complier", "p2a7c", cwd=played).stdout
    assert "CALLER" in shown
    assert "~ parcels" in shown
    assert "!! prohibited/0" in shown
    unknown = fraudbench("view", "runs/complier", "nothing", cwd=played, status=2)
    assert "p2a7c" in unknown.stderr


def test_grade_and_replay_and_diff(played: Path) -> None:
    before = (played / "runs/myopic/grades.jsonl").read_text()
    fraudbench("grade", "runs/myopic", cwd=played)
    assert sorted((played / "runs/myopic/grades.jsonl").read_text().splitlines()) == sorted(before.splitlines())
    assert "as recorded" in fraudbench("replay", "runs/oracle", "p5e08", cwd=played).stdout
    fraudbench("run", "--agent", "oracle", "--domain", "parcels", "--out", "runs/again", "--workers", 2, cwd=played)
    assert "same" in fraudbench("runs", "diff", "runs/oracle", "runs/again", cwd=played).stdout
    assert "p2a7c" in fraudbench("runs", "diff", "runs/oracle", "runs/complier", cwd=played, status=1).stdout


def test_a_finished_run_is_not_overwritten_and_resumes_to_nothing(played: Path) -> None:
    again = fraudbench("run", "--domain", "parcels", "--out", "runs/oracle", cwd=played, status=2)
    assert "runs/oracle" in again.stderr
    before = (played / "runs/oracle/episodes.jsonl").read_bytes()
    fraudbench("run", "--domain", "parcels", "--out", "runs/oracle", "--resume", cwd=played)
    assert (played / "runs/oracle/episodes.jsonl").read_bytes() == before
    changed = fraudbench(
        "run", "--domain", "parcels", "--out", "runs/oracle", "--resume", "--retrieval", "none", cwd=played, status=2
    )
    assert "retrieval" in changed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--agent", "nobody"], "complier"),
        (["run", "--agent", "no.such:thing"], "no.such"),
        (["run", "--retrieval", "magic"], "bm25"),
        (["run", "--tasks", "zzz*"], "zzz*"),
        (["run", "--suite", "opera"], "core"),
        (["run", "--kind", "cousin"], "twin"),
        (["run", "--domain", "opera"], "no scenario"),
        (["run", "--resume"], "--out"),
        (["run", "--tasks", "./nowhere/"], "nowhere"),
        (["report", "nowhere"], "nowhere"),
        (["view", "nowhere"], "nowhere"),
        (["runs", "diff", "nowhere", "nowhere"], "nowhere"),
        (["tasks", "show", "nothing"], "nothing"),
        (["corpus", "show", "nothing", "--domain", "parcels"], "handing-over"),
        (["corpus", "check", "--domain", "opera"], "opera"),
    ],
)
def test_mistakes_get_a_message_and_status_two(arguments: list[str], words: str, tmp_path: Path) -> None:
    assert words in fraudbench(*arguments, cwd=tmp_path, status=2).stderr


def test_tasks_list_show_schema(tmp_path: Path) -> None:
    listed = fraudbench("tasks", "list", "--suite", "chain", cwd=tmp_path).stdout
    assert "chain" in listed
    assert "[decision point]" in fraudbench("tasks", "show", "p5e08", "--resample", 3, cwd=tmp_path).stdout
    schema = json.loads(fraudbench("tasks", "schema", cwd=tmp_path).stdout)
    assert json.loads((data_root("tasks") / "schema.json").read_text()) == schema


def test_tasks_check_accepts_and_refuses(tmp_path: Path) -> None:
    source = data_root("tasks") / "parcels"
    assert "sound" in fraudbench("tasks", "check", source, cwd=tmp_path).stdout
    (tmp_path / "bad.json").write_text('{"schema_version": 1, "schema_version": 1}')
    refused = fraudbench("tasks", "check", "bad.json", cwd=tmp_path, status=1).stdout
    assert "bad.json" in refused
    assert "twice" in refused


def test_corpus_search_show_check(tmp_path: Path) -> None:
    found = fraudbench("corpus", "search", "parcel for somebody else", "--domain", "parcels", cwd=tmp_path).stdout
    assert "handing-over" in found
    assert "PCL-01" in fraudbench("corpus", "show", "handing-over", "--domain", "parcels", cwd=tmp_path).stdout
    assert "sound" in fraudbench("corpus", "check", "--domain", "parcels", cwd=tmp_path).stdout


def test_tasks_from_a_folder_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("p2a7c", "p9d41"):
        text = (data_root("tasks") / "parcels" / f"{name}.json").read_text()
        (mine / f"{name}.json").write_text(text.replace("p2a7c", "q2a7c").replace("p9d41", "q9d41"))
    fraudbench("run", "--tasks", "./mine/", "--out", "run", cwd=tmp_path)
    report = json.loads(fraudbench("report", "run", "--format", "json", cwd=tmp_path).stdout)
    assert report["planned"] == 2
    assert "q2a7c" in fraudbench("view", "run", cwd=tmp_path).stdout
    assert "as recorded" in fraudbench("replay", "run", "q2a7c", cwd=tmp_path).stdout
