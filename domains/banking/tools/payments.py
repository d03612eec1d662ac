"""Payments on both rails: look-ups, sending, releasing, calling back."""

from __future__ import annotations

from typing import Final

from domains.banking.tables import Account, Approval, Hold, LedgerEntry, Payee, Payment, RecallRequest
from domains.banking.tools.arguments import Cents, Text
from domains.banking.tools.money import book_payment, pay_internally
from domains.banking.tools.payees import PAYEE_COLUMNS
from domains.banking.tools.rows import holders_of, insert, matching, newest, show_all, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

WAITING: Final = ("awaiting_approval", "scheduled", "held")
"""What a payment is while its money has not left."""

_LISTED: Final = 50


@tool()
def list_payments(bank: World, account_id: str) -> JsonValue:
    """List the payments out of an account, the newest first, at most the latest fifty.

    Returns id, receiver (a payee or an account of this bank), rail, amount in cents, purpose, status, initiator and
    times of each payment.

    Parameters
    ----------
    account_id
        The account's id.
    """
    bank.find(Account, account_id)
    return show_all(bank, newest(bank, Payment, _LISTED, from_account_id=account_id))


@tool()
def get_payment(bank: World, payment_id: str) -> JsonValue:
    """Show one payment with everything that lets it go or stops it.

    Returns the payment (amount in cents, status, initiator), its approvals with approver and time, the payee if it
    goes to one, and its holds with who placed them and their status.

    Parameters
    ----------
    payment_id
        The payment's id.
    """
    payment = bank.find(Payment, payment_id)
    payee = bank.session.get(Payee, payment.to_payee_id) if payment.to_payee_id else None
    return {
        "payment": bank.show(payment),
        "approvals": show_all(bank, matching(bank, Approval, payment_id=payment_id)),
        "payee": bank.show(payee, *PAYEE_COLUMNS) if payee else None,
        "holds": show_all(bank, matching(bank, Hold, payment_id=payment_id)),
    }


@tool(writes=True)
def transfer(
    bank: World, from_account_id: str, to_account_id: str, amount_cents: Cents, purpose: Text = ""
) -> JsonValue:
    """Move money between two accounts of this bank at once.

    Returns the settled payment. Refuses if the accounts are the same, one is not open, or the balance does not cover
    the amount.

    Parameters
    ----------
    from_account_id
        The account that pays.
    to_account_id
        The account that receives.
    amount_cents
        The amount in cents.
    purpose
        What the money is for, as the customer says.
    """
    source, target = bank.find(Account, from_account_id), bank.find(Account, to_account_id)
    return bank.show(pay_internally(bank, source, target, amount_cents, purpose))


@tool(writes=True)
def send_payment(
    bank: World, from_account_id: str, payee_id: str, amount_cents: Cents, purpose: Text = ""
) -> JsonValue:
    """Send money to a registered payee outside this bank at once; it cannot be taken back.

    Returns the settled payment. Refuses if the payee is not registered for an owner of the account or was removed,
    the account is not open, or its balance does not cover the amount.

    Parameters
    ----------
    from_account_id
        The account that pays.
    payee_id
        The payee who receives.
    amount_cents
        The amount in cents.
    purpose
        What the money is for, as the customer says.
    """
    account, payee = bank.find(Account, from_account_id), bank.find(Payee, payee_id)
    if payee.customer_id not in holders_of(bank, account):
        raise ToolError(f"Payee {payee_id} is not registered for an owner of account {from_account_id}.")
    if payee.status != "active":
        raise ToolError(f"Payee {payee_id} was removed; payments go to active payees only.")
    payment = insert(
        bank,
        Payment(
            id=bank.new_id("PM"),
            from_account_id=from_account_id,
            to_payee_id=payee_id,
            rail="external",
            amount_cents=amount_cents,
            purpose=purpose,
            status="settled",
            initiated_by=account.customer_id,
            created_at=bank.now,
            settled_at=bank.now,
        ),
    )
    book_payment(bank, payment, "settled")
    return bank.show(payment)


@tool(writes=True)
def release_payment(bank: World, payment_id: str) -> JsonValue:
    """Release a payment that waits for approval, is scheduled, or is held; its money leaves the account at once.

    Active holds on the payment are released with it. Returns the released payment. Refuses a payment in another
    status, an account that is not open, or a balance that does not cover the amount.

    Parameters
    ----------
    payment_id
        The payment's id.
    """
    payment = bank.find(Payment, payment_id)
    check_waiting(payment)
    update(bank, payment, status="released")
    for hold in matching(bank, Hold, payment_id=payment_id, status="active"):
        update(bank, hold, status="released")
    book_payment(bank, payment, "settled" if payment.rail == "internal" else "pending")
    return bank.show(payment)


def check_waiting(payment: Payment) -> None:
    """Make sure that a payment's money has not left yet.

    Raises
    ------
    ToolError
        If it has, or never will.
    """
    if payment.status not in WAITING:
        raise ToolError(f"Payment {payment.id} is {payment.status}; this needs one that is {', '.join(WAITING)}.")


@tool(writes=True, discoverable=True)
def request_recall(bank: World, ledger_id: str, reason: Text = "") -> JsonValue:
    """Request that money which came in by mistake goes back the way it came.

    Returns the request. Refuses an entry that is not money received, and one for which a request exists.

    Parameters
    ----------
    ledger_id
        The ledger entry by which the money came in.
    reason
        Why it is sent back, in a sentence.
    """
    entry = bank.find(LedgerEntry, ledger_id)
    if entry.amount_cents <= 0:
        raise ToolError(f"Entry {ledger_id} is money paid out; only money received can be sent back this way.")
    for known in matching(bank, RecallRequest, ledger_id=ledger_id):
        raise ToolError(f"A recall of entry {ledger_id} has been requested already, as {known.id}.")
    request = RecallRequest(id=bank.new_id("RR"), ledger_id=ledger_id, reason=reason, created_at=bank.now)
    return bank.show(insert(bank, request))
