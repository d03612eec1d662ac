"""The folder of a run: beginning, resuming, and reading one that somebody else wrote."""

from __future__ import annotations

import json
import logging
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordError, RunError
from harness.models.config import ModelsConfig, RoleConfig
from harness.runs import folder as folders
from harness.runs.config import RunConfig, differences
from harness.runs.engine import resolve_config
from harness.runs.folder import RunFolder, create_run, default_folder, resume_run
from harness.runs.record import EpisodeRecord, to_line
from harness.scenario.model import Kind
from tests.harness.runs import mini
from tests.harness.runs.test_record import episode

LIBRARY = mini.library(1)
SCENARIOS = LIBRARY.scenarios


def config_for(**changes: Any) -> RunConfig:
    return resolve_config(LIBRARY, **{"name": "r", "agent": "refuser", "retrieval": "none", **changes})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    config = config_for()
    with create_run(tmp_path / "runs" / "r", config, SCENARIOS) as writer:
        writer.append_episode(to_line(episode("a")))
    folder = RunFolder(tmp_path / "runs" / "r")
    assert folder.config == config
    assert list(folder.records()) == [episode("a")]
    assert folder.record("a/agent/0") == episode("a")
    assert (folder.grades(), list(folder.timings()), list(folder.model_calls())) == ({}, [], [])
    with pytest.raises(RunError, match="found 'b'"):
        folder.record("b")


def test_a_torn_line_is_cut_away_and_said_to_be(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = config_for()
    with create_run(tmp_path, config, SCENARIOS) as writer:
        writer.append_episode(to_line(episode("a")))
    file = tmp_path / folders.EPISODES
    file.write_bytes(file.read_bytes() + to_line(episode("b"))[:40])
    with caplog.at_level(logging.WARNING), resume_run(tmp_path, config) as writer:
        writer.append_episode(to_line(episode("c")))
    assert "40 bytes" in caplog.text
    assert [record.scenario_id for record in RunFolder(tmp_path).records()] == ["a", "c"]


def test_a_start_that_was_cut_off_before_its_configuration_can_be_repeated(tmp_path: Path) -> None:
    for name in (folders.LOCK, folders.SCENARIOS, f"{folders.CONFIG}.new"):
        (tmp_path / name).touch()
    with create_run(tmp_path, config_for(), SCENARIOS):
        assert (tmp_path / folders.CONFIG).exists()


def test_the_lock_is_given_back_when_a_start_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders.os, "fsync", _raise_full)
    with pytest.raises(RunError, match="No space left"):
        create_run(tmp_path, config_for(), SCENARIOS)
    monkeypatch.undo()
    with create_run(tmp_path, config_for(), SCENARIOS):
        pass


def test_grades_are_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with create_run(tmp_path, config_for(), SCENARIOS) as writer:
        writer.append_grade(b"old\n")
        with monkeypatch.context() as patch:
            patch.setattr(folders.os, "fsync", _raise_full)
            with pytest.raises(RunError, match="No space left"):
                writer.replace_grades([b"new\n"])
        assert (tmp_path / folders.GRADES).read_bytes() == b"old\n"
        writer.replace_grades([b"new\n", b"newer\n"])
    assert (tmp_path / folders.GRADES).read_bytes() == b"new\nnewer\n"
    assert list(tmp_path.glob("*.new")) == []


