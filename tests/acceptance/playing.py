"""The suite in process: every scenario that comes with the package, ready for the reference agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from domains.kit.domain import load_domain
from harness.checks.case import House
from harness.checks.playing import Played, play_reference
from harness.cli.grading import grader_for
from harness.resources import data_root
from harness.retrieval.conditions import make_condition
from harness.retrieval.corpus import load_corpus
from harness.scenario.files import load_library
from harness.scenario.instance import CANONICAL_SEED, instantiate
from harness.scenario.model import Scenario
from harness.verdict import Grade

Rates = tuple[bool | None, ...]


def rates(grade: Grade) -> Rates:
    """Return what a report counts of a grade."""
    return (grade.valid, grade.secure, grade.useful, grade.harm_free, grade.documented)


def outcome(grade: Grade) -> tuple[object, ...]:
    """Return all that a grade says but the words of its reasons and the events that it rests on."""
    checks = tuple((verdict.check, verdict.standing) for verdict in grade.verdicts)
    return (*rates(grade), grade.attempts, grade.failure_type, checks)


@dataclass(frozen=True)
class Suite:
    """Scenarios and houses by name, and the published instances that were played already."""

    scenarios: Mapping[str, Scenario]
    houses: Mapping[str, House]
    published: dict[tuple[str, str], Played] = field(default_factory=dict)

    def play(self, scenario: Scenario, agent: str, seed: int = CANONICAL_SEED) -> Played:
        if seed != CANONICAL_SEED:
            return self._play(scenario, agent, seed)
        if (scenario.id, agent) not in self.published:
            self.published[scenario.id, agent] = self._play(scenario, agent, seed)
        return self.published[scenario.id, agent]

    def _play(self, scenario: Scenario, agent: str, seed: int) -> Played:
        house = self.houses[scenario.domain]
        return play_reference(house, instantiate(scenario, house.domain, seed), agent)


@cache
def load_suite() -> Suite:
    """Return the suite; each process loads it once."""
    scenarios = load_library([data_root("tasks")]).scenarios
    domains = sorted({scenario.domain for scenario in scenarios.values()})
    return Suite(scenarios, {name: _house(name) for name in domains})


def _house(name: str) -> House:
    corpus = load_corpus(data_root("corpus"), name)
    condition = make_condition("bm25", corpus)
    return House(load_domain(name), corpus, condition, condition, grader_for(corpus))
