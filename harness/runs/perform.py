"""One episode wherever it is played: what is done with it, and what comes back to be written down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from harness.episode.events import StopReason
from harness.models.faults import BudgetSpent, FatalFault, ModelFault, NotRecorded
from harness.models.record import EpisodeCalls, shortened
from harness.models.session import Session
from harness.runs.executors import Executor, Lost
from harness.runs.folder import Stored
from harness.runs.interrupts import finishing, uninterrupted
from harness.runs.play import play_episode
from harness.runs.record import EpisodeRecord, GradeRecord, Timing, to_line, unwritable
from harness.runs.stage import Stage
from harness.scenario.instance import Instance
from harness.verdict import Grader

GRADING: Final = " (grading)"
"""What follows an episode's id where the calls of its judges are kept."""

Judged = Callable[[Session], Grader]
"""Builds the grader of one episode from its models, where models judge."""


class Planned(NamedTuple):
    """One episode of the plan."""

    scenario_id: str
    trial: int
    episode_id: str


class CallLines(NamedTuple):
    """The calls of an episode's models, shortened, and whole where traffic is kept."""

    short: bytes
    whole: bytes | None


@dataclass(frozen=True, slots=True)
class Begun:
    """An episode has begun, or its grading has."""

    episode_id: str


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """An episode has come to its end.

    Attributes
    ----------
    is_last
        Whether nothing more comes of it: it is not graded here.
    """

    episode_id: str
    stop_reason: StopReason
    line: bytes
    timing: bytes
    calls: CallLines | None
    is_last: bool


@dataclass(frozen=True, slots=True)
class GradeLine:
    """An episode is graded.

    Attributes
    ----------
    secure, useful
        Whether it was, of a valid episode; None where that does not apply or is open.
    """

    episode_id: str
    secure: bool | None
    useful: bool | None
    line: bytes
    timing: bytes | None
    calls: CallLines | None


@dataclass(frozen=True, slots=True)
class Halt:
    """No further episode can be played; what this one had paid for by then is kept."""

    episode_id: str
    reason: str
    timing: bytes
    calls: CallLines | None


Outcome = Begun | EpisodeLine | GradeLine | Halt
Task = Planned | Stored


@dataclass(frozen=True, slots=True)
class Performer:
    """Plays an episode, hands it over to be stored, then grades it; an episode that is stored is graded only.

    Attributes
    ----------
    grader
        Grades episodes; None leaves them ungraded.
    judged
        In the place of `grader` where models judge.
    secrets
        What must not be written.
    records_traffic
        Whether the calls of models are kept whole.
    halts
        Whether an episode has met what would end every other the same way: none begins after it in this process.
    """

    stage: Stage
    grader: Grader | None
    judged: Judged | None
    secrets: tuple[bytes, ...]
    records_traffic: bool
    halts: threading.Event = field(default_factory=threading.Event)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without what threads of this process share."""
        return Performer, (self.stage, self.grader, self.judged, self.secrets, self.records_traffic)

    @property
    def grades(self) -> bool:
        """Whether episodes are graded."""
        return self.judged is not None or self.grader is not None

    def __call__(self, task: Task) -> Iterator[Outcome]:
        """Yield what comes of one episode, as it comes."""
        if self.halts.is_set():
            return
        yield Begun(task.episode_id)
        if isinstance(task, Stored):
            yield from self._grade(task.read())
            return
        session = self.stage.session(task.episode_id)
        watch = _Watch()
        try:
            record = play_episode(self.stage, task.scenario_id, task.trial, session)
        except (FatalFault, BudgetSpent, NotRecorded) as fault:
            yield self._halt(task.episode_id, task.episode_id, fault, watch, session)
            return
        try:
            line = to_line(record, self.secrets)
        except (ValueError, RecursionError) as problem:
            record = unwritable(record, problem)
            line = to_line(record, self.secrets)
        timing = watch.line(task.episode_id, session)
        is_last = record.is_errored or not self.grades
        yield EpisodeLine(record.episode_id, record.stop_reason, line, timing, self._calls(session), is_last)
        if not is_last:
            yield from self._grade(record)

    def _grade(self, record: EpisodeRecord) -> Iterator[Outcome]:
        name, session, grader = f"{record.episode_id}{GRADING}", None, self.grader
        watch = _Watch()
        if self.judged is not None:
            session = self.stage.session(name)
            grader = None if session is None else self.judged(session)
        if grader is None:
            return
        try:
            graded = grade_record(grader, record, self.stage.instance(record.scenario_id))
        except (FatalFault, BudgetSpent, NotRecorded) as fault:
            yield self._halt(record.episode_id, name, fault, watch, session)
            return
        timing = None if session is None else watch.line(name, session)
        secure, useful = assessed(graded)
        line = to_line(graded, self.secrets)
        yield GradeLine(record.episode_id, secure, useful, line, timing, self._calls(session))

    def _halt(self, episode: str, name: str, fault: ModelFault, watch: _Watch, session: Session | None) -> Halt:
        self.halts.set()
        return Halt(episode, str(fault), watch.line(name, session), self._calls(session))

    def _calls(self, session: Session | None) -> CallLines | None:
        if session is None or not session.calls:
            return None
        short = EpisodeCalls(episode_id=session.episode_id, calls=tuple(map(shortened, session.calls)))
        whole = EpisodeCalls(episode_id=session.episode_id, calls=session.calls) if self.records_traffic else None
        return CallLines(_call_line(short), None if whole is None else _call_line(whole))


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


class _Watch:
    """Measures from now on."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def line(self, name: str, session: Session | None) -> bytes:
        """Return what has been measured up to now, with the calls of the session, as a line of timings."""
        timing = Timing(
            episode_id=name,
            wall_s=time.perf_counter() - self._wall,
            cpu_s=time.process_time() - self._cpu,
            model_calls=() if session is None else tuple(session.timings),
        )
        return to_line(timing)


def drive(
    executor: Executor,
    performer: Performer,
    tasks: Sequence[Task],
    enter: Callable[[Outcome | Lost[Task]], bool],
    interrupted: Callable[[], None] | None,
) -> bool:
    """Have tasks performed, and whatever comes of them entered, to the end or until an end is asked for.

    Parameters
    ----------
    executor, performer, tasks
        What is done, and where.
    enter
        Takes each outcome; returns whether further tasks may begin. What is in flight is paid for and is finished.
    interrupted
        Told when Ctrl-C is first pressed.

    Returns
    -------
    bool
        Whether Ctrl-C was pressed.
    """
    with finishing(interrupted) as ending:
        try:
            with closing(executor.run(performer, tasks, ending.stop)) as outcomes:
                for outcome in outcomes:
                    with uninterrupted():
                        goes_on = enter(outcome)
                    if not goes_on:
                        ending.stop.set()
        except KeyboardInterrupt:
            ending.is_asked_for = True
        return ending.is_asked_for


def assessed(graded: GradeRecord) -> tuple[bool | None, bool | None]:
    """Return whether a valid episode was secure, and useful; None where that does not apply or is open."""
    grade = graded.grade
    return (grade.secure, grade.useful) if grade is not None and grade.valid else (None, None)


def _call_line(calls: EpisodeCalls) -> bytes:
    return calls.model_dump_json().encode() + b"\n"
