"""The command line in processes of its own, and what it leaves in a run folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-c", "from harness.cli.main import main; main()"]
AGENTS = Path(__file__).with_name("agents")
"""Agents as strangers write them: modules that lie in the folder where the command is run."""

Json = dict[str, Any]


def fraudbench(*arguments: object, cwd: Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; no traceback may reach the user, whatever happens."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    if status is not None:
        assert done.returncode == status, done.stdout + done.stderr
    return done


def lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def episodes(run: Path) -> dict[str, Json]:
    """Return the stored episodes of a run by id; none may be there twice."""
    found = lines(run / "episodes.jsonl")
    by_id = {record["episode_id"]: record for record in found}
    assert len(by_id) == len(found)
    return by_id


def grades(run: Path) -> dict[str, Json]:
    """Return the grades of a run by episode id; none may be there twice, and grading must not have failed."""
    found = lines(run / "grades.jsonl")
    by_id = {record["episode_id"]: record["grade"] for record in found}
    assert len(by_id) == len(found)
    assert None not in by_id.values(), found
    return by_id


def report(run: Path, cwd: Path) -> Json:
    """Return the report of a run; its account must add up."""
    found: Json = json.loads(fraudbench("report", run, "--format", "json", cwd=cwd, status=None).stdout)
    account = ("not_attempted", "graded", "ungraded", "errored", "invalid")
    assert found["planned"] == sum(found[name] for name in account), found
    return found
