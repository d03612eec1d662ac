"""Runs with models as a user meets them: estimated, played, cut off, gone on with, judged, replayed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.runs.folder import RunFolder
from tests.acceptance.cli import Json, episodes, fraudbench
from tests.acceptance.killing import kill_again_and_again, start, wait_for_calls
from tests.acceptance.provided import AGENT, JUDGE, Sample, in_process, models_file, provided, sample
from tests.provider.faults import FaultPlan
from tests.provider.server import Provider

NAMES = ("s7f3a", "s1c90", "i2f9b", "i6a3d", "m1f48", "u4d1a")
TASKS = ("--tasks", ",".join(NAMES))


@pytest.fixture(scope="module")
def found() -> Sample:
    return sample(*NAMES)


@pytest.fixture
def provider(found: Sample) -> Iterator[Provider]:
    with provided(found) as provider:
        yield provider


def report(cwd: Path) -> Json:
    """Return the report of the run in a folder."""
    found: Json = json.loads(in_process("report", "run", "--format", "json", cwd=cwd).stdout)
    return found


# ------------------------------------------------------------------ from nothing to a report


def test_an_endpoint_is_named_on_the_command_line(found: Sample, provider: Provider, tmp_path: Path) -> None:
    agent = ("--agent-url", provider.url, "--agent-model", AGENT)
    done = in_process("run", *agent, *TASKS, "--out", "run", cwd=tmp_path)
    assert "6 of 6, 0 running, S 1.00 of 4, U 1.00 of 2, cost unknown" in done.stderr
    assert "answered by agent-1-2026-02-01" in done.stdout
    told = report(tmp_path)
    assert (told["security"]["rate"], told["utility"]["rate"], told["graded"]) == (1.0, 1.0, 6)
    assert told["models"][0]["calls"] == len(provider.chats)
    assert told["models"][0]["cost_usd"] is None
    assert {chat.headers["authorization"] for chat in provider.chats} == {"***"}


def test_an_estimate_calls_and_writes_nothing(provider: Provider, tmp_path: Path) -> None:
    price = {"price": {"input": 1.0, "output": 10.0}}
    config = models_file(tmp_path, provider.url, "agent", "caller", "judge", **price)
    done = in_process("run", "--config", config, *TASKS, "--trials", 10, "--dry-run", "--out", "run", cwd=tmp_path)
    assert provider.exchanges == []
    assert sorted(file.name for file in tmp_path.iterdir()) == [config.name]
    assert done.stdout.startswith("60 episodes: 6 scenarios, 10 of each")
    rows = {line.split("  ")[0]: line.split() for line in done.stdout.splitlines()}
    calls, sent, written = (int(rows[f"agent openai/{AGENT}"][place].replace(",", "")) for place in (2, 3, 4))
    cost = float(rows[f"agent openai/{AGENT}"][5].removeprefix("$"))
    assert cost == pytest.approx((sent + 10 * written) / 1e6, abs=0.01)

    in_process("run", "--config", config, *TASKS, "--out", "run", cwd=tmp_path)
    bodies = [chat.raw for chat in provider.chats if chat.body["model"] == AGENT]
    assert len(bodies) * 10 == calls
    assert sent / 10 == pytest.approx(sum(map(len, bodies)) / 4, rel=0.2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent-url", "http://127.0.0.1:9/v1", "--agent", "oracle"], "--agent-model"),
        (["--agent-model", "m"], "--agent-url"),
        (["--agent-url", "http://u:p@127.0.0.1/v1", "--agent-model", "m"], "base_url"),
        (["--agent-http", "http://127.0.0.1:9/", "--agent", "oracle"], "--agent-http"),
        (["--judge", "gpt"], "provider/name"),
        (["--config", "none.toml"], "none.toml"),
        (["--max-cost", "5"], "--max-cost"),
        (["--max-minutes", "5"], "--max-minutes"),
        (["--record"], "--record"),
        (["--one-by-one"], "--judge"),
        (["--audit-callers"], "--judge"),
        (["--agent", "openai/x", "--workers", "1000"], "256"),
        (["--agent", "openai/x", "--workers", "2", "--processes", "3"], "1 to 2 processes"),
        (["--processes", "2"], "--processes"),
        (["--agent", "openai/x", "--cassette", "nowhere"], "--record"),
        (["--agent-url", "http://127.0.0.1:9/v1", "--agent-model", "m", "--max-cost", "1"], "price"),
    ],
)
def test_a_run_that_cannot_be_started_says_why(arguments: list[str], words: str, tmp_path: Path) -> None:
    assert words in in_process("run", *arguments, *TASKS, "--out", "run", cwd=tmp_path, status=2).stderr
    assert not (tmp_path / "run").exists()


# ------------------------------------------------------------------ ends before the end


def test_a_refused_run_ends_with_the_providers_words_and_its_own_status(provider: Provider, tmp_path: Path) -> None:
    provider.key = "right"
    run = ("run", "--agent-url", provider.url, "--agent-model", AGENT, *TASKS, "--out", "run")
    done = in_process(*run, cwd=tmp_path, status=4)
    assert "Incorrect API key provided." in done.stderr
    assert "--out run --resume" in done.stderr
    provider.key = None
    in_process(*run, "--resume", cwd=tmp_path)
    assert len(episodes(tmp_path / "run")) == len(NAMES)


def test_a_spent_budget_has_the_same_status_and_counts_what_was_spent_before(
    provider: Provider, tmp_path: Path
) -> None:
    run = ("run", "--agent-url", provider.url, "--agent-model", AGENT, *TASKS, "--out", "run", "--workers", 2)
    done = in_process(*run, "--max-tokens", 60_000, cwd=tmp_path, status=4)
    assert "of 60000 tokens" in done.stderr
    before = len(provider.chats)
    again = in_process(*run, "--max-tokens", 60_000, "--resume", cwd=tmp_path, status=4)
    assert "of 60000 tokens" in again.stderr
    assert len(provider.chats) == before
    in_process(*run, "--resume", cwd=tmp_path)
    assert len(episodes(tmp_path / "run")) == len(NAMES)


def test_an_endpoint_that_only_fails_is_no_success(found: Sample, tmp_path: Path) -> None:
    with provided(found, faults=FaultPlan.always("503")) as provider:
        config = models_file(tmp_path, provider.url, "agent", tries=1)
        done = in_process("run", "--config", config, *TASKS, "--out", "run", cwd=tmp_path, status=3)
    assert "6 errored: provider_fault" in done.stdout
    assert "S of openai/agent-1 is n/a" in done.stdout


@pytest.mark.parametrize("processes", [1, 2])
def test_ctrl_c_finishes_what_is_in_flight_and_the_run_goes_on_later(
    provider: Provider, tmp_path: Path, processes: int
) -> None:
    provider.think_s = 0.05
    run = ("run", "--agent-url", provider.url, "--agent-model", AGENT, *TASKS, "--out", "run", "--workers", 2)
    process = start(*run, "--processes", processes, cwd=tmp_path)
    wait_for_calls(provider, 6)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 3, told
    assert "Finishing what is in flight" in told
    stored = episodes(tmp_path / "run")
    assert 1 <= len(stored) < len(NAMES)
    paid = len(provider.chats)
    recorded = RunFolder(tmp_path / "run").model_calls()
    assert paid == sum(len(line.calls) for line in recorded), "nothing in flight is thrown away"
    in_process(*run, "--resume", cwd=tmp_path)
    assert len(episodes(tmp_path / "run")) == len(NAMES)
    assert len(provider.chats) == sum(len(line.calls) for line in RunFolder(tmp_path / "run").model_calls())


@pytest.mark.parametrize(("kills", "processes"), [(3, 1), (1, 2)])
def test_a_run_that_is_killed_again_and_again_ends_like_one_that_was_not(
    provider: Provider, tmp_path: Path, kills: int, processes: int
) -> None:
    config = models_file(tmp_path, provider.url, "agent", "judge")
    run = ("run", "--config", config, *TASKS, "--workers", 3)
    kill_again_and_again(provider, tmp_path, run, kills, "--processes", processes)


def test_processes_share_records_budget_and_cost(provider: Provider, tmp_path: Path) -> None:
    config = models_file(tmp_path, provider.url, "agent", "judge", price={"input": 10.0, "output": 10.0})
    run = ("run", "--config", config, *TASKS)
    in_process(*run, "--out", "threads", cwd=tmp_path)
    provider.clear()
    processes = ("--out", "processes", "--workers", 4, "--processes", 2)
    done = fraudbench(*run, *processes, "--max-tokens", 60_000, cwd=tmp_path, status=4)
    assert "of 60000 tokens" in done.stderr
    stored = len(episodes(tmp_path / "processes"))
    assert stored < len(NAMES)
    recorded = RunFolder(tmp_path / "processes").model_calls()
    assert len(provider.chats) == sum(len(line.calls) for line in recorded), "what is paid is on record"
    again = fraudbench(*run, *processes, "--resume", cwd=tmp_path)
    for file in ("episodes.jsonl", "grades.jsonl"):
        one, two = (sorted((tmp_path / run / file).read_bytes().splitlines()) for run in ("threads", "processes"))
        assert one == two
    calls = [call for line in RunFolder(tmp_path / "processes").model_calls() for call in line.calls]
    assert len(provider.chats) == len(calls)
    paid = sum(call.reply.usage.cost_usd or 0.0 for call in calls if call.reply)
    (last,) = (line for line in again.stderr.splitlines() if f"{len(NAMES)} of {len(NAMES)}" in line)
    assert f"cost ${paid:.2f}" in last


# ------------------------------------------------------------------ afterwards


def test_a_recorded_run_is_played_again_without_its_provider(found: Sample, tmp_path: Path) -> None:
    with provided(found) as provider:
        config = models_file(tmp_path, provider.url, "agent", "caller", "judge")
        in_process("run", "--config", config, *TASKS, "--record", "--out", "one", cwd=tmp_path)
    in_process("run", "--config", config, *TASKS, "--cassette", "one", "--out", "two", cwd=tmp_path)
    assert "The runs are the same." in in_process("runs", "diff", "one", "two", cwd=tmp_path).stdout
    for file in ("episodes.jsonl", "grades.jsonl", "model_calls.jsonl"):
        one, two = (sorted((tmp_path / run / file).read_bytes().splitlines()) for run in ("one", "two"))
        assert one == two
    other = ("run", "--config", config, "--tasks", "c*", "--cassette", "one", "--out", "three")
    assert "found none" in in_process(*other, cwd=tmp_path, status=4).stderr


def test_a_stored_run_is_judged_by_a_command(provider: Provider, tmp_path: Path) -> None:
    in_process("run", *TASKS, "--out", "run", cwd=tmp_path)
    before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    config = models_file(tmp_path, provider.url, "judge", "judge")
    done = in_process("grade", "run", "--config", config, "--tasks", "m1f48,s*", "--one-by-one", cwd=tmp_path)
    assert "3 of 3 episodes graded." in done.stderr
    assert "semantic (3 of 6 episodes)" in done.stdout
    assert f"openai/{JUDGE} (1) and openai/{JUDGE} (2) agree" in done.stdout
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == before
    assert len(provider.chats) == 2 * 3
    in_process("grade", "run", cwd=tmp_path)
    assert report(tmp_path)["judged"] == 3
    nothing = models_file(tmp_path, provider.url, "agent")
    assert "[[judge]]" in in_process("grade", "run", "--config", nothing, cwd=tmp_path, status=2).stderr


def test_what_a_model_would_see_is_printed(tmp_path: Path) -> None:
    agent = in_process("prompt", "m1f48", "--role", "agent", cwd=tmp_path).stdout
    assert "---- system" in agent
    assert "---- tool kb_search" in agent
    assert '"query"' in agent
    caller = in_process("prompt", "m1f48", "--role", "caller", cwd=tmp_path).stdout
    assert "---- tool end_call" in caller
    assert "[1] (needed)" in caller
    assert "kb_search" not in caller
    in_process("run", "--tasks", "m1f48", "--out", "run", cwd=tmp_path)
    judge = in_process("prompt", "m1f48", "--role", "judge", "--run", "run", cwd=tmp_path).stdout
    assert "BEGIN RECORD" in judge
    assert "- names-no-figure: " in judge
    assert "--run" in in_process("prompt", "m1f48", "--role", "judge", cwd=tmp_path, status=2).stderr
    assert "m1f48" in in_process("prompt", "m1f4", cwd=tmp_path, status=2).stderr
