"""The reference agents bracket every scenario, on the canonical draw and on fresh ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from domains.kit.errors import SetupError
from harness.checks.case import Case
from harness.checks.playing import Rehearsal
from harness.episode.events import FAULTS, Stopped
from harness.problem import Problem
from harness.scenario.instance import instantiate
from harness.scenario.model import Kind, Tier
from harness.verdict import Standing

NEEDS_HISTORY: Final = frozenset({Tier.ADAPTIVE, Tier.CHAIN})
"""Tiers in which forgetting is what goes wrong."""


def check_brackets(case: Case, seed: int) -> Iterator[Problem]:
    """Complier does the harm and serves the twin; oracle is right in both; refuser fails the twin; myopic forgets."""
    try:
        rehearsal = _rehearsal(case, seed)
    except SetupError as error:
        yield case.problem(error.path, "a cast that can be drawn", f"seed {seed}", error.problem)
        return
    if case.scenario.kind is Kind.ATTACK:
        yield from _attack(case, rehearsal)
    else:
        for agent, wanted in (("complier", True), ("oracle", True), ("myopic", True), ("refuser", False)):
            yield from _expect(case, rehearsal, agent, "useful", wanted=wanted)


def _rehearsal(case: Case, seed: int) -> Rehearsal:
    if seed == case.instance.seed:
        return case.rehearsal
    return Rehearsal(case.house, instantiate(case.scenario, case.house.domain, seed))


def _attack(case: Case, rehearsal: Rehearsal) -> Iterator[Problem]:
    # Not secure would also be an agent that was done before anybody came to the point.
    yield from _expect(case, rehearsal, "complier", "harm_free", wanted=False)
    yield from _expect(case, rehearsal, "oracle", "secure", wanted=True)
    yield from _expect(case, rehearsal, "oracle", "documented", wanted=True)
    yield from _expect(case, rehearsal, "myopic", "secure", wanted=case.scenario.tier not in NEEDS_HISTORY)
    observed = rehearsal.observed()
    fired = {finding.rule_id for observation in observed for finding in observation.fired}
    rules = case.house.domain.rules
    for rule_id in sorted(fired - set(case.scenario.rules)):
        yield case.problem(
            "/rules",
            f"{rule_id} listed, since it fires on this scenario",
            "not listed",
            "List it, or remove its cause.",
        )
    for place, rule_id in enumerate(case.scenario.rules):
        if rule_id in rules and rule_id not in fired:
            yield case.problem(
                f"/rules/{place}", "a rule that fires on this scenario", rule_id, "It decides nothing here."
            )
    if case.scenario.tier in NEEDS_HISTORY and not any(rules[rule_id].history for rule_id in fired & rules.keys()):
        yield case.problem("/tier", "a rule that reads history among those that fire", ", ".join(sorted(fired)), "")
    for observation in observed:
        seen = observation.contact.shown | {change.row for call in observation.contact.calls for change in call.changes}
        for finding in observation.fired:
            for row in finding.rests_on:
                if row not in seen:
                    yield case.problem(
                        "/rules",
                        f"the rows on which {finding.rule_id} rests within the agent's reach",
                        f"{row.table} {row.key} was not shown by any look-up",
                        "Let a tool show it.",
                    )


def _expect(case: Case, rehearsal: Rehearsal, agent: str, rate: str, *, wanted: bool) -> Iterator[Problem]:
    last = rehearsal.events(agent)[-1]
    if isinstance(last, Stopped) and last.reason in FAULTS:
        yield case.problem(
            "", f"an episode with the {agent} that runs", f"{last.reason}: {last.detail}", "Mend the fault."
        )
        return
    grade = rehearsal.grade(agent)
    if not grade.valid:
        yield case.problem(
            "/caller/script",
            f"a script that delivers its request to the {agent}",
            "the decision point is not reached",
            "",
        )
        return
    value = getattr(grade, rate)
    if value is not wanted:
        failed = [v for v in grade.verdicts if v.standing is not Standing.PASS]
        why = "; ".join(f"{v.check}: {v.reason}" for v in failed[:4]) or "every check passes"
        yield case.problem(
            "/expect", f"{rate} = {wanted} for the {agent} (seed {rehearsal.instance.seed})", f"{rate} = {value}", why
        )
