"""One conversation from the first word to the last: the loop that gives participants the floor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from domains.kit.json import digest
from domains.kit.tools import Actor
from harness.callers.status import caller_status
from harness.callers.view import Caller, CallerView
from harness.episode.environment import Environment, describe
from harness.episode.events import Event, Returned, StopReason
from harness.episode.limits import next_speaker, stop_reason
from harness.episode.turn import Turn
from harness.errors import WorldFault
from harness.models.faults import BudgetSpent, FatalFault, ModelFault, NotRecorded

Responder = Callable[[Environment], Turn | str]
"""How a participant is asked for its turn, its view built from the environment."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A finished conversation.

    Attributes
    ----------
    events
        Everything that happened, the `Stopped` event last.
    state_digest
        A digest of all rows that the episode touched, as they ended.
    """

    events: tuple[Event, ...]
    state_digest: str


def play(environment: Environment, agent: Responder, caller: Responder) -> Trajectory:
    """Let the participants talk and act until the episode is over.

    Whatever a participant, a tool or a provider raises ends the episode as a fault of its own kind. Only what would end
    every other episode the same way passes through.

    Raises
    ------
    FatalFault
        If the provider refuses the run as such: its key, its model, what it asks for.
    BudgetSpent
        If the run has spent what it may.
    NotRecorded
        If a cassette that stands in for a provider does not hold what was asked.
    """
    started = time.monotonic()
    responders = {Actor.AGENT: agent, Actor.CALLER: caller}
    faults = {Actor.AGENT: StopReason.AGENT_FAULT, Actor.CALLER: StopReason.CALLER_FAULT}
    while True:
        reason = stop_reason(environment.events, environment.limits, time.monotonic() - started)
        if reason is not None:
            environment.stop(reason)
            break
        speaker = next_speaker(environment.events)
        try:
            turn = responders[speaker](environment)
            environment.deliver(speaker, Turn(turn) if isinstance(turn, str) else turn)
        except (FatalFault, BudgetSpent, NotRecorded):
            raise
        except ModelFault as fault:
            environment.stop(StopReason.PROVIDER_FAULT, describe(fault))
            break
        except WorldFault as fault:
            environment.stop(StopReason.WORLD_FAULT, str(fault))
            break
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - it may be anybody's code; its fault ends its episode only
            environment.stop(faults[speaker], describe(fault))
            break
    events = tuple(environment.events)
    return Trajectory(events, state_digest(events))


def caller_responder(caller: Caller) -> Responder:
    """Ask a caller for its turn; all that it learns of the bank is how its last beat went."""

    def respond(environment: Environment) -> Turn:
        view = environment.view(Actor.CALLER)
        try:
            status = caller_status(environment.events, environment.instance, environment.world)
        except Exception as error:
            raise WorldFault(f"how the caller's turn stands cannot be told: {describe(error)}") from error
        return caller.respond(CallerView(view.role, view.items, view.tools, status))

    return respond


def state_digest(events: tuple[Event, ...]) -> str:
    """Return a digest of every touched row's final values; rows deleted in the end are in it as None."""
    final: dict[str, dict[str, object] | None] = {}
    for event in events:
        if isinstance(event, Returned):
            for change in event.changes:
                final[f"{change.table}/{change.key}"] = change.after
    return digest(final)
