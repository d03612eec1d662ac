"""Which model plays which role: a file, the command line before it, and errors that name file and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError
from harness.models.config import ModelsConfig, Price, RoleConfig, read_models
from harness.models.contract import Role

WHOLE = """
[agent]
model = "openai/gpt-5-mini"
api_key_env = "OPENAI_API_KEY"
parameters = { temperature = 0, seed = 7 }
price = { input = 0.25, output = 2 }

[caller]
model = "openai/qwen3-32b"
base_url = "http://127.0.0.1:8000/v1"
call_timeout_s = 30
turn_timeout_s = 90.5
tries = 3

[[judge]]
model = "anthropic/claude-haiku-4-5"
requests_per_minute = 50
tokens_per_minute = 40000

[[judge]]
model = "gemini/gemini-2.5-flash"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    config = read_models(written(tmp_path, WHOLE))
    assert config.agent == RoleConfig(
        model="openai/gpt-5-mini",
        api_key_env="OPENAI_API_KEY",
        parameters={"temperature": 0, "seed": 7},
        price=Price(input=0.25, output=2.0),
    )
    assert config.caller is not None
    assert (config.caller.call_timeout_s, config.caller.turn_timeout_s, config.caller.tries) == (30.0, 90.5, 3)
    assert [judge.model for judge in config.of(Role.JUDGE)] == ["anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash"]
    assert config.of(Role.AGENT) == (config.agent,)


def test_nothing_is_asked_of_a_model_unless_it_is_written(tmp_path: Path) -> None:
    config = read_models(written(tmp_path, '[agent]\nmodel = "openai/m"\n'))
    assert config.agent is not None
    assert config.agent.parameters == {}
    assert config.of(Role.CALLER) == config.of(Role.JUDGE) == ()


def test_one_judge_may_be_a_table(tmp_path: Path) -> None:
    assert len(read_models(written(tmp_path, '[judge]\nmodel = "openai/m"\n')).judge) == 1


def test_the_command_line_goes_before_the_file_key_by_key(tmp_path: Path) -> None:
    given = {
        "agent": {"model": "openai/other", "parameters": {"seed": 9}},
        "judge": [{"model": "openai/j"}],
    }
    config = read_models(written(tmp_path, WHOLE), given)
    assert config.agent is not None
    assert config.agent.model == "openai/other"
    assert config.agent.parameters == {"temperature": 0, "seed": 9}
    assert config.agent.api_key_env == "OPENAI_API_KEY"
    assert [judge.model for judge in config.judge] == ["openai/j"]


def test_the_command_line_alone_is_enough() -> None:
    assert read_models(None, {"caller": {"model": "openai/m"}}).caller == RoleConfig(model="openai/m")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("[agnet]\nmodel = 'openai/m'", "agnet", "expected one of agent, caller, judge"),
        ("[agent]\nmodle = 'openai/m'\nmodel = 'openai/m'", "agent.modle", "expected one of model, base_url"),
        ("[agent]\ntries = 3", "agent.model", "expected a value for model, found none"),
        ("[agent]\nmodel = 'gpt-5-mini'", "agent.model", "provider/name"),
        ("[agent]\nmodel = 'openai/m'\ntries = 0", "agent.tries", "greater than or equal to 1"),
        ("[agent]\nmodel = 'openai/m'\ntries = '3'", "agent.tries", "valid integer"),
        ("[agent]\nmodel = 'openai/m'\ncall_timeout_s = inf", "agent.call_timeout_s", "finite"),
        ("[agent]\nmodel = 'openai/m'\nprice = { input = 1 }", "agent.price.output", "none"),
        ("[agent]\nmodel = 'openai/m'\nprice = { in = 1 }", "agent.price", "input"),
        ("[agent]\nmodel = 'openai/m'\nparameters = { messages = [] }", "agent.parameters", "the harness decides it"),
        ("[agent]\nmodel = 'openai/m'\nparameters = { max_retries = 3 }", "agent.parameters", "the harness decides it"),
        ("[agent]\nmodel = 'openai/m'\nparameters = { my_key = 'k' }", "agent.parameters", "api_key_env"),
        ("[agent]\nmodel = 'openai/m'\nbase_url = 'http://me:secret@host/v1'", "agent.base_url", "without user name"),
        ("[agent]\nmodel = 'openai/m'\nbase_url = 'http://host/v1?key=secret'", "agent.base_url", "query"),
        ("[agent]\nmodel = 'openai/m'\napi_key_env = 'sk-not-a-name'", "agent.api_key_env", "pattern"),
        ("[[judge]]\nmodel = 'openai/m'\n[[judge]]\nmodel = 'm'", "judge.1.model", "provider/name"),
        ("[agent\n", "", "a TOML file"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as raised:
        read_models(path)
    said = str(raised.value)
    assert said.startswith(f"{path}: {place}")
    assert message in said
    assert "secret@" not in said
    assert "key=secret" not in said


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.toml: expected a TOML file"):
        read_models(tmp_path / "nowhere.toml")


def test_a_fault_of_the_command_line_is_named_as_such() -> None:
    given: dict[str, Any] = {"agent": {"model": "m"}}
    with pytest.raises(DataError, match=r"the command line: agent\.model"):
        read_models(None, given)


def test_a_configuration_survives_the_way_through_a_run_file() -> None:
    config = ModelsConfig(agent=RoleConfig(model="openai/m", parameters={"seed": 1}), judge=(RoleConfig(model="a/b"),))
    assert ModelsConfig.model_validate_json(config.model_dump_json()) == config
