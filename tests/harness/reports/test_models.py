"""The ledger of models, the validity of callers and the agreement of judges, as reports have them."""

from __future__ import annotations

import pytest

from harness.models.contract import ChatMessage, Finish, ModelReply, Role, Speaker, Usage
from harness.models.record import CallTiming, EpisodeCalls, Fault, ModelCall, Sent
from harness.reports.agreement import judge_agreement
from harness.reports.ledger import spent, take_ledger
from harness.reports.model_tables import model_tables
from harness.reports.statistics import cohens_kappa
from harness.reports.summary import Summary
from harness.runs.record import Timing
from harness.scenario.model import Kind
from harness.verdict import Feeds, Grade, Stage, Standing, Verdict
from tests.harness.reports.test_summary import config_for, grade_for, played, record_for, summary_of
from tests.harness.runs.mini import make_grade


def call(role: Role, usage: Usage | None, *, failed: int = 0, model: str = "m-1") -> ModelCall:
    reply = None
    if usage is not None:
        reply = ModelReply(ChatMessage(Speaker.ASSISTANT, "Hi"), Finish.STOP, "stop", usage, model)
    return ModelCall(
        role=role,
        index=0,
        purpose="p",
        key="k",
        sent=Sent(model="openai/m", known_messages=0, messages=()),
        failed_tries=(Fault(kind="RateLimited", message="busy"),) * failed,
        reply=reply,
        fault=None if reply is not None else Fault(kind="Unavailable", message="down"),
    )


CALLS = (
    EpisodeCalls(
        episode_id="a",
        calls=(
            call(Role.AGENT, Usage(100, 10, 0.5), failed=2),
            call(Role.AGENT, None, failed=1),
            call(Role.CALLER, Usage(7, 3, None)),
        ),
    ),
    EpisodeCalls(episode_id="b", calls=(call(Role.AGENT, Usage(None, None, 0.25), model="m-2"),)),
)
TIMINGS = (
    Timing(
        episode_id="a",
        wall_s=9.0,
        cpu_s=0.1,
        model_calls=(
            CallTiming(role=Role.AGENT, purpose="p", wall_s=1.0, waited_s=0.5),
            CallTiming(role=Role.AGENT, purpose="p", wall_s=3.0, waited_s=0.0),
        ),
    ),
)


def test_calls_are_summed_up_by_role_and_what_is_unknown_stays_so() -> None:
    agent, caller = take_ledger(CALLS, TIMINGS)
    assert (agent.role, agent.calls, agent.tries, agent.failed) == (Role.AGENT, 3, 6, 1)
    assert (agent.input_tokens, agent.output_tokens, agent.unknown_tokens) == (100, 10, 1)
    assert (agent.cost_usd, agent.known_cost_usd, agent.unknown_cost) == (0.75, 0.75, 0)
    assert agent.models == {"m-1": 1, "m-2": 1}
    assert agent.faults == {"RateLimited": 3, "Unavailable": 1}
    assert (agent.latency_s, agent.waited_s) == (2.0, 0.5)
    assert (caller.cost_usd, caller.known_cost_usd, caller.unknown_cost, caller.latency_s) == (None, 0.0, 1, None)
    assert take_ledger((), TIMINGS) == ()


def test_what_was_spent_is_unknown_if_any_of_it_is() -> None:
    assert spent(CALLS) == (120, None, 0.75)
    assert spent(CALLS[1:]) == (0, 0.25, 0.25)
    assert spent(()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([(True, True)] * 3, None),
        ([(True, True), (False, False)], 1.0),
        ([(True, False), (False, True)], -1.0),
        # 20 and 15 agreements of 50, shares of 0.5 and 0.6: chance gives 0.5.
        ([(True, True)] * 20 + [(False, False)] * 15 + [(True, False)] * 5 + [(False, True)] * 10, 0.4),
    ],
)
def test_kappa_is_agreement_beyond_chance(pairs: list[tuple[bool, bool]], kappa: float | None) -> None:
    assert cohens_kappa(pairs) == (None if kappa is None else pytest.approx(kappa))


def judged(*votes: str, standing: Standing = Standing.PASS, feeds: Feeds = Feeds.SERVICE) -> Grade:
    """Return a grade with one statement and what judges a, b, c said of it."""
    words = {"p": Standing.PASS, "f": Standing.FAIL, "u": Standing.UNGRADED}
    verdict = Verdict(
        check="assertion/x",
        stage=Stage.SEMANTIC,
        feeds=feeds,
        standing=standing,
        reason="So.",
        judge="semantic",
        statement="It is so.",
        opinions={name: words[vote] for name, vote in zip("abc", votes, strict=False)},
    )
    return make_grade("e", Kind.ATTACK, True).model_copy(update={"verdicts": (verdict,)})


def test_judges_agree_where_all_who_answered_say_the_same() -> None:
    found = judge_agreement([judged(*"ppp"), judged(*"pfp"), judged(*"ppu"), judged(*"fuu")])
    assert {name: (rate.count, rate.n) for name, rate in found.answered.items()} == {
        "a": (4, 4),
        "b": (3, 4),
        "c": (2, 4),
    }
    assert (found.unanimous.count, found.unanimous.n) == (2, 3)
    pairs = {pair.first + pair.second: (pair.agreement.count, pair.agreement.n) for pair in found.pairs}
    assert pairs == {"ab": (2, 3), "ac": (2, 2), "bc": (1, 2)}


def test_one_judge_has_nobody_to_agree_with() -> None:
    found = judge_agreement([judged("p"), judged("f", standing=Standing.FAIL, feeds=Feeds.PROTECTION)])
    assert (found.pairs, found.unanimous.rate) == ((), None)
    assert found.passed[Feeds.SERVICE].rate == 1.0
    assert found.passed[Feeds.PROTECTION].rate == 0.0
    assert judge_agreement([]).answered == {}


def test_callers_that_did_not_play_are_counted_over_played_episodes() -> None:
    config = config_for(trials=2)
    names = config.tasks
    records = [record_for(name, trial) for name in names for trial in (0, 1)][:3]
    invalid = grade_for(names[0], None, valid=False)
    summary = summary_of(records, [invalid, grade_for(names[0], True, 1), grade_for(names[1], True)], config)
    assert (summary.caller_validity.count, summary.caller_validity.n) == (2, 3)
    assert summary.invalid == 1


def rendered(summary: Summary) -> str:
    return "\n".join(table.as_text() for table in model_tables([summary]) if table.rows)


def test_tables_show_what_is_unknown_as_unknown() -> None:
    summary = played(True, True, True, True)
    assert rendered(summary) == ""
    text = rendered(summary.model_copy(update={"models": take_ledger(CALLS, TIMINGS)}))
    agent, caller = (
        next(line for line in text.splitlines() if line.startswith(f"x: {role} ")) for role in ("agent", "caller")
    )
    assert agent.split()[2:] == ["3", "6", "1", "100+", "10+", "$0.7500", "2.00"]
    assert caller.split()[2:] == ["1", "1", "0", "7", "3", "unknown", "n/a"]
    assert "the price of 1 replies is unknown." in text


def test_tables_name_judges_pairs_and_kappa() -> None:
    found = judge_agreement([judged(*"pp"), judged(*"ff", standing=Standing.FAIL), judged(*"pf")])
    text = rendered(played(True, True, True, True).model_copy(update={"judge_agreement": found}))
    assert "x: statements on service that hold" in text
    line = next(line for line in text.splitlines() if "a and b agree" in line)
    assert line.split()[-1] == "0.400"
