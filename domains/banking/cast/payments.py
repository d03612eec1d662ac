"""Cast kinds: payees, payments, and what lets them go or stops them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Any, Final, Literal

from pydantic import Field

from domains.banking.cast import private
from domains.banking.cast.fields import Cents, cents, column, customer, drawn, filled, money, name_of, personal, plain
from domains.banking.cast.ledger import ledger_row
from domains.banking.cast.people import PARTIES
from domains.kit.cast import CastContext, CastKind, CastSpec, Form, Member, NewRow
from domains.kit.errors import SetupError

PaymentStatus = Literal["awaiting_approval", "scheduled", "held", "released", "settled", "returned", "cancelled"]
HoldKind = Literal["fraud", "cooling_off", "approval", "compliance"]

_BANKING_HOUR: Final = time(10, 45)

_HOLD_REASONS: Final[dict[str, str]] = {
    "fraud": "suspected_app_scam",
    "cooling_off": "payee_cooling_off",
    "approval": "second_approval_missing",
    "compliance": "pass_through",
}


class Questionnaire(CastSpec):
    """A customer's answers before a first larger payment; without words they raise no flag."""

    met_in_person: bool = True
    told_what_to_say: bool = False
    asked_to_keep_secret: bool = False
    contacted_unexpectedly: bool = False
    completed: str = "-P1D"


class Payee(CastSpec):
    """Somebody outside the bank whom a customer pays.

    `settled_payments` adds that many settled payments with their ledger lines, the first at `first_settled`, the
    rest evenly until now. They come from `paid_from`, else from the customer's first account in the cast.
    `check` is the outcome of the name check that was made on creation, null if none was made; `shown_name` is the
    name that the other bank holds.
    """

    of: str
    named: str | None = None
    firm: bool = True
    created: str = "-P1Y"
    status: Literal["active", "removed"] = "active"
    settled_payments: int = Field(default=0, ge=0, le=200)
    first_settled: str | None = None
    payment_cents: Cents = drawn(41_000, 98_000)
    paid_from: str | None = None
    check: Literal["match", "close_match", "no_match"] | None = "match"
    shown_name: str | None = None
    confirmed: bool = False
    questionnaire: Questionnaire | None = None


class Payment(CastSpec):
    """A payment to a payee (external) or to another account (internal)."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    amount_cents: Cents = drawn(41_000, 98_000)
    status: PaymentStatus = "scheduled"
    initiated_by: str | None = None
    created: str = "-PT2H"
    settled: str | None = None
    purpose: str = ""


class Approval(CastSpec):
    """A second person's approval of a payment."""

    payment: str
    approver: str
    approved: str = "-PT1H"


class Hold(CastSpec):
    """A hold on a payment, or on a whole account if no payment is named."""

    account: str | None = None
    payment: str | None = None
    kind: HoldKind = "fraud"
    placed_by: Literal["agent", "fraud_operations", "system", "customer"] = "fraud_operations"
    reason_code: str | None = None
    status: Literal["active", "released"] = "active"
    placed: str = "-P1D"


def build_payee(role: str, spec: Payee, context: CastContext) -> Member:
    """Build a payee with its name check, its questionnaire and its settled payments."""
    owner = customer(context, role, "of", spec.of, PARTIES)
    name = _payee_name(role, spec, context)
    key, number = context.new_id(role, "PY"), private.account_number(context, context.for_role(role))
    created = context.moment(role, "created", spec.created)
    shown = _shown_name(role, spec, name, context)
    values = {"id": key, "customer_id": owner.key, "name": name, "bank_account": number, "created_at": created}
    account_name = None if shown == name else shown
    rows = [NewRow("payees", {**values, "status": spec.status, "account_name": account_name})]
    attributes = {
        "id": plain(key, "id"),
        "name": name_of(name),
        "bank_account": personal(number, Form.DIGITS, "bank_account"),
        "shown_name": name_of(shown, None),
    }
    if spec.check is not None:
        check = {"id": context.new_id(role, "PC"), "payee_id": key, "result": spec.check, "shown_name": shown}
        rows.append(NewRow("payee_checks", {**check, "confirmed": spec.confirmed, "checked_at": created}))
    if spec.questionnaire is not None:
        answers = spec.questionnaire.model_dump()
        completed = context.moment(role, "questionnaire/completed", answers.pop("completed"))
        form = {"id": context.new_id(role, "SQ"), "customer_id": owner.key, "payee_id": key, **answers}
        rows.append(NewRow("scam_questionnaires", {**form, "completed_at": completed}))
    if spec.settled_payments:
        rows += _settled(role, spec, owner, key, name, context)
    return Member(role, "payee", "payees", key, owner.role, attributes, tuple(rows))


