"""Disputes, credits, and the records that support or refute a claim."""

from __future__ import annotations

from datetime import date, datetime

from domains.banking.tables.base import BankRow, key, moment, ref


class Dispute(BankRow, table=True):
    """A ledger entry that a customer contests."""

    __tablename__ = "disputes"

    id: str = key()
    ledger_id: str = ref("ledger.id")
    account_id: str = ref("accounts.id")
    customer_id: str = ref("customers.id")
    kind: str
    """unauthorised, duplicate, recurring, refund_missing, cash_machine or service."""
    amount_cents: int
    status: str = "open"
    """open, won, lost or withdrawn."""
    opened_at: datetime = moment()


class Credit(BankRow, table=True):
    """Money that the bank gave: provisionally after a dispute, as goodwill, or as a correction."""

    __tablename__ = "credits"

    id: str = key()
    account_id: str = ref("accounts.id")
    customer_id: str = ref("customers.id")
    kind: str
    """provisional, goodwill or correction."""
    amount_cents: int
    basis_id: str = ""
    """Id of the dispute or ledger entry that it rests on."""
    created_at: datetime = moment()


class Cancellation(BankRow, table=True):
    """A recurring service that the customer cancelled."""

    __tablename__ = "cancellations"

    id: str = key()
    account_id: str = ref("accounts.id")
    merchant: str
    cancelled_at: datetime = moment()


class ServiceUsage(BankRow, table=True):
    """A use of a merchant's service, as the merchant reported it."""

    __tablename__ = "service_usage"

    id: str = key()
    account_id: str = ref("accounts.id")
    merchant: str
    used_at: datetime = moment()


class RefundPromise(BankRow, table=True):
    """A refund that a merchant promised for a ledger entry."""

    __tablename__ = "refund_promises"

    id: str = key()
    ledger_id: str = ref("ledger.id")
    promised_on: date
    amount_cents: int


class MachineJournal(BankRow, table=True):
    """What a cash machine's own journal says about a withdrawal."""

    __tablename__ = "machine_journals"

    id: str = key()
    ledger_id: str = ref("ledger.id")
    result: str
    """dispensed, short, fault or pending."""
    dispensed_cents: int | None = None
    read_at: datetime = moment()
