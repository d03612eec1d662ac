"""Runs: plans episodes, plays what is not there yet, stores each as soon as it ends, and grades what is stored."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import ValidationError

from harness.agents.load import load_agent
from harness.episode.events import StopReason
from harness.episode.limits import Limits
from harness.errors import RunError, UnknownName
from harness.models.build import Models
from harness.models.config import ModelsConfig
from harness.models.faults import BudgetSpent, FatalFault, NotRecorded
from harness.models.record import EpisodeCalls, shortened
from harness.models.session import Session
from harness.prompts import prompt_hashes
from harness.resources import data_root
from harness.runs.config import RunConfig
from harness.runs.executors import Executor, Lost, Serial
from harness.runs.folder import RunFolder, RunWriter, create_run, resume_run
from harness.runs.grading import grade_line
from harness.runs.play import play_episode
from harness.runs.provenance import agent_hash, commit, package_version, source_hash
from harness.runs.record import RECORD_SCHEMA_VERSION, EpisodeRecord, Timing, episode_id, to_line, unwritable
from harness.runs.scenarios import scenarios_hash
from harness.runs.secrets import secret_values
from harness.runs.stage import Stage, read_documents
from harness.scenario.files import Library
from harness.scenario.instance import CANONICAL_SEED
from harness.scenario.model import SCHEMA_VERSION, Scenario
from harness.verdict import Grader

GRADING: Final = " (grading)"
"""What follows an episode's id where the calls of its judges are kept."""


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
    halted
        Why the run stopped by itself before its end: a provider that refuses it, or a budget that is spent.
    """

    folder: Path
    planned: int
    done_before: int = 0
    played: int = 0
    lost: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False
    halted: str | None = None

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
    models: ModelsConfig | None = None,
) -> RunConfig:
    """Resolve what a run is asked to do into a configuration that says everything.

    Parameters
    ----------
    library
        The scenarios to choose from.
    name
        The name of the run.
    agent
        A reference agent, or ``package.module:factory``; without meaning where a model plays the agent.
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
    models
        The models that play roles; None if none does.

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
    models = models or ModelsConfig()
    if models.agent is not None:
        agent = models.agent.model
    agent_name = agent if models.agent is not None else load_agent(agent).name
    here = commit()
    try:
        return RunConfig(
            name=name,
            agent=agent,
            agent_name=agent_name,
            caller=caller if models.caller is None else models.caller.model,
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
            agent_hash=agent_hash(agent) if models.agent is None else None,
            models=models,
            prompts_hash=prompt_hashes() if models != ModelsConfig() else {},
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
    models: Models | None = None,
    judged: Callable[[Session], Grader] | None = None,
    records_traffic: bool = False,
    interrupted: Callable[[], None] | None = None,
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
    models
        The models of the configuration; None if none plays a role.
    judged
        Builds the grader of an episode from its models, where models judge; in the place of `grader`.
    records_traffic
        Whether all traffic with providers is kept, to play the run again without them.
    interrupted
        Told when Ctrl-C is first pressed: what is in flight is finished then. A second time stops at once.

    Raises
    ------
    HarnessError
        If the run cannot be started, continued or written. Whatever is complete is on disk.
    """
    chosen = _choose(library, config.tasks)
    stage = Stage(config, chosen, corpus_root or data_root("corpus"), models)
    stage.prepare()
    with resume_run(folder, config) if resume else create_run(folder, config, chosen) as writer:
        performer = _Performer(stage, grader, judged, secret_values(), records_traffic)
        planned = plan(config)
        done = _take_stock(performer, writer)
        result = RunResult(folder, planned=len(planned), done_before=len(done))
        rest = [episode for episode in planned if episode.episode_id not in done]
        try:
            with (
                _finishing(interrupted) as stop,
                closing((executor or Serial()).run(performer, rest, stop)) as outcomes,
            ):
                for outcome in outcomes:
                    with _uninterrupted():
                        _store(outcome, writer, result, progress)
                    if result.halted is not None:
                        break
                result.is_interrupted = stop.is_set()
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
    calls: _CallLines | None = None


@dataclass(frozen=True, slots=True)
class _GradeLine:
    episode_id: str
    line: bytes
    calls: _CallLines | None = None


@dataclass(frozen=True, slots=True)
class _Halt:
    """No further episode can be played."""

    reason: str


class _CallLines(NamedTuple):
    short: bytes
    whole: bytes | None


_Line = _EpisodeLine | _GradeLine | _Halt


@dataclass(frozen=True, slots=True)
class _Performer:
    """Plays an episode, hands it over to be stored, then grades it."""

    stage: Stage
    grader: Grader | None
    judged: Callable[[Session], Grader] | None
    secrets: tuple[bytes, ...]
    records_traffic: bool

    def __call__(self, task: Planned) -> Iterator[_Line]:
        try:
            yield from self._perform(task)
        except (FatalFault, BudgetSpent, NotRecorded) as fault:
            yield _Halt(f"{task.episode_id}: {fault}")

    def _perform(self, task: Planned) -> Iterator[_Line]:
        wall, cpu = time.perf_counter(), time.process_time()
        session = self.stage.session(task.episode_id)
        record = play_episode(self.stage, task.scenario_id, task.trial, session)
        try:
            line = to_line(record, self.secrets)
        except (ValueError, RecursionError) as problem:
            record = unwritable(record, problem)
            line = to_line(record, self.secrets)
        timing = Timing(
            episode_id=record.episode_id,
            wall_s=time.perf_counter() - wall,
            cpu_s=time.process_time() - cpu,
            model_calls=() if session is None else tuple(session.timings),
        )
        yield _EpisodeLine(record.episode_id, record.stop_reason, line, to_line(timing), self._calls(session))
        if not record.is_errored:
            yield from self.grade(record)

    def grade(self, record: EpisodeRecord) -> Iterator[_GradeLine]:
        """Grade a stored episode, if there is a grader."""
        session, grader = None, self.grader
        if self.judged is not None:
            session = self.stage.session(f"{record.episode_id}{GRADING}")
            grader = None if session is None else self.judged(session)
        if grader is not None:
            instance = self.stage.instance(record.scenario_id)
            line = grade_line(grader, record, instance, self.secrets)
            yield _GradeLine(record.episode_id, line, self._calls(session))

    def _calls(self, session: Session | None) -> _CallLines | None:
        if session is None or not session.calls:
            return None
        short = EpisodeCalls(episode_id=session.episode_id, calls=tuple(map(shortened, session.calls)))
        whole = EpisodeCalls(episode_id=session.episode_id, calls=session.calls) if self.records_traffic else None
        return _CallLines(_call_line(short), None if whole is None else _call_line(whole))


def _call_line(calls: EpisodeCalls) -> bytes:
    return calls.model_dump_json().encode() + b"\n"


def _take_stock(performer: _Performer, writer: RunWriter) -> set[str]:
    """Return the ids of the stored episodes; those that were stored but not graded any more are graded now."""
    folder = RunFolder(writer.path)
    done: set[str] = set()
    grades = folder.grades()
    for record in folder.records():
        done.add(record.episode_id)
        if not record.is_errored and record.episode_id not in grades:
            for graded in performer.grade(record):
                _keep_calls(graded.calls, writer)
                writer.append_grade(graded.line)
    return done


def _keep_calls(calls: _CallLines | None, writer: RunWriter) -> None:
    if calls is not None:
        writer.append_calls(calls.short, calls.whole)


def _store(
    outcome: _Line | Lost[Planned],
    writer: RunWriter,
    result: RunResult,
    progress: Callable[[Progress], None] | None,
) -> None:
    if isinstance(outcome, _Halt):
        result.halted = outcome.reason
    elif isinstance(outcome, _GradeLine):
        _keep_calls(outcome.calls, writer)
        writer.append_grade(outcome.line)
    elif isinstance(outcome, Lost):
        result.lost[outcome.task.episode_id] = outcome.reason
    else:
        # Calls go first: an episode that counts has them on disk, and one that was cut off is played anew.
        _keep_calls(outcome.calls, writer)
        writer.append_episode(outcome.line)
        writer.append_timing(outcome.timing)
        result.played += 1
        if progress is not None:
            done = result.done_before + result.played
            progress(Progress(done, result.planned, outcome.episode_id, outcome.stop_reason))


@contextmanager
def _finishing(interrupted: Callable[[], None] | None) -> Iterator[threading.Event]:
    """Let the first Ctrl-C ask for an end, and the second make one; yields what tells that the first has come."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield stop
        return

    def ask(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        if interrupted is not None:
            interrupted()

    usual = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, usual)


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
