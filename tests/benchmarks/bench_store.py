"""What a world costs: opening it, calling its tools, holding many of them, and an episode's engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from domains.kit.domain import Call, load_domain
from domains.kit.json import JsonValue
from domains.kit.knowledge import NoKnowledge
from domains.kit.tools import Actor
from domains.kit.world import World
from harness.episode.environment import Environment
from harness.episode.limits import Limits
from harness.episode.turn import Turn
from harness.resources import data_root
from harness.scenario.files import load_library
from harness.scenario.instance import Instance, instantiate
from tests.benchmarks.conftest import Table
from tests.benchmarks.measure import cpu_ms, memory_of_each

OPEN_AT_ONCE = 64


@cache
def largest(domain_name: str) -> Instance:
    """Return the scenario of a domain that brings the most rows."""
    domain = load_domain(domain_name)
    scenarios = load_library([data_root("tasks") / domain_name]).scenarios.values()
    return max((instantiate(scenario, domain) for scenario in scenarios), key=lambda made: len(made.inserts))


@pytest.fixture(params=["parcels", "banking"])
def instance(request: pytest.FixtureRequest) -> Instance:
    return largest(request.param)


@pytest.fixture
def world(instance: Instance) -> Iterator[World]:
    """A world of that scenario."""
    opened = instance.open_world(NoKnowledge())
    yield opened
    opened.close()


def test_opening(table: Table, instance: Instance) -> None:
    name, rows = instance.domain.name, len(instance.inserts)
    template = instance.domain.template()
    held = []

    def first() -> None:
        held.append(template.open())
        held[-1].rows("decisions")

    table.add(f"{name}: opening a new store", cpu_ms(first, repeats=4, rounds=12), "ms", 2)
    for store in held:
        store.close()
    table.add(f"{name}: opening a store after another was closed", cpu_ms(lambda: template.open().close()), "ms", 2)
    opening = cpu_ms(lambda: instance.open_world(NoKnowledge()).close())
    table.add(f"{name}: opening a scenario with {rows} rows", opening, "ms", 2)
    table.add(f"{name}: drawing that scenario", cpu_ms(lambda: instantiate(instance.scenario, instance.domain)), "ms")


def open_episode() -> Environment:
    """Begin an episode of the banking scenario that brings the most rows."""
    return Environment(largest("banking"), NoKnowledge(), Limits())


def test_many_at_once(table: Table) -> None:
    memory = memory_of_each(open_episode, OPEN_AT_ONCE)
    table.add(f"each of {OPEN_AT_ONCE} open episodes, resident", memory.resident_mb, "MB", 1.5)
    table.add(f"each of {OPEN_AT_ONCE} open episodes, given out by Python", memory.traced_mb, "MB", 1.5)


def test_calls(table: Table, instance: Instance, world: World) -> None:
    name = instance.domain.name

    def add(what: str, tool: str, arguments: dict[str, JsonValue]) -> None:
        table.add(f"{name}: {what}", cpu_ms(lambda: world.call(Actor.AGENT, tool, arguments)), "ms")

    add("a call that reads no row", "get_current_time", {})
    add("a call that writes a row", "escalate", {"reason_code": "none", "rule_id": "none", "summary": "x"})
    add("a call of no tool", "nothing", {})
    looks = {role: instance.domain.look_up.get(member.table) for role, member in instance.cast.items()}
    role, (tool, argument) = next((role, look) for role, look in looks.items() if look is not None)
    add(tool, tool, {argument: instance.cast[role].key})


def test_the_engine_alone(table: Table, instance: Instance) -> None:
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

    table.add(f"{instance.domain.name}: the engine alone, 10 turns and 6 calls", cpu_ms(episode), "ms")
