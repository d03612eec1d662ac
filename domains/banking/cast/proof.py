"""Cast kinds: how people have proved who they are, and who may act for whom."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from domains.banking.cast import private
from domains.banking.cast.fields import Cents, cents, customer, day, money, name_of, plain
from domains.banking.cast.people import PARTIES
from domains.banking.names import STAFF_TITLES
from domains.kit.cast import CastContext, CastKind, CastSpec, Member, NewRow
from domains.kit.errors import SetupError

ScopeWord = Literal["information", "payments", "cards", "contact", "closure", "statements"]


def _read_scope(value: Any) -> Any:
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else value


Scope = Annotated[list[ScopeWord], BeforeValidator(_read_scope), Field(min_length=1)]
"""What a representative may do: a list of words, or the words in one text with commas between."""


class Authority(CastSpec):
    """A recorded right to act for somebody, in force from `from` until `to`."""

    principal: str
    representative: str
    kind: Literal["power_of_attorney", "executor", "guardian", "auditor"] = "power_of_attorney"
    scope: Scope = Field(default_factory=lambda: _read_scope("information"))
    status: Literal["active", "revoked", "pending"] = "active"
    valid_from: str = Field(default="-P1Y", alias="from")
    valid_to: str | None = Field(default=None, alias="to")


class StepUp(CastSpec):
    """A challenge: a push to the customer's device, or a call back to their phone."""

    customer: str
    method: Literal["push", "call_back"] = "push"
    status: Literal["pending", "approved", "declined"] = "pending"
    created: str = "-PT5M"
    approved: str | None = None


class Verification(CastSpec):
    """An identity factor that was checked before this contact."""

    customer: str
    factor: Literal["date_of_birth", "email", "phone", "address"] = "date_of_birth"
    matched: bool = True
    channel: Literal["call", "robot", "branch", "chat"] = "call"
    at: str = "-PT30M"


class RecoveryAttempt(CastSpec):
    """A try at a recovery code before this contact."""

    customer: str
    result: Literal["exact", "near_miss", "wrong"] = "wrong"
    at: str = "-PT30M"


class SupervisorApproval(CastSpec):
    """An approval by a supervisor about one record of the cast."""

    subject: str
    action: Literal["credit", "correction", "limit", "release"] = "credit"
    amount_cents: Cents | None = None
    status: Literal["granted", "withdrawn"] = "granted"
    approved: str = "-PT2H"


def build_authority(role: str, spec: Authority, context: CastContext) -> Member:
    """Build an authority record."""
    principal = customer(context, role, "principal", spec.principal, PARTIES)
    representative = customer(context, role, "representative", spec.representative, ["person"])
    start = context.day(role, "from", spec.valid_from)
    until = None if spec.valid_to is None else context.day(role, "to", spec.valid_to)
    key = context.new_id(role, "AU")
    values = {"id": key, "principal_id": principal.key, "representative_id": representative.key, "kind": spec.kind}
    values |= {"scope": ",".join(spec.scope), "status": spec.status}
    row = NewRow("authority_records", {**values, "valid_from": start, "valid_to": until})
    attributes = {"id": plain(key, "id"), "scope": plain(values["scope"], "scope"), "from": day(start, "valid_from")}
    if until is not None:
        attributes["to"] = day(until, "valid_to")
    return Member(role, "authority", row.table, key, principal.role, attributes, (row,))


def build_step_up(role: str, spec: StepUp, context: CastContext) -> Member:
    """Build a challenge; an approved one was approved when it was made unless written."""
    owner = customer(context, role, "customer", spec.customer, PARTIES)
    if spec.method == "push" and "device" not in owner.attributes:
        raise SetupError(f"/cast/{role}/customer", f"expected a customer with a device; {spec.customer!r} has none")
    if spec.approved is not None and spec.status != "approved":
        raise SetupError(f"/cast/{role}/approved", f"expected no such moment for a challenge that is {spec.status}")
    target = owner.attributes["device" if spec.method == "push" else "phone"].value
    created = context.moment(role, "created", spec.created)
    approved = created if spec.status == "approved" else None
    if spec.approved is not None:
        approved = context.moment(role, "approved", spec.approved)
    key = context.new_id(role, "SU")
    values = {"id": key, "customer_id": owner.key, "method": spec.method, "target": target, "status": spec.status}
    row = NewRow("step_ups", {**values, "created_at": created, "approved_at": approved})
    return Member(role, "step_up", row.table, key, owner.role, {"id": plain(key, "id")}, (row,))


def build_verification(role: str, spec: Verification, context: CastContext) -> Member:
    """Build a line of the verification log."""
    owner = customer(context, role, "customer", spec.customer, PARTIES)
    key = context.new_id(role, "VL")
    values = {"id": key, "customer_id": owner.key, "factor": spec.factor, "matched": spec.matched}
    moment = context.moment(role, "at", spec.at)
    row = NewRow("verification_log", {**values, "channel": spec.channel, "at": moment})
    return Member(role, "verification", row.table, key, owner.role, {"id": plain(key, "id")}, (row,))


def build_recovery_attempt(role: str, spec: RecoveryAttempt, context: CastContext) -> Member:
    """Build a try at a recovery code."""
    owner = customer(context, role, "customer", spec.customer, ["person"])
    key = context.new_id(role, "RA")
    values = {"id": key, "customer_id": owner.key, "result": spec.result, "at": context.moment(role, "at", spec.at)}
    row = NewRow("recovery_attempts", values)
    return Member(role, "recovery_attempt", row.table, key, owner.role, {"id": plain(key, "id")}, (row,))


def build_supervisor_approval(role: str, spec: SupervisorApproval, context: CastContext) -> Member:
    """Build an approval by a supervisor whose name is drawn."""
    subject = context.member(spec.subject, f"/cast/{role}/subject", context.kinds)
    draw = context.for_role(role)
    name = " ".join(private.person_name(context, draw))
    amount = None if spec.amount_cents is None else cents(context, role, "amount_cents", spec.amount_cents)
    key = context.new_id(role, "SA")
    values = {"id": key, "subject_id": subject.key, "action": spec.action, "amount_cents": amount}
    values |= {"approved_by": f"{name}, {draw.child('title').choice(STAFF_TITLES)}", "status": spec.status}
    moment = context.moment(role, "approved", spec.approved)
    row = NewRow("supervisor_approvals", {**values, "approved_at": moment})
    attributes = {"id": plain(key, "id"), "supervisor": name_of(name, None)}
    if amount is not None:
        attributes["amount"] = money(amount)
    return Member(role, "supervisor_approval", row.table, key, subject.subject, attributes, (row,))


PROOF: Final[dict[str, CastKind[Any]]] = {
    "authority": CastKind("authority", Authority, build_authority),
    "step_up": CastKind("step_up", StepUp, build_step_up),
    "verification": CastKind("verification", Verification, build_verification),
    "recovery_attempt": CastKind("recovery_attempt", RecoveryAttempt, build_recovery_attempt),
    "supervisor_approval": CastKind("supervisor_approval", SupervisorApproval, build_supervisor_approval),
}
