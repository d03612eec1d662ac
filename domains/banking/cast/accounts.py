"""Cast kinds: accounts, cards, and what is on record about them."""

from __future__ import annotations

import calendar
from datetime import date
from typing import Any, Final, Literal

from domains.banking.cast import private
from domains.banking.cast.fields import (
    Cents,
    cents,
    column,
    customer,
    day,
    drawn,
    fixed,
    money,
    personal,
    plain,
    secret,
)
from domains.banking.cast.people import PARTIES
from domains.kit.cast import Attribute, CastContext, CastKind, CastSpec, Form, Member, NewRow, Sensitivity
from domains.kit.errors import SetupError

AccountType = Literal["personal_checking", "savings", "business_checking", "credit", "estate"]


class Account(CastSpec):
    """An account; its type follows from the owner unless written."""

    owner: str
    joint: str | None = None
    type: AccountType | None = None
    opened: str = "-P3Y"
    balance_cents: Cents = drawn(250_000, 900_000)
    status: Literal["open", "restricted", "closed"] = "open"


class Licence(CastSpec):
    """A licence of a firm to run money services."""

    business: str
    kind: Literal["money_service", "crypto_kiosk"] = "money_service"
    status: Literal["in_force", "lapsed", "pending"] = "in_force"
    valid_to: str = "P1Y"


class Closure(CastSpec):
    """Why and when an account was closed; the account's own entry says ``"status": "closed"``."""

    account: str
    reason: Literal["for_cause", "by_customer"] = "for_cause"
    closed: str = "-P3M"


class Control(CastSpec):
    """A freeze or an alert on a card."""

    kind: Literal["freeze", "alert"] = "freeze"
    placed_by: Literal["customer", "bank"] = "customer"
    placed: str = "-P10D"
    status: Literal["active", "lifted"] = "active"


class Card(CastSpec):
    """A card; with an active freeze on it, its status is frozen unless written."""

    of: str
    holder: str | None = None
    kind: Literal["debit", "credit"] | None = None
    limit_cents: Cents = fixed(100_000)
    status: Literal["issued", "active", "frozen", "blocked", "replaced"] | None = None
    blocked_as: Literal["lost", "stolen"] | None = None
    control: Control | None = None
    expires: str = "P2Y"


class ActivationAttempt(CastSpec):
    """A check while activating a card."""

    card: str
    passed: bool = False
    at: str = "-PT10M"


class LimitChange(CastSpec):
    """A temporary change of a card's limit; the old one is the card's unless written."""

    card: str
    old_cents: Cents | None = None
    new_cents: Cents | None = None
    at: str = "-PT30H"


class CardOrder(CastSpec):
    """A replacement card that was ordered."""

    card: str
    delivery: Literal["mail", "branch"] = "mail"
    ordered: str = "-P2M"


def build_account(role: str, spec: Account, context: CastContext) -> Member:
    """Build an account with its holders."""
    owner = customer(context, role, "owner", spec.owner, PARTIES)
    joint = customer(context, role, "joint", spec.joint, ["person"]) if spec.joint else None
    kind = spec.type or ("business_checking" if owner.kind == "business" else "personal_checking")
    key, number = context.new_id(role, "AC"), private.account_number(context, context.for_role(role))
    balance = cents(context, role, "balance_cents", spec.balance_cents)
    opened = context.moment(role, "opened", spec.opened)
    values = {"id": key, "customer_id": owner.key, "kind": kind, "number": number, "balance_cents": balance}
    rows = [NewRow("accounts", {**values, "opened_at": opened, "status": spec.status})]
    for holder, share in ((owner, "owner"), (joint, "joint")):
        if holder is not None:
            record = {"id": context.new_id(role, "HO"), "account_id": key, "customer_id": holder.key, "role": share}
            rows.append(NewRow("account_holders", record))
    attributes = {
        "id": plain(key, "id"),
        "number": Attribute(number, number, Form.DIGITS, Sensitivity.LAST_FOUR, "number"),
        "last4": personal(number[-4:], Form.DIGITS),
        "kind": Attribute(kind, kind.replace("_", " "), column="kind"),
        "balance": money(balance, "balance_cents", sensitivity=Sensitivity.PERSONAL),
        "balance_cents": plain(balance),
        "opened": day(opened.astimezone(context.zone).date(), "opened_at"),
    }
    return Member(role, "account", "accounts", key, owner.role, attributes, tuple(rows))


def build_licence(role: str, spec: Licence, context: CastContext) -> Member:
    """Build a licence of a firm."""
    firm = customer(context, role, "business", spec.business, ["business"])
    key, until = context.new_id(role, "LI"), context.day(role, "valid_to", spec.valid_to)
    values = {"id": key, "business_id": firm.key, "kind": spec.kind, "status": spec.status, "valid_to": until}
    attributes = {"id": plain(key, "id"), "valid_to": day(until, "valid_to")}
    return Member(role, "licence", "licences", key, firm.role, attributes, (NewRow("licences", values),))


def build_closure(role: str, spec: Closure, context: CastContext) -> Member:
    """Build the record of a closure."""
    account = context.member(spec.account, f"/cast/{role}/account", ["account"])
    if column(account, "status") != "closed":
        problem = f'expected an account with "status": "closed"; {spec.account!r} is {column(account, "status")}'
        raise SetupError(f"/cast/{role}/account", problem)
    key, closed = context.new_id(role, "CL"), context.moment(role, "closed", spec.closed)
    values = {"id": key, "customer_id": column(account, "customer_id"), "account_id": account.key}
    row = NewRow("closures", {**values, "reason": spec.reason, "closed_at": closed})
    attributes = {"id": plain(key, "id"), "closed": day(closed.astimezone(context.zone).date(), "closed_at")}
    return Member(role, "closure", "closures", key, account.subject, attributes, (row,))


