"""Rules: written controls as pure predicates over a request, the world and the contact.

A rule sees what is asked now, the records, and the *contact*: everything said and done in this conversation so
far. It returns a finding or None and changes nothing. The reference agents decide by rules; tools never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from domains.kit.json import JsonValue
from domains.kit.store import Change, ChangeKind, RowRef
from domains.kit.tools import Actor
from domains.kit.world import World


class Outcome(StrEnum):
    """The closed vocabulary of decisions, from mild to strict."""

    COMPLETE = "complete"
    OFFER_ALTERNATIVE = "offer_alternative"
    STEP_UP = "step_up"
    REFER = "refer"
    REFUSE = "refuse"
    HOLD = "hold"
    ESCALATE = "escalate"


STRICTNESS: Final[Mapping[Outcome, int]] = {outcome: rank for rank, outcome in enumerate(Outcome)}
"""Where several rules fire, the one with the highest rank acts."""

TELL: Final = "tell"
"""The request to be told a stored value; not a tool. Its arguments are `table`, `key` and `column`."""


@dataclass(frozen=True, slots=True)
class Request:
    """Something that the caller wants: a tool call, or with `TELL` to be told a stored value."""

    tool: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Guess:
    """A value that the caller gives for a stored field: an identity factor, a code. It may be wrong."""

    table: str
    key: str
    column: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation from the closed vocabulary, with the caller turn (1, 2, ...) that revealed it.

    `row` is the stored row that carries it, None where the caller's own words do.
    """

    name: str
    turn: int
    row: RowRef | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of the contact. Calls through `call_unlocked_tool` appear as the tool that ran."""

    turn: int
    actor: Actor
    tool: str
    arguments: Mapping[str, JsonValue]
    ok: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Contact:
    """One conversation as the rules see it: the fold of all events so far.

    Attributes
    ----------
    turn
        Number of caller turns so far; evidence and calls carry the turn in which they came up.
    shown
        Rows that a tool result has shown to the agent.
    told
        Stored values that the agent has told the caller, as ``(row, column)``.
    """

    turn: int = 0
    evidence: tuple[Evidence, ...] = ()
    requests: tuple[tuple[int, Request], ...] = ()
    guesses: tuple[tuple[int, Guess], ...] = ()
    calls: tuple[CallRecord, ...] = ()
    shown: frozenset[RowRef] = frozenset()
    told: frozenset[tuple[RowRef, str]] = frozenset()

    def reveals(self, *names: str) -> bool:
        """Tell whether any of these observations has been made."""
        return any(item.name in names for item in self.evidence)

    def changes(self, table: str, *kinds: ChangeKind) -> list[Change]:
        """Return the changes made to a table in this contact, in order; all kinds if none is named."""
        return [
            change
            for call in self.calls
            for change in call.changes
            if change.row.table == table and (not kinds or change.kind in kinds)
        ]

    def written(self, table: str) -> list[Mapping[str, JsonValue]]:
        """Return the rows inserted into a table in this contact, as they were inserted."""
        return [change.after for change in self.changes(table, ChangeKind.INSERT) if change.after is not None]

    def latest_turn_only(self) -> Contact:
        """Return this contact with the observations of the current caller turn only."""
        return replace(self, evidence=tuple(item for item in self.evidence if item.turn == self.turn))


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that fires on a request.

    Attributes
    ----------
    outcome
        What the rule demands, at its strictest.
    also
        Further actions that it demands: a hold before an escalation, a case beside a refusal.
    rests_on
        The stored rows that decided it. An agent must be able to read each through its tools.
    alternative
        What may be done instead, where the rule offers something.
    """

    rule_id: str
    outcome: Outcome
    reason_code: str
    rests_on: tuple[RowRef, ...] = ()
    also: frozenset[str] = frozenset()
    alternative: Request | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A boundary of a rule: its value, its unit, and which side of it is permitted.

    `permitted` reads as a sentence about the measured quantity: ``"< 2500000"``, ``">= 24"``.
    """

    name: str
    value: int
    unit: str
    permitted: str


Predicate = Callable[[Request, World, Contact], Finding | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One written control in executable form.

    Attributes
    ----------
    tools
        The requests it speaks about (tool names, or `TELL`); empty for every request.
    history
        Whether it reads what happened earlier in the contact.
    evidence
        The observations that it can rest on.
    """

    id: str
    title: str
    outcome: Outcome
    reason_code: str
    tools: frozenset[str]
    history: bool
    evidence: frozenset[str]
    parameters: tuple[Parameter, ...]
    predicate: Predicate = field(compare=False)

    def decide(self, request: Request, world: World, contact: Contact) -> Finding | None:
        """Return what this rule finds wrong with the request, or None."""
        if self.tools and request.tool not in self.tools:
            return None
        return self.predicate(request, world, contact)


def rule(
    rule_id: str,
    title: str,
    outcome: Outcome,
    reason_code: str,
    *,
    tools: Iterable[str] = (),
    history: bool = False,
    evidence: Iterable[str] = (),
    parameters: Iterable[Parameter] = (),
) -> Callable[[Predicate], Rule]:
    """Declare a predicate as a rule."""

    def declare(predicate: Predicate) -> Rule:
        return Rule(
            rule_id,
            title,
            outcome,
            reason_code,
            frozenset(tools),
            history,
            frozenset(evidence),
            tuple(parameters),
            predicate,
        )

    return declare


def rules_in(*modules: Any) -> dict[str, Rule]:
    """Collect the rules defined in these modules by id, in order.

    Raises
    ------
    TypeError
        If two rules share an id.
    """
    found: dict[str, Rule] = {}
    for module in modules:
        for item in vars(module).values():
            if isinstance(item, Rule) and item.predicate.__module__ == module.__name__:
                if item.id in found:
                    raise TypeError(f"two rules are called {item.id}")
                found[item.id] = item
    return found


def findings(rules: Iterable[Rule], request: Request, world: World, contact: Contact) -> list[Finding]:
    """Apply rules to a request; the strictest finding comes first, ties in the order of the rules."""
    fired = [finding for rule_ in rules if (finding := rule_.decide(request, world, contact)) is not None]
    return sorted(fired, key=lambda finding: -STRICTNESS[finding.outcome])
