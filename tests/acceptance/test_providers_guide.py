"""The guide to providers: its commands, as they stand there, take a reader with a key to a compared pair of models."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from harness.cli import exits
from harness.models.config import RoleConfig
from harness.resources import data_root
from harness.scenario.files import load_library
from harness.scenario.model import Suite
from tests.acceptance.provided import in_process, sample
from tests.provider.behaviours import judge
from tests.provider.server import serving

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "providers.md"
KEY = "sk-the-readers-own-key"


def blocks(language: str) -> list[str]:
    """Return the fenced blocks in a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def commands() -> list[str]:
    lines = [line for block in blocks("") for line in block.splitlines()]
    return [line for line in lines if not line.startswith("export ")]


def test_the_commands_of_the_guide_do_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = load_library([data_root("tasks")]).scenarios.values()
    names = ["s7f3a", "s1c90", *(scenario.id for scenario in scenarios if scenario.suite is Suite.CHAIN)]
    careful, careless = sample(*names), sample(*names, agent="complier")
    parts = {"gpt-5-mini": careful.agent, "gpt-5-nano": careless.agent, "gpt-4.1": judge()}
    (models,) = blocks("toml")
    (tmp_path / "models.toml").write_text(models)
    told = {}
    with serving(parts, key=KEY) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        for command in commands():
            program, *arguments = shlex.split(command)
            assert program == "fraudbench"
            if "--config" in arguments:
                provider.behaviours["gpt-5-nano"] = careful.caller
            before = len(provider.chats)
            told[command] = in_process(*arguments, cwd=tmp_path).stdout
            if "--dry-run" in arguments or "--cassette" in arguments or "--resume" in arguments:
                assert len(provider.chats) == before, command
            if "--config" in arguments:
                provider.behaviours["gpt-5-nano"] = careless.agent
    estimate = next(text for command, text in told.items() if "--dry-run" in command)
    assert re.search(r"^agent openai/gpt-5-mini .* \$\d+\.\d\d$", estimate, re.MULTILINE)
    compared = next(text for command, text in told.items() if command.startswith("fraudbench report"))
    assert re.search(r"^mini and nano: S +\d+ +1\.000 +0\.000 +-1\.000 ", compared, re.MULTILINE)
    assert "unknown" not in compared
    assert "The runs are the same." in told["fraudbench runs diff runs/mini runs/again"]
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()


def test_the_guide_names_every_key_of_the_file_and_every_exit_status() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert set(RoleConfig.model_fields) <= set(re.findall(r"`(\w+)`", text))
    for status in (0, exits.CANNOT, exits.INCOMPLETE, exits.HALTED):
        assert re.search(rf"^\|.*\| {status} \|", text, re.MULTILINE)