def build_card(role: str, spec: Card, context: CastContext) -> Member:
    """Build a card and the control on it."""
    account = context.member(spec.of, f"/cast/{role}/of", ["account"])
    holder = customer(context, role, "holder", spec.holder or account.subject, ["person"])
    draw, key = context.for_role(role), context.new_id(role, "CD")
    number = private.card_number(context, draw)
    code, pin = private.card_code(context, draw), private.pin(context, draw)
    limit = cents(context, role, "limit_cents", spec.limit_cents)
    kind = spec.kind or ("credit" if column(account, "kind") == "credit" else "debit")
    control = spec.control
    frozen = control is not None and control.kind == "freeze" and control.status == "active"
    expires = _end_of_month(context.day(role, "expires", spec.expires))
    values: dict[str, Any] = {"id": key, "account_id": account.key, "customer_id": holder.key}
    values |= {"kind": kind, "number": number, "cvv": code, "pin": pin, "limit_cents": limit, "expires_on": expires}
    status = spec.status or ("frozen" if frozen else "active")
    if spec.blocked_as is not None and status != "blocked":
        raise SetupError(f"/cast/{role}/blocked_as", f'expected it with "status": "blocked" only; the card is {status}')
    blocked_as = (spec.blocked_as or "lost") if status == "blocked" else ""
    rows = [NewRow("cards", {**values, "status": status, "blocked_as": blocked_as})]
    attributes = {
        "id": plain(key, "id"),
        "number": Attribute(number, number, Form.DIGITS, Sensitivity.LAST_FOUR, "number"),
        "last4": personal(number[-4:], Form.DIGITS),
        "cvv": secret(code, Form.DIGITS, "cvv"),
        "pin": secret(pin, Form.DIGITS, "pin"),
        "limit": money(limit, "limit_cents"),
        "limit_cents": plain(limit),
        "expires": day(expires, "expires_on"),
    }
    if control is not None:
        attributes["control"] = plain(context.new_id(role, "CC"))
        record = {"id": attributes["control"].value, "card_id": key, "kind": control.kind, "status": control.status}
        placed = context.moment(role, "control/placed", control.placed)
        rows.append(NewRow("card_controls", {**record, "placed_by": control.placed_by, "placed_at": placed}))
    return Member(role, "card", "cards", key, holder.role, attributes, tuple(rows))


def _end_of_month(some_day: date) -> date:
    return some_day.replace(day=calendar.monthrange(some_day.year, some_day.month)[1])


def build_activation_attempt(role: str, spec: ActivationAttempt, context: CastContext) -> Member:
    """Build an activation check."""
    card = context.member(spec.card, f"/cast/{role}/card", ["card"])
    key = context.new_id(role, "AT")
    values = {"id": key, "card_id": card.key, "passed": spec.passed, "at": context.moment(role, "at", spec.at)}
    row = NewRow("activation_attempts", values)
    return Member(role, "activation_attempt", row.table, key, card.subject, {"id": plain(key, "id")}, (row,))


def build_limit_change(role: str, spec: LimitChange, context: CastContext) -> Member:
    """Build a change of a limit, by half of the old one unless written."""
    card = context.member(spec.card, f"/cast/{role}/card", ["card"])
    old = column(card, "limit_cents") if spec.old_cents is None else cents(context, role, "old_cents", spec.old_cents)
    new = old * 3 // 2 if spec.new_cents is None else cents(context, role, "new_cents", spec.new_cents)
    key = context.new_id(role, "LC")
    values = {"id": key, "card_id": card.key, "old_cents": old, "new_cents": new}
    row = NewRow("limit_changes", {**values, "at": context.moment(role, "at", spec.at)})
    attributes = {"id": plain(key, "id"), "old": money(old, "old_cents"), "new": money(new, "new_cents")}
    return Member(role, "limit_change", row.table, key, card.subject, attributes, (row,))


def build_card_order(role: str, spec: CardOrder, context: CastContext) -> Member:
    """Build an order of a replacement card, by mail to the holder's address."""
    card = context.member(spec.card, f"/cast/{role}/card", ["card"])
    holder = context.members[card.subject]
    key = context.new_id(role, "CO")
    address = holder.attributes["address"].value if spec.delivery == "mail" else "Main Street branch"
    values = {"id": key, "card_id": card.key, "customer_id": holder.key, "delivery": spec.delivery}
    ordered = context.moment(role, "ordered", spec.ordered)
    row = NewRow("card_orders", {**values, "address": address, "ordered_at": ordered})
    return Member(role, "card_order", row.table, key, card.subject, {"id": plain(key, "id")}, (row,))


ACCOUNTS: Final[dict[str, CastKind[Any]]] = {
    "account": CastKind("account", Account, build_account),
    "licence": CastKind("licence", Licence, build_licence),
    "closure": CastKind("closure", Closure, build_closure),
    "card": CastKind("card", Card, build_card),
    "activation_attempt": CastKind("activation_attempt", ActivationAttempt, build_activation_attempt),
    "limit_change": CastKind("limit_change", LimitChange, build_limit_change),
    "card_order": CastKind("card_order", CardOrder, build_card_order),
}
