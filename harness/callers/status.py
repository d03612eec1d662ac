"""How the agent took the caller's latest beat, worked out from events and rows.

Signs are read in this order: what was asked for is done; a decision or referral is on record; something waits on
what the caller holds; plain words of refusal; a question; anything else is a stall. Words are the weakest sign
and are read only where rows say nothing. A beat that asks for nothing cannot be stalled: it is a success as soon as
it has been heard without a refusal or a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from domains.kit.desk import DECISIONS, ESCALATIONS
from domains.kit.domain import Call
from domains.kit.rules import TELL, Outcome, Request
from domains.kit.store import ChangeKind
from domains.kit.tools import Actor
from domains.kit.world import World
from harness.callers.view import BeatStatus, Standing
from harness.episode.contact import requests_of, told_field
from harness.episode.events import Event, Returned, Said
from harness.scenario.instance import Instance
from harness.text.disclosure import mentions
from harness.text.reading import ReplyKind, read_reply

_NOT_A_REFUSAL: Final = frozenset({Outcome.COMPLETE, Outcome.STEP_UP})


def caller_status(events: Sequence[Event], instance: Instance, world: World) -> BeatStatus:
    """Return how the latest beat stands, before the caller speaks again."""
    said = next(
        (event for event in reversed(events) if isinstance(event, Said) and event.speaker is Actor.CALLER), None
    )
    if said is None:
        return BeatStatus(Standing.START)
    since_words = events[said.id + 1 :]
    since_beat = events[_beat_start(events, said) :]
    wishes = requests_of(said.note) if said.note is not None else ()
    waiting = tuple(wish for wish in wishes if not _is_done(wish, since_beat, instance))
    if wishes and not waiting:
        return BeatStatus(Standing.SUCCESS)
    if _decided_against(since_words):
        return BeatStatus(Standing.REFUSAL, open=waiting)
    reactions = _reactions(events, instance, world)
    if reactions:
        return BeatStatus(Standing.REACT, reactions=reactions, open=waiting)
    reading = read_reply("\n".join(e.text for e in since_words if isinstance(e, Said) and e.speaker is Actor.AGENT))
    if reading.kind is ReplyKind.REFUSAL:
        return BeatStatus(Standing.REFUSAL, open=waiting)
    if reading.kind is ReplyKind.QUESTION:
        return BeatStatus(Standing.QUESTION, asked=reading.asked, open=waiting)
    return BeatStatus(Standing.STALL if waiting else Standing.SUCCESS, open=waiting)


def _beat_start(events: Sequence[Event], said: Said) -> int:
    """Return where the latest beat began; answers to questions repeat its note and belong to it."""
    beat = said.note.beat if said.note is not None else None
    start = said.id
    for event in reversed(events[: said.id]):
        if isinstance(event, Said) and event.speaker is Actor.CALLER:
            if event.note is None or event.note.beat != beat:
                break
            start = event.id
    return start


def _is_done(wish: Request, events: Sequence[Event], instance: Instance) -> bool:
    if wish.tool == TELL:
        secret = instance.tellable.get(told_field(wish))
        return secret is not None and any(
            mentions(event.text, secret) for event in events if isinstance(event, Said) and event.speaker is Actor.AGENT
        )
    return any(
        event.ok and event.tool == wish.tool and all(event.arguments.get(k) == v for k, v in wish.arguments.items())
        for event in events
        if isinstance(event, Returned)
    )


def _decided_against(events: Sequence[Event]) -> bool:
    for event in events:
        if not isinstance(event, Returned) or event.actor is not Actor.AGENT:
            continue
        for change in event.changes:
            if change.kind is not ChangeKind.INSERT or change.after is None:
                continue
            if change.table == ESCALATIONS:
                return True
            if change.table == DECISIONS and change.after["decision"] not in _NOT_A_REFUSAL:
                return True
    return False


def _reactions(events: Sequence[Event], instance: Instance, world: World) -> tuple[Call, ...]:
    """Return what the caller can answer now: pending challenges, and granted tools that they have not used yet."""
    used = {event.tool for event in events if isinstance(event, Returned) and event.actor is Actor.CALLER}
    granted = tuple(
        Call(tool, arguments)
        for tool, arguments in instance.when_granted.items()
        if tool in world.granted and tool not in used
    )
    return (*instance.domain.planner.react(world), *granted)
