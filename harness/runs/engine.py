"""Runs: plans episodes, plays what is not there yet, stores each as soon as it ends, and grades what is stored."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from harness.agents.load import load_agent
from harness.episode.events import StopReason
from harness.episode.limits import Limits
from harness.errors import RunError, UnknownName
from harness.resources import data_root
from harness.runs.config import RunConfig
from harness.runs.executors import Executor, Lost, Serial
from harness.runs.folder import RunFolder, RunWriter, create_run, resume_run
from harness.runs.grading import grade_line
from harness.runs.play import play_episode
from harness.runs.provenance import agent_hash, commit, package_version, source_hash
from harness.runs.record import RECORD_SCHEMA_VERSION, Timing, episode_id, to_line, unwritable
from harness.runs.scenarios import scenarios_hash
from harness.runs.secrets import secret_values
from harness.runs.stage import Stage, read_documents
from harness.scenario.files import Library
from harness.scenario.instance import CANONICAL_SEED
from harness.scenario.model import SCHEMA_VERSION, Scenario
from harness.verdict import Grader


class Planned(NamedTuple):
    """One episode of the plan."""

    scenario_id: str
    trial: int
    episode_id: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; told after every episode.

    Attributes
    ----------
    done, planned
        Episodes stored so far, those of earlier sittings counted, and episodes of the whole plan.
    """

    done: int
    planned: int
    episode_id: str
    stop_reason: StopReason


