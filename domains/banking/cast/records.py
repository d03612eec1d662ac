"""Cast kinds: notes on records, and the alerts, cases and flags that the bank raises itself."""

from __future__ import annotations

from typing import Any, Final, Literal

from domains.banking.cast.fields import customer, filled, plain
from domains.banking.cast.people import PARTIES
from domains.kit.cast import CastContext, CastKind, CastSpec, Member, NewRow
from domains.kit.errors import SetupError


class Note(CastSpec):
    """Free text that hangs on a record; ``{role.attribute}`` in it is filled in."""

    about: str
    text: str
    author: Literal["agent", "customer", "system", "import"] = "customer"
    created: str = "-P3D"


class Alert(CastSpec):
    """An alert of the bank's monitoring on a customer, or on one of their accounts."""

    on: str
    kind: str = "unusual_activity"
    status: Literal["open", "closed"] = "open"
    created: str = "-P1D"


class Case(CastSpec):
    """A case opened for investigation."""

    customer: str
    kind: Literal["fraud", "laundering", "identity"] = "fraud"
    reason_code: str = "suspected_app_scam"
    summary: str = "Opened after a report from another department."
    status: Literal["open", "closed"] = "open"
    opened: str = "-P2D"


class Flag(CastSpec):
    """A record whose content is not to be trusted."""

    record: str
    reason_code: str = "record_integrity"
    at: str = "-P1D"


def build_note(role: str, spec: Note, context: CastContext) -> Member:
    """Build a note; it belongs to the customer of the record that it hangs on."""
    about = context.member(spec.about, f"/cast/{role}/about", context.kinds)
    owner = context.members.get(about.subject)
    if not about.table or owner is None or owner.table != "customers":
        raise SetupError(f"/cast/{role}/about", f"expected a record of a customer; {spec.about!r} is none")
    key, text = context.new_id(role, "NT"), filled(context, role, "text", spec.text)
    values = {"id": key, "customer_id": owner.key, "about_id": about.key, "author": spec.author, "text": text}
    row = NewRow("notes", {**values, "created_at": context.moment(role, "created", spec.created)})
    attributes = {"id": plain(key, "id"), "text": plain(text, "text")}
    return Member(role, "note", row.table, key, owner.role, attributes, (row,))


def build_alert(role: str, spec: Alert, context: CastContext) -> Member:
    """Build an alert."""
    on = context.member(spec.on, f"/cast/{role}/on", [*PARTIES, "account"])
    owner = customer(context, role, "on", on.subject, PARTIES)
    key = context.new_id(role, "FA")
    values = {"id": key, "customer_id": owner.key, "account_id": on.key if on.kind == "account" else None}
    values |= {"kind": spec.kind, "status": spec.status}
    row = NewRow("fraud_alerts", {**values, "created_at": context.moment(role, "created", spec.created)})
    return Member(role, "alert", row.table, key, owner.role, {"id": plain(key, "id")}, (row,))


def build_case(role: str, spec: Case, context: CastContext) -> Member:
    """Build a case."""
    owner = customer(context, role, "customer", spec.customer, PARTIES)
    key, summary = context.new_id(role, "FC"), filled(context, role, "summary", spec.summary)
    values = {"id": key, "customer_id": owner.key, "kind": spec.kind, "reason_code": spec.reason_code}
    values |= {"summary": summary, "status": spec.status}
    row = NewRow("fraud_cases", {**values, "opened_at": context.moment(role, "opened", spec.opened)})
    return Member(role, "case", row.table, key, owner.role, {"id": plain(key, "id")}, (row,))


def build_flag(role: str, spec: Flag, context: CastContext) -> Member:
    """Build a flag on a record."""
    record = context.member(spec.record, f"/cast/{role}/record", context.kinds)
    if not record.table:
        raise SetupError(f"/cast/{role}/record", f"expected something with a record; {spec.record!r} has none")
    key = context.new_id(role, "RF")
    values = {"id": key, "record_id": record.key, "reason_code": spec.reason_code}
    row = NewRow("record_flags", {**values, "at": context.moment(role, "at", spec.at)})
    return Member(role, "flag", row.table, key, record.subject, {"id": plain(key, "id")}, (row,))


RECORDS: Final[dict[str, CastKind[Any]]] = {
    "note": CastKind("note", Note, build_note),
    "alert": CastKind("alert", Alert, build_alert),
    "case": CastKind("case", Case, build_case),
    "flag": CastKind("flag", Flag, build_flag),
}
