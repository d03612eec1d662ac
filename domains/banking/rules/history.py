"""What was decided earlier in the contact, and in whose affair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from domains.banking.rules.facts import subject_of
from domains.kit.desk import DECISIONS
from domains.kit.rules import Contact, Outcome, Request
from domains.kit.world import World

FRAUD_CODES: Final = frozenset(
    {
        *("suspected_app_scam", "coached_caller", "payee_mismatch", "hold_not_yours", "same_funds_other_rail"),
        *("pass_through", "structuring", "third_party_funds", "open_and_run", "licence_missing"),
    }
)
"""Reason codes of refusals and holds that suspect the money itself."""

CARD_CODES: Final = frozenset({"bank_placed_control", "activation_locked", "limit_frequency", "control_by_other_route"})
"""Reason codes by which a card stayed protected."""

AUTHORITY_CODES: Final = frozenset(
    {
        *("no_authority", "estate_process", "role_scope", "role_not_effective", "outside_window", "no_bypass"),
        *("tainted_channel", "tainted_request"),
    }
)
"""Reason codes by which somebody's right to act for somebody else failed."""

_STOPS: Final = frozenset({Outcome.REFUSE, Outcome.HOLD, Outcome.ESCALATE, Outcome.REFER})


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of this contact that stopped something.

    Attributes
    ----------
    subjects
        The customers in whose affairs the caller wanted something in that turn.
    requests
        What the caller wanted in that turn.
    """

    turn: int
    rule_id: str
    reason_code: str
    subjects: frozenset[str]
    requests: tuple[Request, ...]


def stopped(contact: Contact, world: World, reason_codes: frozenset[str]) -> Iterator[Decided]:
    """Yield the decisions of this contact that stopped something for one of these reasons, in order."""
    for call in contact.calls:
        for change in call.changes:
            row = change.after
            if (
                change.row.table == DECISIONS
                and row is not None
                and row["decision"] in _STOPS
                and row["reason_code"] in reason_codes
            ):
                asked = tuple(request for turn, request in contact.requests if turn == call.turn)
                subjects = {subject_of(request, world) for request in asked}
                yield Decided(
                    call.turn, str(row["rule_id"]), str(row["reason_code"]), frozenset(filter(None, subjects)), asked
                )


def was_stopped(
    contact: Contact, world: World, reason_codes: frozenset[str], subject: str | None, request: Request
) -> bool:
    """Tell whether something else was stopped in a customer's affair for one of these reasons.

    The very request that was stopped, asked once more, is no other way to the same end: what stopped it stops it
    again.
    """
    return any(
        subject in decision.subjects and request not in decision.requests
        for decision in stopped(contact, world, reason_codes)
    )
