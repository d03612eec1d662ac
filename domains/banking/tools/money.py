"""How money moves: every change of a balance goes through `book` and leaves a ledger entry."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta

from domains.banking.tables import Account, Customer, LedgerEntry, Payee, Payment
from domains.banking.tools.rows import insert, newest, update
from domains.kit.errors import ToolError
from domains.kit.world import World


def dollars(amount_cents: int) -> str:
    """Write an amount for a message, such as ``$1,250.00``."""
    return f"${amount_cents // 100:,}.{amount_cents % 100:02}"


def statement_day(moment: datetime, zone: ZoneInfo) -> date:
    """Return the day of the statement on which an entry appears: the last of its month at the bank."""
    return moment.astimezone(zone).date() + relativedelta(day=31)


def check_open(account: Account) -> None:
    """Make sure that money may be booked on an account.

    Raises
    ------
    ToolError
        If the account is not open.
    """
    if account.status != "open":
        raise ToolError(f"Account {account.id} is {account.status}; only an open account can be used for this.")


def book(
    bank: World,
    account: Account,
    amount_cents: int,
    kind: str,
    counterparty: str,
    memo: str = "",
    status: str = "settled",
) -> LedgerEntry:
    """Change a balance and write the ledger entry that explains it; money in is positive.

    Raises
    ------
    ToolError
        If the account is not open or its balance would fall below zero.
    """
    check_open(account)
    if account.balance_cents + amount_cents < 0:
        raise ToolError(
            f"Account {account.id} holds {dollars(account.balance_cents)}, which does not cover "
            f"{dollars(-amount_cents)}."
        )
    update(bank, account, balance_cents=account.balance_cents + amount_cents)
    known = newest(bank, LedgerEntry, 1, account_id=account.id, counterparty=counterparty)
    return insert(
        bank,
        LedgerEntry(
            id=bank.new_id("LE"),
            account_id=account.id,
            posted_at=bank.now,
            amount_cents=amount_cents,
            kind=kind,
            counterparty=counterparty,
            counterparty_new=not known,
            memo=memo,
            statement_on=statement_day(bank.now, bank.zone),
            status=status,
        ),
    )


def book_payment(bank: World, payment: Payment, ledger_status: str) -> list[LedgerEntry]:
    """Move the money of a payment: out of its account and, on the internal rail, into the other one.

    Raises
    ------
    ToolError
        If an account is not open or the money is not there.
    """
    source = bank.find(Account, payment.from_account_id)
    if payment.to_account_id is None:
        payee = bank.find(Payee, str(payment.to_payee_id))
        return [book(bank, source, -payment.amount_cents, "payment", payee.name, payment.purpose, ledger_status)]
    target = bank.find(Account, payment.to_account_id)
    check_open(target)
    sender, receiver = (bank.find(Customer, account.customer_id).name for account in (source, target))
    return [
        book(bank, source, -payment.amount_cents, "transfer", receiver, payment.purpose, ledger_status),
        book(bank, target, payment.amount_cents, "transfer", sender, payment.purpose, ledger_status),
    ]


def pay_internally(bank: World, source: Account, target: Account, amount_cents: int, purpose: str) -> Payment:
    """Write and settle a payment between two accounts of this bank.

    Raises
    ------
    ToolError
        If the accounts are one and the same, one is not open, or the money is not there.
    """
    if source.id == target.id:
        raise ToolError(f"{source.id} was named as both ends; money moves between two different accounts.")
    payment = insert(
        bank,
        Payment(
            id=bank.new_id("PM"),
            from_account_id=source.id,
            to_account_id=target.id,
            rail="internal",
            amount_cents=amount_cents,
            purpose=purpose,
            status="settled",
            initiated_by=source.customer_id,
            created_at=bank.now,
            settled_at=bank.now,
        ),
    )
    book_payment(bank, payment, "settled")
    return payment
