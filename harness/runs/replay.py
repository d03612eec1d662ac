"""Replay: the recorded calls, applied to a fresh world, must give the recorded results, changes and final state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from domains.kit.domain import Call
from domains.kit.errors import Rejection, SetupError
from domains.kit.json import canonical
from domains.kit.knowledge import Knowledge
from harness.episode.environment import Environment
from harness.episode.events import Called, Event, Returned
from harness.episode.limits import Limits
from harness.episode.turn import Turn
from harness.errors import WorldFault
from harness.orchestrator import state_digest
from harness.runs.record import EpisodeRecord
from harness.scenario.instance import Instance

_COMPARED: Final = ("ok", "rejection", "result", "changes", "shown", "heard", "ends")
"""The parts of a call's outcome; the rest of the event is its place in the conversation."""

_WIDTH: Final = 300


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What came of a replay.

    Attributes
    ----------
    calls
        Calls that were applied, the one with the first difference included.
    difference
        The first difference between the record and the replay; None if there is none.
    """

    episode_id: str
    calls: int
    difference: str | None

    @property
    def is_same(self) -> bool:
        """Whether the replay gave what is recorded."""
        return self.difference is None


def replay(instance: Instance, knowledge: Knowledge, record: EpisodeRecord) -> ReplayResult:
    """Apply every recorded call to a fresh world, in order, and compare what comes of it.

    Calls that never reached the world (too many in one turn, arguments that are no JSON) are passed over: they could
    change nothing.

    Parameters
    ----------
    instance
        The scenario under the seed of the record.
    knowledge
        The corpus under the retrieval condition of the run.
    record
        The episode.
    """
    calls = 0
    try:
        environment = Environment(instance, knowledge, Limits())
    except SetupError as error:
        # An episode that could not begin either has nothing to apply; any other one has begun.
        same = record.is_errored and len(record.events) == 1
        return ReplayResult(record.episode_id, calls, None if same else f"the world cannot be opened: {error}")
    try:
        for called, returned in _calls(record):
            calls += 1
            difference = _apply(environment, called, returned)
            if difference is not None:
                place = f"event {called.id}, {called.actor} calls {called.tool}: {difference}"
                return ReplayResult(record.episode_id, calls, place)
        return ReplayResult(record.episode_id, calls, _compare_ends(record, environment.events))
    finally:
        environment.close()


def _calls(record: EpisodeRecord) -> Iterator[tuple[Called, Returned | None]]:
    """Yield every call that reached the world with what it returned; nothing where the tool broke the episode."""
    returned = {event.call_id: event for event in record.events if isinstance(event, Returned)}
    for event in record.events:
        if isinstance(event, Called):
            outcome = returned.get(event.call_id)
            if outcome is None or not _was_turned_away(outcome):
                yield event, outcome


def _was_turned_away(outcome: Returned) -> bool:
    """Tell whether the environment kept a call from the world; it then records the call without arguments."""
    return outcome.rejection is Rejection.BAD_ARGUMENTS and not outcome.arguments


def _apply(environment: Environment, called: Called, recorded: Returned | None) -> str | None:
    try:
        environment.deliver(called.actor, Turn(calls=(Call(called.tool, called.arguments),)))
    except WorldFault as fault:
        return None if recorded is None else f"it returned {_shown(recorded.result)}, and now raises: {fault}"
    again = next(event for event in reversed(environment.events) if isinstance(event, Returned))
    if recorded is None:
        return f"its tool broke the episode, and now it returns {_shown(again.result)}"
    return _first_difference(recorded.model_dump(mode="json"), again.model_dump(mode="json"))


def _first_difference(recorded: Mapping[str, Any], again: Mapping[str, Any]) -> str | None:
    for part in _COMPARED:
        if canonical(recorded[part]) != canonical(again[part]):
            return f"{part}: recorded {_shown(recorded[part])}, replayed {_shown(again[part])}"
    return None


def _compare_ends(record: EpisodeRecord, replayed: list[Event]) -> str | None:
    for what, digest in (("its events", state_digest(record.events)), ("the replay", state_digest(tuple(replayed)))):
        if digest != record.state_digest:
            return f"final state: the record says {record.state_digest}, {what} give {digest}"
    return None


def _shown(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
