"""ONB-01 to ONB-11: who may open an account, and what it may do on its first day."""

from __future__ import annotations

from typing import Final

from domains.banking.rules.calendar import days_since, local_day, months_back, today
from domains.banking.rules.facts import MONEY_OUT, found, get, outgoing, rows, text, written
from domains.banking.rules.limits import limit, permits
from domains.banking.tables import (
    Application,
    ApplicationCheck,
    ApplicationCorrection,
    Closure,
    Customer,
    LedgerEntry,
)
from domains.banking.tools.rows import accounts_of
from domains.kit.rules import Contact, Finding, Outcome, Request, rule
from domains.kit.store import RowRef
from domains.kit.world import World

ADULT: Final = limit("age of the applicant", ">=", 18, "years")
ACCOUNT_CAP: Final = limit("personal checking accounts", "<=", 4, "count")
CLOSED_FOR_CAUSE: Final = limit("time since the closure", ">", 6, "months")
PROOF_AGE: Final = limit("age of the proof of address", "<=", 60, "days")
REGISTERED: Final = limit("time since registration", ">=", 90, "days")
OWNER_SHARE: Final = limit("share of an owner not checked", "<", 25, "percent")
SHARING: Final = limit("other applications with the same feature", "<", 3, "count")
SHARING_DAYS: Final = limit("age of an application not counted", ">", 30, "days")
CORRECTIONS: Final = limit("corrections, this one included", "<=", 1, "count")

_OPEN: Final = frozenset({"open_account"})
_TAX_IDS: Final = frozenset({"ssn", "itin"})
_SHARED: Final = ("phone", "email", "device")


def _application(request: Request, world: World) -> Application | None:
    return get(world, Application, text(request, "application_id"))


def _personal(request: Request, world: World) -> Application | None:
    application = _application(request, world)
    return application if application is not None and application.kind == "personal" else None


def _checks(application: Application, kind: str, world: World) -> list[ApplicationCheck]:
    return rows(world, ApplicationCheck, application_id=application.id, kind=kind)


def _latest(application: Application, kind: str, world: World) -> ApplicationCheck | None:
    return max(_checks(application, kind, world), key=lambda check: check.at, default=None)


def _customers(application: Application, world: World) -> list[Customer]:
    """Return the customers who are the applicant: the one on the application and those with the same tax id."""
    own = get(world, Customer, application.customer_id)
    same = rows(world, Customer, tax_id=application.tax_id)
    return same if own is None or own in same else [own, *same]


