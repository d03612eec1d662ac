"""Grading stored episodes anew. The conversations stay as they are; a grader that fails costs its grade only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from domains.kit.json import JsonValue, digest
from harness.errors import RunError
from harness.models.build import Models
from harness.resources import data_root
from harness.runs.executors import Executor, Lost, Serial
from harness.runs.folder import RunFolder, RunWriter, Stored
from harness.runs.perform import Begun, EpisodeLine, GradeLine, Halt, Judged, Outcome, Performer, Task, assessed, drive
from harness.runs.progress import Progress, Tally
from harness.runs.provenance import source_hash
from harness.runs.record import GradeRecord, read_lines, to_line
from harness.runs.scenarios import scenarios_hash
from harness.runs.secrets import secret_values
from harness.runs.stage import Stage
from harness.scenario.files import Library
from harness.verdict import Grader

_PART: Final = "grading-{}.jsonl"


@dataclass(slots=True)
class Grading:
    """What came of a grading, or of one sitting of it.

    Attributes
    ----------
    asked
        Episodes that were to be graded; broken ones are not among them.
    graded
        Those that are, in earlier sittings too.
    lost
        Why grades came to no end, by episode.
    is_interrupted, halted
        As with `RunResult`.
    """

    asked: int
    graded: int = 0
    lost: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False
    halted: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every episode that was to be graded is."""
        return self.graded == self.asked


def grade_run(
    path: Path,
    library: Library,
    grader: Grader,
    *,
    judged: Judged | None = None,
    models: Models | None = None,
    only: Collection[str] | None = None,
    conditions: JsonValue = None,
    executor: Executor | None = None,
    records_traffic: bool = False,
    progress: Callable[[Progress], None] | None = None,
    interrupted: Callable[[], None] | None = None,
) -> Grading:
    """Grade episodes of a run anew; the grades of the others stay.

    Scenarios may say other things than when the run was played (that is what grading anew is for), as long as the
    episodes could have been played under them; `replay` tells whether they could.

    Where models judge, each grade is kept as soon as it is there: a grading that is cut off goes on where it was
    when it is asked for again.

    Parameters
    ----------
    path
        The folder of the run.
    library
        The scenarios.
    grader
        Grades episodes.
    judged
        Builds the grader of an episode from its models, in the place of `grader`.
    models
        The models that judge.
    only
        Scenarios whose episodes are graded; None for all.
    conditions
        What the grades depend on beside scenarios and code: a grading goes on only under the same.
    executor
        Where episodes are graded; None for this process.
    records_traffic
        Whether all traffic with providers is kept.
    progress, interrupted
        Told as by `run`.

    Raises
    ------
    RunError
        If a scenario of the run is not in the library, or the grades cannot be written.
    RecordError
        If the run cannot be read.
    SetupError
        If a scenario cannot be built any more.
    ModelFault
        If a model cannot be called as configured.
    """
    folder = RunFolder(path)
    stage = Stage(folder.config, library.scenarios, data_root("corpus"), models)
    if models is not None:
        models.prepare()
    with RunWriter(path) as writer:
        asked = _asked(folder, stage, library, only)
        part = None if judged is None else _PART.format(_key(library, conditions))
        desk = _Desk(writer, part, Grading(asked=len(asked)), Tally(planned=len(asked)), progress)
        writer.open_lines()
        if part is not None:
            desk.take_up(read_lines(path / part, GradeRecord), {stored.episode_id for stored in asked})
        tasks: list[Task] = [stored for stored in asked if stored.episode_id not in desk.lines]
        performer = Performer(stage, grader, judged, secret_values(), records_traffic)
        result = desk.result
        result.is_interrupted = drive(executor or Serial(), performer, tasks, desk.enter, interrupted)
        kept = [to_line(line) for name, line in folder.grades().items() if name not in desk.lines]
        writer.replace_grades([*kept, *desk.lines.values()])
        if part is not None and result.is_complete:
            writer.end_part(part)
    return result


def _asked(folder: RunFolder, stage: Stage, library: Library, only: Collection[str] | None) -> list[Stored]:
    """Return the episodes to grade; whatever is wrong with their scenarios shows before the first is."""
    asked = []
    for stored, record in folder.stored():
        name = record.scenario_id
        if record.is_errored or (only is not None and name not in only):
            continue
        if name not in library.scenarios:
            raise RunError(f"{folder.path}: expected the scenario {name!r} among those loaded, found no such scenario")
        stage.instance(name)
        asked.append(stored)
    return asked


def _key(library: Library, conditions: JsonValue) -> str:
    return digest([scenarios_hash(library.scenarios), source_hash(), conditions])[:8]


@dataclass(frozen=True, slots=True)
class _Desk:
    """Writes down and counts the grades that come in."""

    writer: RunWriter
    part: str | None
    result: Grading
    tally: Tally
    told: Callable[[Progress], None] | None
    lines: dict[str, bytes] = field(default_factory=dict)

    def take_up(self, graded: Iterable[GradeRecord], asked: Collection[str]) -> None:
        """Take up what an earlier sitting has graded."""
        for line in graded:
            if line.episode_id in asked:
                self._take(line.episode_id, to_line(line), assessed(line))

    def enter(self, outcome: Outcome | Lost[Task]) -> bool:
        """Write one outcome down; return whether further gradings may begin."""
        if isinstance(outcome, Begun):
            self.tally.running.add(outcome.episode_id)
        elif isinstance(outcome, Lost):
            self.result.lost[outcome.task.episode_id] = outcome.reason
            self.tally.running.discard(outcome.task.episode_id)
        else:
            self._enter(outcome)
        if self.told is not None:
            self.told(self.tally.progress())
        return self.result.halted is None

    def _enter(self, outcome: EpisodeLine | GradeLine | Halt) -> None:
        if outcome.calls is not None:
            self.writer.append_calls(*outcome.calls)
        if outcome.timing is not None:
            self.writer.append_timing(outcome.timing)
        self.tally.running.discard(outcome.episode_id)
        if isinstance(outcome, GradeLine):
            if self.part is not None:
                self.writer.append_part(self.part, outcome.line)
            self._take(outcome.episode_id, outcome.line, (outcome.secure, outcome.useful))
        elif isinstance(outcome, Halt) and self.result.halted is None:
            self.result.halted = self.tally.halted = f"{outcome.episode_id}: {outcome.reason}"

    def _take(self, episode: str, line: bytes, found: tuple[bool | None, bool | None]) -> None:
        self.lines[episode] = line
        self.result.graded = self.tally.done = len(self.lines)
        self.tally.grade(*found)
