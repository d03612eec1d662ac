"""An episode as a judge that reads is shown it: numbered events, with calls, results and row changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from harness.episode.events import Event, Returned, RowChange, Said, Stopped

_VALUE_CHARS: Final = 1500
"""How much of one result is shown; documents are long, and what decides stands in calls and rows."""


def readable(events: Sequence[Event]) -> str:
    """Return a trajectory as text, one event a paragraph, each with its number."""
    return "\n".join(_lines(events))


def _lines(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Said):
            yield f"[{event.id}] {event.speaker} says: {event.text}"
        elif isinstance(event, Returned):
            outcome = "succeeds" if event.ok else "fails"
            yield f"[{event.id}] {event.actor} calls {event.tool} with {_short(event.arguments)}; it {outcome}"
            yield f"    result: {_short(event.result)}"
            for change in event.changes:
                yield f"    row {_change(change)}"
        elif isinstance(event, Stopped):
            yield f"[{event.id}] the conversation ends ({event.reason})"


def _change(change: RowChange) -> str:
    before, after = change.before or {}, change.after or {}
    if change.before is None:
        return f"added to {change.table}: {_short(after)}"
    if change.after is None:
        return f"{change.key} removed from {change.table}"
    moved = {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}
    return f"{change.key} of {change.table} changed: {_short(moved)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]} ... (cut)"
