"""People and firms, how they prove who they are, and who may act for whom."""

from __future__ import annotations

from datetime import date, datetime

from domains.banking.tables.base import BankRow, key, moment, optional_moment, ref


class Customer(BankRow, table=True):
    """A person or a firm that the bank knows."""

    __tablename__ = "customers"

    id: str = key()
    kind: str
    """person or business."""
    name: str
    date_of_birth: date | None = None
    """Persons only."""
    email: str
    phone: str
    """National number, ``(372) 641-8093``."""
    address: str
    """One line: street, city, state, postal code."""
    tax_id: str
    tier: str = "standard"
    """entry, standard or premier."""
    since: date
    registered_on: date | None = None
    """Firms only: the day of registration."""
    status: str = "active"
    """active, restricted or closed."""


class Device(BankRow, table=True):
    """A device enrolled for the bank's app."""

    __tablename__ = "devices"

    id: str = key()
    customer_id: str = ref("customers.id")
    name: str
    enrolled_at: datetime = moment()
    status: str = "enrolled"
    """enrolled or removed."""


class ChannelEvent(BankRow, table=True):
    """A phone, e-mail or device that was enrolled or changed."""

    __tablename__ = "channel_events"

    id: str = key()
    customer_id: str = ref("customers.id")
    channel: str
    """phone, email, address or device."""
    event: str
    """enrolled or changed."""
    value: str
    at: datetime = moment()


class AddressHistory(BankRow, table=True):
    """An address on file and since when."""

    __tablename__ = "address_history"

    id: str = key()
    customer_id: str = ref("customers.id")
    address: str
    since: date


class Verification(BankRow, table=True):
    """One identity factor that was checked against the record."""

    __tablename__ = "verification_log"

    id: str = key()
    customer_id: str = ref("customers.id")
    factor: str
    """date_of_birth, email, phone or address."""
    matched: bool
    channel: str = "call"
    """call (this desk), robot, branch, chat."""
    at: datetime = moment()


class StepUp(BankRow, table=True):
    """A challenge on a second channel: a push to a device or a call back to a phone."""

    __tablename__ = "step_ups"

    id: str = key()
    customer_id: str = ref("customers.id")
    method: str
    """push or call_back."""
    target: str
    """Device id or phone number."""
    status: str = "pending"
    """pending, approved or declined."""
    created_at: datetime = moment()
    approved_at: datetime | None = optional_moment()


class RecoveryCode(BankRow, table=True):
    """A one-time code by which a customer regains access."""

    __tablename__ = "recovery_codes"

    id: str = key()
    customer_id: str = ref("customers.id")
    code: str
    status: str = "open"
    """open, used or burnt."""
    issued_at: datetime = moment()


class RecoveryAttempt(BankRow, table=True):
    """One try at a recovery code."""

    __tablename__ = "recovery_attempts"

    id: str = key()
    customer_id: str = ref("customers.id")
    result: str
    """exact, near_miss (one or two characters off) or wrong."""
    at: datetime = moment()


class AuthorityRecord(BankRow, table=True):
    """Somebody's proved right to act for or to look at somebody else."""

    __tablename__ = "authority_records"

    id: str = key()
    principal_id: str = ref("customers.id")
    representative_id: str = ref("customers.id")
    kind: str
    """power_of_attorney, executor, guardian, auditor."""
    scope: str
    """Comma-separated: information, payments, cards, contact, closure, statements."""
    status: str = "active"
    """active, revoked or pending."""
    valid_from: date
    valid_to: date | None = None


class BusinessRole(BankRow, table=True):
    """What a person does at a firm, and from when the bank honours it."""

    __tablename__ = "business_roles"

    id: str = key()
    business_id: str = ref("customers.id")
    person_id: str = ref("customers.id")
    role: str
    """owner, administrator, approver, bookkeeper, payroll or viewer."""
    status: str = "active"
    """active or ended."""
    recorded_at: datetime = moment()


class SupervisorApproval(BankRow, table=True):
    """An approval that a supervisor recorded for one subject."""

    __tablename__ = "supervisor_approvals"

    id: str = key()
    subject_id: str
    """Id of the record that is approved (an account, a ledger entry, a card ...)."""
    action: str
    """credit, correction, limit, release."""
    amount_cents: int | None = None
    approved_by: str
    status: str = "granted"
    """granted or withdrawn."""
    approved_at: datetime = moment()
