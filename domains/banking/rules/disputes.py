"""DISP-01 to DISP-10: what a claim needs, and what the bank gives for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domains.banking.rules.calendar import business_days_after, days_since, local_day, today
from domains.banking.rules.facts import (
    MONEY_OUT,
    account_of,
    basis_of,
    cents,
    evidence_rows,
    found,
    get,
    outgoing,
    ref,
    rows,
    text,
    with_amount,
)
from domains.banking.rules.limits import limit, permits
from domains.banking.rules.supervisors import approval_for
from domains.banking.tables import (
    Account,
    Cancellation,
    Credit,
    Customer,
    Dispute,
    LedgerEntry,
    MachineJournal,
    RefundPromise,
    ServiceUsage,
)
from domains.kit.json import JsonValue
from domains.kit.rules import Contact, Finding, Outcome, Parameter, Request, rule
from domains.kit.store import RowRef
from domains.kit.world import World

DUPLICATE_DAYS: Final = limit("days between the two entries", "<=", 3, "days")
REFUND_WAIT: Final = limit("business days since the promise", ">", 10, "business_days")
ENTRY_CAP: Final = limit("open disputes, entry tier", "<=", 2, "count")
STANDARD_CAP: Final = limit("open disputes, standard tier", "<=", 4, "count")
GOODWILL_CAP: Final = limit("goodwill in the period", "<=", 2_500, "cents")
GOODWILL_DAYS: Final = limit("age of a credit not counted", ">", 90, "days")
FILING_WINDOW: Final = limit("days since the statement", "<=", 60, "days")

_CAPS: Final[Mapping[str, Parameter]] = {"entry": ENTRY_CAP}


def _claimed(request: Request, world: World, *kinds: str) -> LedgerEntry | None:
    """Return the entry to be disputed, if the claim is of one of these kinds (of any, if none is named)."""
    if kinds and text(request, "kind") not in kinds:
        return None
    return get(world, LedgerEntry, text(request, "ledger_id"))


@rule(
    "DISP-01",
    "The ledger entry is read before a dispute is filed",
    Outcome.OFFER_ALTERNATIVE,
    "none",
    tools={"file_dispute"},
)
def read_first(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire while no tool has shown the entry in this contact."""
    entry = _claimed(request, world)
    return None if entry is None or ref(entry) in contact.shown else found(read_first, entry)


