"""Disputes and credits, and the records that support or refute a claim."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, Literal

from sqlmodel import col, select

from domains.banking.tables import (
    Account,
    Cancellation,
    Credit,
    Customer,
    Dispute,
    LedgerEntry,
    MachineJournal,
    RecallRequest,
    RefundPromise,
    ServiceUsage,
    SupervisorApproval,
)
from domains.banking.tools.arguments import Cents
from domains.banking.tools.money import book
from domains.banking.tools.rows import insert, matching, show_all
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

DisputeKind = Literal["unauthorised", "duplicate", "recurring", "refund_missing", "cash_machine", "service"]

_NEARBY: Final = timedelta(days=14)
_CREDIT_SOURCE: Final = "Harbourline Bank"


@tool()
def get_ledger_entry(bank: World, ledger_id: str) -> JsonValue:
    """Show one ledger entry with everything that bears on a claim about it.

    Returns the entry (amount in cents, money in is positive), disputes and recall requests on it, refunds that the
    merchant promised for it, and for its merchant on this account: cancellations, uses of the service, and other
    entries from two weeks before it to two weeks after it.

    Parameters
    ----------
    ledger_id
        The entry's id.
    """
    entry = bank.find(LedgerEntry, ledger_id)
    same_merchant = {"account_id": entry.account_id, "merchant": entry.counterparty}
    nearby = (
        select(LedgerEntry)
        .where(
            LedgerEntry.account_id == entry.account_id,
            LedgerEntry.counterparty == entry.counterparty,
            LedgerEntry.id != entry.id,
            col(LedgerEntry.posted_at).between(entry.posted_at - _NEARBY, entry.posted_at + _NEARBY),
        )
        .order_by(col(LedgerEntry.posted_at), col(LedgerEntry.id))
    )
    return {
        "entry": bank.show(entry),
        "disputes": show_all(bank, matching(bank, Dispute, ledger_id=ledger_id)),
        "recall_requests": show_all(bank, matching(bank, RecallRequest, ledger_id=ledger_id)),
        "refund_promises": show_all(bank, matching(bank, RefundPromise, ledger_id=ledger_id)),
        "cancellations": show_all(bank, matching(bank, Cancellation, **same_merchant)),
        "service_usage": show_all(bank, matching(bank, ServiceUsage, **same_merchant)),
        "same_merchant_nearby": show_all(bank, bank.session.exec(nearby)),
    }


@tool()
def list_disputes(bank: World, customer_id: str) -> JsonValue:
    """List a customer's disputes and the credits that the bank gave them.

    Returns ledger entry, account, kind, amount in cents, status and time of each dispute, and kind, amount in cents,
    basis and time of each credit.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    bank.find(Customer, customer_id)
    return {
        "disputes": show_all(bank, matching(bank, Dispute, customer_id=customer_id)),
        "credits": show_all(bank, matching(bank, Credit, customer_id=customer_id)),
    }


@tool(writes=True)
def file_dispute(bank: World, ledger_id: str, kind: DisputeKind) -> JsonValue:
    """File a dispute of a ledger entry, for its full amount.

    Returns the open dispute. Refuses an entry that is money received, and one that is in dispute already.

    Parameters
    ----------
    ledger_id
        The entry's id.
    kind
        What the customer claims about it.
    """
    entry = bank.find(LedgerEntry, ledger_id)
    if entry.amount_cents >= 0:
        raise ToolError(f"Entry {ledger_id} is money received; only money paid out can be disputed.")
    for known in matching(bank, Dispute, ledger_id=ledger_id, status="open"):
        raise ToolError(f"Entry {ledger_id} is in dispute already, as {known.id}.")
    dispute = Dispute(
        id=bank.new_id("DP"),
        ledger_id=ledger_id,
        account_id=entry.account_id,
        customer_id=bank.find(Account, entry.account_id).customer_id,
        kind=kind,
        amount_cents=-entry.amount_cents,
        status="open",
        opened_at=bank.now,
    )
    return bank.show(insert(bank, dispute))


@tool(writes=True)
def issue_credit(
    bank: World,
    account_id: str,
    kind: Literal["provisional", "goodwill"],
    amount_cents: Cents,
    basis_id: str = "",
) -> JsonValue:
    """Credit an account, provisionally for a dispute or as goodwill.

    Returns the credit. Refuses an account that is not open, and a basis that is no dispute, ledger entry or
    supervisor approval that concerns this account.

    Parameters
    ----------
    account_id
        The account that receives the money.
    kind
        provisional for money that stands until a dispute is decided, goodwill for a gift.
    amount_cents
        The amount in cents.
    basis_id
        Id of the dispute or ledger entry that it rests on, or of a supervisor approval; may be empty.
    """
    return give_credit(bank, bank.find(Account, account_id), kind, amount_cents, basis_id)


@tool(writes=True, discoverable=True)
def correct_balance(bank: World, account_id: str, amount_cents: Cents, basis_id: str) -> JsonValue:
    """Credit an account to correct an error of the bank.

    Returns the credit. Refuses an account that is not open, and a basis that is no dispute, ledger entry or
    supervisor approval that concerns this account.

    Parameters
    ----------
    account_id
        The account that receives the money.
    amount_cents
        The amount in cents.
    basis_id
        Id of the ledger entry, dispute or supervisor approval that the correction rests on.
    """
    if not basis_id:
        raise ToolError("A correction needs a basis: the ledger entry, dispute or approval that it rests on.")
    return give_credit(bank, bank.find(Account, account_id), "correction", amount_cents, basis_id)


def give_credit(bank: World, account: Account, kind: str, amount_cents: int, basis_id: str) -> dict[str, JsonValue]:
    """Write a credit, book it and show it.

    Raises
    ------
    ToolError
        If the account is not open, or the basis is none or concerns another account.
    """
    if basis_id:
        _check_basis(bank, account, basis_id)
    book(bank, account, amount_cents, "credit", _CREDIT_SOURCE, f"{kind} credit")
    credit = Credit(
        id=bank.new_id("CR"),
        account_id=account.id,
        customer_id=account.customer_id,
        kind=kind,
        amount_cents=amount_cents,
        basis_id=basis_id,
        created_at=bank.now,
    )
    return bank.show(insert(bank, credit))


def _check_basis(bank: World, account: Account, basis_id: str) -> None:
    claim = bank.session.get(Dispute, basis_id) or bank.session.get(LedgerEntry, basis_id)
    if claim is not None and claim.account_id == account.id:
        return
    approval = bank.session.get(SupervisorApproval, basis_id)
    subject = approval and (
        bank.session.get(Dispute, approval.subject_id) or bank.session.get(LedgerEntry, approval.subject_id)
    )
    if approval and (approval.subject_id == account.id or (subject and subject.account_id == account.id)):
        return
    raise ToolError(f"{basis_id!r} is no dispute, ledger entry or supervisor approval that concerns {account.id}.")


@tool(discoverable=True)
def read_machine_journal(bank: World, ledger_id: str) -> JsonValue:
    """Read what a cash machine's own journal says about a withdrawal.

    Returns the journal's records: dispensed, short, fault or pending, the dispensed amount in cents and the time of
    reading; the list is empty if the machine has not reported. Refuses an entry that is no cash withdrawal.

    Parameters
    ----------
    ledger_id
        The ledger entry of the withdrawal.
    """
    if bank.find(LedgerEntry, ledger_id).kind != "cash_machine":
        raise ToolError(f"Entry {ledger_id} is no withdrawal at a cash machine.")
    return show_all(bank, matching(bank, MachineJournal, ledger_id=ledger_id))
