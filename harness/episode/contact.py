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


class ContactFold:
    """A contact in the making: events go in one by one, so that no turn has to go over all of them again.

    Parameters
    ----------
    row_evidence
        Observations that stored rows carry; each counts from the turn in which a tool result shows its row to
        the agent, and again whenever it is shown.
    tellable
        How the values of stored fields look when they are told. A field counts as told once the caller has asked
        to hear it and the agent's words hold its value.
    """

    def __init__(self, row_evidence: Mapping[RowRef, Sequence[str]], tellable: Mapping[StoredField, Secret]) -> None:
        self._row_evidence = row_evidence
        self._tellable = tellable
        self._turn = 0
        self._evidence: list[Evidence] = []
        self._requests: list[tuple[int, Request]] = []
        self._guesses: list[tuple[int, Guess]] = []
        self._calls: list[CallRecord] = []
        self._shown: set[RowRef] = set()
        self._asked: dict[StoredField, Secret] = {}
        self._told: set[StoredField] = set()

    def add(self, event: Event) -> None:
        """Take in the next event."""
        if isinstance(event, Said):
            self._hear(event)
        elif isinstance(event, Returned):
            changes = tuple(to_change(change) for change in event.changes)
            self._calls.append(CallRecord(self._turn, event.actor, event.tool, event.arguments, event.ok, changes))
            if event.actor is Actor.AGENT:
                for row in (RowRef(table, key) for table, key in event.shown):
                    self._shown.add(row)
                    self._evidence += [Evidence(name, self._turn, row) for name in self._row_evidence.get(row, ())]

    def _hear(self, event: Said) -> None:
        if event.speaker is Actor.AGENT:
            waiting = {field: secret for field, secret in self._asked.items() if field not in self._told}
            self._told |= {field for field, secret in waiting.items() if mentions(event.text, secret)}
            return
        self._turn += 1
        if event.note is None:
            return
        wishes = requests_of(event.note)
        self._evidence += [Evidence(name, self._turn) for name in event.note.evidence]
        self._requests += [(self._turn, wish) for wish in wishes]
        self._guesses += [(self._turn, guess) for guess in guesses_of(event.note)]
        asked = [told_field(wish) for wish in wishes if wish.tool == TELL]
        self._asked |= {field: self._tellable[field] for field in asked if field in self._tellable}

    def contact(self) -> Contact:
        """Return the contact as it stands; caller turns are numbered from 1."""
        return Contact(
            turn=self._turn,
            evidence=tuple(self._evidence),
            requests=tuple(self._requests),
            guesses=tuple(self._guesses),
            calls=tuple(self._calls),
            shown=frozenset(self._shown),
            told=frozenset(self._told),
        )


def fold(
    events: Sequence[Event],
    row_evidence: Mapping[RowRef, Sequence[str]],
    tellable: Mapping[StoredField, Secret],
) -> Contact:
    """Fold all events so far into one contact; `ContactFold` says what counts.

    Parameters
    ----------
    events
        The trajectory so far.
    row_evidence
        Observations that stored rows carry.
    tellable
        How the values of stored fields look when they are told.

    Returns
    -------
    Contact
        Caller turns are numbered from 1.
    """
    made = ContactFold(row_evidence, tellable)
    for event in events:
        made.add(event)
    return made.contact()


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
