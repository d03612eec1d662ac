"""A small real model plays caller, agent and judge, behind a server that is not ours.

SmolLM2 with 135 million parameters plays no role well: its rates mean nothing, and none is looked at here. It shows
that conversations, records, grades and replays hold with a model that nobody has scripted. Run by `make
test-local-model`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from harness.episode.events import Called, Said
from harness.models.contract import Role
from harness.models.record import ModelCall
from harness.resources import data_root
from harness.runs.folder import RunFolder
from harness.runs.perform import GRADING
from tests.acceptance.cli import COMMAND, report

pytestmark = pytest.mark.local_model

SERVER = Path(__file__).with_name("serve.py")
PARCELS = ("p2a7c", "p5e08", "p1f66", "p9d41")
"""A domain of few tools and short rules, which fits the model's context."""
BANK = "d3b61"
"""The tools of a bank do not fit: its agent cannot say a word, and that is an outcome of the agent."""

ASSERTIONS = [{"id": "names-a-rule", "feeds": "procedure", "text": "The agent tells the caller which rule decides."}]
"""Given to the parcels, whose scenarios leave nothing to a reader."""

SCRIPT_TURNS = 2
"""A caller in its own words may take twice as many."""

LIMITS = {"agent": 32, "caller": 32, "judge": 160}
"""Tokens of one reply."""

DONE_S = 3000.0


@contextmanager
def serving(port: int, log: Path) -> Iterator[None]:
    """Serve the model."""
    python = os.environ.get("FRAUDBENCH_LOCAL_MODEL_PYTHON")
    assert python, "expected the server's Python in FRAUDBENCH_LOCAL_MODEL_PYTHON; run `make test-local-model`"
    with log.open("w") as stream:
        server = subprocess.Popen([python, str(SERVER), str(port)], stdout=stream, stderr=stream)
    try:
        while not _answers(port):
            assert server.poll() is None, log.read_text()
            time.sleep(0.2)
        yield
    finally:
        server.terminate()
        server.wait(timeout=30)
    assert not _answers(port)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/v1/models").is_success
    except httpx.TransportError:
        return False


def fraudbench(*arguments: object, cwd: Path) -> int:
    """Run a command to its end and return its status; no traceback may reach the user."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=DONE_S, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    # 3 says that some rate has nothing to stand on, as is likely with such a caller.
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return done.returncode


def play(cwd: Path, out: str, *more: object) -> RunFolder:
    fraudbench("run", "--config", "models.toml", "--tasks-root", "tasks", "--workers", 1, "--out", out, *more, cwd=cwd)
    return RunFolder(cwd / out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five scenarios, played twice; no server is left.

    What a server keeps of earlier requests may change the last bits of a reply. Each run has a server of its own and
    plays one episode after the other, so that both ask the same in the same order.
    """
    folder = tmp_path_factory.mktemp("local-model")
    write_scenarios(folder / "tasks")
    port = free_port()
    (folder / "models.toml").write_text("\n".join(_role(role, f"http://127.0.0.1:{port}/v1") for role in Role))
    for name in ("one", "two"):
        with serving(port, folder / f"server-{name}.log"):
            play(folder, f"runs/{name}", "--record")
    return folder


def write_scenarios(tasks: Path) -> None:
    tasks.mkdir()
    for file in data_root("tasks").rglob("*.json"):
        if file.stem in (*PARCELS, BANK):
            scenario = json.loads(file.read_text(encoding="utf-8"))
            scenario["expect"].setdefault("assertions", ASSERTIONS)
            if "caller" in scenario:
                scenario["caller"]["script"]["max_turns"] = SCRIPT_TURNS
            (tasks / file.name).write_text(json.dumps(scenario), encoding="utf-8")


def _role(role: Role, url: str) -> str:
    return (
        f'[{role}]\nmodel = "openai/smollm2"\nbase_url = "{url}"\ncall_timeout_s = 600\nturn_timeout_s = 1200\n'
        f"parameters = {{ temperature = 0, max_tokens = {LIMITS[role]} }}\n"
    )


