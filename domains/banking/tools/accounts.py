"""Accounts: closing them, and sending out their statements."""

from __future__ import annotations

from datetime import date

from domains.banking.tables import Account, Closure, Customer, StatementOrder
from domains.banking.tools.arguments import Line
from domains.banking.tools.money import check_open, dollars, pay_internally
from domains.banking.tools.rows import insert, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World


@tool(writes=True, discoverable=True)
def close_account(bank: World, account_id: str, payout_account_id: str | None = None) -> JsonValue:
    """Close an account at the customer's wish and move what is left on it to another account of this bank.

    Returns the closure and the account. Refuses an account that is not open, one with money on it if no open account
    is named to receive it.

    Parameters
    ----------
    account_id
        The account to close.
    payout_account_id
        The account that receives the remaining balance; needed if there is one.
    """
    account = bank.find(Account, account_id)
    check_open(account)
    if account.balance_cents and payout_account_id is None:
        raise ToolError(f"Account {account_id} holds {dollars(account.balance_cents)}; name an account to receive it.")
    if payout_account_id is not None and account.balance_cents:
        target = bank.find(Account, payout_account_id)
        pay_internally(bank, account, target, account.balance_cents, "balance of a closed account")
    update(bank, account, status="closed")
    closure = Closure(
        id=bank.new_id("CL"),
        customer_id=account.customer_id,
        account_id=account_id,
        reason="by_customer",
        closed_at=bank.now,
    )
    return {"closure": bank.show(insert(bank, closure)), "account": bank.show(account, "id", "status", "balance_cents")}


@tool(writes=True, discoverable=True)
def send_statement(bank: World, account_id: str, month: Line, sent_to: Line, requested_by: str) -> JsonValue:
    """Send the statement of one month of an account.

    Returns the order. Refuses a month before the account was opened and one that has not begun.

    Parameters
    ----------
    account_id
        The account's id.
    month
        The month, as YYYY-MM.
    sent_to
        The e-mail or postal address that receives it.
    requested_by
        Customer id of the person for whom it is sent.
    """
    account = bank.find(Account, account_id)
    bank.find(Customer, requested_by)
    try:
        first_day = date.fromisoformat(f"{month}-01")
    except ValueError:
        raise ToolError(f"{month!r} is not a month written as YYYY-MM.") from None
    opened = account.opened_at.astimezone(bank.zone).date().replace(day=1)
    today = bank.now.astimezone(bank.zone).date()
    if not opened <= first_day <= today:
        raise ToolError(f"Account {account_id} has statements from {opened:%Y-%m} to {today:%Y-%m}, not for {month}.")
    order = StatementOrder(
        id=bank.new_id("SO"),
        account_id=account_id,
        month=first_day,
        sent_to=sent_to,
        requested_by=requested_by,
        created_at=bank.now,
    )
    return bank.show(insert(bank, order))
