"""Who plays which role, from options and a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cli.grading import judge_names
from harness.cli.roles import Roles, is_model, resolve_roles
from harness.errors import DataError, RunError

FILE = """
[agent]
model = "maker/small"
parameters = { seed = 7 }

[[judge]]
model = "maker/judge"
"""


def file(folder: Path) -> Path:
    path = folder / "models.toml"
    path.write_text(FILE)
    return path


def named(roles: Roles) -> tuple[Any, ...]:
    models = roles.models
    return (
        roles.agent if models.agent is None else models.agent.model,
        roles.caller if models.caller is None else models.caller.model,
        [judge.model for judge in models.judge],
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("oracle", "scripted", [])),
        ({"agent": "complier"}, ("complier", "scripted", [])),
        ({"agent": "my.module:make"}, ("my.module:make", "scripted", [])),
        ({"agent": "ollama/llama3:8b"}, ("ollama/llama3:8b", "scripted", [])),
        ({"agent": "a/b", "caller": "c/d", "judges": ["e/f", "e/f"]}, ("a/b", "c/d", ["e/f", "e/f"])),
        ({"agent_url": "http://h/v1", "agent_model": "m/x"}, ("openai/m/x", "scripted", [])),
        ({"agent_url": "http://h/v1", "agent": "hosted_vllm/m"}, ("hosted_vllm/m", "scripted", [])),
        ({"agent_http": "http://h:1/talk"}, ("http+loop://h:1/talk", "scripted", [])),
    ],
)
def test_options_name_who_plays(options: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert named(resolve_roles(**options)) == expected


def test_options_go_before_the_file(tmp_path: Path) -> None:
    config = file(tmp_path)
    assert named(resolve_roles(config=config)) == ("maker/small", "scripted", ["maker/judge"])
    other = resolve_roles(config=config, agent="maker/large", judges=["maker/other"])
    assert named(other) == ("maker/large", "scripted", ["maker/other"])
    assert other.models.agent is not None
    assert other.models.agent.parameters == {"seed": 7}
    assert named(resolve_roles(config=config, agent="oracle")) == ("oracle", "scripted", ["maker/judge"])
    assert resolve_roles(config=config, agent="oracle").have_models
    assert not resolve_roles(agent="oracle").have_models


def test_the_address_of_the_completions_will_do_as_well() -> None:
    agent = resolve_roles(agent_url="http://h:8000/v1/chat/completions/", agent_model="m").models.agent
    assert agent is not None
    assert agent.base_url == "http://h:8000/v1"


def test_an_agent_that_runs_its_own_loop_is_waited_for_in_threads() -> None:
    roles = resolve_roles(agent_http="http://h:1/talk")
    assert roles.agent_is_remote
    assert not roles.have_models


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"agent_url": "http://h/v1"}, "--agent-model"),
        ({"agent_url": "http://h/v1", "agent": "oracle"}, "--agent-model"),
        ({"agent_url": "http://h/v1", "agent": "a/b", "agent_model": "m"}, "both"),
        ({"agent_model": "m"}, "--agent-url"),
        ({"agent_http": "http://h/", "agent_url": "http://h/v1", "agent_model": "m"}, "--agent-http"),
        ({"judges": ["gpt"]}, "provider/name"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RunError, match=words):
        resolve_roles(**options)


def test_an_address_with_a_secret_in_it_is_refused() -> None:
    with pytest.raises(DataError, match="base_url"):
        resolve_roles(agent_url="http://h/v1?key=abc", agent_model="m")


@pytest.mark.parametrize("name", ["openai/gpt", "a/b/c", "a/b:c"])
def test_a_model_has_a_provider_before_a_slash(name: str) -> None:
    assert is_model(name)


@pytest.mark.parametrize("name", ["oracle", "my.module:make", "my:a/b", "http://h/v1", "/x", "a/", "a b/c"])
def test_whatever_else_is_none(name: str) -> None:
    assert not is_model(name)


def test_judges_of_one_name_are_told_apart() -> None:
    models = resolve_roles(judges=["a/b", "c/d", "a/b"]).models
    assert judge_names(models) == ("a/b (1)", "c/d", "a/b (2)")
