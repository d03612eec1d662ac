"""The account of a run: every planned episode, once, with what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from domains.kit.desk import ESCALATIONS
from domains.kit.store import ChangeKind
from domains.kit.tools import Actor
from harness.episode.events import Event, Returned, Said
from harness.errors import UnknownName
from harness.runs.config import RunConfig
from harness.runs.engine import plan
from harness.runs.record import EpisodeRecord, GradeRecord
from harness.scenario.model import Kind, Scenario
from harness.verdict import Feeds, Grade, Standing

_NOT_GRADED: Final = "not graded yet"


class Status(StrEnum):
    """What became of a planned episode; exactly one applies."""

    NOT_ATTEMPTED = "not_attempted"
    GRADED = "graded"
    UNGRADED = "ungraded"
    """It took place, and whether it went well is not decided."""
    ERRORED = "errored"
    """Something broke that says nothing about the agent's conduct."""
    INVALID = "invalid"
    """The caller did not deliver the scenario."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What reports need of a trajectory.

    Attributes
    ----------
    caller_turns
        How often the caller spoke.
    is_referred
        Whether the matter was put before people: escalated, or handed over.
    """

    caller_turns: int
    is_referred: bool


@dataclass(frozen=True, slots=True)
class Account:
    """One planned episode.

    Attributes
    ----------
    grade
        Its grade, of graded episodes and those in which something is left undecided.
    reason
        Why it has no outcome; None for graded episodes.
    conversation
        None for episodes that did not take place or broke.
    """

    scenario: Scenario
    trial: int
    status: Status
    grade: Grade | None = None
    reason: str | None = None
    conversation: Conversation | None = None

    @property
    def outcome(self) -> bool | None:
        """Whether the agent did what the scenario is about: defended an attack, served a twin. None if undecided."""
        if self.status is not Status.GRADED or self.grade is None:
            return None
        return outcome_of(self.grade, self.scenario.kind)


def take_account(
    config: RunConfig,
    scenarios: Mapping[str, Scenario],
    records: Iterable[EpisodeRecord],
    grades: Mapping[str, GradeRecord],
) -> list[Account]:
    """Return every planned episode in the order of the plan.

    Raises
    ------
    UnknownName
        If a scenario of the run is not among `scenarios`.
    """
    played = {record.episode_id: _settle(record, scenarios, grades.get(record.episode_id)) for record in records}
    accounts = []
    for episode in plan(config):
        scenario = _find(episode.scenario_id, scenarios)
        missing = Account(scenario, episode.trial, Status.NOT_ATTEMPTED, reason="not played to its end")
        accounts.append(played.get(episode.episode_id, missing))
    return accounts


def outcome_of(grade: Grade, kind: Kind) -> bool | None:
    """Return the value that a scenario of this kind is about."""
    return grade.secure if kind is Kind.ATTACK else grade.useful


def _find(scenario_id: str, scenarios: Mapping[str, Scenario]) -> Scenario:
    if scenario_id not in scenarios:
        raise UnknownName("scenario", scenario_id, scenarios)
    return scenarios[scenario_id]


def _settle(record: EpisodeRecord, scenarios: Mapping[str, Scenario], line: GradeRecord | None) -> Account:
    scenario = _find(record.scenario_id, scenarios)
    if record.is_errored:
        return Account(scenario, record.trial, Status.ERRORED, reason=str(record.stop_reason))
    conversation = _converse(record.events)
    if line is None or line.grade is None:
        reason = _NOT_GRADED if line is None else f"grading failed: {line.fault}"
        return Account(scenario, record.trial, Status.UNGRADED, reason=reason, conversation=conversation)
    grade = line.grade
    if grade.valid is False:
        status, reason = Status.INVALID, f"the caller did not play its scenario ({_failed_validity(grade)})"
    elif grade.valid is None or outcome_of(grade, scenario.kind) is None:
        status, reason = Status.UNGRADED, " ".join(dict.fromkeys(grade.unassessed.values())) or "left undecided"
    else:
        return Account(scenario, record.trial, Status.GRADED, grade, None, conversation)
    return Account(scenario, record.trial, status, grade, reason, conversation)


def _failed_validity(grade: Grade) -> str:
    failed = [v.check for v in grade.verdicts if v.feeds is Feeds.VALIDITY and v.standing is Standing.FAIL]
    return ", ".join(sorted(failed))


def _converse(events: Sequence[Event]) -> Conversation:
    return Conversation(
        caller_turns=sum(isinstance(event, Said) and event.speaker is Actor.CALLER for event in events),
        is_referred=any(
            event.ends or any(c.table == ESCALATIONS and c.kind is ChangeKind.INSERT for c in event.changes)
            for event in events
            if isinstance(event, Returned) and event.actor is Actor.AGENT and event.ok
        ),
    )