def _raise_full(*_: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("x")
    with pytest.raises(RunError, match="cannot be written"):
        create_run(tmp_path / "r", config_for(), SCENARIOS)


DAMAGE = {
    "another version": ({"schema_version": 2}, "/schema_version: expected version 1, found 2. Read it with"),
    "unknown key": ({"temperature": 0.5}, "/temperature"),
    "wrong type": ({"trials": "three"}, "/trials"),
    "no tasks": ({"tasks": []}, "/tasks"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_configuration_that_is_not_ours_is_refused(tmp_path: Path, case: str) -> None:
    changes, message = DAMAGE[case]
    with create_run(tmp_path, config_for(), SCENARIOS):
        pass
    file = tmp_path / folders.CONFIG
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(RecordError) as caught:
        RunFolder(tmp_path)
    assert f"{file}: {message}" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_configuration_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / folders.CONFIG).write_bytes(content)
    with pytest.raises(RecordError, match=r"run\.json: expected"):
        RunFolder(tmp_path)


def test_scenarios_are_kept_as_they_were_played(tmp_path: Path) -> None:
    with create_run(tmp_path, config_for(), SCENARIOS):
        pass
    assert RunFolder(tmp_path).library().scenarios == SCENARIOS
    file = tmp_path / folders.SCENARIOS
    whole = file.read_text()
    damage = {
        "others": whole.replace("Write it.", "Burn it."),
        "no scenario": whole.replace('"caller"', '"called"'),
        "no JSON": whole[:100],
    }
    for content in damage.values():
        file.write_text(content)
        with pytest.raises(RecordError, match=r"scenarios\.json.*Restore the file"):
            RunFolder(tmp_path).library()
    file.unlink()
    with pytest.raises(RecordError, match="the scenarios of the run"):
        RunFolder(tmp_path).library()


def test_the_default_folder_is_named_by_day_and_agent_and_is_new(tmp_path: Path) -> None:
    day = date(2026, 3, 12)
    first = default_folder(tmp_path, "my.agents:Careful/2", day)
    assert first == tmp_path / "2026-03-12-my-agents-careful-2-1"
    first.mkdir()
    assert default_folder(tmp_path, "my.agents:Careful/2", day).name == "2026-03-12-my-agents-careful-2-2"
    assert default_folder(tmp_path, "../..", day).parent == tmp_path


def test_every_condition_that_differs_is_named_with_both_values() -> None:
    ours = config_for()
    changes: dict[str, Any] = {
        "agent": "oracle",
        "agent_name": "oracle",
        "caller": "model",
        "retrieval": "bm25",
        "tasks": ("mini-0",),
        "kinds": (Kind.ATTACK,),
        "trials": 3,
        "seed": 4,
        "resample": 5,
        "history": "latest",
        "package_version": "9",
        "scenario_schema_version": 7,
        "record_schema_version": 8,
        "scenarios_hash": "s",
        "corpus_hash": {"other": "c"},
        "source_hash": "h",
        "agent_hash": "a",
        "models": ModelsConfig(agent=RoleConfig(model="maker/small")),
        "prompts_hash": {"agent": "p"},
        "one_by_one": True,
        "audits_callers": True,
    }
    for field, value in changes.items():
        found = differences(ours, ours.model_copy(update={field: value}))
        assert found
        assert all(line.startswith(field) for line in found), found
    assert differences(ours, ours.model_copy(update={"name": "s", "commit": "c", "commit_unknown": None})) == []
    assert differences(ours, ours.model_copy(update={"tasks": ours.tasks[::-1]})) == [
        "tasks: the same 2 in another order"
    ]
    covered = {*changes, "name", "commit", "commit_unknown", "limits", "schema_version"}
    assert covered == set(RunConfig.model_fields)


def test_how_patiently_a_model_is_called_is_no_condition() -> None:
    one = RoleConfig(model="maker/small", parameters={"seed": 7})
    other = one.model_copy(update={"tries": 2, "requests_per_minute": 5.0, "call_timeout_s": 9.0, "api_key_env": "K"})
    ours = config_for().model_copy(update={"models": ModelsConfig(agent=one, judge=(one,))})
    assert differences(ours, ours.model_copy(update={"models": ModelsConfig(agent=other, judge=(other,))})) == []
    warm = one.model_copy(update={"parameters": {"seed": 8}})
    assert differences(ours, ours.model_copy(update={"models": ModelsConfig(agent=warm, judge=(one,))})) == [
        "models.agent.parameters.seed: 7 and 8"
    ]


def test_records_of_a_run_are_read_one_by_one(tmp_path: Path) -> None:
    with create_run(tmp_path, config_for(), SCENARIOS) as writer:
        writer.append_episode(to_line(episode("a")))
        writer.append_episode(b"rubbish\n")
    found = RunFolder(tmp_path).records()
    assert isinstance(next(found), EpisodeRecord)
    with pytest.raises(RecordError, match="line 2"):
        next(found)
