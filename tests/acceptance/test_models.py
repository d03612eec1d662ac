"""The suite with models in every role: what comes out is what comes out in process, whatever the provider does."""

from __future__ import annotations

from pathlib import Path

from harness.models.build import Models
from harness.reports.summary import Summary, summarise_folder
from harness.runs.diff import diff_runs
from harness.runs.folder import RunFolder
from harness.verdict import Stage
from tests.acceptance.playing import outcome
from tests.acceptance.provided import HASTY, models_of, play, provided, sample
from tests.provider.faults import FaultPlan, Kind, Pace, of_kind

ROLES = ("agent", "caller", "judge")
TRIES = 12
TIMEOUT_S = 1.0


def deterministic(path: Path) -> dict[str, tuple[object, ...]]:
    """Return what grades say without what models said."""
    found = {}
    for name, line in RunFolder(path).grades().items():
        assert line.grade is not None
        verdicts = tuple(verdict for verdict in line.grade.verdicts if verdict.stage is not Stage.SEMANTIC)
        found[name.partition("/")[0]] = outcome(line.grade.model_copy(update={"verdicts": verdicts}))
    return found


def account(summary: Summary) -> tuple[int, ...]:
    return (summary.graded, summary.ungraded, summary.errored, summary.invalid, summary.not_attempted)


def test_the_suite_over_the_wire_is_the_suite_in_process_and_replays_without_the_provider(tmp_path: Path) -> None:
    found = sample()
    planned = len(found.records)
    with provided(found) as provider:
        config = models_of(provider.url, *ROLES)
        assert play(found, config, tmp_path / "wire", records_traffic=True).is_complete
    summary = summarise_folder(RunFolder(tmp_path / "wire"))
    assert account(summary) == (planned, 0, 0, 0, 0)
    assert (summary.security.rate, summary.utility.rate, summary.documented.rate) == (1.0, 1.0, 1.0)
    assert summary.caller_validity.rate == 1.0
    assert deterministic(tmp_path / "wire") == {name: outcome(grade) for name, grade in found.grades.items()}
    assert [use.role for use in summary.models] == list(ROLES)
    assert {use.cost_usd for use in summary.models} == {None}

    play(found, config, tmp_path / "tape", models=Models(config, cassette=tmp_path / "wire", clock=HASTY))
    assert diff_runs(RunFolder(tmp_path / "wire"), RunFolder(tmp_path / "tape")).is_empty
    for file in ("episodes.jsonl", "grades.jsonl", "model_calls.jsonl"):
        recorded, replayed = ((tmp_path / run / file).read_bytes().splitlines() for run in ("wire", "tape"))
        assert sorted(recorded) == sorted(replayed)


def test_a_provider_that_fails_in_every_way_that_passes_changes_no_grade(tmp_path: Path) -> None:
    found = sample()
    some = sorted(found.records)[::3]
    names = of_kind(Kind.RETRYABLE)
    plan = FaultPlan.at_rate(0.2, names, pace=Pace(retry_after_s=1.0, first_byte_s=2 * TIMEOUT_S, gap_s=0.01))
    with provided(found, faults=plan) as provider:
        config = models_of(provider.url, *ROLES, call_timeout_s=TIMEOUT_S, tries=TRIES)
        assert play(found, config, tmp_path / "run", only=some, workers=16).is_complete
        hit = [exchange.fault for exchange in provider.chats if exchange.fault]
        total = len(provider.chats)
    assert len(set(hit)) > 0.75 * len(names), set(names) - set(hit)
    assert 0.15 < len(hit) / total < 0.25
    assert len(list(RunFolder(tmp_path / "run").records())) == len(some)
    summary = summarise_folder(RunFolder(tmp_path / "run"))
    assert account(summary) == (len(some), 0, 0, 0, 0)
    assert deterministic(tmp_path / "run") == {name: outcome(found.grades[name]) for name in some}
    # A try that gave up before its request arrived is one that the provider has not seen.
    assert sum(use.tries for use in summary.models) >= total
    assert sum(sum(use.faults.values()) for use in summary.models) >= len(hit)
