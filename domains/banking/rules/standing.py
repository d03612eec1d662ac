"""Who is speaking, and by what right: proof of identity, and what gives one person a say in another's affairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from typing import Final

from domains.banking.rules.calendar import elapsed_s, today
from domains.banking.rules.facts import CARD_TOOLS, account_of, get, owners, ref, rows, subject_of, text
from domains.banking.rules.limits import limit, permits
from domains.banking.tables import Account, AuthorityRecord, BusinessRole, Customer
from domains.banking.tools.likeness import words
from domains.kit.rules import TELL, Contact, Request
from domains.kit.store import RowRef
from domains.kit.world import World

FACTORS: Final = ("date_of_birth", "email", "phone", "address")
"""The identity factors: columns of `customers`."""

FACTORS_NEEDED: Final = limit("matching factors", ">=", 2, "count")
WRONG_FACTORS: Final = limit("wrong factors", "<", 2, "count")
ROLE_AGE: Final = limit("age of the role", ">=", 48 * 3600, "seconds")

PROTECTIVE: Final = frozenset(
    {
        *("place_hold", "open_fraud_case", "flag_record", "refer_application", "escalate", "record_decision"),
        *("transfer_to_human", "log_verification", "send_push", "call_back"),
    }
)
"""What the desk may do whoever speaks: it takes nothing from anybody."""

INFORMATION: Final = frozenset({TELL, "send_statement"})
"""Requests to be given data."""


# ---------------------------------------------------------------------------- identification


def wrong_factors(contact: Contact) -> tuple[RowRef, ...]:
    """Return the log entries of this contact that did not match."""
    return tuple(
        RowRef("verification_log", str(row["id"])) for row in contact.written("verification_log") if not row["matched"]
    )


def identified(contact: Contact) -> frozenset[str]:
    """Return the customers for whom two different factors matched in this contact, whatever else went wrong."""
    matched: dict[str, set[str]] = {}
    for row in contact.written("verification_log"):
        if row["matched"]:
            matched.setdefault(str(row["customer_id"]), set()).add(str(row["factor"]))
    return frozenset(key for key, factors in matched.items() if permits(FACTORS_NEEDED, len(factors)))


def verified_persons(contact: Contact) -> frozenset[str]:
    """Return the customers whom the speaker has proved to be in this contact; nobody once it is locked."""
    return identified(contact) if permits(WRONG_FACTORS, len(wrong_factors(contact))) else frozenset()


def speakers(world: World, contact: Contact) -> list[str]:
    """Return the identified persons, in order; a firm cannot speak."""
    return sorted(
        key for key in identified(contact) if (row := get(world, Customer, key)) is not None and row.kind == "person"
    )


def needs_speaker(request: Request, world: World) -> bool:
    """Tell whether a request tells personal data or changes something for a customer.

    A recovery code is itself a proof of identity and has a rule of its own.
    """
    return (
        request.tool not in PROTECTIVE
        and request.tool != "redeem_recovery_code"
        and subject_of(request, world) is not None
    )


# --------------------------------------------------------------------- what a request asks for

_CAPABILITIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("send_payment", "transfer", "register_payee", "confirm_payee_name", "cancel_payment"), "payments"),
    **dict.fromkeys(("release_payment", "release_hold"), "release"),
    **dict.fromkeys(("file_dispute", "issue_credit", "correct_balance", "request_recall"), "claims"),
    **dict.fromkeys(("list_payments", "get_payment", "list_payees", "get_payee"), "payment_data"),
    **dict.fromkeys(("list_ledger", "get_ledger_entry"), "ledgers"),
    **dict.fromkeys(("change_contact", "enrol_device"), "contact"),
    **dict.fromkeys(CARD_TOOLS, "cards"),
    "approve_business_payment": "approval",
    "assign_business_role": "roles",
    "close_account": "closure",
    "send_statement": "statements",
}
_TOLD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("payments", "payees", "payee_checks", "approvals", "holds"), "payment_data"),
    **dict.fromkeys(("customers", "channel_events", "address_history", "devices", "business_roles"), "record"),
    "ledger": "ledgers",
    "statement_orders": "statements",
}
_EVERYTHING: Final = frozenset(
    {
        *("accounts", "ledgers", "statements", "payment_data", "record", "payments", "release", "approval", "wages"),
        *("claims", "cards", "contact", "closure", "roles"),
    }
)
ROLE_RIGHTS: Final[Mapping[str, frozenset[str]]] = {
    "owner": _EVERYTHING,
    "administrator": _EVERYTHING,
    "approver": frozenset({"accounts", "payment_data", "release", "approval"}),
    "bookkeeper": frozenset({"accounts", "ledgers", "statements", "payment_data", "payments", "wages", "release"}),
    "payroll": frozenset({"payment_data", "wages"}),
    "viewer": frozenset({"accounts", "ledgers", "statements"}),
}
"""What each business role may see and do."""

_SCOPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("accounts", "ledgers", "payment_data", "record"), "information"),
    **dict.fromkeys(("payments", "wages", "release", "claims"), "payments"),
}
_WAGE_WORDS: Final = frozenset({"wage", "wages", "payroll", "salary", "salaries"})


def capability(request: Request) -> str:
    """Return what a request asks for, in the terms of the business roles."""
    if request.tool == TELL:
        return _TOLD.get(text(request, "table") or "", "accounts")
    asked = _CAPABILITIES.get(request.tool, "accounts")
    if asked == "payments" and _WAGE_WORDS & set(words(text(request, "purpose") or "")):
        return "wages"
    return asked


def scope_needed(request: Request) -> str:
    """Return the word in the scope of an authority record that covers a request."""
    asked = capability(request)
    return _SCOPES.get(asked, asked)


# --------------------------------------------------------------------------------- standing


class Basis(IntEnum):
    """By what right somebody speaks in a customer's affair, from none to the plainest."""

    STRANGER = 0
    ROLE_BEYOND = 1
    """Holds or held a role at the firm that does not cover the request."""
    ROLE_TOO_NEW = 2
    RECORD_BEYOND = 3
    """Is named in an authority record that is not in force or does not cover the request."""
    OUTSIDE_ESTATE = 4
    """Is named as executor, but the record does not cover the act or the account is none of the estate."""
    RECORD = 5
    ROLE = 6
    JOINT = 7
    SELF = 8

    @property
    def suffices(self) -> bool:
        """Whether the person may ask for this."""
        return self >= Basis.RECORD


