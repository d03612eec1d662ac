"""Finding an agent: by name, or in a file of the user's own, with a plain word for everything that can be wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from domains.kit.tools import Actor
from harness.agents.load import REFERENCE_AGENTS, AgentSpec, agent_responder, load_agent
from harness.episode.turn import AgentBrief, Turn, View
from harness.errors import RunError, UnknownName
from tests.harness.episode.stage import brief, opened
from tests.harness.scenario.drafts import published

SOURCE = """
from functools import partial


class Plain:
    def __init__(self):
        self.turns = 0

    def respond(self, view):
        self.turns += 1
        return f"Turn {self.turns}."


class WithBrief(Plain):
    def __init__(self, brief):
        super().__init__()
        self.brief = brief

    def respond(self, view):
        return f"At {self.brief.domain.title}."


def keyword(*, brief=None):
    return WithBrief(brief)


def optional(brief=None):
    return WithBrief(brief)


def configured(temperature=0.5):
    assert temperature == 0.5
    return Plain()


def anything(*args, **kwargs):
    assert len(args) == 1
    return Plain()


def options(**kwargs):
    assert not kwargs
    return Plain()


def too_much(brief, key):
    return Plain()


def broken():
    raise OSError("no model file")


def leaving():
    raise SystemExit(2)


class Silent:
    respond = "No."


class Holder:
    inner = Plain


preset = partial(WithBrief)
number = 7


def nothing():
    return None
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, with an agent file in it."""
    (tmp_path / "my_agents.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "broken_agents.py").write_text("raise ValueError('half written')\n", encoding="utf-8")
    (tmp_path / "leaving_agents.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    (tmp_path / "odd_agents.py").write_text("import json\njson.no_such_thing\n", encoding="utf-8")
    (tmp_path / "needy_agents.py").write_text("import no_such_library_anywhere\n", encoding="utf-8")
    (tmp_path / "unfinished_agents.py").write_text("def make(:\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in list(sys.modules):
        if name.endswith("_agents") and "." not in name:
            monkeypatch.delitem(sys.modules, name)
    return tmp_path


def first_words(spec: str) -> str | Turn:
    made = published("p2a7c")
    with opened(made) as environment:
        return agent_responder(load_agent(spec), brief(made))(environment)


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("Plain", "Turn 1."),
        ("WithBrief", "At Parcel counter."),
        ("optional", "At Parcel counter."),
        ("configured", "Turn 1."),
        ("anything", "Turn 1."),
        ("options", "Turn 1."),
        ("preset", "At Parcel counter."),
        ("Holder.inner", "Turn 1."),
    ],
)
def test_a_factory_may_take_the_brief_or_nothing(factory: str, words: str) -> None:
    assert first_words(f"my_agents:{factory}") == words


def test_an_agent_is_built_anew_for_every_episode() -> None:
    assert [first_words("my_agents:Plain") for _ in range(2)] == ["Turn 1.", "Turn 1."]


@pytest.mark.parametrize("name", REFERENCE_AGENTS)
def test_reference_agents_go_by_their_names(name: str) -> None:
    spec = load_agent(name)
    assert (spec.name, spec.structured) == (name, True)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("", "expected an agent (complier, refuser, myopic, oracle, or package.module:factory), found ''"),
        ("orcale", "found 'orcale'"),
        ("my_agents", "found 'my_agents'"),
        ("my_agents:", "found 'my_agents:'"),
        (":make", "found ':make'"),
        ("no_such_agents:make", "there is no module 'no_such_agents' here or in the environment"),
        ("no_such.agents:make", "there is no module 'no_such' here"),
        ("needy_agents:make", "there is no module 'no_such_library_anywhere' here"),
        ("my_agents:make", "'my_agents' has no 'make'"),
        ("my_agents:Holder.outer", "'my_agents' has no 'Holder.outer'"),
        ("my_agents:number", "expected a factory that can be called, found int"),
        ("broken_agents:make", "importing its module failed: ValueError: half written"),
        ("leaving_agents:make", "importing its module failed: SystemExit: 3"),
        ("odd_agents:make", "importing its module failed: AttributeError"),
        ("unfinished_agents:make", "importing its module failed: SyntaxError"),
        ("..agents:make", "importing its module failed"),
    ],
)
def test_an_agent_that_cannot_be_found(spec: str, problem: str) -> None:
    with pytest.raises(RunError) as caught:
        load_agent(spec)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("factory", "problem"),
    [
        ("broken", "its factory failed: OSError: no model file"),
        ("leaving", "its factory failed: SystemExit: 2"),
        ("too_much", "its factory failed: TypeError"),
        ("nothing", "its factory returned NoneType, which has no `respond`"),
        ("Silent", "its factory returned Silent, which has no `respond`"),
    ],
)
def test_an_agent_that_cannot_be_built(factory: str, problem: str) -> None:
    with pytest.raises(RunError) as caught:
        first_words(f"my_agents:{factory}")
    assert str(caught.value).startswith(f"agent 'my_agents:{factory}': ")
    assert problem in str(caught.value)


def test_a_history_that_there_is_not() -> None:
    made = published("p2a7c")
    with pytest.raises(UnknownName, match=r"expected a history \(full, latest\), found 'none'"):
        agent_responder(load_agent("oracle"), brief(made), "none")


class Closing:
    """An agent that counts how often it is told that the episode is over."""

    def __init__(self) -> None:
        self.closed = 0

    def respond(self, view: View) -> str:
        return "Hm."

    def close(self) -> None:
        self.closed += 1
        raise OSError("no file any more")


def test_an_agent_is_told_when_the_episode_is_over(caplog: pytest.LogCaptureFixture) -> None:
    made = published("p2a7c")
    agent = Closing()
    agent_responder(AgentSpec("mine", structured=False, make=lambda told: agent), brief(made)).close()
    assert agent.closed == 1
    assert "agent 'mine': its close() failed: OSError: no file any more" in caplog.text
    agent_responder(load_agent("my_agents:Plain"), brief(made)).close()


def test_without_history_an_agent_is_built_anew_for_every_caller_turn() -> None:
    made = published("p2a7c")
    with opened(made) as environment:
        agent = agent_responder(load_agent("my_agents:Plain"), brief(made), "latest")
        for words in ("One.", "Two."):
            environment.deliver(Actor.CALLER, Turn(words))
            assert [agent(environment), agent(environment)] == ["Turn 1.", "Turn 2."]


def test_the_contracts_are_those_of_the_documentation() -> None:
    class Mine:
        def __init__(self, told: AgentBrief) -> None:
            self.policy = told.policy

        def respond(self, view: View) -> Turn | str:
            return self.policy

    assert Mine(brief(published("p2a7c"))).respond(View(None, (), ())).startswith("You work at the counter")  # type: ignore[arg-type, union-attr]