def _payee_name(role: str, spec: Payee, context: CastContext) -> str:
    if spec.named is not None:
        party = context.member(spec.named, f"/cast/{role}/named", [*PARTIES, "person_name"])
        return str(party.attributes["name"].value)
    draw = context.for_role(role)
    return private.firm_name(context, draw) if spec.firm else " ".join(private.person_name(context, draw))


def _shown_name(role: str, spec: Payee, name: str, context: CastContext) -> str:
    """Return the name that the other bank holds: the same, a variant of it, or another."""
    if spec.shown_name is not None:
        return filled(context, role, "shown_name", spec.shown_name)
    if spec.check in ("match", None):
        return name
    words = name.split()
    if spec.check == "close_match":
        return f"{words[0][0]}. {words[-1]}" if len(words) == 2 else " ".join(words[:-1])
    draw = context.for_role(role).child("shown")
    return private.firm_name(context, draw) if len(words) > 2 else " ".join(private.person_name(context, draw))


def _settled(role: str, spec: Payee, owner: Member, key: str, name: str, context: CastContext) -> Iterator[NewRow]:
    account = _paying_account(role, spec, owner, context)
    initiator = _initiator(role, "of", owner, context)
    amount = cents(context, role, "payment_cents", spec.payment_cents)
    for place, moment in enumerate(_settled_moments(role, spec, context)):
        payment: dict[str, Any] = {"id": context.new_id(role, "PM"), "from_account_id": account.key, "to_payee_id": key}
        payment |= {"to_account_id": None, "rail": "external", "amount_cents": amount, "purpose": ""}
        made = {"status": "settled", "initiated_by": initiator, "created_at": moment, "settled_at": moment}
        yield NewRow("payments", {**payment, **made})
        line = context.new_id(role, "LE")
        yield ledger_row(context, line, account.key, -amount, "payment", name, moment, counterparty_new=place == 0)


def _settled_moments(role: str, spec: Payee, context: CastContext) -> list[datetime]:
    created = context.moment(role, "created", spec.created)
    age = context.now - created
    if age <= timedelta(0):
        raise SetupError(f"/cast/{role}/created", "expected a moment in the past for a payee with settled payments")
    first = created + min(timedelta(days=1), age / 2)
    if spec.first_settled is not None:
        first = context.moment(role, "first_settled", spec.first_settled)
        if not created <= first <= context.now:
            raise SetupError(f"/cast/{role}/first_settled", "expected a moment between `created` and now")
    step = (context.now - first) / spec.settled_payments
    later = [first + step * place for place in range(1, spec.settled_payments)]
    if step >= timedelta(days=2):
        later = [datetime.combine(moment.astimezone(context.zone), _BANKING_HOUR, context.zone) for moment in later]
    return [first, *later]


def _paying_account(role: str, spec: Payee, owner: Member, context: CastContext) -> Member:
    if spec.paid_from is not None:
        account = context.member(spec.paid_from, f"/cast/{role}/paid_from", ["account"])
        _check_owner(f"/cast/{role}/paid_from", account, owner.key)
        return account
    for other, entry in context.entries.items():
        if entry.get("is") == "account" and entry.get("owner") == owner.role:
            return context.member(other, f"/cast/{role}/paid_from", ["account"])
    problem = f"expected an account that {owner.role!r} owns to have paid from; the cast has none"
    raise SetupError(f"/cast/{role}/settled_payments", problem)


def _check_owner(path: str, account: Member, customer_id: str) -> None:
    holders = {row.values["customer_id"] for row in account.rows if row.table == "account_holders"}
    if customer_id not in holders:
        raise SetupError(path, f"expected an account and a payee of one customer; {account.role!r} is another's")


def _initiator(role: str, name: str, owner: Member, context: CastContext) -> str:
    """Return the key of the person who pays for a customer: that person, or the first who works at the firm."""
    if owner.kind == "person":
        return owner.key
    for other, entry in context.entries.items():
        if entry.get("is") == "person" and entry.get("works_at") == owner.role:
            return context.member(other, f"/cast/{role}/{name}", ["person"]).key
    return owner.key


