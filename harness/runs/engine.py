"""Runs: plans episodes, plays what is not there yet, stores each as soon as it ends, and grades what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from harness.agents.load import load_agent
from harness.episode.events import FAULTS, StopReason
from harness.episode.limits import Limits
from harness.errors import RunError, UnknownName
from harness.models.build import Models
from harness.models.config import ModelsConfig
from harness.prompts import prompt_hashes
from harness.resources import data_root
from harness.runs.config import RunConfig
from harness.runs.executors import Executor, Lost, Processes, Serial
from harness.runs.folder import RunFolder, RunWriter, Stored, create_run, resume_run
from harness.runs.perform import (
    Begun,
    EpisodeLine,
    GradeLine,
    Halt,
    Judged,
    Outcome,
    Performer,
    Planned,
    Task,
    assessed,
    drive,
)
from harness.runs.play import rehearse
from harness.runs.progress import Progress, Tally
from harness.runs.provenance import agent_hash, commit, package_version, source_hash
from harness.runs.record import RECORD_SCHEMA_VERSION, episode_id
from harness.runs.scenarios import scenarios_hash
from harness.runs.secrets import secret_values
from harness.runs.stage import Stage, read_documents
from harness.scenario.files import Library
from harness.scenario.instance import CANONICAL_SEED
from harness.scenario.model import SCHEMA_VERSION, Scenario
from harness.verdict import Grader


@dataclass(slots=True)
class RunResult:
    """What came of a run, or of one sitting of it.

    Attributes
    ----------
    played, done_before
        Episodes stored in this sitting, and those that were there already.
    broken_off
        Episodes that ended in this sitting because a provider could not be had; they are stored as errored.
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
    broken_off: int = 0
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
    one_by_one: bool = False,
    audits_callers: bool = False,
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
    one_by_one, audits_callers
        Whether models that judge are asked for each assertion in a call of its own, and about the caller as well.

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
            one_by_one=one_by_one,
            audits_callers=audits_callers,
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
    judged: Judged | None = None,
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
        Whether to go on with a run that is there. Episodes that a provider broke off are played again.
    progress
        Told whenever something has happened, in this process.
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
        performer = Performer(stage, grader, judged, secret_values(), records_traffic)
        planned = plan(config)
        writer.drop_broken_off()
        stock = _take_stock(folder, len(planned), with_grades=performer.grades)
        result = RunResult(folder, planned=len(planned), done_before=len(stock.done))
        tasks: list[Task] = list(stock.ungraded)
        tasks += [episode for episode in planned if episode.episode_id not in stock.done]
        if tasks and isinstance(executor, Processes):
            rehearse(stage, {scenario.domain: name for name, scenario in chosen.items()})
        book = _Book(writer, result, stock.tally, progress)
        result.is_interrupted = drive(executor or Serial(), performer, tasks, book.enter, interrupted)
    return result


class _Stock(NamedTuple):
    """What a run that is gone on with has already."""

    done: frozenset[str]
    ungraded: tuple[Stored, ...]
    tally: Tally


def _take_stock(path: Path, planned: int, *, with_grades: bool) -> _Stock:
    folder, done, ungraded = RunFolder(path), set[str](), []
    tally, grades = Tally(planned), folder.grades()
    for stored, record in folder.stored():
        done.add(record.episode_id)
        tally.errored += record.is_errored
        graded = grades.get(record.episode_id)
        if graded is not None:
            tally.grade(*assessed(graded))
        elif with_grades and not record.is_errored:
            ungraded.append(stored)
    tally.done = len(done)
    return _Stock(frozenset(done), tuple(ungraded), tally)


@dataclass(frozen=True, slots=True)
class _Book:
    """Writes down and counts what comes in."""

    writer: RunWriter
    result: RunResult
    tally: Tally
    told: Callable[[Progress], None] | None

    def enter(self, outcome: Outcome | Lost[Task]) -> bool:
        """Write one outcome down; return whether further episodes may begin."""
        if isinstance(outcome, Lost):
            self.result.lost[outcome.task.episode_id] = outcome.reason
        elif not isinstance(outcome, Begun):
            self._store(outcome)
        self._count(outcome)
        if self.told is not None:
            self.told(self.tally.progress())
        return self.result.halted is None

    def _count(self, outcome: Outcome | Lost[Task]) -> None:
        tally = self.tally
        if isinstance(outcome, Begun):
            tally.running.add(outcome.episode_id)
            return
        if isinstance(outcome, EpisodeLine):
            self.result.played += 1
            self.result.broken_off += outcome.stop_reason is StopReason.PROVIDER_FAULT
            tally.done += 1
            tally.errored += outcome.stop_reason in FAULTS
            if not outcome.is_last:
                return
        elif isinstance(outcome, GradeLine):
            tally.grade(outcome.secure, outcome.useful)
        elif isinstance(outcome, Halt) and self.result.halted is None:
            self.result.halted = tally.halted = f"{outcome.episode_id}: {outcome.reason}"
        tally.running.discard(outcome.task.episode_id if isinstance(outcome, Lost) else outcome.episode_id)

    def _store(self, outcome: EpisodeLine | GradeLine | Halt) -> None:
        # Calls go first: an episode that counts has them on disk, and one that was cut off is played anew.
        if outcome.calls is not None:
            self.writer.append_calls(*outcome.calls)
        if isinstance(outcome, EpisodeLine):
            self.writer.append_episode(outcome.line)
        elif isinstance(outcome, GradeLine):
            self.writer.append_grade(outcome.line)
        if outcome.timing is not None:
            self.writer.append_timing(outcome.timing)


def _choose(library: Library, tasks: Sequence[str] | None) -> dict[str, Scenario]:
    if tasks is None:
        return dict(library.scenarios)
    for name in tasks:
        if name not in library.scenarios:
            raise UnknownName("scenario", name, library.scenarios)
    return {name: library.scenarios[name] for name in tasks}
