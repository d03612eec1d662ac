"""Playing a scenario with a reference agent and grading it, as the checks need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from domains.kit.rules import Contact, Finding, Request
from harness.agents.load import REFERENCE_AGENTS, AgentSpec, agent_responder
from harness.agents.reference import ORACLE, RuleAgent
from harness.callers.scripted import ScriptedCaller
from harness.checks.house import House
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


class Rehearsal:
    """What the reference agents do with one instance; each plays it once, however many checks ask.

    Parameters
    ----------
    house
        Where it is played.
    instance
        What is played.
    """

    def __init__(self, house: House, instance: Instance) -> None:
        self.instance = instance
        self._house = house
        self._events: dict[str, tuple[Event, ...]] = {}
        self._grades: dict[str, Grade] = {}
        self._observed: list[Observation] = []

    def events(self, agent: str) -> tuple[Event, ...]:
        """Return everything that happens with a reference agent."""
        if agent not in self._events:
            self._events[agent] = _play(self._house, self.instance, self._spec(agent))
        return self._events[agent]

    def grade(self, agent: str) -> Grade:
        """Return the grade of what happens with a reference agent.

        Raises
        ------
        ValueError
            If the episode ended with a fault.
        """
        if agent not in self._grades:
            episode_id = f"{self.instance.scenario.id}/{agent}/0"
            self._grades[agent] = self._house.grader.grade(episode_id, self.instance, self.events(agent))
        return self._grades[agent]

    def observed(self) -> Sequence[Observation]:
        """Return every set of findings that stands with the oracle."""
        self.events("oracle")
        return self._observed

    def _spec(self, agent: str) -> AgentSpec:
        if agent != "oracle":
            return AgentSpec(agent, structured=True, make=REFERENCE_AGENTS[agent])
        conduct = replace(ORACLE, observe=self._observe)
        return AgentSpec(agent, structured=True, make=lambda brief: RuleAgent(brief, conduct))

    def _observe(self, fired: Sequence[Finding], request: Request, contact: Contact) -> None:
        self._observed.append(Observation(request, tuple(fired), contact))


def play_reference(house: House, instance: Instance, agent: str) -> Played:
    """Play an instance with a reference agent and grade it."""
    rehearsal = Rehearsal(house, instance)
    return Played(rehearsal.events(agent), rehearsal.grade(agent))


def _play(house: House, instance: Instance, spec: AgentSpec) -> tuple[Event, ...]:
    brief = AgentBrief(domain=house.domain, policy=house.domain.policy, knowledge="", now=instance.now, seed=0)
    environment = Environment(instance, house.condition.knowledge(instance.scenario.documents), LIMITS)
    try:
        return play(environment, agent_responder(spec, brief), caller_responder(ScriptedCaller(instance))).events
    finally:
        environment.close()