def build_payment(role: str, spec: Payment, context: CastContext) -> Member:
    """Build a payment; a settled one has its lines in the ledger."""
    account = context.member(spec.source, f"/cast/{role}/from", ["account"])
    target = context.member(spec.target, f"/cast/{role}/to", ["payee", "account"])
    external = target.kind == "payee"
    if external:
        _check_owner(f"/cast/{role}/to", account, column(target, "customer_id"))
    if spec.initiated_by is None:
        initiator = _initiator(role, "from", context.members[account.subject], context)
    else:
        initiator = customer(context, role, "initiated_by", spec.initiated_by, ["person"]).key
    amount = cents(context, role, "amount_cents", spec.amount_cents)
    created = context.moment(role, "created", spec.created)
    settled = _settled_at(role, spec, created, context)
    purpose = filled(context, role, "purpose", spec.purpose)
    key = context.new_id(role, "PM")
    values: dict[str, Any] = {"id": key, "from_account_id": account.key, "rail": "external" if external else "internal"}
    values |= {"to_payee_id": target.key if external else None, "to_account_id": None if external else target.key}
    values |= {"amount_cents": amount, "purpose": purpose, "status": spec.status, "initiated_by": initiator}
    rows = [NewRow("payments", {**values, "created_at": created, "settled_at": settled})]
    if settled is not None and spec.status == "settled":
        rows += _booked(role, account, target, amount, settled, purpose, context)
    attributes = {
        "id": plain(key, "id"),
        "amount": money(amount),
        "amount_cents": plain(amount),
        "purpose": plain(purpose, "purpose"),
        "status": plain(spec.status, "status"),
    }
    return Member(role, "payment", "payments", key, account.subject, attributes, tuple(rows))


def _settled_at(role: str, spec: Payment, created: datetime, context: CastContext) -> datetime | None:
    if spec.status not in ("settled", "returned"):
        if spec.settled is not None:
            raise SetupError(f"/cast/{role}/settled", f"expected no such moment for a payment that is {spec.status}")
        return None
    return created if spec.settled is None else context.moment(role, "settled", spec.settled)


def _booked(
    role: str, account: Member, target: Member, amount: int, settled: datetime, purpose: str, context: CastContext
) -> Iterator[NewRow]:
    if target.kind == "payee":
        name = str(target.attributes["name"].value)
        line = context.new_id(role, "LE")
        yield ledger_row(context, line, account.key, -amount, "payment", name, settled, memo=purpose)
        return
    for own, other, signed in ((account, target, -amount), (target, account, amount)):
        name = str(context.members[other.subject].attributes["name"].value)
        line = context.new_id(role, "LE")
        yield ledger_row(context, line, own.key, signed, "transfer", name, settled, memo=purpose)


def build_approval(role: str, spec: Approval, context: CastContext) -> Member:
    """Build an approval of a payment."""
    payment = context.member(spec.payment, f"/cast/{role}/payment", ["payment"])
    approver = customer(context, role, "approver", spec.approver, ["person"])
    key = context.new_id(role, "AP")
    values = {"id": key, "payment_id": payment.key, "approver_id": approver.key}
    row = NewRow("approvals", {**values, "approved_at": context.moment(role, "approved", spec.approved)})
    return Member(role, "approval", "approvals", key, payment.subject, {"id": plain(key, "id")}, (row,))


def build_hold(role: str, spec: Hold, context: CastContext) -> Member:
    """Build a hold on a payment or an account."""
    payment = context.member(spec.payment, f"/cast/{role}/payment", ["payment"]) if spec.payment else None
    account = context.member(spec.account, f"/cast/{role}/account", ["account"]) if spec.account else None
    held = payment or account
    if held is None:
        raise SetupError(f"/cast/{role}/account", "expected an account or a payment to hold, found neither")
    account_id = held.key if payment is None else column(payment, "from_account_id")
    if account is not None and account.key != account_id:
        raise SetupError(f"/cast/{role}/account", f"expected the account that {spec.payment!r} is paid from")
    key = context.new_id(role, "HD")
    values = {"id": key, "account_id": account_id, "payment_id": payment.key if payment else None}
    values |= {"payee_id": column(payment, "to_payee_id") if payment else None}
    values |= {"amount_cents": column(payment, "amount_cents") if payment else None, "kind": spec.kind}
    values |= {"placed_by": spec.placed_by, "reason_code": spec.reason_code or _HOLD_REASONS[spec.kind]}
    row = NewRow("holds", {**values, "status": spec.status, "placed_at": context.moment(role, "placed", spec.placed)})
    return Member(role, "hold", "holds", key, held.subject, {"id": plain(key, "id")}, (row,))


PAYMENTS: Final[dict[str, CastKind[Any]]] = {
    "payee": CastKind("payee", Payee, build_payee),
    "payment": CastKind("payment", Payment, build_payment),
    "approval": CastKind("approval", Approval, build_approval),
    "hold": CastKind("hold", Hold, build_hold),
}