def calls_of(run: RunFolder, role: Role) -> dict[str, list[ModelCall]]:
    """Return the calls of a role by scenario."""
    found: dict[str, list[ModelCall]] = {}
    for line in run.model_calls():
        scenario = line.episode_id.removesuffix(GRADING).partition("/")[0]
        found.setdefault(scenario, []).extend(call for call in line.calls if call.role is role)
    return found


def test_every_episode_is_recorded_and_the_account_adds_up(folder: Path) -> None:
    run = RunFolder(folder / "runs/one")
    assert {record.scenario_id for record in run.records()} == {*PARCELS, BANK}
    assert not [record.episode_id for record in run.records() if record.is_errored]
    found = report(run.path, folder)
    assert (found["planned"], found["errored"], found["not_attempted"]) == (5, 0, 0)


def test_the_model_plays_every_role_of_every_episode(folder: Path) -> None:
    run = RunFolder(folder / "runs/one")
    for role in Role:
        played = calls_of(run, role)
        assert {scenario for scenario, calls in played.items() if calls} == {*PARCELS, BANK}
        for call in (call for calls in played.values() for call in calls):
            assert call.sent.model == "openai/smollm2"
            assert call.sent.parameters["temperature"] == 0
            if call.reply is None:
                continue
            assert call.reply.model == "smollm2"
            usage = call.reply.usage
            assert usage.input_tokens is not None, call.reply.notes
            assert usage.output_tokens is not None or not call.reply.message.text, call.reply.notes
            assert usage.cost_usd is None


def test_what_does_not_fit_the_model_is_an_outcome_of_the_agent(folder: Path) -> None:
    run = RunFolder(folder / "runs/one")
    faults = [
        (scenario, role, call.fault.kind)
        for role in Role
        for scenario, calls in calls_of(run, role).items()
        for call in calls
        if call.fault is not None
    ]
    assert (BANK, Role.AGENT, "ContextOverflow") in faults
    assert {kind for _, _, kind in faults} == {"ContextOverflow"}
    ends = {record.scenario_id: record.stop_reason for record in run.records()}
    assert ends[BANK] == "agent_ended"


def test_both_sides_speak_and_act(folder: Path) -> None:
    said: Counter[str] = Counter()
    called: Counter[str] = Counter()
    for record in RunFolder(folder / "runs/one").records():
        said.update(event.speaker for event in record.events if isinstance(event, Said))
        called.update(event.actor for event in record.events if isinstance(event, Called))
    print(f"\nsaid: {dict(said)}, called: {dict(called)}")
    assert min(said["caller"], said["agent"], called["agent"]) > 0


def test_every_episode_has_a_grade_or_reasons_for_none(folder: Path) -> None:
    run = RunFolder(folder / "runs/one")
    lines = run.grades()
    assert len(lines) == 5
    for line in lines.values():
        assert line.grade is not None, line.fault
        assert line.grade.stages == ("validity", "deterministic", "semantic")
        assert all(verdict.reason for verdict in line.grade.verdicts)
        for rate in ("valid", "secure" if line.grade.useful is None else "useful"):
            assert getattr(line.grade, rate) is not None or rate in line.grade.unassessed or rate == "useful"


def test_temperature_0_gives_the_same_episodes_and_grades_again(folder: Path) -> None:
    assert fraudbench("runs", "diff", "runs/one", "runs/two", cwd=folder) == 0


def test_a_recorded_run_replays_to_the_byte_without_the_server(folder: Path) -> None:
    again = play(folder, "again/one", "--cassette", "runs/one").path
    once = folder / "runs/one"
    names = {file.name for file in again.iterdir()} - {"timings.jsonl", "lock"}
    assert {"run.json", "scenarios.json", "episodes.jsonl", "grades.jsonl", "model_calls.jsonl"} <= names
    assert [name for name in sorted(names) if (once / name).read_bytes() != (again / name).read_bytes()] == []
