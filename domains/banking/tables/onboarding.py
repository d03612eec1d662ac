"""Applications for accounts and the checks they must pass."""

from __future__ import annotations

from datetime import date, datetime

from domains.banking.tables.base import BankRow, key, moment, ref


class Application(BankRow, table=True):
    """An application for an account, by somebody who may not be a customer yet."""

    __tablename__ = "applications"

    id: str = key()
    kind: str
    """personal or business."""
    product: str
    """personal_checking, savings or business_checking."""
    applicant_name: str
    date_of_birth: date | None = None
    tax_id: str
    tax_id_kind: str
    """ssn, itin, ein or other."""
    email: str
    phone: str
    device: str
    address: str
    customer_id: str | None = ref("customers.id", optional=True)
    """The applicant's customer record, if there is one."""
    registered_on: date | None = None
    status: str = "submitted"
    """submitted, referred, declined or opened."""
    referred_for: str = ""
    """Reason code, once the application is referred."""
    submitted_at: datetime = moment()


class ApplicationCheck(BankRow, table=True):
    """One check of an application."""

    __tablename__ = "application_checks"

    id: str = key()
    application_id: str = ref("applications.id")
    kind: str
    """document, tax_id, address or owner."""
    result: str
    """passed, failed or pending."""
    detail: str = ""
    """For an address: residential, mail_drop or hotel. For an owner: name and share in percent."""
    valid_until: date | None = None
    """For a document: its expiry."""
    proof_dated: date | None = None
    """For an address: the date of the proof."""
    share_percent: int | None = None
    """For an owner: the share held."""
    at: datetime = moment()
    register_value: str | None = None
    """What the register holds for the field that was checked, where a check can be repeated; no tool tells it."""


class ApplicationCorrection(BankRow, table=True):
    """A field of an application that was corrected after it was submitted."""

    __tablename__ = "application_corrections"

    id: str = key()
    application_id: str = ref("applications.id")
    field: str
    at: datetime = moment()
