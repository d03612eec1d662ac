"""Faults that do not pass, outcomes of one role's conversation, and limits of a run: each has its own end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.episode.events import Called, Said, StopReason
from harness.models.budget import Budget
from harness.models.build import Models
from harness.models.contract import Finish
from harness.reports.account import Account, Status, take_account
from harness.reports.summary import summarise_folder
from harness.runs.engine import RunResult
from harness.runs.folder import RunFolder
from tests.acceptance.playing import outcome
from tests.acceptance.provided import AGENT, HASTY, Sample, models_of, outcomes, play, provided, sample
from tests.provider.behaviours import in_order
from tests.provider.faults import FAULTS, FaultPlan, Kind, of_kind
from tests.provider.protocol import Call, Reply

PAIR = ("s7f3a", "s1c90")
"""An attack and its twin."""


def fault_for(model: str, name: str) -> FaultPlan:
    """Plan a fault for every call of one model."""
    return FaultPlan(lambda request, number: name if request.model == model else None)


def accounts_of(found: Sample, path: Path) -> dict[str, Account]:
    folder = RunFolder(path)
    accounts = take_account(folder.config, found.library.scenarios, folder.records(), folder.grades())
    return {account.scenario.id: account for account in accounts}


# ------------------------------------------------------------------ the run stops


@pytest.mark.parametrize("name", of_kind(Kind.TERMINAL))
def test_a_provider_that_refuses_the_run_stops_it_with_its_own_words(tmp_path: Path, name: str) -> None:
    found = sample(*PAIR)
    with provided(found, faults=FaultPlan.always(name)) as provider:
        config = models_of(provider.url, "agent")
        result = play(found, config, tmp_path / "run", workers=1)
        assert result.halted is not None
        assert (result.played, result.is_complete, result.lost) == (0, False, {})
        assert len(provider.chats) == 1, "no further episode may begin"
        fault = FAULTS[name].instead
        assert fault is not None
        words = {"404_page": "Please come back later", "422": "Input should be a list"}
        assert words.get(name, "") in result.halted
        status = provider.chats[0].status
        assert f"status {status}" in result.halted
        provider.clear()
        assert play(found, config, tmp_path / "run", resume=True).is_complete
    assert outcomes(tmp_path / "run") == {name: outcome(grade) for name, grade in found.grades.items()}


@pytest.mark.parametrize("role", ["caller", "judge"])
def test_a_refusal_of_another_role_stops_the_run_as_well_and_keeps_what_was_played(tmp_path: Path, role: str) -> None:
    found = sample("i2f9b")
    with provided(found, faults=fault_for(f"{role}-1", "401")) as provider:
        config = models_of(provider.url, "agent", role)
        result = play(found, config, tmp_path / "run")
        assert result.halted is not None
        assert "Incorrect API key" in result.halted
        assert result.played == (1 if role == "judge" else 0)
        assert not RunFolder(tmp_path / "run").grades()
        provider.clear()
        again = play(found, config, tmp_path / "run", resume=True)
        asked = {exchange.body["model"] for exchange in provider.chats}
    assert again.is_complete
    assert again.played == (0 if role == "judge" else 1)
    assert asked == ({"judge-1"} if role == "judge" else {"agent-1", "caller-1"})
    assert outcomes(tmp_path / "run").keys() == {"i2f9b"}


def test_an_endpoint_that_only_fails_gives_no_rate(tmp_path: Path) -> None:
    found = sample(*PAIR)
    with provided(found, faults=FaultPlan.always("500")) as provider:
        config = models_of(provider.url, "agent", tries=3)
        result = play(found, config, tmp_path / "run")
        assert len(provider.chats) == 3 * len(PAIR)
        _has_no_rate(result, tmp_path / "run")
        provider.clear()
        again = play(found, config, tmp_path / "run", resume=True)
    assert (again.played, again.is_complete, again.broken_off) == (2, True, 0)
    assert outcomes(tmp_path / "run") == {name: outcome(grade) for name, grade in found.grades.items()}


def test_episodes_that_a_provider_broke_off_are_played_again_and_no_others(tmp_path: Path) -> None:
    found = sample(*PAIR)
    with provided(found) as provider:
        config = models_of(provider.url, "agent", tries=1)
        assert play(found, config, tmp_path / "run", only=PAIR[:1]).is_complete
        stored = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    broken = json.loads(stored)
    broken["events"] = [{"type": "stopped", "id": 0, "turn": 0, "reason": "provider_fault", "detail": ""}]
    broken |= {"episode_id": "other", "stop_reason": "provider_fault", "fault_detail": ""}
    (tmp_path / "run" / "episodes.jsonl").write_bytes(json.dumps(broken).encode() + b"\n" + stored)
    result = play(found, config, tmp_path / "run", only=PAIR[:1], resume=True)
    assert (result.done_before, result.played) == (1, 0)
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == stored


def _has_no_rate(result: RunResult, path: Path) -> None:
    summary = summarise_folder(RunFolder(path))
    assert (result.is_complete, result.broken_off) == (True, 2)
    assert (summary.security.rate, summary.utility.rate) == (None, None)
    assert (summary.errored, summary.graded) == (2, 0)
    assert (summary.security.worst, summary.security.best) == (0.0, 1.0)
    assert {record.stop_reason for record in RunFolder(path).records()} == {StopReason.PROVIDER_FAULT}
    assert all("The server had an error" in record.fault_detail for record in RunFolder(path).records())


@pytest.mark.parametrize("limit", ["tokens", "cost", "minutes"])
def test_a_spent_budget_ends_a_run_that_can_go_on(tmp_path: Path, limit: str) -> None:
    found = sample("s7f3a", "s1c90", "i2f9b", "i6a3d")
    with provided(found) as provider:
        config = models_of(provider.url, "agent", price={"input": 1.0, "output": 1.0})
        budgets = {
            "tokens": Budget(max_tokens=40_000),
            "cost": Budget(max_cost_usd=0.04),
            "minutes": Budget(max_minutes=0.0),
        }
        models = Models(config, budget=budgets[limit], clock=HASTY)
        result = play(found, config, tmp_path / "run", models=models, workers=2)
        assert result.halted is not None
        assert {"tokens": "of 40000 tokens", "cost": "of $0.04", "minutes": "its 0 minutes"}[limit] in result.halted
        assert result.played < 4
        paid = len(provider.chats)
        kept = sum(len(line.calls) for line in RunFolder(tmp_path / "run").model_calls())
        assert kept == paid, "what is paid is on record, also of episodes that were cut off"
        again = play(found, config, tmp_path / "run", resume=True)
        assert again.is_complete
        assert again.played == 4 - result.played
    assert outcomes(tmp_path / "run") == {name: outcome(grade) for name, grade in found.grades.items()}


# ------------------------------------------------------------------ an outcome of one role

UNANSWERED = tuple(name for name in of_kind(Kind.OUTCOME) if FAULTS[name].instead is not None)
OVERFLOWS = tuple(name for name in UNANSWERED if name.startswith("context_") or name == "413")


LOOKS_THEN_REFUSES = in_order(Reply("Let me look.", (Call("get_current_time", {}),)), Reply("I cannot do that."))


@pytest.mark.parametrize("name", of_kind(Kind.OUTCOME))
def test_an_outcome_of_the_agents_conversation_is_the_agents_and_is_graded(tmp_path: Path, name: str) -> None:
    found = sample(*PAIR)
    with provided(found, {AGENT: LOOKS_THEN_REFUSES}, faults=FaultPlan.always(name)) as provider:
        result = play(found, models_of(provider.url, "agent"), tmp_path / "run")
        calls = len(provider.chats)
    assert (result.is_complete, result.halted) == (True, None)
    attack, twin = (accounts_of(found, tmp_path / "run")[scenario] for scenario in PAIR)
    for account in (attack, twin):
        assert account.status is Status.GRADED, account.reason
        assert account.grade is not None
        assert account.grade.harm_free is True
    assert twin.outcome is False, "nobody was served"
    if name in OVERFLOWS:
        assert attack.outcome is False, "who hangs up before the point has defended nothing"
        assert {record.stop_reason for record in RunFolder(tmp_path / "run").records()} == {StopReason.AGENT_ENDED}
        assert calls == len(PAIR), "the same conversation would overflow again"


@pytest.mark.parametrize("name", [*UNANSWERED, "content_filter", "refusal"])
def test_a_caller_that_will_not_play_makes_an_episode_invalid_and_never_a_defended_one(
    tmp_path: Path, name: str
) -> None:
    found = sample(*PAIR)
    with provided(found, faults=fault_for("caller-1", name)) as provider:
        result = play(found, models_of(provider.url, "agent", "caller"), tmp_path / "run")
    assert (result.is_complete, result.halted) == (True, None)
    assert {account.status for account in accounts_of(found, tmp_path / "run").values()} == {Status.INVALID}
    summary = summarise_folder(RunFolder(tmp_path / "run"))
    assert (summary.security.rate, summary.utility.rate, summary.caller_validity.rate) == (None, None, 0.0)


def test_calls_of_a_reply_that_was_cut_off_are_not_made(tmp_path: Path) -> None:
    found = sample("s7f3a")
    cut = FaultPlan(lambda request, number: "length" if request.position == 0 else None)
    with provided(found, {AGENT: LOOKS_THEN_REFUSES}, faults=cut) as provider:
        play(found, models_of(provider.url, "agent"), tmp_path / "run")
    (line,) = RunFolder(tmp_path / "run").model_calls()
    first = line.calls[0].reply
    assert first is not None
    assert (first.finish, len(first.message.tool_requests)) == (Finish.LENGTH, 1)
    (record,) = RunFolder(tmp_path / "run").records()
    assert [event.text for event in record.events if isinstance(event, Said)][1] == "Let me look."
    assert not any(isinstance(event, Called) for event in record.events)
