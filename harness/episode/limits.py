"""Whose turn it is and when an episode is over: pure functions of the events so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domains.kit.tools import Actor
from harness.episode.events import Event, Returned, Stopped, StopReason, TurnEnded


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an episode may go on.

    Attributes
    ----------
    turns
        Turns of both participants together; a turn ends whenever a participant has acted.
    calls
        Tool calls in the whole episode; none beyond is run.
    calls_per_turn
        Calls in one turn; those beyond are returned as failed.
    failed_calls
        Calls that may fail before the episode is stopped.
    message_chars
        Length of one message; what is longer is cut, and the record says so.
    argument_chars
        Length of one call's arguments, written as JSON; a call with more is returned as failed.
    seconds
        Wall-clock time of the whole episode, None for no limit.
    """

    turns: int = 120
    calls: int = 150
    calls_per_turn: int = 20
    failed_calls: int = 40
    message_chars: int = 20_000
    argument_chars: int = 20_000
    seconds: float | None = None


def next_speaker(events: Sequence[Event]) -> Actor:
    """Return who has the floor: the caller first, then whoever kept it or was given it."""
    for event in reversed(events):
        if isinstance(event, TurnEnded):
            if not event.yields:
                return event.speaker
            return Actor.CALLER if event.speaker is Actor.AGENT else Actor.AGENT
    return Actor.CALLER


def stop_reason(events: Sequence[Event], limits: Limits, elapsed_s: float = 0.0) -> StopReason | None:
    """Return why the episode is over, or None while it goes on.

    Parameters
    ----------
    events
        The trajectory so far, ending with a completed turn.
    limits
        The limits in force.
    elapsed_s
        Wall-clock seconds since the start.
    """
    if not events:
        return None
    last = events[-1]
    if isinstance(last, Stopped):
        return last.reason
    if isinstance(last, TurnEnded) and last.ends is not None:
        return StopReason.CALLER_DONE if last.speaker is Actor.CALLER else StopReason.AGENT_ENDED
    returned = [event for event in events if isinstance(event, Returned)]
    if any(event.ends for event in returned):
        return StopReason.AGENT_HANDED_OFF
    if len(returned) >= limits.calls:
        return StopReason.TOOL_LIMIT
    if sum(not event.ok for event in returned) >= limits.failed_calls:
        return StopReason.ERROR_LIMIT
    if isinstance(last, TurnEnded) and last.turn + 1 >= limits.turns:
        return StopReason.TURN_LIMIT
    if limits.seconds is not None and elapsed_s >= limits.seconds:
        return StopReason.TIME_LIMIT
    return None
