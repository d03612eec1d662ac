"""History ablation: the same agent, shown nothing before the latest caller turn."""

from __future__ import annotations

from dataclasses import replace

from domains.kit.rules import Contact
from domains.kit.tools import Actor
from harness.episode.turn import Message, StructuredView, ToolUse, View


def latest_turn(view: View) -> View:
    """Return a view that begins with the latest caller message."""
    return replace(view, items=_since_latest_caller_words(view))


def latest_turn_of_structure(view: StructuredView) -> StructuredView:
    """Return a structured view in which the contact, too, begins with the latest caller turn.

    Rows written earlier stay in the bank, as they would for a colleague who takes over; that they were written in
    this contact is forgotten.
    """
    contact = view.contact
    now = contact.turn
    calls = tuple(call for call in contact.calls if call.turn == now)
    latest = Contact(
        turn=now,
        evidence=tuple(item for item in contact.evidence if item.turn == now),
        requests=tuple(pair for pair in contact.requests if pair[0] == now),
        guesses=tuple(pair for pair in contact.guesses if pair[0] == now),
        calls=calls,
        shown=contact.shown,
        told=frozenset(),
    )
    return replace(view, items=_since_latest_caller_words(view), contact=latest)


def _since_latest_caller_words(view: View) -> tuple[Message | ToolUse, ...]:
    for place in range(len(view.items) - 1, -1, -1):
        item = view.items[place]
        if isinstance(item, Message) and item.speaker is Actor.CALLER:
            return view.items[place:]
    return view.items
