"""Grading what is stored. A grader that fails costs its grade, never an episode."""

from __future__ import annotations

from pathlib import Path

from domains.kit.domain import load_domain
from harness.errors import RunError
from harness.models.faults import BudgetSpent, FatalFault, NotRecorded
from harness.runs.folder import RunFolder, RunWriter
from harness.runs.record import EpisodeRecord, GradeRecord, to_line
from harness.runs.secrets import secret_values
from harness.scenario.files import Library
from harness.scenario.instance import Instance, instantiate
from harness.verdict import Grader


def grade_record(grader: Grader, record: EpisodeRecord, instance: Instance) -> GradeRecord:
    """Return the grade of one episode, or why it has none.

    Raises
    ------
    FatalFault, BudgetSpent, NotRecorded
        If no further episode could be graded.
    """
    try:
        return GradeRecord(episode_id=record.episode_id, grade=grader.grade(record.episode_id, instance, record.events))
    except (FatalFault, BudgetSpent, NotRecorded):
        raise
    except Exception as fault:  # noqa: BLE001 - one episode's grading must not end the others'; the fault is stored
        text = f"{type(fault).__name__}: {fault}"[:500].encode("utf-8", "replace").decode("utf-8")
        return GradeRecord(episode_id=record.episode_id, grade=None, fault=text)


def grade_run(path: Path, library: Library, grader: Grader) -> int:
    """Grade every episode of a run anew; the conversations stay as they are.

    Scenarios may say other things than when the run was played (that is what grading anew is for), as long as the
    episodes could have been played under them; `replay` tells whether they could.

    Returns
    -------
    int
        The number of episodes that were graded.

    Raises
    ------
    RunError
        If a scenario of the run is not in the library, or the grades cannot be written.
    RecordError
        If the run cannot be read.
    SetupError
        If a scenario cannot be built any more.
    """
    folder, secrets = RunFolder(path), secret_values()
    with RunWriter(path) as writer:
        instances: dict[str, Instance] = {}
        lines = []
        for record in folder.records():
            if record.is_errored:
                continue
            name = record.scenario_id
            if name not in library.scenarios:
                raise RunError(f"{path}: expected the scenario {name!r} among those loaded, found no such scenario")
            if name not in instances:
                scenario = library.scenarios[name]
                instances[name] = instantiate(scenario, load_domain(scenario.domain), record.resample)
            lines.append(to_line(grade_record(grader, record, instances[name]), secrets))
        writer.replace_grades(lines)
    return len(lines)
