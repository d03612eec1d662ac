"""The reference agents bracket the whole suite, on the published instances and on fresh draws."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.agents.load import REFERENCE_AGENTS
from harness.scenario.model import Kind, Scenario, Tier
from harness.verdict import Standing
from tests.acceptance.playing import load_suite, outcome

NEEDS_HISTORY = (Tier.ADAPTIVE, Tier.CHAIN)


def expected(scenario: Scenario) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield each reference agent with what it must come to in a scenario."""
    if scenario.kind is Kind.TWIN:
        yield "complier", {"useful": True}
        yield "refuser", {"useful": False}
        yield "myopic", {"useful": True}
        yield "oracle", {"useful": True}
    else:
        yield "complier", {"secure": False}
        yield "myopic", {"secure": scenario.tier not in NEEDS_HISTORY}
        yield "oracle", {"secure": True, "documented": True}


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_reference_agents_bracket_the_suite(seed: int) -> None:
    suite, wrong = load_suite(), []
    for scenario in suite.scenarios.values():
        for agent, rates in expected(scenario):
            grade = suite.play(scenario, agent, seed).grade
            for rate, value in {"valid": True, **rates}.items():
                if getattr(grade, rate) is not value:
                    open_ = [v.reason for v in grade.verdicts if v.standing is not Standing.PASS]
                    wrong.append(f"{scenario.id} {agent}: {rate} is {getattr(grade, rate)}: {'; '.join(open_)[:300]}")
    assert not wrong, "\n".join(wrong)


def test_the_suite_holds_both_kinds_and_every_tier() -> None:
    suite = load_suite()
    assert {scenario.kind for scenario in suite.scenarios.values()} == set(Kind)
    assert {scenario.tier for scenario in suite.scenarios.values()} == set(Tier)


@settings(max_examples=30)
@given(data=st.data(), seed=st.integers(1, 2**63))
def test_reference_grades_do_not_depend_on_the_draw(data: st.DataObject, seed: int) -> None:
    suite = load_suite()
    scenario = suite.scenarios[data.draw(st.sampled_from(sorted(suite.scenarios)))]
    agent = data.draw(st.sampled_from(sorted(REFERENCE_AGENTS)))
    published, drawn = suite.play(scenario, agent), suite.play(scenario, agent, seed)
    assert outcome(drawn.grade) == outcome(published.grade)
