"""Which records to look at before a request is decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from domains.banking.rules.calendar import days_since
from domains.banking.rules.facts import (
    MONEY_OUT,
    account_of,
    card_of,
    get,
    outgoing,
    record_ids,
    rows,
    subject_of,
    text,
    told_row,
)
from domains.banking.tables import (
    Account,
    AuthorityRecord,
    BusinessRole,
    Dispute,
    Hold,
    LedgerEntry,
    Note,
    Payment,
    RecordFlag,
    StepUp,
    SupervisorApproval,
    Verification,
)
from domains.kit.domain import Call
from domains.kit.rules import TELL, Request
from domains.kit.world import World

_CLAIMS: Final = frozenset({"file_dispute", "issue_credit", "correct_balance"})
_SHOWN_BY: Final[Mapping[str, tuple[str, str]]] = {
    "payments": ("get_payment", "payment_id"),
    "payees": ("get_payee", "payee_id"),
    "cards": ("get_card", "card_id"),
    "ledger": ("get_ledger_entry", "ledger_id"),
}


def look_ups(request: Request, world: World) -> Iterator[Call]:
    """Yield the look-ups that show the records on which the rules about a request rest, some perhaps twice."""
    application_id = text(request, "application_id")
    if application_id is not None:
        yield Call("review_application", {"application_id": application_id})
        return
    if request.tool in MONEY_OUT:
        yield from _money_look_ups(request, world)
    else:
        yield from _record_look_ups(request, world)
    yield from _claim_look_ups(request, world)
    subject = subject_of(request, world)
    if subject is not None:
        yield from _people_look_ups(request, subject, world)


def _money_look_ups(request: Request, world: World) -> Iterator[Call]:
    money = outgoing(request, world)
    if money is None:
        return
    if money.payment is not None:
        yield Call("get_payment", {"payment_id": money.payment.id})
    yield Call("get_account", {"account_id": money.account.id})
    if money.target is not None:
        yield Call("get_account", {"account_id": money.target.id})
    if money.payee is not None:
        yield Call("get_payee", {"payee_id": money.payee.id})
        for account in rows(world, Account, customer_id=money.account.customer_id):
            if any(
                days_since(payment.settled_at or payment.created_at, world) == 0
                for payment in rows(world, Payment, from_account_id=account.id)
            ):
                yield Call("list_payments", {"account_id": account.id})
    yield Call("list_ledger", {"account_id": money.account.id})


def _record_look_ups(request: Request, world: World) -> Iterator[Call]:
    shown_by = _SHOWN_BY.get(text(request, "table") or "") if request.tool == TELL else None
    card, account = card_of(request, world), account_of(request, world)
    if shown_by is not None:
        yield Call(shown_by[0], {shown_by[1]: text(request, "key")})
    note = told_row(request, world)
    if isinstance(note, Note):
        yield Call("list_notes", {"about_id": note.about_id})
    if card is not None:
        yield Call("get_card", {"card_id": card.id})
    elif account is not None:
        yield Call("get_account", {"account_id": account.id})
    hold = get(world, Hold, text(request, "hold_id"))
    payment = get(world, Payment, text(request, "payment_id") if hold is None else hold.payment_id)
    if payment is not None:
        yield Call("get_payment", {"payment_id": payment.id})


def _claim_look_ups(request: Request, world: World) -> Iterator[Call]:
    dispute = get(world, Dispute, text(request, "basis_id"))
    ledger_id = dispute.ledger_id if dispute is not None else text(request, "ledger_id") or text(request, "basis_id")
    entry = get(world, LedgerEntry, ledger_id)
    if entry is not None:
        yield Call("get_ledger_entry", {"ledger_id": entry.id})
        if entry.kind == "cash_machine":
            yield Call("read_machine_journal", {"ledger_id": entry.id})
    subject = subject_of(request, world)
    if subject is not None and request.tool in _CLAIMS:
        yield Call("list_disputes", {"customer_id": subject})


def _people_look_ups(request: Request, subject: str, world: World) -> Iterator[Call]:
    yield Call("get_customer", {"customer_id": subject})
    if request.tool == TELL and account_of(request, world) is None:
        yield Call("list_accounts", {"customer_id": subject})
    agents = [role.person_id for role in rows(world, BusinessRole, business_id=subject)]
    for person in dict.fromkeys((subject, *agents)):
        has_log = rows(world, Verification, customer_id=person), rows(world, StepUp, customer_id=person)
        if any(has_log):
            yield Call("get_customer", {"customer_id": person})
            yield Call("get_verification_log", {"customer_id": person})
    if rows(world, AuthorityRecord, principal_id=subject) or _has_approval(request, world):
        yield Call("read_authority", {"customer_id": subject})
    for key in sorted(record_ids(request) | {subject}):
        is_marked = rows(world, Note, about_id=key), rows(world, RecordFlag, record_id=key)
        if any(is_marked):
            yield Call("list_notes", {"about_id": key})


def _has_approval(request: Request, world: World) -> bool:
    return any(rows(world, SupervisorApproval, subject_id=key) for key in sorted(record_ids(request)))
