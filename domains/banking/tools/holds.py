"""Holds: money that may not move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domains.banking.tables import Account, Hold, Payee, Payment
from domains.banking.tools.arguments import Cents, Line
from domains.banking.tools.payments import check_waiting
from domains.banking.tools.rows import check_reason, holders_of, insert, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

_KINDS: Final[Mapping[str, str]] = {
    "payee_cooling_off": "cooling_off",
    "second_approval_missing": "approval",
    "pass_through": "compliance",
    "structuring": "compliance",
    "third_party_funds": "compliance",
    "licence_missing": "compliance",
    "open_and_run": "compliance",
}
"""The kind of a hold follows from its reason; every other reason is one of fraud."""


@tool(writes=True)
def place_hold(
    bank: World,
    account_id: str,
    reason_code: Line,
    payment_id: str | None = None,
    payee_id: str | None = None,
    amount_cents: Cents | None = None,
) -> JsonValue:
    """Place a hold on an account, or on one payment out of it, one payee or one amount.

    A payment that has not left yet becomes held. Returns the hold. Refuses a payment that has left or was cancelled,
    and a payment or payee that does not belong to the account.

    Parameters
    ----------
    account_id
        The account whose money is held.
    reason_code
        The reason code that the corpus gives.
    payment_id
        The payment that is held, if one exists already.
    payee_id
        The payee to whom the money would have gone, if known.
    amount_cents
        The amount in cents that is held; left out, it is everything that the hold covers.
    """
    account = bank.find(Account, account_id)
    check_reason(bank, reason_code)
    payment = bank.find(Payment, payment_id) if payment_id is not None else None
    if payee_id is not None and bank.find(Payee, payee_id).customer_id not in holders_of(bank, account):
        raise ToolError(f"Payee {payee_id} is not registered for an owner of account {account_id}.")
    if payment is not None:
        if payment.from_account_id != account_id:
            raise ToolError(f"Payment {payment_id} does not go out of account {account_id}.")
        check_waiting(payment)
        update(bank, payment, status="held")
    hold = Hold(
        id=bank.new_id("HD"),
        account_id=account_id,
        payment_id=payment_id,
        payee_id=payee_id,
        amount_cents=amount_cents,
        kind=_KINDS.get(reason_code, "fraud"),
        placed_by="agent",
        reason_code=reason_code,
        status="active",
        placed_at=bank.now,
    )
    return bank.show(insert(bank, hold))


@tool(writes=True)
def release_hold(bank: World, hold_id: str) -> JsonValue:
    """Release an active hold, whoever placed it.

    A payment that it stopped stays held until it is released itself. Returns the hold. Refuses one that is not active.

    Parameters
    ----------
    hold_id
        The hold's id.
    """
    hold = bank.find(Hold, hold_id)
    if hold.status != "active":
        raise ToolError(f"Hold {hold_id} is {hold.status} already.")
    update(bank, hold, status="released")
    return bank.show(hold)
