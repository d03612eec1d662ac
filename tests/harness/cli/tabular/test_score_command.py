"""A stranger scores a detector of theirs on a table of theirs, in a folder of theirs, with the command alone."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from tabular_bench.errors import TabularError
from tests.acceptance.cli import fraudbench
from tests.tabular_bench.score import strangers

QUICK = ("--attack", "noise(draws=2)", "--max-rows", "10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 20 columns and a target, a booster, and a constraint file of a few lines."""
    made = tmp_path_factory.mktemp("stranger")
    strangers.table(made)
    strangers.model(made)
    (made / "mine.toml").write_text(strangers.FIVE_LINES, encoding="utf-8")
    return made


def asked(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: object, status: int = 0) -> str:
    """Run the command in this process, which is quicker where nothing depends on another."""
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, ["tabular", "score", *map(str, arguments)])
    if isinstance(result.exception, TabularError):
        raise result.exception
    assert result.exit_code == status, result.output
    return result.stdout


def test_a_stranger_scores_a_detector(folder: Path) -> None:
    arguments = ("model.json", "payments.csv", "--target", "fraud", "--constraints", "mine.toml", "--amount", "amount")
    done = fraudbench("tabular", "score", *arguments, "--attack", "square(iterations=30)", "--out", "mine", cwd=folder)
    for told in (
        "400 rows",
        "never",
        "always",
        "random",
        "largest_first",
        "square(iterations=30)",
        "C2",
        "relation:r2",
    ):
        assert told in done.stdout
    assert "attacking: 4 of 4" in done.stderr
    assert "The result is in mine" in done.stderr.splitlines()[-1]
    result: dict[str, Any] = json.loads((folder / "mine" / "result.json").read_text(encoding="utf-8"))
    assert result["table"]["reference"] == "the scored rows"
    assert len(result["table"]["files"][0]["sha256"]) == len(result["detector"]["sha256"]) == 64
    assert {feature["known"] for feature in result["table"]["features"]} == {"inferred"}
    assert [entry["protocol"] for entry in result["found"]["attacks"]] == ["A", "B", "C1", "C2"]
    assert result["found"]["attacks"][3]["metrics"]["success_rate"] is not None
    assert (folder / "mine" / "result.md").read_text(encoding="utf-8").startswith("# model.json")
    rows = list(csv.DictReader((folder / "mine" / "attacks.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["protocol"] for row in rows] == ["A", "B", "C1", "C2"]
    assert all(0 <= float(row["success_rate"]) <= 1 for row in rows)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"risk": ["", ""]}, ["payments.csv: column risk", "2 of 400 rows (rows 2, 3)", "--impute"]),
        ({"fraud": ["3"]}, ["column fraud", "two different labels"]),
    ],
)
def test_a_mistake_is_answered_with_a_message_and_status_2(
    changes: dict[str, list[str]], told: list[str], folder: Path, tmp_path: Path
) -> None:
    changed: dict[str, Any] = {}
    for name, values in changes.items():
        column = strangers.columns()[name].astype(object)
        column[: len(values)] = values
        changed[name] = np.array(column)
    table = strangers.table(tmp_path, **changed)
    done = fraudbench("tabular", "score", folder / "model.json", table, "--target", "fraud", cwd=tmp_path, status=2)
    assert done.stderr.startswith("fraudbench: ")
    assert [part for part in told if part not in done.stderr] == []
    assert not (tmp_path / "runs").exists()


def test_formats_and_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common = ("model.json", "payments.csv", "--target", "fraud", *QUICK, "--protocols", "C2,A")
    printed = json.loads(asked(folder, monkeypatch, *common, "--format", "json"))
    assert [entry["protocol"] for entry in printed["found"]["attacks"]] == ["A", "C2"]
    assert asked(folder, monkeypatch, *common, "--format", "csv").startswith("attack,protocol,status")
    assert asked(folder, monkeypatch, *common, "--format", "markdown").startswith("# model")
    kept = sorted(path.name for path in (folder / "runs" / "tabular").iterdir())
    assert kept == ["score-model-payments", "score-model-payments-2", "score-model-payments-3"]
    with pytest.raises(TabularError, match="holds a result already"):
        asked(folder, monkeypatch, *common, "--out", "runs/tabular/score-model-payments")


def test_attacks_that_do_not_apply_are_blank_with_a_reason(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common = ("model.json", "payments.csv", "--target", "fraud", "--protocols", "C2", "--attack", "pgd")
    assert "pgd, C2: not applicable: the attack needs gradients" in asked(folder, monkeypatch, *common)
    (row,) = csv.DictReader(asked(folder, monkeypatch, *common, "--format", "csv").splitlines())
    assert (row["status"], row["success_rate"], row["average_precision"]) == ("not_applicable", "", "")
    assert "gradients" in row["reason"]


def test_an_attack_of_ones_own_that_fails_is_recorded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Careless:\n    access = 'score'\n    def perturb(self, context):\n        return context.row\n"
    (folder / "careless.py").write_text(code)
    common = ("model.json", "payments.csv", "--target", "fraud", "--protocols", "A", *QUICK)
    shown = asked(folder, monkeypatch, *common, "--attack", "careless:Careless", status=1)
    assert "careless:Careless, A: failed: AttributeError" in shown
    assert re.search(r"^noise\(draws=2\) +A +\d", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--target COLUMN"),
        (("--target", "fraud", "--protocols", "D"), r"expected a protocol \(A, B, C1, C2\), found 'D'"),
        (("--target", "fraud", "--preset", "loose"), "expected a preset"),
        (("--target", "fraud", "--epsilon", "inf"), "expected a finite number"),
        (("--target", "fraud", "--threshold", "best"), "expected a threshold rule"),
        (("--target", "fraud", "--attack", "sqare"), "did you mean square"),
        (("--target", "fraud", "--constraints", "none.toml"), r"none\.toml: cannot be read"),
        (("--target", "fraud", "--constraints", "bad.toml"), r"bad\.toml: relation r1"),
        (("--target", "fraud", "--constraints", "odd.toml"), r"odd\.toml: Invalid value"),
    ],
)
def test_options_that_cannot_be_are_explained(
    arguments: tuple[str, ...], told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bad.toml").write_text('relations = ["amonut <= 3"]')
    (folder / "odd.toml").write_text("relations = [")
    with pytest.raises(TabularError, match=told):
        asked(folder, monkeypatch, "model.json", "payments.csv", *arguments)


def test_labels_in_words_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = np.where(strangers.columns()["fraud"].astype(float) == 1, "yes", "no")
    table = strangers.table(tmp_path, fraud=words)
    with pytest.raises(TabularError, match="name them as positive"):
        asked(folder, monkeypatch, "model.json", table, "--target", "fraud")
    shown = asked(folder, monkeypatch, "model.json", table, "--target", "fraud", "--positive", "yes", *QUICK)
    assert "400 rows" in shown


def test_a_missing_extra_is_named(folder: Path) -> None:
    (folder / "pandas.py").write_text("raise ModuleNotFoundError('No module named pandas', name='pandas')\n")
    try:
        done = fraudbench("tabular", "score", "model.json", "payments.csv", "--target", "fraud", cwd=folder, status=2)
    finally:
        (folder / "pandas.py").unlink()
    assert "needs pandas, which is not installed; install the extra: pip install 'fraudbench[tabular]'" in done.stderr
