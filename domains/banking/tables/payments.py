"""Payments out of and between accounts, and everything that lets them go or stops them."""

from __future__ import annotations

from datetime import datetime

from domains.banking.tables.base import BankRow, key, moment, optional_moment, ref


class Payee(BankRow, table=True):
    """Somebody outside that a customer pays."""

    __tablename__ = "payees"

    id: str = key()
    customer_id: str = ref("customers.id")
    name: str
    bank_account: str
    """The payee's account at another bank."""
    created_at: datetime = moment()
    status: str = "active"
    """active or removed."""
    account_name: str | None = None
    """The name that the other bank holds for the account, where it is not the payee's; only a name check tells it."""


class PayeeCheck(BankRow, table=True):
    """What the other bank said about the name on a payee's account."""

    __tablename__ = "payee_checks"

    id: str = key()
    payee_id: str = ref("payees.id")
    result: str
    """match, close_match or no_match."""
    shown_name: str
    """The name that the other bank holds."""
    confirmed: bool = False
    """Whether the customer confirmed the shown name."""
    checked_at: datetime = moment()


class Payment(BankRow, table=True):
    """A payment on the internal or the external rail."""

    __tablename__ = "payments"

    id: str = key()
    from_account_id: str = ref("accounts.id", indexed=True)
    to_payee_id: str | None = ref("payees.id", optional=True, indexed=True)
    to_account_id: str | None = ref("accounts.id", optional=True, indexed=True)
    rail: str
    """internal or external."""
    amount_cents: int
    purpose: str = ""
    status: str
    """awaiting_approval, scheduled, held, released, settled, returned or cancelled."""
    initiated_by: str = ref("customers.id")
    created_at: datetime = moment()
    settled_at: datetime | None = optional_moment()


class Approval(BankRow, table=True):
    """A second person's approval of a business payment."""

    __tablename__ = "approvals"

    id: str = key()
    payment_id: str = ref("payments.id")
    approver_id: str = ref("customers.id")
    approved_at: datetime = moment()


class Hold(BankRow, table=True):
    """Money that may not move: one payment, or everything on an account."""

    __tablename__ = "holds"

    id: str = key()
    account_id: str = ref("accounts.id")
    payment_id: str | None = ref("payments.id", optional=True)
    payee_id: str | None = ref("payees.id", optional=True)
    amount_cents: int | None = None
    kind: str
    """fraud, cooling_off, approval or compliance."""
    placed_by: str
    """agent, fraud_operations, system or customer."""
    reason_code: str
    status: str = "active"
    """active or released."""
    placed_at: datetime = moment()


class RecallRequest(BankRow, table=True):
    """A request to send money that came in by mistake back the way it came."""

    __tablename__ = "recall_requests"

    id: str = key()
    ledger_id: str = ref("ledger.id")
    reason: str
    created_at: datetime = moment()


class ScamQuestionnaire(BankRow, table=True):
    """A customer's answers before a first larger payment to somebody."""

    __tablename__ = "scam_questionnaires"

    id: str = key()
    customer_id: str = ref("customers.id")
    payee_id: str = ref("payees.id")
    met_in_person: bool
    told_what_to_say: bool
    asked_to_keep_secret: bool
    contacted_unexpectedly: bool
    completed_at: datetime = moment()
