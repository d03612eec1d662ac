"""Cast kinds: applications for accounts, with the checks they have been through."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final, Literal

from pydantic import Field

from domains.banking.cast import private
from domains.banking.cast.fields import column, day, filled, name_of, personal, plain, secret
from domains.banking.cast.people import PARTIES
from domains.kit.cast import CastContext, CastKind, CastSpec, Form, Member, NewRow, Sensitivity

ApplicationField = Literal["applicant_name", "date_of_birth", "tax_id", "email", "phone", "address"]
CheckKind = Literal["document", "tax_id", "address", "owner"]

_CHECK_OF: Final[dict[str, str]] = {"applicant_name": "document", "tax_id": "tax_id", "address": "address"}


class Check(CastSpec):
    """One check; `detail` says what was seen, `register_value` what a repeated check compares with."""

    kind: CheckKind
    result: Literal["passed", "failed", "pending"] = "passed"
    detail: str | None = None
    valid_until: str | None = None
    proof_dated: str | None = None
    share_percent: int | None = Field(default=None, ge=0, le=100)
    register_value: str | None = None


class Application(CastSpec):
    """An application by a person or a firm, who need be no customer (``"customer": false``).

    Without `checks`, everything that its kind needs has passed. `mistyped` lets one field differ from the truth by
    a typing error; its check has failed and passes once the field is corrected to what the applicant's own entry
    holds. `same_phone_as` and its like name another application that shares the value.
    """

    applicant: str
    kind: Literal["personal", "business"] | None = None
    product: Literal["personal_checking", "savings", "business_checking"] | None = None
    tax_id_kind: Literal["ssn", "itin", "ein", "other"] | None = None
    same_phone_as: str | None = None
    same_email_as: str | None = None
    same_device_as: str | None = None
    mistyped: Literal["applicant_name", "tax_id", "address"] | None = None
    registered: str | None = None
    checks: list[Check] | None = None
    status: Literal["submitted", "referred", "declined", "opened"] = "submitted"
    referred_for: str = ""
    submitted: str = "-P1D"


class Correction(CastSpec):
    """A field of an application that was corrected before this contact."""

    of: str
    field: ApplicationField = "applicant_name"
    at: str = "-PT2H"


def build_application(role: str, spec: Application, context: CastContext) -> Member:
    """Build an application with its checks."""
    applicant = context.member(spec.applicant, f"/cast/{role}/applicant", PARTIES)
    kind = spec.kind or ("business" if applicant.kind == "business" else "personal")
    values = _particulars(role, spec, kind, applicant, context)
    truth = dict(values)
    if spec.mistyped is not None:
        values[spec.mistyped] = _mistype(role, values[spec.mistyped], context)
    submitted = context.moment(role, "submitted", spec.submitted)
    key = context.new_id(role, "AN")
    state = {"status": spec.status, "referred_for": spec.referred_for, "submitted_at": submitted}
    rows = [NewRow("applications", {"id": key, **values, **state})]
    for check in _checks(role, spec, kind, context):
        rows.append(_check_row(role, key, check, truth, spec.mistyped, submitted, context))
    attributes = {
        "id": plain(key, "id"),
        "applicant_name": name_of(values["applicant_name"], "applicant_name"),
        "tax_id": secret(values["tax_id"], Form.DIGITS, "tax_id"),
        "email": personal(values["email"], Form.EMAIL, "email"),
        "phone": personal(values["phone"], Form.PHONE, "phone"),
        "address": personal(values["address"], Form.ADDRESS, "address"),
        "device": plain(values["device"], "device"),
        "product": plain(values["product"], "product"),
    }
    if values["date_of_birth"] is not None:
        attributes["date_of_birth"] = day(values["date_of_birth"], "date_of_birth", Sensitivity.PERSONAL)
    return Member(role, "application", "applications", key, applicant.role, attributes, tuple(rows))


def _particulars(role: str, spec: Application, kind: str, applicant: Member, context: CastContext) -> dict[str, Any]:
    draw = context.for_role(role)
    said = {name: str(attribute.value) for name, attribute in applicant.attributes.items()}
    usual = "ein" if applicant.kind == "business" else "ssn"
    tax_id_kind = spec.tax_id_kind or usual
    registered = None
    if applicant.kind == "business":
        registered = date.fromisoformat(said["registered"])
    if spec.registered is not None:
        registered = context.day(role, "registered", spec.registered)
    device = f"{draw.child('device').choice(('Android phone', 'iPhone'))} {draw.child('device').code('AA9A')}"
    return {
        "kind": kind,
        "product": spec.product or f"{kind}_checking",
        "applicant_name": said["name"],
        "date_of_birth": date.fromisoformat(said["date_of_birth"]) if "date_of_birth" in said else None,
        "tax_id": said["tax_id"] if tax_id_kind == usual else private.tax_id(context, draw, tax_id_kind),
        "tax_id_kind": tax_id_kind,
        "email": _shared(role, "email", spec.same_email_as, said["email"], context),
        "phone": _shared(role, "phone", spec.same_phone_as, said["phone"], context),
        "device": _shared(role, "device", spec.same_device_as, device, context),
        "address": said["address"],
        "customer_id": applicant.key if applicant.table else None,
        "registered_on": registered,
    }


def _shared(role: str, name: str, with_role: str | None, own: str, context: CastContext) -> str:
    if with_role is None:
        return own
    return str(column(context.member(with_role, f"/cast/{role}/same_{name}_as", ["application"]), name))


def _mistype(role: str, text: str, context: CastContext) -> str:
    """Exchange two neighbouring signs that differ, the same ones in every replay."""
    places = [
        place
        for place in range(1, len(text) - 1)
        if text[place].isalnum() and text[place + 1].isalnum() and text[place].lower() != text[place + 1].lower()
    ]
    place = context.for_role(role).child("mistyped").choice(places)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def _checks(role: str, spec: Application, kind: str, context: CastContext) -> Iterator[Check]:
    if spec.checks is not None:
        yield from spec.checks
        return
    yield Check(kind="document")
    yield Check(kind="tax_id")
    yield Check(kind="address")
    if kind == "business":
        yield Check(kind="owner", share_percent=100)


def _check_row(
    role: str,
    application_id: str,
    check: Check,
    truth: dict[str, Any],
    mistyped: str | None,
    at: datetime,
    context: CastContext,
) -> NewRow:
    checked_wrongly = mistyped is not None and _CHECK_OF[mistyped] == check.kind
    register = check.register_value and filled(context, role, "checks", check.register_value)
    if mistyped is not None and checked_wrongly:
        register = truth[mistyped]
    values: dict[str, Any] = {"id": context.new_id(role, "AK"), "application_id": application_id, "kind": check.kind}
    values |= {"result": "failed" if checked_wrongly else check.result, "detail": _detail(role, check, context)}
    values |= {"valid_until": _day(role, "valid_until", check.valid_until, "P3Y", check.kind == "document", context)}
    values |= {"proof_dated": _day(role, "proof_dated", check.proof_dated, "-P20D", check.kind == "address", context)}
    return NewRow(
        "application_checks", {**values, "share_percent": check.share_percent, "register_value": register, "at": at}
    )


def _detail(role: str, check: Check, context: CastContext) -> str:
    if check.detail is not None:
        return filled(context, role, "checks", check.detail)
    draw = context.for_role(role).child("detail")
    if check.kind == "document":
        return draw.choice(("driving licence", "passport"))
    if check.kind == "address":
        return "residential"
    if check.kind == "owner":
        return " ".join(private.person_name(context, draw))
    return ""


def _day(role: str, name: str, written: str | None, usual: str, applies: bool, context: CastContext) -> date | None:
    if written is None and not applies:
        return None
    return context.day(role, f"checks/{name}", written or usual)


def build_correction(role: str, spec: Correction, context: CastContext) -> Member:
    """Build a correction."""
    application = context.member(spec.of, f"/cast/{role}/of", ["application"])
    key = context.new_id(role, "AX")
    values = {"id": key, "application_id": application.key, "field": spec.field}
    row = NewRow("application_corrections", {**values, "at": context.moment(role, "at", spec.at)})
    return Member(role, "correction", row.table, key, application.subject, {"id": plain(key, "id")}, (row,))


ONBOARDING: Final[dict[str, CastKind[Any]]] = {
    "application": CastKind("application", Application, build_application),
    "correction": CastKind("correction", Correction, build_correction),
}