@dataclass(slots=True)
class RunResult:
    """What came of a run, or of one sitting of it.

    Attributes
    ----------
    played, done_before
        Episodes stored in this sitting, and those that were there already.
    lost
        Why planned episodes came to no end, by id. They are not stored and will be played on resume.
    is_interrupted
        Whether the run was stopped from outside (Ctrl-C).
    """

    folder: Path
    planned: int
    done_before: int = 0
    played: int = 0
    lost: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every planned episode is stored."""
        return self.done_before + self.played == self.planned


def resolve_config(
    library: Library,
    *,
    name: str,
    agent: str,
    tasks: Sequence[str] | None = None,
    caller: str = "scripted",
    retrieval: str = "bm25",
    trials: int = 1,
    seed: int = 0,
    resample: int = CANONICAL_SEED,
    history: Literal["full", "latest"] = "full",
    limits: Limits | None = None,
    corpus_root: Path | None = None,
) -> RunConfig:
    """Resolve what a run is asked to do into a configuration that says everything.

    Parameters
    ----------
    library
        The scenarios to choose from.
    name
        The name of the run.
    agent
        A reference agent, or ``package.module:factory``.
    tasks
        Ids of scenarios; None for all of the library.
    caller
        Who calls.
    retrieval
        The retrieval condition.
    trials
        Episodes of each scenario.
    seed
        For agents that draw.
    resample
        The seed of the instances.
    history
        ``latest`` to let the agent see nothing before the latest caller turn.
    limits
        The limits of an episode; None for the usual ones.
    corpus_root
        The folder with the documents of every domain; None for those of this installation.

    Raises
    ------
    RunError
        If there is nothing to play, the agent cannot be found, or a value is out of range.
    UnknownName
        If a scenario is not in the library.
    CorpusError
        If a corpus cannot be read.
    """
    chosen = _choose(library, tasks)
    root = corpus_root or data_root("corpus")
    spec = load_agent(agent)
    here = commit()
    try:
        return RunConfig(
            name=name,
            agent=agent,
            agent_name=spec.name,
            caller=caller,
            retrieval=retrieval,
            tasks=tuple(chosen),
            kinds=tuple(sorted({scenario.kind for scenario in chosen.values()})),
            trials=trials,
            seed=seed,
            resample=resample,
            history=history,
            limits=limits or Limits(),
            package_version=package_version(),
            scenario_schema_version=SCHEMA_VERSION,
            record_schema_version=RECORD_SCHEMA_VERSION,
            scenarios_hash=scenarios_hash(chosen),
            corpus_hash={
                domain: read_documents(retrieval, root, domain).content_hash
                for domain in sorted({scenario.domain for scenario in chosen.values()})
            },
            source_hash=source_hash(),
            agent_hash=agent_hash(agent),
            commit=here.id,
            commit_unknown=here.unknown,
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        found = f"{place}: " if place else ""
        raise RunError(
            f"the run cannot be configured as asked: {found}{first['msg'].removeprefix('Value error, ')}"
        ) from None


def plan(config: RunConfig) -> list[Planned]:
    """Return every episode of a run: all trials of a scenario, then those of the next."""
    return [
        Planned(scenario_id, trial, episode_id(scenario_id, config.agent_name, trial))
        for scenario_id in config.tasks
        for trial in range(config.trials)
    ]


def run(
    config: RunConfig,
    library: Library,
    folder: Path,
    *,
    grader: Grader | None = None,
    executor: Executor | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    corpus_root: Path | None = None,
) -> RunResult:
    """Play every episode of a run that is not stored yet.

    Parameters
    ----------
    config
        What to run.
    library
        The scenarios that the configuration was resolved with.
    folder
        Where the run is kept: new or empty, or with `resume` the folder of this run.
    grader
        Grades each episode once it is stored; None leaves them ungraded.
    executor
        Where episodes are played; None for this process.
    resume
        Whether to go on with a run that is there.
    progress
        Told after every episode, in this process.
    corpus_root
        The folder with the documents of every domain; None for those of this installation.

    Raises
    ------
    HarnessError
        If the run cannot be started, continued or written. Whatever is complete is on disk.
    """
    chosen = _choose(library, config.tasks)
    stage = Stage(config, chosen, corpus_root or data_root("corpus"))
    stage.prepare()
    with resume_run(folder, config) if resume else create_run(folder, config, chosen) as writer:
        performer = _Performer(stage, grader, secret_values())
        planned = plan(config)
        done = _take_stock(performer, writer)
        result = RunResult(folder, planned=len(planned), done_before=len(done))
        rest = [episode for episode in planned if episode.episode_id not in done]
        try:
            with closing((executor or Serial()).run(performer, rest)) as outcomes:
                for outcome in outcomes:
                    with _uninterrupted():
                        _store(outcome, writer, result, progress)
        except KeyboardInterrupt:
            result.is_interrupted = True
    return result


# ------------------------------------------------------------------ one episode, wherever it is played


@dataclass(frozen=True, slots=True)
class _EpisodeLine:
    episode_id: str
    stop_reason: StopReason
    line: bytes
    timing: bytes


@dataclass(frozen=True, slots=True)
class _GradeLine:
    episode_id: str
    line: bytes


_Line = _EpisodeLine | _GradeLine


@dataclass(frozen=True, slots=True)
class _Performer:
    """Plays an episode, hands it over to be stored, then grades it."""

    stage: Stage
    grader: Grader | None
    secrets: tuple[bytes, ...]

    def __call__(self, task: Planned) -> Iterator[_Line]:
        wall, cpu = time.perf_counter(), time.process_time()
        record = play_episode(self.stage, task.scenario_id, task.trial)
        try:
            line = to_line(record, self.secrets)
        except (ValueError, RecursionError) as problem:
            record = unwritable(record, problem)
            line = to_line(record, self.secrets)
        timing = Timing(
            episode_id=record.episode_id, wall_s=time.perf_counter() - wall, cpu_s=time.process_time() - cpu
        )
        yield _EpisodeLine(record.episode_id, record.stop_reason, line, to_line(timing))
        if self.grader is not None and not record.is_errored:
            instance = self.stage.instance(task.scenario_id)
            yield _GradeLine(record.episode_id, grade_line(self.grader, record, instance, self.secrets))


def _take_stock(performer: _Performer, writer: RunWriter) -> set[str]:
    """Return the ids of the stored episodes; those that were stored but not graded any more are graded now."""
    folder = RunFolder(writer.path)
    done: set[str] = set()
    grades = folder.grades()
    for record in folder.records():
        done.add(record.episode_id)
        if performer.grader is not None and not record.is_errored and record.episode_id not in grades:
            instance = performer.stage.instance(record.scenario_id)
            writer.append_grade(grade_line(performer.grader, record, instance, performer.secrets))
    return done


def _store(
    outcome: _Line | Lost[Planned],
    writer: RunWriter,
    result: RunResult,
    progress: Callable[[Progress], None] | None,
) -> None:
    if isinstance(outcome, _GradeLine):
        writer.append_grade(outcome.line)
    elif isinstance(outcome, Lost):
        result.lost[outcome.task.episode_id] = outcome.reason
    else:
        writer.append_episode(outcome.line)
        writer.append_timing(outcome.timing)
        result.played += 1
        if progress is not None:
            done = result.done_before + result.played
            progress(Progress(done, result.planned, outcome.episode_id, outcome.stop_reason))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C until the block is done, so that what is stored and what is counted agree."""
    # Only the main thread may, and only a handler that Python knows can be put back.
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    came: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if came:
            signal.raise_signal(signal.SIGINT)


def _choose(library: Library, tasks: Sequence[str] | None) -> dict[str, Scenario]:
    if tasks is None:
        return dict(library.scenarios)
    for name in tasks:
        if name not in library.scenarios:
            raise UnknownName("scenario", name, library.scenarios)
    return {name: library.scenarios[name] for name in tasks}
