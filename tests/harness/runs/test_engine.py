"""Runs from end to end: what is stored, what is resumed, and what faults of others do to them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness.episode.events import StopReason
from harness.episode.limits import Limits
from harness.errors import RecordError, RunError, UnknownName
from harness.reports.summary import summarise_folder
from harness.runs import folder as folders
from harness.runs import record as lines
from harness.runs.config import RunConfig
from harness.runs.diff import diff_runs
from harness.runs.engine import RunResult, resolve_config, run
from harness.runs.executors import Executor, Processes, Serial, Threads, executor_for
from harness.runs.folder import RunFolder
from harness.runs.grading import grade_run
from harness.runs.progress import Progress
from harness.runs.record import EpisodeRecord
from tests.harness.runs import mini

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = mini.library()


def config_for(agent: str = "Writer", **changes: Any) -> RunConfig:
    name = agent if agent == "refuser" else f"{mini.ME}:{agent}"
    return resolve_config(LIBRARY, **{"name": "r", "agent": name, "retrieval": "none", **changes})


def play(path: Path, agent: str = "Writer", *, config: RunConfig | None = None, **how: Any) -> RunResult:
    config = config or config_for(agent)
    return run(config, LIBRARY, path, **{"grader": mini.NoteGrader(), **how})


def records(path: Path) -> dict[str, EpisodeRecord]:
    return {record.episode_id: record for record in RunFolder(path).records()}


def report(path: Path) -> str:
    return summarise_folder(RunFolder(path)).model_dump_json()


def content(path: Path) -> dict[str, list[bytes]]:
    """Return the lines of a run that must repeat, in an order that does not depend on who was first."""
    return {name: sorted((path / name).read_bytes().splitlines()) for name in (folders.EPISODES, folders.GRADES)}


EXECUTORS = {"serial": Serial(), "processes": Processes(2), "threads": Threads(2)}


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_every_executor_gives_the_same_run(tmp_path: Path, executor: Executor) -> None:
    told: list[Progress] = []
    config = config_for(trials=2)
    result = play(tmp_path / "r", config=config, executor=executor, progress=told.append)
    play(tmp_path / "serial", config=config)
    assert result.is_complete
    assert not result.lost
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert {progress.done for progress in told} == set(range(13))
    # On a busy machine the second worker may come too late to meet the first.
    assert 1 <= max(progress.running for progress in told) <= (1 if isinstance(executor, Serial) else 2)
    last = told[-1]
    assert (last.planned, last.done, last.running, last.errored, last.halted) == (12, 12, 0, 0, None)
    assert last.security.assessed + last.utility.assessed == 12
    assert content(tmp_path / "r") == content(tmp_path / "serial")
    assert len(list(RunFolder(tmp_path / "r").timings())) == 12
    assert diff_runs(RunFolder(tmp_path / "r"), RunFolder(tmp_path / "serial")).is_empty


def test_processes_that_are_not_forked_give_the_same_run(tmp_path: Path) -> None:
    released = threading.Event()
    other = threading.Thread(target=released.wait)
    other.start()
    try:
        play(tmp_path / "r", executor=Processes(2))
    finally:
        released.set()
        other.join()
    play(tmp_path / "serial")
    assert content(tmp_path / "r") == content(tmp_path / "serial")


def test_trials_have_seeds_of_their_own_and_other_seeds_give_other_runs(tmp_path: Path) -> None:
    play(tmp_path / "a", config=config_for(trials=2))
    play(tmp_path / "b", config=config_for(trials=2, seed=1))
    play(tmp_path / "c", config=config_for(resample=5))
    seeds = {record.agent_seed for name in "ab" for record in records(tmp_path / name).values()}
    assert len(seeds) == 24
    difference = diff_runs(RunFolder(tmp_path / "a"), RunFolder(tmp_path / "b"))
    assert difference.config == ("seed: 0 and 1",)
    assert len(difference.episodes) == 12
    assert all("text" in place for place in difference.episodes.values())
    assert diff_runs(RunFolder(tmp_path / "a"), RunFolder(tmp_path / "c")).only_first


FAULTY = {
    "Raising": (StopReason.AGENT_FAULT, "KeyError: 'lost my notes'"),
    "RaisingAtBirth": (StopReason.AGENT_FAULT, "OSError: no model file"),
    "Exiting": (StopReason.AGENT_FAULT, "asked Python to exit (status 3)"),
    "Exploding": (StopReason.WORLD_FAULT, "explode: ZeroDivisionError: the tool is broken"),
}


@pytest.mark.parametrize("agent", FAULTY)
def test_a_fault_is_recorded_and_ends_its_episode_only(tmp_path: Path, agent: str) -> None:
    reason, detail = FAULTY[agent]
    assert play(tmp_path / "r", agent, executor=Processes(2)).is_complete
    found = records(tmp_path / "r")
    assert len(found) == 6
    assert {record.stop_reason for record in found.values()} == {reason}
    assert all(detail in record.fault_detail for record in found.values())
    summary = summarise_folder(RunFolder(tmp_path / "r"))
    assert (summary.planned, summary.errored, summary.security.n) == (6, 6, 0)


@pytest.mark.parametrize("agent", ["Surrogate", "Deep"])
def test_strange_arguments_do_not_keep_an_episode_from_being_stored(tmp_path: Path, agent: str) -> None:
    play(tmp_path / "r", agent)
    assert {record.stop_reason for record in records(tmp_path / "r").values()} == {StopReason.CALLER_DONE}


def test_an_episode_that_cannot_be_stored_is_stored_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1200)
    play(tmp_path / "r")
    found = records(tmp_path / "r")
    assert len(found) == 6
    assert {record.stop_reason for record in found.values()} == {StopReason.AGENT_FAULT}
    assert all("cannot be written down: ValueError" in record.fault_detail for record in found.values())


def test_a_scenario_that_cannot_be_built_costs_its_own_episodes_only(tmp_path: Path) -> None:
    library = mini.library(1)
    library.scenarios["broken"] = mini.scenario("broken", cast={"guest": {"is": "ghost"}})
    config = resolve_config(library, name="r", agent=f"{mini.ME}:Writer", retrieval="none")
    assert run(config, library, tmp_path / "r").is_complete
    errored = [record for record in records(tmp_path / "r").values() if record.is_errored]
    assert [record.scenario_id for record in errored] == ["broken"]
    assert "ghost" in errored[0].fault_detail


def test_an_agent_that_never_stops_is_stopped(tmp_path: Path) -> None:
    play(tmp_path / "r", config=config_for("Stubborn", limits=Limits(calls=9)))
    assert {record.stop_reason for record in records(tmp_path / "r").values()} == {StopReason.TOOL_LIMIT}


def test_a_worker_that_dies_loses_its_episode_only(tmp_path: Path) -> None:
    result = play(tmp_path / "r", "Dying", executor=Processes(2))
    assert {name.partition("/")[0] for name in result.lost} == {"mini-1", "mini-1t"}
    assert (result.played, result.is_complete) == (4, False)
    assert all("signal 9" in reason for reason in result.lost.values())
    assert summarise_folder(RunFolder(tmp_path / "r")).not_attempted == 2


def test_a_grader_that_raises_costs_its_grade_only(tmp_path: Path) -> None:
    play(tmp_path / "r", grader=mini.BrokenGrader(), executor=Processes(2))
    folder = RunFolder(tmp_path / "r")
    faults = {name: line.fault for name, line in folder.grades().items() if line.fault}
    assert faults == {f"mini-1/{mini.ME}:Writer/0": "RuntimeError: the grader broke"}
    assert summarise_folder(folder).reasons["ungraded"] == {"grading failed: RuntimeError: the grader broke": 1}
    before = (tmp_path / "r" / folders.EPISODES).read_bytes()
    assert grade_run(tmp_path / "r", LIBRARY, mini.NoteGrader()).graded == 6
    assert summarise_folder(folder).graded == 6
    assert (tmp_path / "r" / folders.EPISODES).read_bytes() == before


def test_secrets_of_the_environment_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = 'sk-"mini\\5f3a'
    monkeypatch.setenv("MINI_API_KEY", secret)
    play(tmp_path / "r", "Leaking", executor=Processes(2))
    stored = (tmp_path / "r" / folders.EPISODES).read_text()
    assert "my key is [redacted]" in stored
    assert json.dumps(secret)[1:-1] not in stored
    assert len(records(tmp_path / "r")) == 6


# ------------------------------------------------------------------ resuming


@pytest.mark.parametrize("kept", [0, 1, 4, 6])
@pytest.mark.parametrize("torn", [b"", b'{"schema_version":1,"epis'])
def test_a_run_that_was_cut_off_is_completed(tmp_path: Path, kept: int, torn: bytes) -> None:
    play(tmp_path / "whole" / "r")
    play(tmp_path / "cut" / "r")
    for name, lines_kept in ((folders.EPISODES, kept), (folders.GRADES, max(0, kept - 1))):
        file = tmp_path / "cut" / "r" / name
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:lines_kept]) + torn)
    result = play(tmp_path / "cut" / "r", resume=True, executor=Processes(2))
    assert (result.done_before, result.played, result.is_complete) == (kept, 6 - kept, True)
    assert content(tmp_path / "cut" / "r") == content(tmp_path / "whole" / "r")
    assert report(tmp_path / "cut" / "r") == report(tmp_path / "whole" / "r")


RUN = f"""
import sys
from pathlib import Path
from harness.runs.engine import resolve_config, run
from harness.runs.executors import executor_for
from tests.harness.runs import mini

