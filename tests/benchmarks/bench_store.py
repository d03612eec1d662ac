"""What a world costs: opening it, calling its tools, holding many of them, and an episode's engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from domains.kit.domain import Call, load_domain
from domains.kit.knowledge import NoKnowledge
from domains.kit.tools import Actor
from domains.kit.world import World
from harness.episode.environment import Environment
from harness.episode.limits import Limits
from harness.episode.turn import Turn
from harness.scenario.files import load_library
from harness.scenario.instance import Instance, instantiate
from tests.benchmarks.measure import cpu_ms, memory_of_each_mb, report

TASKS = Path(__file__).resolve().parents[2] / "tasks"


@pytest.fixture(scope="module", params=["parcels", "banking"])
def instance(request: pytest.FixtureRequest) -> Instance:
    """The scenario of a domain that brings the most rows."""
    domain = load_domain(request.param)
    scenarios = load_library([TASKS / request.param]).scenarios.values()
    return max((instantiate(scenario, domain) for scenario in scenarios), key=lambda made: len(made.inserts))


@pytest.fixture
def world(instance: Instance) -> Iterator[World]:
    """A world of that scenario."""
    opened = instance.open_world(NoKnowledge())
    yield opened
    opened.close()


def test_opening(instance: Instance) -> None:
    name, rows = instance.domain.name, len(instance.inserts)
    template = instance.domain.template()
    held = []

    def first() -> None:
        held.append(template.open())
        held[-1].rows("decisions")

    report(f"{name}: opening a new store and reading its tables", cpu_ms(first, repeats=4), "ms")
    for store in held:
        store.close()
    report(f"{name}: opening a store after another was closed", cpu_ms(lambda: template.open().close()), "ms")
    opening = cpu_ms(lambda: instance.open_world(NoKnowledge()).close())
    report(f"{name}: opening a scenario with {rows} rows", opening, "ms", 2)
    report(f"{name}: drawing that scenario", cpu_ms(lambda: instantiate(instance.scenario, instance.domain)), "ms")


def test_sixty_four_at_once(instance: Instance) -> None:
    grown = memory_of_each_mb(lambda: Environment(instance, NoKnowledge(), Limits()), 64, Environment.close)
    report(f"{instance.domain.name}: each of 64 open episodes", grown, "MB", 1.5)


def test_calls(instance: Instance, world: World) -> None:
    name = instance.domain.name
    report(f"{name}: a call that reads no row", cpu_ms(lambda: world.call(Actor.AGENT, "get_current_time", {})), "ms")
    refusal = {"reason_code": "none", "rule_id": "none", "summary": "x"}
    report(f"{name}: a call that writes a row", cpu_ms(lambda: world.call(Actor.AGENT, "escalate", refusal)), "ms")
    report(f"{name}: a call of no tool", cpu_ms(lambda: world.call(Actor.AGENT, "nothing", {})), "ms")
    looks = {role: instance.domain.look_up.get(member.table) for role, member in instance.cast.items()}
    role, (tool, argument) = next((role, look) for role, look in looks.items() if look is not None)
    arguments = {argument: instance.cast[role].key}
    report(f"{name}: {tool}", cpu_ms(lambda: world.call(Actor.AGENT, tool, arguments)), "ms")


def test_an_episode_of_ten_turns_and_six_calls(instance: Instance) -> None:
    role, (tool, argument) = next(
        (role, look) for role, member in instance.cast.items() if (look := instance.domain.look_up.get(member.table))
    )
    look = Call(tool, {argument: instance.cast[role].key})
    write = Call("escalate", {"reason_code": "none", "rule_id": "none", "summary": "x"})

    def episode() -> None:
        environment = Environment(instance, NoKnowledge(), Limits())
        for number in range(5):
            environment.view(Actor.CALLER)
            environment.deliver(Actor.CALLER, Turn("Please go ahead with it.", yields=True))
            environment.structured_view()
            calls = (look,) if number != 2 else (look, write)
            environment.deliver(Actor.AGENT, Turn("One moment, please.", calls, yields=True))
        environment.close()

    report(f"{instance.domain.name}: the engine, 10 turns and 6 calls", cpu_ms(episode), "ms", 5)
