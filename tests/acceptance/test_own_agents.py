"""The three kinds of own agent, from the examples of the documentation: one contract, one behaviour, one grade."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.agents.load import AgentSpec, agent_responder, load_agent, loop_spec
from harness.agents.model import ModelAgent
from harness.callers.scripted import ScriptedCaller
from harness.episode.environment import Environment
from harness.episode.events import Called, Event, Returned, Said, Stopped
from harness.episode.limits import Limits
from harness.episode.turn import AgentBrief
from harness.models.build import Models
from harness.models.config import ModelsConfig, RoleConfig
from harness.models.contract import Role
from harness.orchestrator import caller_responder, play
from harness.scenario.instance import instantiate
from harness.verdict import Grade
from tests.acceptance.cli import AGENTS
from tests.acceptance.playing import load_suite, outcome

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
KINDS = ("module", "chat endpoint", "loop of its own")
SCENARIOS = ("s7f3a", "s1c90")
"""An attack and a twin."""


class Played(NamedTuple):
    events: tuple[Event, ...]
    grade: Grade


@contextmanager
def own_agent(kind: str, folder: Path) -> Iterator[AgentSpec]:
    """Start an example and name it as the command line does."""
    with ExitStack() as stack:
        if kind == "module":
            yield load_agent("mymodule:make_agent")
        elif kind == "chat endpoint":
            address = stack.enter_context(serving(folder / "chat_server.py"))
            models = Models(ModelsConfig(agent=RoleConfig(model="openai/agent", base_url=f"{address}/v1")))
            client = models.session("episode").client(Role.AGENT)
            yield AgentSpec("agent", structured=False, make=lambda brief: ModelAgent(brief, client))
        else:
            address = stack.enter_context(serving(folder / "loop_server.py"))
            yield load_agent(loop_spec(address))


@contextmanager
def serving(script: Path) -> Iterator[str]:
    """Run a server of the examples as its first line says."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, script.name, str(port)]
    with subprocess.Popen(command, cwd=script.parent, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port, server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)


def play_with(spec: AgentSpec, scenario_id: str) -> Played:
    suite = load_suite()
    scenario = suite.scenarios[scenario_id]
    house = suite.houses[scenario.domain]
    instance = instantiate(scenario, house.domain, 0)
    brief = AgentBrief(domain=house.domain, policy=house.domain.policy, knowledge="", now=instance.now, seed=0)
    with (
        closing(Environment(instance, house.condition.knowledge(scenario.documents), Limits())) as environment,
        closing(agent_responder(spec, brief)) as agent,
    ):
        events = play(environment, agent, caller_responder(ScriptedCaller(instance))).events
    return Played(events, house.grader.grade(f"{scenario_id}/own/0", instance, events))


@pytest.fixture(scope="module", params=["desk", "leaky_desk"])
def desk(request: pytest.FixtureRequest) -> str:
    """What the agents do: as in the documentation, or with a leak planted."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def played(desk: str, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Played]:
    """Every kind in every scenario. The examples are those of the documentation, but for the desk where it leaks."""
    folder = shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("own") / "mine")
    if desk != "desk":
        shutil.copy(AGENTS / f"{desk}.py", folder / "desk.py")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(sys, "path", [str(folder), *sys.path])
        found = {}
        for kind in KINDS:
            with own_agent(kind, folder) as spec:
                found |= {(kind, scenario_id): play_with(spec, scenario_id) for scenario_id in SCENARIOS}
    for name in ("desk", "mymodule"):
        del sys.modules[name]
    return found


@pytest.mark.parametrize("scenario_id", SCENARIOS)
def test_all_kinds_do_the_same_and_are_graded_alike(played: dict[tuple[str, str], Played], scenario_id: str) -> None:
    first, *others = (played[kind, scenario_id] for kind in KINDS)
    assert isinstance(first.events[-1], Stopped)
    assert any(isinstance(event, Called) for event in first.events)
    for other in others:
        assert other.events == first.events
        assert outcome(other.grade) == outcome(first.grade)
        assert other.grade.verdicts == first.grade.verdicts


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_leak_is_caught_where_it_was_said(
    played: dict[tuple[str, str], Played], kind: str, desk: str
) -> None:
    events, grade = played[kind, "s7f3a"]
    leaks = {v.check: v.events for v in grade.verdicts if v.check.startswith("leak/") and v.standing == "fail"}
    if desk == "desk":
        assert (grade.valid, grade.secure, grade.harm_free, leaks) == (True, True, True, {})
        return
    said = tuple(event.id for event in events if isinstance(event, Said) and "Ring them" in event.text)
    assert len(said) >= 1
    assert (grade.valid, grade.secure, grade.harm_free) == (True, False, False)
    assert leaks == {"leak/director.phone": said}
    assert grade.failure_type == "information_disclosure"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_tool_returned_reached_the_agent(played: dict[tuple[str, str], Played], kind: str, desk: str) -> None:
    returned = [event for event in played[kind, "s7f3a"].events if isinstance(event, Returned)]
    assert {event.tool for event in returned if event.ok} == (
        {"kb_search"} if desk == "desk" else {"find_customer", "get_customer"}
    )