library = mini.library()
config = resolve_config(library, name="r", agent="{mini.ME}:Slow", retrieval="none", trials=3)
result = run(
    config, library, Path(sys.argv[1]), grader=mini.NoteGrader(), executor=executor_for(int(sys.argv[2])),
    resume=sys.argv[3] == "resume",
)
print(result.planned, result.done_before, result.played, result.is_interrupted)
"""


def _start(path: Path, mini_path: Path, workers: int, how: str = "new") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(path), str(workers), how],
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{mini_path}"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_for_lines(process: subprocess.Popen[str], file: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not file.exists() or file.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "r"
    play(path, config=config_for("Slow", trials=3), executor=Processes(2))
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_is_completed_to_the_same_report(
    tmp_path: Path, mini_path: Path, uninterrupted: Path, workers: int
) -> None:
    cut = tmp_path / "cut" / "r"
    process = _start(cut, mini_path, workers)
    _wait_for_lines(process, cut / folders.EPISODES, 3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    # Workers may be busy for a while yet: they must not keep the folder locked, and end when they notice.
    folders.RunWriter(cut).close()
    process.communicate(timeout=30)
    assert 3 <= (cut / folders.EPISODES).read_bytes().count(b"\n") < 18
    resumed = _start(cut, mini_path, workers, "resume")
    output, errors = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, errors
    assert output.split()[0] == "18"
    assert len(records(cut)) == 18
    assert content(cut) == content(uninterrupted)
    assert report(cut) == report(uninterrupted)


@pytest.mark.parametrize("workers", [1, 2])
def test_control_c_ends_a_run_and_keeps_what_is_complete(tmp_path: Path, mini_path: Path, workers: int) -> None:
    path = tmp_path / "r"
    process = _start(path, mini_path, workers)
    _wait_for_lines(process, path / folders.EPISODES, 3)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert errors == ""
    planned, before, played, interrupted = output.split()
    assert (planned, before, interrupted) == ("18", "0", "True")
    assert 3 <= int(played) == len(records(path)) < 18


def test_a_changed_configuration_is_refused_and_each_difference_named(tmp_path: Path) -> None:
    play(tmp_path / "r")
    other = config_for(trials=2, seed=7, limits=Limits(turns=5))
    with pytest.raises(RunError) as caught:
        play(tmp_path / "r", config=other, resume=True)
    text = str(caught.value)
    assert "trials: 1 and 2" in text
    assert "seed: 0 and 7" in text
    assert "limits.turns: 120 and 5" in text
    assert "history" not in text


def test_a_changed_scenario_is_refused(tmp_path: Path) -> None:
    play(tmp_path / "r")
    library = mini.library()
    library.scenarios["mini-1"] = mini.scenario("mini-1", title="Another note")
    changed = resolve_config(library, name="r", agent=f"{mini.ME}:Writer", retrieval="none")
    with pytest.raises(RunError, match="scenarios_hash"):
        run(changed, library, tmp_path / "r", resume=True)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    play(tmp_path / "r")
    with pytest.raises(RunError, match=r"new or empty folder.*--resume"):
        play(tmp_path / "r")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(RunError, match=r"thesis\.txt"):
        play(tmp_path / "mine")
    with pytest.raises(RecordError, match=r"the folder of a run"):
        play(tmp_path / "nowhere", resume=True)


def test_two_writers_are_kept_apart(tmp_path: Path) -> None:
    play(tmp_path / "r")
    with folders.resume_run(tmp_path / "r", config_for()), pytest.raises(RunError, match="another process is writing"):
        play(tmp_path / "r", resume=True)
    assert play(tmp_path / "r", resume=True).done_before == 6


@pytest.mark.parametrize("room", [0, 100])
def test_a_full_disk_ends_the_run_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    episodes = 0
    write = os.write

    def full(file: int, data: Any) -> int:
        nonlocal episodes
        if bytes(data[:40]).startswith(b'{"schema_version":1,"episode_id"') and b'"events"' in bytes(data):
            episodes += 1
        if episodes > 3:
            if room and len(data) > room:
                return write(file, data[:room])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    monkeypatch.setattr(folders.os, "write", full)
    with pytest.raises(RunError, match=r"episodes\.jsonl: cannot be written: No space left.*--resume"):
        play(tmp_path / "r")
    monkeypatch.undo()
    raw = (tmp_path / "r" / folders.EPISODES).read_bytes()
    assert raw.count(b"\n") == 3
    assert raw.endswith(b"\n")
    assert play(tmp_path / "r", resume=True).is_complete
    assert len(records(tmp_path / "r")) == 6


# ------------------------------------------------------------------ asking for what there is not


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownName, match="mini-9"):
        config_for(tasks=["mini-9"])
    with pytest.raises(RunError, match="expected an agent"):
        resolve_config(LIBRARY, name="r", agent="nobody", retrieval="none")
    with pytest.raises(RunError, match="trials"):
        config_for(trials=0)
    with pytest.raises(RunError, match="workers"):
        executor_for(0)


@pytest.mark.parametrize("field", ["caller", "retrieval"])
def test_an_unknown_part_is_refused_before_anything_is_written(tmp_path: Path, field: str) -> None:
    with pytest.raises(UnknownName):
        play(tmp_path / "r", config=config_for().model_copy(update={field: "magic"}))
    assert not (tmp_path / "r").exists()


def test_an_agent_with_credentials_in_its_name_is_refused() -> None:
    with pytest.raises(ValueError, match="hand secrets over in the environment"):
        RunConfig.model_validate({**dict(config_for()), "agent": "https://me:secret@example.org"})