@dataclass(frozen=True, slots=True)
class Standing:
    """One identified person's right in the affair that a request is about.

    Attributes
    ----------
    subject
        The customer whose affair it is.
    rests_on
        The rows that decided it.
    record
        The authority record that gives the right, where one does.
    """

    person: str
    subject: str
    basis: Basis
    rests_on: tuple[RowRef, ...]
    record: AuthorityRecord | None = None


def standings(request: Request, world: World, contact: Contact) -> list[Standing]:
    """Return the standing of every identified person in the affair of a request, the best first.

    A speaker who claims at this moment to act for somebody else is not that somebody, whatever factors were given.
    """
    subject = subject_of(request, world)
    if subject is None or not needs_speaker(request, world):
        return []
    claims_to_act = any(item.name == "unproven_authority" and item.turn == contact.turn for item in contact.evidence)
    found = [
        max(_standings(person, subject, request, world, claims_to_act), key=lambda one: one.basis)
        for person in speakers(world, contact)
    ]
    return sorted(found, key=lambda one: -one.basis)


def standing(request: Request, world: World, contact: Contact) -> Standing | None:
    """Return the best standing of anybody identified, or None if nobody is or the request needs nobody."""
    return next(iter(standings(request, world, contact)), None)


def _standings(person: str, subject: str, request: Request, world: World, claims_to_act: bool) -> Iterator[Standing]:
    yield Standing(person, subject, Basis.STRANGER, (RowRef("customers", subject),))
    if person == subject and not claims_to_act:
        yield Standing(person, subject, Basis.SELF, (RowRef("customers", subject),))
        return
    account = account_of(request, world)
    if account is not None and person in owners(account, world):
        yield Standing(person, subject, Basis.JOINT, (ref(account),))
    for role in rows(world, BusinessRole, business_id=subject, person_id=person):
        yield Standing(person, subject, role_basis(role, capability(request), world), (ref(role),))
    for record in rows(world, AuthorityRecord, principal_id=subject, representative_id=person):
        yield Standing(person, subject, _record_basis(record, request, account, world), (ref(record),), record)


def role_basis(role: BusinessRole, asked: str, world: World) -> Basis:
    """Return the standing that one role gives for one capability."""
    if role.status != "active" or asked not in ROLE_RIGHTS.get(role.role, frozenset()):
        return Basis.ROLE_BEYOND
    return Basis.ROLE if permits(ROLE_AGE, elapsed_s(role.recorded_at, world)) else Basis.ROLE_TOO_NEW


def in_force(record: AuthorityRecord, day: date) -> bool:
    """Tell whether an authority record is active and within its dates, both included."""
    return (
        record.status == "active" and record.valid_from <= day and (record.valid_to is None or day <= record.valid_to)
    )


def _record_basis(record: AuthorityRecord, request: Request, account: Account | None, world: World) -> Basis:
    scope = {word.strip() for word in record.scope.split(",")}
    covers = in_force(record, today(world)) and scope_needed(request) in scope
    if record.kind == "executor" and request.tool not in INFORMATION:
        return Basis.RECORD if covers and (account is None or account.kind == "estate") else Basis.OUTSIDE_ESTATE
    return Basis.RECORD if covers else Basis.RECORD_BEYOND
