"""Payees: look-ups, registration, the check of their name with the other bank."""

from __future__ import annotations

from domains.banking.tables import Customer, Payee, PayeeCheck, Payment, ScamQuestionnaire
from domains.banking.tools.arguments import Line
from domains.banking.tools.likeness import compare_names, words
from domains.banking.tools.rows import insert, matching, show_all
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

PAYEE_COLUMNS = ("id", "customer_id", "name", "bank_account", "created_at", "status")


@tool()
def list_payees(bank: World, customer_id: str) -> JsonValue:
    """List the payees outside this bank whom a customer has registered.

    Returns id, name, bank account, time of registration and status of each payee.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    bank.find(Customer, customer_id)
    return show_all(bank, matching(bank, Payee, customer_id=customer_id), *PAYEE_COLUMNS)


@tool()
def get_payee(bank: World, payee_id: str) -> JsonValue:
    """Show one payee with everything that was found out about them.

    Returns the payee's record and its age in hours, the name checks with the other bank, the customer's answers to
    payment questions, and number, dates and amounts in cents of the settled payments to this payee.

    Parameters
    ----------
    payee_id
        The payee's id.
    """
    payee = bank.find(Payee, payee_id)
    settled = matching(bank, Payment, to_payee_id=payee_id, status="settled")
    return {
        "payee": bank.show(payee, *PAYEE_COLUMNS),
        "age_hours": int((bank.now - payee.created_at).total_seconds() // 3600),
        "name_checks": show_all(bank, matching(bank, PayeeCheck, payee_id=payee_id)),
        "questionnaires": show_all(bank, matching(bank, ScamQuestionnaire, payee_id=payee_id)),
        "settled_count": len(settled),
        "settled_payments": show_all(bank, settled, "id", "amount_cents", "settled_at"),
    }


@tool(writes=True, discoverable=True)
def register_payee(bank: World, customer_id: str, name: Line, bank_account: Line) -> JsonValue:
    """Register somebody outside this bank as a payee of a customer.

    Returns the payee. Refuses a bank account that is registered for this customer already.

    Parameters
    ----------
    customer_id
        The customer who will pay.
    name
        The payee's name as the customer gives it.
    bank_account
        The payee's account at the other bank.
    """
    bank.find(Customer, customer_id)
    for known in matching(bank, Payee, customer_id=customer_id, status="active"):
        if words(known.bank_account) == words(bank_account):
            raise ToolError(f"This account is registered for {customer_id} already, as payee {known.id}.")
    payee = Payee(
        id=bank.new_id("PY"),
        customer_id=customer_id,
        name=name,
        bank_account=bank_account,
        created_at=bank.now,
        status="active",
    )
    return bank.show(insert(bank, payee), *PAYEE_COLUMNS)


@tool(writes=True, discoverable=True)
def confirm_payee_name(bank: World, payee_id: str) -> JsonValue:
    """Ask the payee's bank whether the payee's name is the name on the account.

    Returns the check: match, close_match or no_match, and the name that the other bank holds.

    Parameters
    ----------
    payee_id
        The payee's id.
    """
    payee = bank.find(Payee, payee_id)
    held = payee.name if payee.account_name is None else payee.account_name
    check = PayeeCheck(
        id=bank.new_id("PC"),
        payee_id=payee_id,
        result=compare_names(payee.name, held),
        shown_name=held,
        confirmed=False,
        checked_at=bank.now,
    )
    return bank.show(insert(bank, check))