@rule(
    "ONB-01",
    "An account is opened on a passed check of a document in date",
    Outcome.REFUSE,
    "document_check",
    tools=_OPEN,
)
def document_check(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the latest document check did not pass, or the document has expired."""
    application = _application(request, world)
    if application is None:
        return None
    check = _latest(application, "document", world)
    if (
        check is not None
        and check.result == "passed"
        and check.valid_until is not None
        and check.valid_until >= today(world)
    ):
        return None
    return found(document_check, application, check)


@rule(
    "ONB-02",
    "An applicant is 18 on the day of the application",
    Outcome.REFUSE,
    "under_age",
    tools=_OPEN,
    parameters=[ADULT],
)
def of_age(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a personal applicant who was younger than 18 when they applied."""
    application = _personal(request, world)
    if application is None:
        return None
    born_by = months_back(local_day(application.submitted_at, world), 12 * ADULT.value)
    if application.date_of_birth is not None and application.date_of_birth <= born_by:
        return None
    return found(of_age, application)


@rule(
    "ONB-03",
    "A person holds at most four personal checking accounts",
    Outcome.REFUSE,
    "account_cap",
    tools=_OPEN,
    parameters=[ACCOUNT_CAP],
)
def account_cap(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the applicant would hold one too many."""
    application = _application(request, world)
    if application is None or application.product != "personal_checking":
        return None
    held = [
        account
        for account in accounts_of(world, *(customer.id for customer in _customers(application, world)))
        if account.kind == "personal_checking" and account.status == "open"
    ]
    return None if permits(ACCOUNT_CAP, len(held) + 1) else found(account_cap, application, *held)


@rule(
    "ONB-04",
    "Nothing is opened within six months of a closure for cause",
    Outcome.REFUSE,
    "closed_for_cause",
    tools=_OPEN,
    parameters=[CLOSED_FOR_CAUSE],
)
def closed_for_cause(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an applicant whose account was closed for cause in the last six calendar months."""
    application = _application(request, world)
    if application is None:
        return None
    since = months_back(today(world), CLOSED_FOR_CAUSE.value)
    closures = [
        closure
        for customer in _customers(application, world)
        for closure in rows(world, Closure, customer_id=customer.id, reason="for_cause")
        if local_day(closure.closed_at, world) >= since
    ]
    return found(closed_for_cause, application, *closures) if closures else None


@rule(
    "ONB-05",
    "A personal tax id is an SSN or ITIN that passed its check",
    Outcome.REFUSE,
    "tax_id",
    tools=_OPEN,
)
def tax_id(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on another kind of number, or on a check that did not pass."""
    application = _personal(request, world)
    if application is None:
        return None
    check = _latest(application, "tax_id", world)
    if application.tax_id_kind in _TAX_IDS and check is not None and check.result == "passed":
        return None
    return found(tax_id, application, check)


@rule(
    "ONB-06",
    "An applicant lives at a residential address proved within 60 days",
    Outcome.REFER,
    "address_check",
    tools=_OPEN,
    parameters=[PROOF_AGE],
)
def residential_address(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the address check did not pass, is of no residence, or its proof is too old."""
    application = _personal(request, world)
    if application is None:
        return None
    check = _latest(application, "address", world)
    if (
        check is not None
        and check.result == "passed"
        and check.detail == "residential"
        and check.proof_dated is not None
        and permits(PROOF_AGE, days_since(check.proof_dated, world))
    ):
        return None
    return found(residential_address, application, check)


@rule(
    "ONB-08",
    "A firm is registered for 90 days and every owner of 25 percent is checked",
    Outcome.REFER,
    "beneficial_owner",
    tools=_OPEN,
    parameters=[REGISTERED, OWNER_SHARE],
)
def beneficial_owner(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a firm too young, on an owner not checked, and on a share whose owner is not listed."""
    application = _application(request, world)
    if application is None or application.kind != "business":
        return None
    owner_checks = _checks(application, "owner", world)
    open_checks = [
        check
        for check in owner_checks
        if check.result != "passed" and not permits(OWNER_SHARE, check.share_percent or 0)
    ]
    unlisted_percent = 100 - sum(check.share_percent or 0 for check in owner_checks)
    applied_on = local_day(application.submitted_at, world)
    is_registered = application.registered_on is not None and permits(
        REGISTERED, (applied_on - application.registered_on).days
    )
    if is_registered and not open_checks and permits(OWNER_SHARE, unlisted_percent):
        return None
    return found(beneficial_owner, application, *(open_checks or owner_checks))


@rule(
    "ONB-09",
    "A phone, e-mail or device stands on fewer than three other applications in 30 days",
    Outcome.REFER,
    "shared_attributes",
    tools=_OPEN,
    parameters=[SHARING, SHARING_DAYS],
)
def shared_attributes(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where one feature of the application stands on too many others, each feature by itself."""
    application = _application(request, world)
    if application is None:
        return None
    for name in _SHARED:
        value = getattr(application, name)
        others = [
            other
            for other in (rows(world, Application, **{name: value}) if value else ())
            if other.id != application.id and not permits(SHARING_DAYS, days_since(other.submitted_at, world))
        ]
        if not permits(SHARING, len(others)):
            return found(shared_attributes, application, *others)
    return None


@rule(
    "ONB-10",
    "One mistyped field of an application is corrected once",
    Outcome.REFUSE,
    "none",
    tools={"correct_application"},
    parameters=[CORRECTIONS],
)
def one_correction(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a further correction of an application that carries one."""
    application = _application(request, world)
    if application is None:
        return None
    made = rows(world, ApplicationCorrection, application_id=application.id)
    return None if permits(CORRECTIONS, len(made) + 1) else found(one_correction, application, *made)


# ------------------------------------------------------------------------------ what came before


@rule(
    "ONB-07",
    "A second identity after the first failed ends the contact",
    Outcome.REFER,
    "identity_substitution",
    history=True,
    tools={"open_account", "correct_application"},
    evidence={"second_identity"},
)
def second_identity(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an application once the caller has come with a second identity."""
    application = _application(request, world)
    if application is None or not contact.reveals("second_identity"):
        return None
    earlier = (_application(asked, world) for _, asked in contact.requests)
    return found(second_identity, application, *earlier, also={"identity_case"})


@rule(
    "ONB-11",
    "Money that arrives in an account opened in this contact is not paid out in it",
    Outcome.HOLD,
    "open_and_run",
    history=True,
    tools=MONEY_OUT,
)
def open_and_run(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on every movement out of an account that came into being in this contact."""
    money = outgoing(request, world)
    if money is None or RowRef("accounts", money.account.id) not in written(contact, "accounts"):
        return None
    received = [entry for entry in rows(world, LedgerEntry, account_id=money.account.id) if entry.amount_cents > 0]
    return found(open_and_run, money.account, *received)
