"""The fold of a trajectory into the contact that rules read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domains.kit.rules import TELL, CallRecord, Contact, Evidence, Guess, Request
from domains.kit.store import Change, RowRef
from domains.kit.tools import Actor
from harness.episode.events import BeatNote, Event, Returned, RowChange, Said
from harness.text.disclosure import Secret, mentions

StoredField = tuple[RowRef, str]
"""A column of a stored row."""


def fold(
    events: Sequence[Event],
    row_evidence: Mapping[RowRef, Sequence[str]],
    tellable: Mapping[StoredField, Secret],
) -> Contact:
    """Fold all events so far into one contact.

    Parameters
    ----------
    events
        The trajectory so far.
    row_evidence
        Observations that stored rows carry; each counts from the turn in which a tool result shows its row to
        the agent, and again whenever it is shown.
    tellable
        How the values of stored fields look when they are told. A field counts as told once the caller has asked
        to hear it and the agent's words hold its value.

    Returns
    -------
    Contact
        Caller turns are numbered from 1.
    """
    turn = 0
    evidence: list[Evidence] = []
    requests: list[tuple[int, Request]] = []
    guesses: list[tuple[int, Guess]] = []
    calls: list[CallRecord] = []
    shown: dict[RowRef, None] = {}
    asked: dict[StoredField, Secret] = {}
    told: set[StoredField] = set()
    for event in events:
        if isinstance(event, Said) and event.speaker is Actor.CALLER:
            turn += 1
            if event.note is not None:
                evidence += [Evidence(name, turn) for name in event.note.evidence]
                wishes = requests_of(event.note)
                requests += [(turn, request) for request in wishes]
                fields = [told_field(wish) for wish in wishes if wish.tool == TELL]
                asked |= {field: tellable[field] for field in fields if field in tellable}
                guesses += [(turn, guess) for guess in guesses_of(event.note)]
        elif isinstance(event, Said):
            told |= {field for field, secret in asked.items() if field not in told and mentions(event.text, secret)}
        elif isinstance(event, Returned):
            changes = tuple(to_change(change) for change in event.changes)
            calls.append(CallRecord(turn, event.actor, event.tool, event.arguments, event.ok, changes))
            if event.actor is Actor.AGENT:
                for table, key in event.shown:
                    row = RowRef(table, key)
                    shown[row] = None
                    evidence += [Evidence(name, turn, row) for name in row_evidence.get(row, ())]
    return Contact(
        turn=turn,
        evidence=tuple(evidence),
        requests=tuple(requests),
        guesses=tuple(guesses),
        calls=tuple(calls),
        shown=frozenset(shown),
        told=frozenset(told),
    )


def told_field(wish: Request) -> StoredField:
    """Return the stored field that a `TELL` request is about."""
    arguments = wish.arguments
    return RowRef(str(arguments["table"]), str(arguments["key"])), str(arguments["column"])


def requests_of(note: BeatNote) -> tuple[Request, ...]:
    """Return the wishes of a caller turn."""
    return tuple(Request(item.tool, item.arguments) for item in note.requests)


def guesses_of(note: BeatNote) -> tuple[Guess, ...]:
    """Return the values that a caller turn gives."""
    return tuple(Guess(item.table, item.key, item.column, item.value) for item in note.guesses)


def to_change(change: RowChange) -> Change:
    """Return the stored form of a change as the domain knows it."""
    return Change(change.kind, change.row, change.before, change.after)
