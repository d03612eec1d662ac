"""The environment of one episode: it alone changes the world and writes events."""

from __future__ import annotations

import inspect
import json
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Final

from domains.kit.domain import Call
from domains.kit.errors import Rejection
from domains.kit.json import JsonValue
from domains.kit.knowledge import Knowledge
from domains.kit.store import Change
from domains.kit.tools import Actor, Tool
from domains.kit.world import CallOutcome
from harness.episode.contact import ContactFold, guesses_of, requests_of
from harness.episode.events import BeatNote, Called, Event, Returned, RowChange, Said, Stopped, StopReason, TurnEnded
from harness.episode.limits import Limits
from harness.episode.turn import Message, StructuredView, ToolOffer, ToolUse, Turn, View
from harness.errors import ParticipantError, WorldFault
from harness.scenario.instance import Instance

_ARGUMENT_DEPTH: Final = 32
_NAME_CHARS: Final = 200
_DETAIL_CHARS: Final = 2000
_TURN_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "text": (str,),
    "calls": (tuple, list),
    "yields": (bool, NoneType),
    "ends": (str, NoneType),
    "note": (BeatNote, NoneType),
}


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
        self._failed = 0
        self._is_handed_off = False
        self._note: BeatNote | None = None
        self._fold = ContactFold(instance.row_evidence, instance.tellable)
        self._offered: dict[str, ToolOffer] = {}
        # Each event becomes an item once. Items are copies: whatever a participant does to them, the record stands.
        self._items: dict[Actor, list[Message | ToolUse]] = {actor: [] for actor in Actor}

    # ------------------------------------------------------------- what participants do

    def deliver(self, speaker: Actor, turn: Turn) -> None:
        """Carry out one turn: words first, then every call in order.

        No call is run once the episode has all the calls or failures that its limits allow, or has been handed off.

        Raises
        ------
        ParticipantError
            If the turn is not one (wrong types in it).
        WorldFault
            If a tool raises anything but a refusal.
        """
        turn = _checked(turn)
        if turn.text:
            self._say(speaker, turn.text, turn.note if speaker is Actor.CALLER else None)
        for place, call in enumerate(turn.calls):
            if self._calls >= self.limits.calls or self._failed >= self.limits.failed_calls:
                break
            self._call(speaker, call, within_limit=place < self.limits.calls_per_turn)
        ends = None if turn.ends is None else writable(turn.ends, _NAME_CHARS)
        self._add(TurnEnded(**self._next(), speaker=speaker, yields=turn.passes_the_floor, ends=ends))
        self._turn += 1

    def stop(self, reason: StopReason, detail: str = "") -> None:
        """Write the last event."""
        self._add(Stopped(**self._next(), reason=reason, detail=writable(detail, _DETAIL_CHARS)))

    def _next(self) -> dict[str, int]:
        return {"id": len(self.events), "turn": self._turn}

    def _add(self, event: Event) -> None:
        self.events.append(event)
        self._fold.add(event)

    def _say(self, speaker: Actor, text: str, note: BeatNote | None) -> None:
        said = writable(text, self.limits.message_chars)
        cut_from = len(text) if len(text) > len(said) else None
        self._add(Said(**self._next(), speaker=speaker, text=said, cut_from=cut_from, note=note))
        for items in self._items.values():
            items.append(Message(speaker, said))
        if speaker is Actor.CALLER:
            self._note = note

    def _call(self, actor: Actor, call: Call, *, within_limit: bool) -> None:
        self._calls += 1
        call_id, name = f"c{self._calls}", writable(call.tool, _NAME_CHARS)
        try:
            arguments = _plain_arguments(call.arguments, self.limits.argument_chars)
        except _Unfit as error:
            self._add(Called(**self._next(), actor=actor, call_id=call_id, tool=name, arguments={}))
            self._return(actor, call_id, _turned_away(name, f"Not run: its arguments are {error}."), None)
            return
        self._add(Called(**self._next(), actor=actor, call_id=call_id, tool=name, arguments=arguments))
        if self._is_handed_off:
            message = "Not run: the conversation has been handed over."
            self._return(actor, call_id, _turned_away(name, message), None)
        elif not within_limit:
            message = f"Not run: at most {self.limits.calls_per_turn} calls in one turn."
            self._return(actor, call_id, _turned_away(name, message), None)
        else:
            try:
                outcome = self.world.call(actor, name, arguments)
            except Exception as error:
                raise WorldFault(f"{name}: {describe(error)}") from error
            self._return(actor, call_id, outcome, self.world.tools.get(outcome.tool))

    def _return(self, actor: Actor, call_id: str, outcome: CallOutcome, tool: Tool | None) -> None:
        heard = () if tool is None else tuple(str(outcome.arguments.get(name, "")) for name in sorted(tool.hears))
        event = Returned(
            **self._next(),
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
        self._add(event)
        self._items[actor].append(_tool_use(event))
        self._failed += not outcome.ok
        self._is_handed_off |= outcome.ends

    # ------------------------------------------------------------- what participants see

    def view(self, role: Actor) -> View:
        """Return what a participant may know now."""
        return View(role, tuple(self._items[role]), self._offers(role))

    def structured_view(self) -> StructuredView:
        """Return the agent's view with the meaning of the conversation beside the words."""
        return StructuredView(
            role=Actor.AGENT,
            items=tuple(self._items[Actor.AGENT]),
            tools=self._offers(Actor.AGENT),
            requests=requests_of(self._note) if self._note else (),
            guesses=guesses_of(self._note) if self._note else (),
            contact=self._fold.contact(),
            world=self.world,
        )

    def _offers(self, role: Actor) -> tuple[ToolOffer, ...]:
        return tuple(self._offer(tool) for tool in self.world.available(role))

    def _offer(self, tool: Tool) -> ToolOffer:
        if tool.name not in self._offered:
            self._offered[tool.name] = ToolOffer(tool.name, tool.summary, tool.schema_text())
        return self._offered[tool.name]

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
            items.append(_tool_use(event))
    return tuple(items)


def writable(text: str, limit: int) -> str:
    """Return text that any record can hold: at most `limit` characters, without halves of surrogate pairs."""
    return text[:limit].encode("utf-8", "replace").decode("utf-8")


def describe(error: BaseException) -> str:
    """Return the kind, the message and the place of an exception, which may be of anybody's making.

    The place is the file's name without its folder, so that records are the same on every machine.
    """
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a message that cannot be had must not hide that something was raised
        message = "(it has no readable message)"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return writable(f"{type(error).__name__}: {message}", _DETAIL_CHARS - len(place)) + place


def _checked(turn: Any) -> Turn:
    """Check what a participant returned: it may be anybody's code, whatever the annotations promise."""
    if inspect.iscoroutine(turn):
        turn.close()
        raise ParticipantError("expected respond to return its turn, found a coroutine: it must not be async")
    if not isinstance(turn, Turn):
        raise ParticipantError(f"expected a Turn (or text) from respond, found {type(turn).__name__}")
    for name, kinds in _TURN_TYPES.items():
        value = getattr(turn, name)
        if not isinstance(value, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise ParticipantError(f"expected {name} of a turn to be {wanted}, found {type(value).__name__}")
    for call in turn.calls:
        tool, arguments = getattr(call, "tool", None), getattr(call, "arguments", None)
        if not isinstance(tool, str) or not isinstance(arguments, Mapping):
            raise ParticipantError(f"expected Call(tool, arguments) in the turn, found {call!r:.200}")
    return turn


class _Unfit(Exception):
    """Arguments that no record can hold, and why."""


def _plain_arguments(arguments: Mapping[str, JsonValue], limit: int) -> dict[str, JsonValue]:
    """Return a copy of arguments that any record can hold.

    Raises
    ------
    _Unfit
        If they cannot be written as JSON, are too long or too deep, or hold half of a surrogate pair.
    """
    try:
        text = json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False)
        text.encode()
        if len(text) > limit:
            raise _Unfit(f"longer than {limit} characters: {len(text)}")
        plain: dict[str, JsonValue] = json.loads(text)
        if _depth(plain) > _ARGUMENT_DEPTH:
            raise RecursionError
    except RecursionError:
        raise _Unfit(f"nested more than {_ARGUMENT_DEPTH} levels deep") from None
    except UnicodeEncodeError:
        raise _Unfit("no text: they hold half of a surrogate pair") from None
    except (TypeError, ValueError) as error:
        raise _Unfit(f"no JSON: {error}") from None
    return plain


def _depth(value: JsonValue) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0) if isinstance(value, dict | list) else 0


def _turned_away(tool: str, message: str) -> CallOutcome:
    return CallOutcome(tool, {}, ok=False, result=message, rejection=Rejection.BAD_ARGUMENTS)


def _tool_use(event: Returned) -> ToolUse:
    arguments, result = json.loads(json.dumps((event.arguments, event.result)))
    return ToolUse(event.call_id, event.tool, arguments, event.ok, result)


def _stored(change: Change) -> RowChange:
    return RowChange(
        kind=change.kind,
        table=change.row.table,
        key=change.row.key,
        before=None if change.before is None else dict(change.before),
        after=None if change.after is None else dict(change.after),
    )
