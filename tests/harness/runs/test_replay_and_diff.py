"""Replay gives what is recorded or names the first difference; so does the comparison of two runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.episode.events import Returned, RowChange
from harness.episode.limits import Limits
from harness.errors import RunError
from harness.reports.comparison import compare_folders
from harness.runs.diff import diff_runs
from harness.runs.engine import resolve_config, run
from harness.runs.folder import RunFolder, create_run
from harness.runs.play import play_episode
from harness.runs.record import EpisodeRecord, to_line
from harness.runs.replay import ReplayResult, replay
from harness.runs.stage import Stage
from tests.harness.runs import mini

LIBRARY = mini.library(1)


def stage_for(agent: str, **changes: Any) -> Stage:
    config = resolve_config(LIBRARY, name="r", agent=f"{mini.ME}:{agent}", retrieval="none", **changes)
    return Stage(config, LIBRARY.scenarios, Path("nowhere"))


def replayed(stage: Stage, record: EpisodeRecord) -> ReplayResult:
    return replay(stage.instance("mini-0"), stage.knowledge("mini-0"), record)


@pytest.mark.parametrize(
    "agent", ["Writer", "Refusing", "Exploding", "Raising", "Surrogate", "Stubborn", "Escalating", "ManyCalls"]
)
def test_a_replay_gives_what_is_recorded(agent: str) -> None:
    stage = stage_for(agent, limits=Limits(calls=30, calls_per_turn=3))
    record = play_episode(stage, "mini-0", 0)
    result = replayed(stage, record)
    assert result.difference is None
    assert result.is_same
    assert (result.calls > 0) == (agent not in ("Refusing", "Raising", "Surrogate"))


def test_a_replay_under_another_instance_differs() -> None:
    record = play_episode(stage_for("Writer"), "mini-0", 0)
    result = replayed(stage_for("Writer", resample=9), record)
    assert "result: recorded" in str(result.difference)


def with_returned(record: EpisodeRecord, change: Callable[[Returned], dict[str, Any]]) -> EpisodeRecord:
    events = list(record.events)
    place = next(i for i, event in enumerate(events) if isinstance(event, Returned))
    found = events[place]
    assert isinstance(found, Returned)
    events[place] = found.model_copy(update=change(found))
    return record.model_copy(update={"events": tuple(events)})


def _other_text(change: RowChange) -> RowChange:
    return change.model_copy(update={"after": {**(change.after or {}), "text": "tampered"}})


TAMPERED: dict[str, tuple[Callable[[Returned], dict[str, Any]], str]] = {
    "result": (lambda event: {"result": {"id": "NT-1"}}, "calls write_note: result: recorded"),
    "ok": (lambda event: {"ok": False}, "calls write_note: ok: recorded false, replayed true"),
    "changes": (
        lambda event: {"changes": tuple(map(_other_text, event.changes))},
        "calls write_note: changes: recorded",
    ),
    "no changes": (lambda event: {"changes": ()}, "calls write_note: changes: recorded [], replayed"),
    "shown": (lambda event: {"shown": ()}, "calls write_note: shown: recorded []"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_replay_names_the_first_difference(case: str) -> None:
    change, message = TAMPERED[case]
    stage = stage_for("Writer")
    record = with_returned(play_episode(stage, "mini-0", 0), change)
    result = replayed(stage, record)
    assert message in str(result.difference)
    assert result.calls == 1


def test_a_replay_checks_the_final_state() -> None:
    stage = stage_for("Writer")
    record = play_episode(stage, "mini-0", 0).model_copy(update={"state_digest": "0" * 16})
    assert "final state: the record says 0000000000000000" in str(replayed(stage, record).difference)


def test_a_tool_that_breaks_no_more_is_a_difference() -> None:
    stage = stage_for("Writer")
    record = play_episode(stage, "mini-0", 0)
    events = tuple(event for event in record.events if not isinstance(event, Returned))
    result = replayed(stage, record.model_copy(update={"events": events}))
    assert "its tool broke the episode, and now it returns" in str(result.difference)


def play(path: Path, agent: str = "Writer", grader: Any = None, **changes: Any) -> RunFolder:
    config = resolve_config(LIBRARY, name=path.name, agent=f"{mini.ME}:{agent}", retrieval="none", **changes)
    run(config, LIBRARY, path, grader=grader or mini.NoteGrader())
    return RunFolder(path)


def test_equal_runs_do_not_differ_although_they_took_other_times(tmp_path: Path) -> None:
    first, second = play(tmp_path / "a"), play(tmp_path / "b")
    assert {line.wall_s for line in first.timings()} != {line.wall_s for line in second.timings()}
    assert diff_runs(first, second).lines() == []
    assert diff_runs(first, second).is_empty


def test_differences_are_named_by_episode_and_place(tmp_path: Path) -> None:
    first, second = play(tmp_path / "a", trials=2), play(tmp_path / "b", seed=3)
    writer = f"{mini.ME}:Writer"
    found = diff_runs(first, second)
    assert found.config == ("trials: 2 and 1", "seed: 0 and 3")
    assert found.only_first == (f"mini-0/{writer}/1", f"mini-0t/{writer}/1")
    assert found.only_second == ()
    assert set(found.episodes) == {f"mini-0/{writer}/0", f"mini-0t/{writer}/0"}
    place = found.episodes[f"mini-0/{writer}/0"]
    assert place.startswith("event 3/arguments/text: ")
    assert " and " in place
    assert not found.grades
    assert len(found.lines()) == 6


def test_a_differing_grade_is_named(tmp_path: Path) -> None:
    class Strict(mini.NoteGrader):
        def grade(self, *arguments: Any) -> Any:
            grade = super().grade(*arguments)
            return grade if grade.secure is None else grade.model_copy(update={"attempts": 4})

    found = diff_runs(play(tmp_path / "a"), play(tmp_path / "b", grader=Strict()))
    assert found.grades == {f"mini-0/{mini.ME}:Writer/0": "/grade/attempts: 0 and 4"}
    assert not found.episodes
    ungraded = play(tmp_path / "c", grader=mini.BrokenGrader())
    (tmp_path / "c" / "grades.jsonl").write_bytes(b"")
    assert all(place.endswith(" and nothing") for place in diff_runs(play(tmp_path / "d"), ungraded).grades.values())


def test_a_longer_trajectory_differs_where_the_other_ends(tmp_path: Path) -> None:
    stage = stage_for("Writer")
    record = play_episode(stage, "mini-0", 0)
    cut = record.model_copy(update={"events": (*record.events[:2], record.events[-1].model_copy(update={"id": 2}))})
    for name, item in (("a", record), ("b", cut)):
        with create_run(tmp_path / name, stage.config, LIBRARY.scenarios) as writer:
            writer.append_episode(to_line(item))
    found = diff_runs(RunFolder(tmp_path / "a"), RunFolder(tmp_path / "b"))
    assert next(iter(found.episodes.values())).startswith("event 2")


def test_two_agents_are_compared_over_the_same_scenarios_only(tmp_path: Path) -> None:
    writer, refusing = play(tmp_path / "a"), play(tmp_path / "b", "Refusing")
    found = compare_folders(writer, refusing)
    assert (found.first, found.second) == ("a", "b")
    assert (found.security.pairs, found.security.only_first, found.security.only_second) == (1, 0, 1)
    assert (found.utility.first, found.utility.second, found.utility.difference) == (1.0, 0.0, -1.0)
    with pytest.raises(RunError, match="resample seeds 0 and 3"):
        compare_folders(writer, play(tmp_path / "c", resample=3))
    changed = mini.library(1)
    changed.scenarios["mini-0"] = mini.scenario("mini-0", title="Another note")
    config = resolve_config(changed, name="d", agent=f"{mini.ME}:Writer", retrieval="none")
    run(config, changed, tmp_path / "d")
    with pytest.raises(RunError, match="has changed in between"):
        compare_folders(writer, RunFolder(tmp_path / "d"))
