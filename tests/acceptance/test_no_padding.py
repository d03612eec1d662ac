"""Every discoverable tool of the bank earns its place: without it some grade of the suite is another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from domains.banking.template import build_template
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import Access
from domains.kit.world import World
from harness.checks.playing import play_reference
from harness.episode.events import Called, Event
from harness.scenario.instance import instantiate
from tests.acceptance.playing import load_suite, rates

AGENTS = ("complier", "oracle")

Episode = tuple[str, str]
"""Scenario id and agent."""


def test_without_any_discoverable_tool_some_grade_is_another() -> None:
    suite = load_suite()
    house, template = suite.houses["banking"], build_template()
    whole = replace(house.domain, template=lambda: template)
    scenarios = {name: scenario for name, scenario in suite.scenarios.items() if scenario.domain == whole.name}
    played = {(name, agent): suite.play(scenario, agent) for name, scenario in scenarios.items() for agent in AGENTS}
    discoverable = [name for name, tool in whole.tools.items() if tool.access is Access.DISCOVERABLE]

    def with_another_grade(tool: str, episodes: Sequence[Episode]) -> Iterator[Episode]:
        """Yield the episodes that are graded otherwise where a tool never works.

        Its name stays, since rules and expectations speak of it. What happens is graded in the whole bank: that an
        expectation names the tool is no reason of its own.
        """
        broken = replace(whole.tools[tool], run=_out_of_order)
        poorer = replace(whole, tools={**whole.tools, tool: broken})
        for name, agent in episodes:
            instance = instantiate(scenarios[name], poorer)
            events = play_reference(replace(house, domain=poorer), instance, agent).events
            grade = house.grader.grade(name, instantiate(scenarios[name], whole), events)
            if rates(grade) != rates(played[name, agent].grade):
                yield name, agent

    idle = []
    for tool in discoverable:
        # An episode in which nobody names the tool is the same without it.
        episodes = [episode for episode, result in played.items() if _names(tool, result.events)]
        if next(with_another_grade(tool, episodes), None) is None:
            idle.append(f"{tool}: comes up in {len(episodes)} episodes and decides no grade")
    assert not idle, "\n".join(idle)


def _out_of_order(world: World, **arguments: object) -> JsonValue:
    raise ToolError("This tool is out of order.")


def _names(tool: str, events: Sequence[Event]) -> bool:
    return any(
        isinstance(event, Called) and (event.tool == tool or f'"{tool}"' in json.dumps(event.arguments))
        for event in events
    )
