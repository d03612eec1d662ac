"""Onboarding: applications, their checks, and the accounts that are opened on them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final, Literal

from sqlmodel import col, select

from domains.banking.tables import (
    Account,
    AccountHolder,
    Application,
    ApplicationCheck,
    ApplicationCorrection,
    Closure,
    Customer,
)
from domains.banking.tools.arguments import Line
from domains.banking.tools.contact import enrol, record_address, record_channel
from domains.banking.tools.likeness import words
from domains.banking.tools.rows import accounts_of, check_reason, insert, matching, show_all, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.store import table_of
from domains.kit.tools import tool
from domains.kit.world import World

ApplicationField = Literal["applicant_name", "date_of_birth", "tax_id", "email", "phone", "address"]

_SHARED: Final = ("phone", "email", "device")
_PENDING: Final = ("submitted", "referred")
_CHECKED_BY: Final[Mapping[str, str]] = {
    "applicant_name": "document",
    "date_of_birth": "document",
    "tax_id": "tax_id",
    "address": "address",
}


@tool(discoverable=True)
def review_application(bank: World, application_id: str) -> JsonValue:
    """Show an application for an account with everything that decides it.

    Returns the application, its checks (document, tax id, address, owners), the corrections made to it, the other
    applications that share its phone, e-mail or device with their time and what they share, and the accounts and
    closures of customers who have the applicant's tax id.

    Parameters
    ----------
    application_id
        The application's id.
    """
    application = bank.find(Application, application_id)
    known = _customers_behind(bank, application)
    return {
        "application": bank.show(application),
        "checks": [_show_check(bank, c) for c in matching(bank, ApplicationCheck, application_id=application_id)],
        "corrections": show_all(bank, matching(bank, ApplicationCorrection, application_id=application_id)),
        "sharing": _sharing(bank, application),
        "customers": show_all(bank, known, "id", "name", "status", "since"),
        "accounts": show_all(
            bank, accounts_of(bank, *(customer.id for customer in known)), "id", "kind", "opened_at", "status"
        ),
        "closures": [
            row for customer in known for row in show_all(bank, matching(bank, Closure, customer_id=customer.id))
        ],
    }


def _customers_behind(bank: World, application: Application) -> list[Customer]:
    same = (col(Customer.tax_id) == application.tax_id) | (col(Customer.id) == application.customer_id)
    return list(bank.session.exec(select(Customer).where(same).order_by(Customer.id)))


def _show_check(bank: World, check: ApplicationCheck) -> dict[str, JsonValue]:
    columns = (column.name for column in table_of(ApplicationCheck).columns if column.name != "register_value")
    return bank.show(check, *columns)


def _sharing(bank: World, application: Application) -> list[dict[str, JsonValue]]:
    shares = (
        (col(Application.phone) == application.phone)
        | (col(Application.email) == application.email)
        | (col(Application.device) == application.device)
    )
    others = select(Application).where(shares, Application.id != application.id)
    return [
        bank.show(other, "id", "submitted_at")
        | {"shares": [name for name in _SHARED if getattr(other, name) == getattr(application, name)]}
        for other in bank.session.exec(others.order_by(col(Application.submitted_at), col(Application.id)))
    ]


@tool(writes=True, discoverable=True)
def correct_application(bank: World, application_id: str, field: ApplicationField, value: Line) -> JsonValue:
    """Correct one field of an application that is not decided yet; the checks of that field are repeated.

    Returns the application and the checks that were repeated. Refuses an application that was opened or declined, and
    a value that is on it already.

    Parameters
    ----------
    application_id
        The application's id.
    field
        The field to correct.
    value
        The right value; a date as YYYY-MM-DD.
    """
    application = bank.find(Application, application_id)
    _check_pending(application)
    corrected: Any = value
    if field == "date_of_birth":
        try:
            corrected = date.fromisoformat(value)
        except ValueError:
            raise ToolError(f"{value!r} is not a date written as YYYY-MM-DD.") from None
    if getattr(application, field) == corrected:
        raise ToolError(f"The {field} of application {application_id} is {value!r} already.")
    update(bank, application, **{field: corrected})
    correction = ApplicationCorrection(id=bank.new_id("AN"), application_id=application_id, field=field, at=bank.now)
    insert(bank, correction)
    repeated = []
    for check in matching(bank, ApplicationCheck, application_id=application_id, kind=_CHECKED_BY.get(field, "")):
        if check.register_value is not None:
            passed = words(check.register_value) == words(value)
            update(bank, check, result="passed" if passed else "failed", at=bank.now)
            repeated.append(_show_check(bank, check))
    return {"application": bank.show(application), "correction": bank.show(correction), "repeated_checks": repeated}


@tool(writes=True, discoverable=True)
def refer_application(bank: World, application_id: str, reason_code: Line) -> JsonValue:
    """Refer an application to the specialists who decide what cannot be decided here.

    Returns the application. Refuses one that was opened, declined or referred.

    Parameters
    ----------
    application_id
        The application's id.
    reason_code
        The reason code that the corpus gives.
    """
    application = bank.find(Application, application_id)
    check_reason(bank, reason_code)
    if application.status != "submitted":
        raise ToolError(f"Application {application_id} is {application.status}; only a submitted one can be referred.")
    update(bank, application, status="referred", referred_for=reason_code)
    return bank.show(application)


@tool(writes=True, discoverable=True)
def open_account(bank: World, application_id: str) -> JsonValue:
    """Open the account that an application asks for; somebody who is no customer yet becomes one.

    Returns the customer, the account and the application. Refuses an application that was opened or declined.

    Parameters
    ----------
    application_id
        The application's id.
    """
    application = bank.find(Application, application_id)
    _check_pending(application)
    if application.customer_id is None:
        update(bank, application, customer_id=_make_customer(bank, application).id)
    customer = bank.find(Customer, str(application.customer_id))
    account_id = bank.new_id("AC")
    account = insert(
        bank,
        Account(
            id=account_id,
            customer_id=customer.id,
            kind=application.product,
            number=_unused_number(bank, account_id),
            balance_cents=0,
            opened_at=bank.now,
            status="open",
        ),
    )
    insert(
        bank,
        AccountHolder(id=bank.new_id("AO"), account_id=account.id, customer_id=customer.id, role="owner"),
    )
    update(bank, application, status="opened")
    return {
        "customer": bank.show(customer, "id", "name", "kind", "since"),
        "account": bank.show(account),
        "application": bank.show(application, "id", "status", "customer_id"),
    }


def _make_customer(bank: World, application: Application) -> Customer:
    customer = insert(
        bank,
        Customer(
            id=bank.new_id("CU"),
            kind="business" if application.kind == "business" else "person",
            name=application.applicant_name,
            date_of_birth=application.date_of_birth,
            email=application.email,
            phone=application.phone,
            address=application.address,
            tax_id=application.tax_id,
            tier="entry",
            since=bank.now.astimezone(bank.zone).date(),
            registered_on=application.registered_on,
            status="active",
        ),
    )
    record_channel(bank, customer.id, "phone", "enrolled", customer.phone)
    record_channel(bank, customer.id, "email", "enrolled", customer.email)
    record_address(bank, customer.id, customer.address)
    enrol(bank, customer.id, application.device)
    return customer


def _unused_number(bank: World, account_id: str) -> str:
    draw = bank.draw.child("account number", account_id)
    attempt = 0
    while matching(bank, Account, number=(number := draw.child(attempt).digits(10))):
        attempt += 1
    return number


def _check_pending(application: Application) -> None:
    if application.status not in _PENDING:
        raise ToolError(f"Application {application.id} is {application.status}; it cannot be worked on any more.")
