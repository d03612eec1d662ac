"""Reference agents are blind: without the answer fields they act exactly as with them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.agents.load import REFERENCE_AGENTS
from harness.checks.case import Case
from harness.checks.playing import Rehearsal
from harness.problem import Problem
from harness.scenario.instance import instantiate
from harness.scenario.model import Expect, Tier


def check_blindness(case: Case) -> Iterator[Problem]:
    """Blank expectations, rules, tier, mechanism and the twin's link; every trajectory must stay the same."""
    domain = case.house.domain
    blanked = case.scenario.model_copy(
        update={"expect": Expect(), "rules": ("none",), "tier": Tier.SURFACE, "mechanism": "none"}
    )
    blind = Rehearsal(case.house, instantiate(blanked, domain, case.instance.seed))
    for agent in REFERENCE_AGENTS:
        with_answers, without = case.rehearsal.events(agent), blind.events(agent)
        if with_answers != without:
            first = next((a for a, b in zip(with_answers, without, strict=False) if a != b), with_answers[-1])
            yield case.problem(
                "/expect",
                f"a {agent} that does not depend on the answer",
                f"another trajectory from event {first.id} without it",
                "The agent reads what it must not.",
            )
