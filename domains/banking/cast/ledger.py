"""Cast kinds: lines of the ledger."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final, Literal

from domains.banking import names
from domains.banking.cast import private
from domains.banking.cast.fields import (
    SignedCents,
    cents,
    column,
    day,
    drawn,
    filled,
    money,
    month_end,
    name_of,
    plain,
)
from domains.kit.cast import CastContext, CastKind, CastSpec, Member, NewRow
from domains.kit.errors import SetupError

EntryType = Literal[
    "card", "transfer", "payment", "salary", "fee", "cash_machine", "refund", "credit", "deposit", "subscription"
]


class Entry(CastSpec):
    """A line of an account's ledger.

    The counterparty is written, or is that of another entry (`same_counterparty_as`), or is a person, firm or
    payee of the cast (`counterparty_role`), or is drawn to fit the kind.
    """

    account: str
    amount_cents: SignedCents = drawn(-18_900, -2_100)
    kind: EntryType | None = None
    counterparty: str | None = None
    same_counterparty_as: str | None = None
    counterparty_role: str | None = None
    counterparty_new: bool = False
    memo: str = ""
    posted: str = "-P3D"
    statement: str | None = None
    status: Literal["settled", "pending", "returned"] = "settled"


def ledger_row(
    context: CastContext,
    key: str,
    account_id: str,
    amount_cents: int,
    kind: str,
    counterparty: str,
    posted_at: datetime,
    *,
    counterparty_new: bool = False,
    memo: str = "",
    statement_on: date | None = None,
    status: str = "settled",
) -> NewRow:
    """Return a row of the ledger; without a statement day it stands on the statement of its month."""
    values = {"id": key, "account_id": account_id, "posted_at": posted_at, "amount_cents": amount_cents, "kind": kind}
    values |= {"counterparty": counterparty, "counterparty_new": counterparty_new, "memo": memo, "status": status}
    return NewRow("ledger", {**values, "statement_on": statement_on or month_end(context, posted_at)})


def build_entry(role: str, spec: Entry, context: CastContext) -> Member:
    """Build a line of the ledger."""
    account = context.member(spec.account, f"/cast/{role}/account", ["account"])
    amount = cents(context, role, "amount_cents", spec.amount_cents)
    kind = spec.kind or ("card" if amount < 0 else "deposit")
    counterparty = _counterparty(role, spec, kind, context)
    posted = context.moment(role, "posted", spec.posted)
    statement = month_end(context, posted) if spec.statement is None else context.day(role, "statement", spec.statement)
    memo = filled(context, role, "memo", spec.memo)
    key = context.new_id(role, "LE")
    row = ledger_row(
        context,
        key,
        account.key,
        amount,
        kind,
        counterparty,
        posted,
        counterparty_new=spec.counterparty_new,
        memo=memo,
        statement_on=statement,
        status=spec.status,
    )
    attributes = {
        "id": plain(key, "id"),
        "amount": money(amount),
        "amount_cents": plain(amount),
        "counterparty": name_of(counterparty, "counterparty"),
        "memo": plain(memo, "memo"),
        "posted": day(posted.astimezone(context.zone).date(), "posted_at"),
        "statement": day(statement, "statement_on"),
    }
    return Member(role, "entry", "ledger", key, account.subject, attributes, (row,))


def _counterparty(role: str, spec: Entry, kind: str, context: CastContext) -> str:
    ways = {"counterparty", "same_counterparty_as", "counterparty_role"} & spec.model_fields_set
    if len(ways) > 1:
        problem = f"expected one way to name the counterparty, found {' and '.join(sorted(ways))}"
        raise SetupError(f"/cast/{role}/{sorted(ways)[1]}", problem)
    if spec.counterparty is not None:
        return filled(context, role, "counterparty", spec.counterparty)
    if spec.same_counterparty_as is not None:
        other = context.member(spec.same_counterparty_as, f"/cast/{role}/same_counterparty_as", ["entry"])
        return str(column(other, "counterparty"))
    if spec.counterparty_role is not None:
        kinds = ["person", "business", "payee", "person_name"]
        party = context.member(spec.counterparty_role, f"/cast/{role}/counterparty_role", kinds)
        return str(party.attributes["name"].value)
    return _drawn_counterparty(role, kind, context)


def _drawn_counterparty(role: str, kind: str, context: CastContext) -> str:
    draw = context.for_role(role)
    if kind in ("fee", "credit"):
        return "Harbourline Bank"
    if kind == "cash_machine":
        return f"Cash machine {draw.child('street').choice(names.STREETS)}"
    if kind in ("salary", "payment"):
        return private.firm_name(context, draw)
    if kind in ("transfer", "deposit"):
        return " ".join(private.person_name(context, draw))
    trades = ["subscription"] if kind == "subscription" else ["shopping", "dining", "groceries"]
    merchants = [merchant for trade in trades for merchant in names.MERCHANTS[trade]]
    return context.distinct(draw.child("merchant"), lambda below: below.choice(merchants))


LEDGER: Final[dict[str, CastKind[Any]]] = {"entry": CastKind("entry", Entry, build_entry)}
