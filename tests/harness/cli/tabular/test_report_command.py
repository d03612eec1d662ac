"""`fraudbench tabular report` and `plot`, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tabular_bench.registry import Record, Registry
from tests.tabular_bench.reports.planted import same


def fraudbench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = "from harness.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "tabular", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def write(path: Path, records: list[Record]) -> Path:
    with Registry(path) as registry:
        for record in records:
            registry.append(record)
    return path


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = [found for protocol in ("A", "C2") for found in same({"dataset": "lcld", "protocol": protocol})]
    return write(tmp_path_factory.mktemp("cells") / "cells.jsonl", records)


def test_a_report_is_printed_and_written(registry: Path, tmp_path: Path) -> None:
    printed = fraudbench("report", registry, "--table", "vi")
    assert (printed.returncode, printed.stderr.count("Traceback")) == (0, 0)
    assert "Table VI. Protocols compared: robust PR-AUC" in printed.stdout
    assert "Table V." not in printed.stdout
    assert f"fraudbench tabular plot {registry}" in printed.stderr.splitlines()[-1]
    out = tmp_path / "new" / "report.json"
    written = fraudbench("report", registry, "--format", "json", "--out", out)
    assert (written.returncode, written.stdout) == (0, "")
    assert json.loads(out.read_text())["records"] == {"done": 6, "failed": 0, "not_applicable": 0}


def test_pictures_are_written(registry: Path, tmp_path: Path) -> None:
    drawn = fraudbench("plot", registry, "--kind", "bars", "--format", "svg", "--out", tmp_path)
    assert drawn.returncode == 0
    assert drawn.stdout.splitlines() == [str(tmp_path / "bars_published_capgd_published_both.svg")]
    none = fraudbench("plot", registry, "--kind", "epsilon", "--out", tmp_path)
    assert none.returncode == 2
    assert "no setting has cells at two epsilons or more" in none.stderr


def test_a_registry_that_cannot_be_used_is_named_with_its_line(registry: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(registry.read_text() + '{"format": 1}\n')
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    for path, told in (
        (broken, f"{broken}: line 7: expected a record of a cell"),
        (empty, f"{empty}: expected at least one recorded cell from line 1 on, found none"),
        (tmp_path / "absent.jsonl", "found no such file; `fraudbench tabular grid` makes one"),
    ):
        result = fraudbench("report", path)
        assert (result.returncode, result.stdout) == (2, "")
        assert told in result.stderr
        assert "Traceback" not in result.stderr
    assert "expected a table (II, III" in fraudbench("report", registry, "--table", "XI").stderr
