"""The environment of one episode: it alone changes the world and writes events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from domains.kit.domain import Call
from domains.kit.errors import Rejection
from domains.kit.json import JsonValue
from domains.kit.knowledge import Knowledge
from domains.kit.store import Change
from domains.kit.tools import Actor, Tool
from domains.kit.world import CallOutcome
from harness.episode.contact import fold, guesses_of, requests_of
from harness.episode.events import BeatNote, Called, Event, Returned, RowChange, Said, Stopped, StopReason, TurnEnded
from harness.episode.limits import Limits
from harness.episode.turn import Message, StructuredView, ToolOffer, ToolUse, Turn, View
from harness.errors import ParticipantError
from harness.scenario.instance import Instance


class WorldFault(Exception):
    """A tool raised something that is no refusal: a bug in the domain, not conduct of a participant."""


class Environment:
    """A world, the trajectory so far, and the views of it.

    Parameters
    ----------
    instance
        The scenario to play.
    knowledge
        The corpus as the retrieval condition in force shows it.
    limits
        The limits of messages and calls.
    """

    def __init__(self, instance: Instance, knowledge: Knowledge, limits: Limits) -> None:
        self.instance = instance
        self.limits = limits
        self.world = instance.open_world(knowledge)
        self.events: list[Event] = []
        self._turn = 0
        self._calls = 0

    # ------------------------------------------------------------- what participants do

    def deliver(self, speaker: Actor, turn: Turn) -> None:
        """Carry out one turn: words first, then every call in order.

        Raises
        ------
        ParticipantError
            If the turn is not one (wrong types in it).
        WorldFault
            If a tool raises anything but a refusal.
        """
        _check_turn(turn)
        if turn.text:
            self._say(speaker, turn.text, turn.note)
        for place, call in enumerate(turn.calls):
            self._call(speaker, call, within_limit=place < self.limits.calls_per_turn)
        self._add(TurnEnded, speaker=speaker, yields=turn.passes_the_floor, ends=turn.ends)
        self._turn += 1

    def stop(self, reason: StopReason, detail: str = "") -> None:
        """Write the last event."""
        self._add(Stopped, reason=reason, detail=detail)

    def _add(self, kind: type[Event], **values: object) -> None:
        self.events.append(kind(id=len(self.events), turn=self._turn, **values))

    def _say(self, speaker: Actor, text: str, note: BeatNote | None) -> None:
        limit = self.limits.message_chars
        text = text.encode("utf-8", "replace").decode("utf-8")
        cut_from = len(text) if len(text) > limit else None
        self._add(Said, speaker=speaker, text=text[:limit], cut_from=cut_from, note=note)

    def _call(self, actor: Actor, call: Call, *, within_limit: bool) -> None:
        self._calls += 1
        call_id = f"c{self._calls}"
        try:
            arguments: dict[str, JsonValue] = json.loads(json.dumps(dict(call.arguments), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            self._add(Called, actor=actor, call_id=call_id, tool=call.tool, arguments={})
            self._return(actor, call_id, _turned_away(call, f"The arguments cannot be written as JSON: {error}."), None)
            return
        self._add(Called, actor=actor, call_id=call_id, tool=call.tool, arguments=arguments)
        if not within_limit:
            message = f"Not run: at most {self.limits.calls_per_turn} calls in one turn."
            self._return(actor, call_id, _turned_away(call, message), None)
            return
        try:
            outcome = self.world.call(actor, call.tool, arguments)
        except Exception as error:
            raise WorldFault(f"{call.tool}: {type(error).__name__}: {error}") from error
        self._return(actor, call_id, outcome, self.world.tools.get(outcome.tool))

    def _return(self, actor: Actor, call_id: str, outcome: CallOutcome, tool: Tool | None) -> None:
        heard = () if tool is None else tuple(str(outcome.arguments.get(name, "")) for name in sorted(tool.hears))
        self._add(
            Returned,
            actor=actor,
            call_id=call_id,
            tool=outcome.tool,
            arguments=dict(outcome.arguments),
            ok=outcome.ok,
            result=outcome.result,
            rejection=outcome.rejection,
            changes=tuple(_stored(change) for change in outcome.changes),
            shown=tuple((row.table, row.key) for row in outcome.shown),
            heard=tuple(text for text in heard if text) if outcome.ok else (),
            ends=outcome.ends,
        )

    # ------------------------------------------------------------- what participants see

    def view(self, role: Actor) -> View:
        """Return what a participant may know now."""
        return View(role, view_items(self.events, role), self._offers(role))

    def structured_view(self) -> StructuredView:
        """Return the agent's view with the meaning of the conversation beside the words."""
        note = next((e.note for e in reversed(self.events) if isinstance(e, Said) and e.speaker is Actor.CALLER), None)
        return StructuredView(
            role=Actor.AGENT,
            items=view_items(self.events, Actor.AGENT),
            tools=self._offers(Actor.AGENT),
            requests=requests_of(note) if note else (),
            guesses=guesses_of(note) if note else (),
            contact=fold(self.events, self.instance.row_evidence, self.instance.tellable),
            world=self.world,
        )

    def _offers(self, role: Actor) -> tuple[ToolOffer, ...]:
        return tuple(ToolOffer(tool.name, tool.summary, tool.schema()) for tool in self.world.available(role))

    def close(self) -> None:
        """Release the world."""
        self.world.close()


def view_items(events: Sequence[Event], role: Actor) -> tuple[Message | ToolUse, ...]:
    """Return what a participant may see of a trajectory: all words, and its own tool uses.

    Structured notes, row changes and the other side's calls are in no view.
    """
    items: list[Message | ToolUse] = []
    for event in events:
        if isinstance(event, Said):
            items.append(Message(event.speaker, event.text))
        elif isinstance(event, Returned) and event.actor is role:
            items.append(ToolUse(event.call_id, event.tool, event.arguments, event.ok, event.result))
    return tuple(items)


def _check_turn(turn: Any) -> None:
    """Check what a participant returned: it may be anybody's code, whatever the annotations promise."""
    if not isinstance(turn, Turn):
        raise ParticipantError(f"expected a Turn (or text) from respond, found {type(turn).__name__}")
    if not isinstance(turn.text, str):
        raise ParticipantError(f"expected text in the turn, found {type(turn.text).__name__}")
    calls: Any = turn.calls
    for call in calls:
        if not isinstance(call, Call) or not isinstance(call.tool, str) or not isinstance(call.arguments, Mapping):
            raise ParticipantError(f"expected Call(tool, arguments) in the turn, found {call!r:.200}")


def _turned_away(call: Call, message: str) -> CallOutcome:
    return CallOutcome(call.tool, {}, ok=False, result=message, rejection=Rejection.BAD_ARGUMENTS)


def _stored(change: Change) -> RowChange:
    return RowChange(
        kind=change.kind,
        table=change.row.table,
        key=change.row.key,
        before=None if change.before is None else dict(change.before),
        after=None if change.after is None else dict(change.after),
    )
