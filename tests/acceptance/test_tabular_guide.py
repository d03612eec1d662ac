"""The guide to the tabular bench: its files and commands, as they stand there, do what it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from tabular_bench.attacks.catalogue import ATTACKS
from tabular_bench.constraints.expression import FUNCTIONS
from tabular_bench.declaration import parse_declaration

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "tabular.md"
TEXT = GUIDE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_guide_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _, name, content in BLOCKS:
        if name:
            (tmp_path / name).write_text(content, encoding="utf-8")
    told = {}
    for command in (line for language, _, content in BLOCKS if not language for line in content.splitlines()):
        program, *arguments = shlex.split(command)
        if program == "python":
            subprocess.run([sys.executable, *arguments], check=True)
            continue
        assert program == "fraudbench"
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, f"{command}\n{result.output}"
        told[command] = result.stdout
    assert any("Everything is in order." in text for text in told.values())
    for name in ("mine", "wider", "own"):
        result_file = json.loads((tmp_path / "runs" / name / "result.json").read_text(encoding="utf-8"))
        assert {entry["status"] for entry in result_file["found"]["attacks"]} == {"done"}
    assert result_file["options"]["attacks"] == ["own_attack:Shrink"]
    assert (tmp_path / "runs" / "tiny.jsonl").stat().st_size > 0


def test_the_constraint_file_of_the_guide_can_be_read() -> None:
    (fragment,) = [content for language, name, content in BLOCKS if language == "toml" and not name]
    declaration = parse_declaration(fragment, str(GUIDE), "fraud")
    assert declaration.one_hot == {"channel": ("channel_app", "channel_web")}
    assert len(declaration.features) == 15


def test_the_guide_names_what_there_is() -> None:
    assert [name for name in FUNCTIONS if f"`{name}" not in TEXT] == []
    assert [name for name in ("capgd", "square") if name in ATTACKS and name not in TEXT] == []
