"""Playing a scenario with a reference agent and grading it, as the checks need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from domains.kit.rules import Contact, Finding, Request
from harness.agents.load import REFERENCE_AGENTS, AgentSpec, agent_responder
from harness.agents.reference import ORACLE, RuleAgent
from harness.callers.scripted import ScriptedCaller
from harness.checks.case import House
from harness.episode.environment import Environment
from harness.episode.events import Event
from harness.episode.limits import Limits
from harness.episode.turn import AgentBrief
from harness.orchestrator import caller_responder, play
from harness.scenario.instance import Instance
from harness.verdict import Grade

LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Observation:
    """What the oracle found on one request, and what it had been shown by then."""

    request: Request
    fired: tuple[Finding, ...]
    contact: Contact


@dataclass(frozen=True, slots=True)
class Played:
    """A played and graded scenario."""

    events: tuple[Event, ...]
    grade: Grade
    digest: str


def play_reference(house: House, instance: Instance, agent: str) -> Played:
    """Play an instance with a reference agent and grade it."""
    return _play(house, instance, AgentSpec(agent, structured=True, make=REFERENCE_AGENTS[agent]))


def play_observed(house: House, instance: Instance) -> tuple[Played, list[Observation]]:
    """Play an instance with the oracle and return every set of findings beside the result."""
    seen: list[Observation] = []

    def observe(fired: Sequence[Finding], request: Request, contact: Contact) -> None:
        seen.append(Observation(request, tuple(fired), contact))

    conduct = replace(ORACLE, observe=observe)
    spec = AgentSpec("oracle", structured=True, make=lambda brief: RuleAgent(brief, conduct))
    return _play(house, instance, spec), seen


def _play(house: House, instance: Instance, spec: AgentSpec) -> Played:
    brief = AgentBrief(domain=house.domain, policy=house.domain.policy, knowledge="", now=instance.now, seed=0)
    environment = Environment(instance, house.condition.knowledge(instance.scenario.documents), LIMITS)
    try:
        trajectory = play(environment, agent_responder(spec, brief), caller_responder(ScriptedCaller(instance)))
    finally:
        environment.close()
    grade = house.grader.grade(f"{instance.scenario.id}/{spec.name}/0", instance, trajectory.events)
    return Played(trajectory.events, grade, trajectory.state_digest)
