"""Cast kinds: disputes, credits, and the records that support or refute a claim. Each hangs on a ledger entry."""

from __future__ import annotations

from typing import Any, Final, Literal

from domains.banking.cast.fields import Cents, cents, column, day, fixed, money, plain
from domains.kit.cast import CastContext, CastKind, CastSpec, Member, NewRow


class Dispute(CastSpec):
    """A ledger entry that the customer contests, in full unless an amount is written."""

    entry: str
    kind: Literal["unauthorised", "duplicate", "recurring", "refund_missing", "cash_machine", "service"] = (
        "unauthorised"
    )
    amount_cents: Cents | None = None
    status: Literal["open", "won", "lost", "withdrawn"] = "open"
    opened: str = "-P10D"


class Credit(CastSpec):
    """Money that the bank gave, on the basis of a dispute or a ledger entry if one is named."""

    account: str
    kind: Literal["provisional", "goodwill", "correction"] = "provisional"
    amount_cents: Cents = fixed(1_500)
    basis: str | None = None
    created: str = "-P20D"


class RefundPromise(CastSpec):
    """A refund that a merchant promised, in full unless an amount is written."""

    of: str
    promised: str = "-P5D"
    amount_cents: Cents | None = None


class Journal(CastSpec):
    """What a cash machine's journal says about a withdrawal."""

    of: str
    result: Literal["dispensed", "short", "fault", "pending"] = "pending"
    dispensed_cents: Cents | None = None
    read: str = "-P1D"


class Cancellation(CastSpec):
    """A cancelled service: the one that an entry pays for."""

    of: str
    cancelled: str = "-P30D"


class Usage(CastSpec):
    """A use of the service that an entry pays for."""

    of: str
    used: str = "-P10D"


def build_dispute(role: str, spec: Dispute, context: CastContext) -> Member:
    """Build a dispute."""
    entry = context.member(spec.entry, f"/cast/{role}/entry", ["entry"])
    amount = _amount(role, spec.amount_cents, entry, context)
    key = context.new_id(role, "DP")
    values = {"id": key, "ledger_id": entry.key, "account_id": column(entry, "account_id")}
    values |= {"customer_id": context.members[entry.subject].key, "kind": spec.kind, "amount_cents": amount}
    opened = context.moment(role, "opened", spec.opened)
    row = NewRow("disputes", {**values, "status": spec.status, "opened_at": opened})
    attributes = {"id": plain(key, "id"), "amount": money(amount), "amount_cents": plain(amount)}
    return Member(role, "dispute", row.table, key, entry.subject, attributes, (row,))


def _amount(role: str, written: Any, entry: Member, context: CastContext) -> int:
    if written is not None:
        return cents(context, role, "amount_cents", written)
    return abs(int(column(entry, "amount_cents")))


def build_credit(role: str, spec: Credit, context: CastContext) -> Member:
    """Build a credit."""
    account = context.member(spec.account, f"/cast/{role}/account", ["account"])
    basis = context.member(spec.basis, f"/cast/{role}/basis", ["dispute", "entry"]) if spec.basis else None
    amount = cents(context, role, "amount_cents", spec.amount_cents)
    key = context.new_id(role, "CR")
    values = {"id": key, "account_id": account.key, "customer_id": column(account, "customer_id"), "kind": spec.kind}
    values |= {"amount_cents": amount, "basis_id": basis.key if basis else ""}
    row = NewRow("credits", {**values, "created_at": context.moment(role, "created", spec.created)})
    attributes = {"id": plain(key, "id"), "amount": money(amount), "amount_cents": plain(amount)}
    return Member(role, "credit", row.table, key, account.subject, attributes, (row,))


def build_refund_promise(role: str, spec: RefundPromise, context: CastContext) -> Member:
    """Build a merchant's promise of a refund."""
    entry = context.member(spec.of, f"/cast/{role}/of", ["entry"])
    amount = _amount(role, spec.amount_cents, entry, context)
    key, promised = context.new_id(role, "RP"), context.day(role, "promised", spec.promised)
    row = NewRow(
        "refund_promises", {"id": key, "ledger_id": entry.key, "promised_on": promised, "amount_cents": amount}
    )
    attributes = {"id": plain(key, "id"), "amount": money(amount), "promised": day(promised, "promised_on")}
    return Member(role, "refund_promise", row.table, key, entry.subject, attributes, (row,))


def build_journal(role: str, spec: Journal, context: CastContext) -> Member:
    """Build the reading of a cash machine's journal."""
    entry = context.member(spec.of, f"/cast/{role}/of", ["entry"])
    dispensed = None
    if spec.dispensed_cents is not None:
        dispensed = cents(context, role, "dispensed_cents", spec.dispensed_cents)
    key = context.new_id(role, "MJ")
    values = {"id": key, "ledger_id": entry.key, "result": spec.result, "dispensed_cents": dispensed}
    row = NewRow("machine_journals", {**values, "read_at": context.moment(role, "read", spec.read)})
    return Member(role, "journal", row.table, key, entry.subject, {"id": plain(key, "id")}, (row,))


def build_cancellation(role: str, spec: Cancellation, context: CastContext) -> Member:
    """Build the cancellation of a service."""
    return _about_service(role, "cancellation", spec.of, {"cancelled_at": spec.cancelled}, context)


def build_usage(role: str, spec: Usage, context: CastContext) -> Member:
    """Build a use of a service."""
    return _about_service(role, "usage", spec.of, {"used_at": spec.used}, context)


def _about_service(role: str, kind: str, of: str, at: dict[str, str], context: CastContext) -> Member:
    entry = context.member(of, f"/cast/{role}/of", ["entry"])
    table, prefix = {"cancellation": ("cancellations", "CN"), "usage": ("service_usage", "US")}[kind]
    ((name, text),) = at.items()
    moment = context.moment(role, name.removesuffix("_at"), text)
    key = context.new_id(role, prefix)
    values = {"id": key, "account_id": column(entry, "account_id"), "merchant": column(entry, "counterparty")}
    row = NewRow(table, {**values, name: moment})
    attributes = {"id": plain(key, "id"), "on": day(moment.astimezone(context.zone).date(), name)}
    return Member(role, kind, table, key, entry.subject, attributes, (row,))


DISPUTES: Final[dict[str, CastKind[Any]]] = {
    "dispute": CastKind("dispute", Dispute, build_dispute),
    "credit": CastKind("credit", Credit, build_credit),
    "refund_promise": CastKind("refund_promise", RefundPromise, build_refund_promise),
    "journal": CastKind("journal", Journal, build_journal),
    "cancellation": CastKind("cancellation", Cancellation, build_cancellation),
    "usage": CastKind("usage", Usage, build_usage),
}