@rule(
    "DISP-02",
    "A recurring charge is disputable after a cancellation on record and no later use",
    Outcome.REFUSE,
    "service_used",
    tools={"file_dispute"},
)
def cancelled_and_unused(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where no cancellation precedes the charge, or the service was used after it."""
    entry = _claimed(request, world, "recurring")
    if entry is None:
        return None
    cancellations = [
        row
        for row in rows(world, Cancellation, account_id=entry.account_id, merchant=entry.counterparty)
        if row.cancelled_at < entry.posted_at
    ]
    if not cancellations:
        return found(cancelled_and_unused, entry)
    cancelled_at = max(row.cancelled_at for row in cancellations)
    used = [
        row
        for row in rows(world, ServiceUsage, account_id=entry.account_id, merchant=entry.counterparty)
        if row.used_at > cancelled_at
    ]
    return found(cancelled_and_unused, entry, *cancellations, *used) if used else None


@rule(
    "DISP-03",
    "A duplicate is two settled entries of one merchant and amount within three days",
    Outcome.REFUSE,
    "no_duplicate",
    tools={"file_dispute"},
    parameters=[DUPLICATE_DAYS],
)
def is_duplicate(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where no second settled entry matches."""
    entry = _claimed(request, world, "duplicate")
    if entry is None:
        return None
    alike = [
        other
        for other in rows(world, LedgerEntry, account_id=entry.account_id, counterparty=entry.counterparty)
        if other.id != entry.id and other.amount_cents == entry.amount_cents
    ]
    day = local_day(entry.posted_at, world)
    if entry.status == "settled" and any(
        other.status == "settled" and permits(DUPLICATE_DAYS, abs((local_day(other.posted_at, world) - day).days))
        for other in alike
    ):
        return None
    return found(is_duplicate, entry)


@rule(
    "DISP-04",
    "A promised refund is waited for ten business days",
    Outcome.OFFER_ALTERNATIVE,
    "refund_pending",
    tools={"file_dispute"},
    parameters=[REFUND_WAIT],
)
def refund_pending(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire up to and including the tenth business day after the promise."""
    entry = _claimed(request, world, "refund_missing")
    promises = rows(world, RefundPromise, ledger_id=entry.id) if entry is not None else []
    waiting = [
        promise
        for promise in promises
        if not permits(REFUND_WAIT, business_days_after(promise.promised_on, today(world), REFUND_WAIT.value + 1))
    ]
    return found(refund_pending, *waiting, entry) if waiting else None


@rule(
    "DISP-05",
    "Open disputes of an account: two in the entry tier, four otherwise",
    Outcome.REFUSE,
    "dispute_cap",
    tools={"file_dispute"},
    parameters=[ENTRY_CAP, STANDARD_CAP],
)
def dispute_cap(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where one more dispute would exceed the number for the customer's tier."""
    entry = _claimed(request, world)
    account = get(world, Account, entry.account_id) if entry is not None else None
    customer = get(world, Customer, account.customer_id) if account is not None else None
    if entry is None or customer is None:
        return None
    still_open = rows(world, Dispute, account_id=entry.account_id, status="open")
    cap = _CAPS.get(customer.tier, STANDARD_CAP)
    return None if permits(cap, len(still_open) + 1) else found(dispute_cap, *still_open, entry)


@rule(
    "DISP-06",
    "A purchase acknowledged in the contact is not disputed as unauthorised",
    Outcome.REFUSE,
    "purchase_admitted",
    history=True,
    tools={"file_dispute"},
    evidence={"purchase_admitted"},
)
def purchase_admitted(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a claim of no authority after the caller said that the purchase was theirs."""
    entry = _claimed(request, world, "unauthorised")
    if entry is None or not contact.reveals("purchase_admitted"):
        return None
    return found(purchase_admitted, entry, *evidence_rows(contact, "purchase_admitted"))


@rule(
    "DISP-07",
    "A cash machine's journal decides; no credit on anybody's word",
    Outcome.OFFER_ALTERNATIVE,
    "journal_pending",
    tools={"issue_credit"},
)
def journal_decides(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a credit for a withdrawal beyond what the journal shows missing; offer the dispute or the shortfall."""
    basis, wanted_cents = basis_of(request, world), cents(request, "amount_cents")
    entry = get(world, LedgerEntry, basis.ledger_id) if isinstance(basis, Dispute) else basis
    if entry is None or entry.kind != "cash_machine" or wanted_cents is None:
        return None
    journals = rows(world, MachineJournal, ledger_id=entry.id)
    latest = max(journals, key=lambda row: row.read_at, default=None)
    missing_cents = 0
    if latest is not None and latest.result in ("short", "fault"):
        missing_cents = -entry.amount_cents - (latest.dispensed_cents or 0)
    if wanted_cents <= missing_cents:
        return None
    instead = with_amount(request, "amount_cents", missing_cents)
    if instead is None and not rows(world, Dispute, ledger_id=entry.id):
        instead = Request("file_dispute", {"ledger_id": entry.id, "kind": "cash_machine"})
    return found(journal_decides, entry, latest, alternative=instead)


def open_dispute(basis: Dispute | LedgerEntry | None, world: World) -> Dispute | None:
    """Return the open dispute that a credit would rest on: the one named, or the one on the entry named."""
    if isinstance(basis, LedgerEntry):
        return next(iter(rows(world, Dispute, ledger_id=basis.id, status="open")), None)
    return basis if basis is not None and basis.status == "open" else None


@rule(
    "DISP-08",
    "Goodwill up to $25.00 in 90 days; anything else is provisional credit for a dispute",
    Outcome.OFFER_ALTERNATIVE,
    "goodwill_cap",
    tools={"issue_credit"},
    parameters=[GOODWILL_CAP, GOODWILL_DAYS],
)
def goodwill_cap(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on goodwill beyond the period's rest, and on provisional credit without, or beyond, a dispute."""
    account, wanted_cents = account_of(request, world), cents(request, "amount_cents")
    if account is None or wanted_cents is None or approval_for(request, world) is not None:
        return None
    if text(request, "kind") == "provisional":
        basis = basis_of(request, world)
        claim = open_dispute(basis, world)
        if claim is not None and wanted_cents <= claim.amount_cents:
            return None
        disputed = with_amount(request, "amount_cents", claim.amount_cents) if claim is not None else None
        return found(goodwill_cap, basis or account, alternative=disputed)
    given = [
        credit
        for credit in rows(world, Credit, customer_id=account.customer_id, kind="goodwill")
        if not permits(GOODWILL_DAYS, days_since(credit.created_at, world))
    ]
    given_cents = sum(credit.amount_cents for credit in given)
    if permits(GOODWILL_CAP, given_cents + wanted_cents):
        return None
    rest = with_amount(request, "amount_cents", GOODWILL_CAP.value - given_cents)
    return found(goodwill_cap, *given, account, alternative=rest)


@rule(
    "DISP-09",
    "A charge is disputed within 60 days of its statement",
    Outcome.REFUSE,
    "window_closed",
    tools={"file_dispute"},
    parameters=[FILING_WINDOW],
)
def filing_window(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire from the sixty-first day after the statement."""
    entry = _claimed(request, world)
    if entry is None or permits(FILING_WINDOW, days_since(entry.statement_on, world)):
        return None
    return found(filing_window, entry)


@rule(
    "DISP-10",
    "After a dispute or credit in this contact the account is not closed and not emptied",
    Outcome.REFUSE,
    "credit_then_exit",
    history=True,
    tools=MONEY_OUT,
)
def credit_then_exit(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a closure, or on a payment that leaves less on the account than was credited or disputed in it."""
    money = outgoing(request, world)
    if money is None:
        return None
    given = _of_account(contact, "credits", money.account.id)
    claims = _of_account(contact, "disputes", money.account.id)
    if not given and not claims:
        return None
    at_stake_cents = max(sum(int(row["amount_cents"]) for row in rows_) for rows_ in (given, claims))
    if request.tool != "close_account" and money.account.balance_cents - money.amount_cents >= at_stake_cents:
        return None
    made = [RowRef("credits", str(row["id"])) for row in given] + [RowRef("disputes", str(row["id"])) for row in claims]
    return found(credit_then_exit, *made, money.account)


def _of_account(contact: Contact, table: str, account_id: str) -> list[Mapping[str, JsonValue]]:
    return [row for row in contact.written(table) if row["account_id"] == account_id]
