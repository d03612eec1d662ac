"""Accounts, their holders, their ledger, and what is written about them."""

from __future__ import annotations

from datetime import date, datetime

from domains.banking.tables.base import BankRow, key, moment, ref


class Account(BankRow, table=True):
    """An account; its balance is in cents and never negative."""

    __tablename__ = "accounts"

    id: str = key()
    customer_id: str = ref("customers.id")
    kind: str
    """personal_checking, savings, business_checking, credit or estate."""
    number: str
    balance_cents: int
    opened_at: datetime = moment()
    status: str = "open"
    """open, restricted or closed."""


class AccountHolder(BankRow, table=True):
    """An owner of an account beside or equal to its first one."""

    __tablename__ = "account_holders"

    id: str = key()
    account_id: str = ref("accounts.id")
    customer_id: str = ref("customers.id")
    role: str
    """owner or joint."""


class Licence(BankRow, table=True):
    """A licence to run money services, on record for a firm."""

    __tablename__ = "licences"

    id: str = key()
    business_id: str = ref("customers.id")
    kind: str
    """money_service or crypto_kiosk."""
    status: str = "in_force"
    """in_force, lapsed or pending."""
    valid_to: date


class Closure(BankRow, table=True):
    """An account that was closed, and why."""

    __tablename__ = "closures"

    id: str = key()
    customer_id: str = ref("customers.id")
    account_id: str = ref("accounts.id")
    reason: str
    """for_cause or by_customer."""
    closed_at: datetime = moment()


class LedgerEntry(BankRow, table=True):
    """One booked or pending line of an account; money in is positive."""

    __tablename__ = "ledger"

    id: str = key()
    account_id: str = ref("accounts.id", indexed=True)
    posted_at: datetime = moment()
    amount_cents: int
    kind: str
    """card, transfer, payment, salary, fee, cash_machine, refund, credit, deposit or subscription."""
    counterparty: str
    """Merchant, sender or receiver as booked."""
    counterparty_new: bool = False
    """Whether this is the first entry with this counterparty on the account."""
    memo: str = ""
    statement_on: date
    status: str = "settled"
    """settled, pending or returned."""


class Note(BankRow, table=True):
    """Free text on a record: by colleagues, by customers, or carried in by an import."""

    __tablename__ = "notes"

    id: str = key()
    customer_id: str = ref("customers.id")
    about_id: str
    """Id of the record that the note hangs on."""
    author: str
    """agent, customer, system or import."""
    text: str
    created_at: datetime = moment()


class StatementOrder(BankRow, table=True):
    """A statement of one month that was sent out."""

    __tablename__ = "statement_orders"

    id: str = key()
    account_id: str = ref("accounts.id")
    month: date
    """First day of the month."""
    sent_to: str
    requested_by: str
    """Customer id of the person it was sent for."""
    created_at: datetime = moment()
