"""Look-ups: customers, their accounts and ledgers, and what is written about them."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field
from sqlmodel import col, select

from domains.banking.tables import (
    Account,
    AccountHolder,
    AddressHistory,
    BusinessRole,
    ChannelEvent,
    Closure,
    Customer,
    Device,
    FraudAlert,
    Hold,
    LedgerEntry,
    Licence,
    Note,
    RecordFlag,
)
from domains.banking.tools.likeness import national_number, words
from domains.banking.tools.rows import accounts_of, check_record, matching, newest, show_all
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

_FOUND_LIMIT: Final = 10


@tool()
def find_customer(bank: World, name: str = "", phone: str = "", email: str = "") -> JsonValue:
    """Find customers, persons or firms, by name, telephone number or e-mail address.

    Returns the id, name and kind of every customer for whom all that was given fits; the list is empty if there is
    none. Refuses if nothing is given, or if more than ten customers fit.

    Parameters
    ----------
    name
        Full name or parts of it; each word given must begin a word of the customer's name, in any order.
    phone
        Telephone number, in any notation.
    email
        E-mail address, in full.
    """
    wanted = words(name)
    if not (wanted or phone or email):
        raise ToolError("Give a name, a telephone number or an e-mail address to search for.")
    number = national_number(phone)
    if phone and not number:
        raise ToolError(f"{phone!r} is not a telephone number of ten digits.")
    found = [
        customer
        for customer in matching(bank, Customer)
        if _begin(wanted, words(customer.name))
        and (not number or national_number(customer.phone) == number)
        and (not email or customer.email.casefold() == email.strip().casefold())
    ]
    if len(found) > _FOUND_LIMIT:
        raise ToolError(f"{len(found)} customers fit; give more of the name, or another detail.")
    return show_all(bank, found, "id", "name", "kind")


def _begin(wanted: tuple[str, ...], own: tuple[str, ...]) -> bool:
    return all(any(word.startswith(start) for word in own) for start in wanted)


@tool()
def get_customer(bank: World, customer_id: str) -> JsonValue:
    """Show everything that is on record about one customer, a person or a firm.

    Returns the customer's record, enrolled devices, changes of telephone, e-mail, address and devices, addresses on
    file with their dates, the business roles that the customer holds, the roles that others hold at this firm, and
    the fraud alerts on the customer.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    customer = bank.find(Customer, customer_id)
    return {
        "customer": bank.show(customer),
        "devices": show_all(bank, matching(bank, Device, customer_id=customer_id)),
        "channel_events": show_all(bank, matching(bank, ChannelEvent, customer_id=customer_id)),
        "address_history": show_all(bank, matching(bank, AddressHistory, customer_id=customer_id)),
        "roles_held": show_all(bank, matching(bank, BusinessRole, person_id=customer_id)),
        "roles_at_this_firm": show_all(bank, matching(bank, BusinessRole, business_id=customer_id)),
        "fraud_alerts": show_all(bank, matching(bank, FraudAlert, customer_id=customer_id)),
    }


@tool()
def list_accounts(bank: World, customer_id: str) -> JsonValue:
    """List the accounts that a customer owns alone or together with others, and those that were closed.

    Returns id, first owner, kind, last four digits, balance in cents, opening time and status of each account, and
    the record of each closure.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    bank.find(Customer, customer_id)
    return {
        "accounts": [
            bank.show(account, "id", "customer_id", "kind", "balance_cents", "opened_at", "status")
            | {"last_four": account.number[-4:]}
            for account in accounts_of(bank, customer_id)
        ],
        "closures": show_all(bank, matching(bank, Closure, customer_id=customer_id)),
    }


@tool()
def get_account(bank: World, account_id: str) -> JsonValue:
    """Show one account with its owners and everything that restricts it.

    Returns the account's record (balance in cents), its holders, active holds, fraud alerts on it, closures, and the
    licences of the firm that owns it.

    Parameters
    ----------
    account_id
        The account's id.
    """
    account = bank.find(Account, account_id)
    return {
        "account": bank.show(account),
        "holders": show_all(bank, matching(bank, AccountHolder, account_id=account_id)),
        "active_holds": show_all(bank, matching(bank, Hold, account_id=account_id, status="active")),
        "fraud_alerts": show_all(bank, matching(bank, FraudAlert, account_id=account_id)),
        "closures": show_all(bank, matching(bank, Closure, account_id=account_id)),
        "licences": show_all(bank, matching(bank, Licence, business_id=account.customer_id)),
    }


@tool()
def list_ledger(bank: World, account_id: str, limit: Annotated[int, Field(ge=1, le=200)] = 20) -> JsonValue:
    """List the latest entries of an account's ledger, the newest first.

    Returns time, amount in cents (money in is positive), kind, counterparty, whether it was the first entry with that
    counterparty, memo, statement day and status of each entry.

    Parameters
    ----------
    account_id
        The account's id.
    limit
        How many entries to return, 1 to 200.
    """
    bank.find(Account, account_id)
    return show_all(bank, newest(bank, LedgerEntry, limit, account_id=account_id))


@tool()
def list_notes(bank: World, about_id: str) -> JsonValue:
    """List the notes on a record, and the flags that mark its content as not to be trusted.

    Returns author, text and time of each note, and reason and time of each flag. For a customer, the notes on all
    records of that customer are listed.

    Parameters
    ----------
    about_id
        Id of the record: a customer, account, card, ledger entry, payment, payee, dispute, application, hold, note or
        device.
    """
    check_record(bank, about_id)
    hung_here = (col(Note.about_id) == about_id) | (col(Note.customer_id) == about_id)
    notes = bank.session.exec(select(Note).where(hung_here).order_by(col(Note.created_at), col(Note.id)))
    return {
        "notes": show_all(bank, notes),
        "flags": show_all(bank, matching(bank, RecordFlag, record_id=about_id)),
    }
