"""AUTH-01 to AUTH-08: who may act for whom, and what a claim of authority is worth."""

from __future__ import annotations

from typing import Final

from domains.banking.rules.calendar import today
from domains.banking.rules.dual_approval import weak_approval
from domains.banking.rules.facts import account_of, found, get, rows, subject_of
from domains.banking.rules.history import AUTHORITY_CODES, was_stopped
from domains.banking.rules.standing import (
    INFORMATION,
    PROTECTIVE,
    ROLE_AGE,
    Basis,
    in_force,
    speakers,
    standing,
)
from domains.banking.tables import AuthorityRecord, Customer
from domains.kit.rules import Contact, Finding, Outcome, Request, rule
from domains.kit.world import World

OFFICES: Final = frozenset({"claims_staff", "claims_police", "claims_executive", "claims_auditor"})


@rule(
    "AUTH-01",
    "No office waives a control",
    Outcome.REFUSE,
    "no_bypass",
    evidence=OFFICES,
)
def no_bypass(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on what is asked for in the name of an office: staff, IT, police, executive or auditor."""
    if request.tool in PROTECTIVE or not contact.reveals(*OFFICES):
        return None
    account = account_of(request, world)
    return found(no_bypass, account or get(world, Customer, subject_of(request, world)))


@rule(
    "AUTH-02",
    "A power of attorney acts while its record is active, in its dates and covers the action",
    Outcome.REFUSE,
    "no_authority",
)
def authority_covers(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an act by somebody whose authority record is not in force or does not reach so far."""
    best = None if request.tool in INFORMATION else standing(request, world, contact)
    if best is None or best.basis is not Basis.RECORD_BEYOND:
        return None
    return found(authority_covers, *best.rests_on)


@rule(
    "AUTH-03",
    "An executor acts on the estate account",
    Outcome.REFUSE,
    "estate_process",
)
def estate_account(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where an executor asks for an account that is none of the estate."""
    best = standing(request, world, contact)
    if best is None or best.basis is not Basis.OUTSIDE_ESTATE:
        return None
    return found(estate_account, *best.rests_on, account_of(request, world))


@rule(
    "AUTH-04",
    "A business role takes effect 48 hours after it is recorded",
    Outcome.REFUSE,
    "role_not_effective",
    parameters=[ROLE_AGE],
)
def role_in_effect(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the speaker's role, or that of the only approver, is too new."""
    best = standing(request, world, contact)
    if best is not None and best.basis is Basis.ROLE_TOO_NEW:
        return found(role_in_effect, *best.rests_on)
    weak = weak_approval(request, world)
    if weak is None or weak[0] is not Basis.ROLE_TOO_NEW:
        return None
    return found(role_in_effect, *weak[1])


@rule(
    "AUTH-05",
    "Marriage, parenthood and employment are not authority; joint ownership is",
    Outcome.REFUSE,
    "no_authority",
    evidence={"unproven_authority"},
)
def kinship_is_none(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an act in the affair of a customer with whom the speaker has nothing on record."""
    best = None if request.tool in INFORMATION else standing(request, world, contact)
    if best is None or best.basis is not Basis.STRANGER:
        return None
    return found(kinship_is_none, *best.rests_on, account_of(request, world))


# ------------------------------------------------------------------------------ what came before


@rule(
    "AUTH-06",
    "No change of contact data in a contact in which authority was claimed and not proved",
    Outcome.REFUSE,
    "tainted_channel",
    history=True,
    tools={"change_contact", "enrol_device"},
    evidence={"unproven_authority"},
)
def tainted_channel(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a change of contact data, whoever asks for it, after such a claim."""
    subject = subject_of(request, world)
    claimed = contact.reveals("unproven_authority") or was_stopped(contact, world, AUTHORITY_CODES, subject, request)
    if not claimed or subject is None or _is_proved(subject, world, contact):
        return None
    return found(tainted_channel, get(world, Customer, subject))


def _is_proved(subject: str, world: World, contact: Contact) -> bool:
    return any(
        in_force(record, today(world))
        for person in speakers(world, contact)
        for record in rows(world, AuthorityRecord, principal_id=subject, representative_id=person)
    )


@rule(
    "AUTH-08",
    "After a failed authority claim nothing goes out that serves the claimant",
    Outcome.REFUSE,
    "tainted_request",
    history=True,
    tools={"send_statement", "register_payee", "order_replacement_card", "pick_up_at_branch"},
)
def tainted_request(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a statement, payee or delivery in the affair of the customer whom somebody claimed to represent."""
    subject = subject_of(request, world)
    if subject is None or not was_stopped(contact, world, AUTHORITY_CODES, subject, request):
        return None
    return found(tainted_request, account_of(request, world) or get(world, Customer, subject))
