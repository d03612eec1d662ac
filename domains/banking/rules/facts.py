"""What rules read: the arguments of a request, the rows behind it, and whose they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlmodel import SQLModel

from domains.banking.tables import Account, AccountHolder, Card, Customer, Dispute, Hold, LedgerEntry, Payee, Payment
from domains.kit.json import JsonValue
from domains.kit.rules import TELL, Contact, Finding, Request, Rule
from domains.kit.store import RowRef, RowT, key_column, table_of
from domains.kit.world import World

MONEY_OUT: Final = frozenset({"send_payment", "transfer", "release_payment", "close_account"})
"""Requests by which money leaves an account."""

EXTERNAL: Final = frozenset({"send_payment", "release_payment"})
"""Requests by which money can leave the bank."""

CARD_TOOLS: Final = frozenset(
    {
        *("freeze_card", "unfreeze_card", "set_pin", "set_temporary_limit", "order_replacement_card"),
        *("check_activation", "activate_card", "block_card", "pick_up_at_branch"),
    }
)

CHANGES: Final = frozenset(
    {
        *MONEY_OUT,
        *CARD_TOOLS,
        *("change_contact", "enrol_device", "register_payee", "confirm_payee_name", "release_hold"),
        *("issue_credit", "correct_balance", "file_dispute", "assign_business_role", "send_statement"),
        *("open_account", "correct_application", "approve_business_payment", "request_recall"),
    }
)
"""Requests that change something for somebody."""

PERSONAL_KINDS: Final = frozenset({"personal_checking", "savings", "credit"})

_OWNERS: Final = ("customer_id", "principal_id", "business_id")
_LINKS: Final[Mapping[str, type[SQLModel]]] = {
    "from_account_id": Account,
    "account_id": Account,
    "card_id": Card,
    "payment_id": Payment,
    "ledger_id": LedgerEntry,
    "hold_id": Hold,
    "payee_id": Payee,
    "to_payee_id": Payee,
}
_ACCOUNT_LINKS: Final = ("from_account_id", "account_id", "payment_id", "ledger_id", "hold_id")

_Read = Callable[[str], Any]


def text(request: Request, name: str) -> str | None:
    """Return an argument that is text, or None."""
    value = request.arguments.get(name)
    return value if isinstance(value, str) else None


def cents(request: Request, name: str) -> int | None:
    """Return an argument that is a whole number, or None."""
    value = request.arguments.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def get(world: World, model: type[RowT], key: str | None) -> RowT | None:
    """Return the row with this key, or None."""
    if key is None:
        return None
    found = world.store.recall(model, {key_column(table_of(model)): key})
    return found[0] if found else None


def rows(world: World, model: type[RowT], **values: JsonValue) -> list[RowT]:
    """Return the rows whose columns have these values, in the order of their keys."""
    return world.store.recall(model, values)


def ref(row: SQLModel) -> RowRef:
    """Return the address of a row."""
    table = table_of(type(row))
    return RowRef(table.name, str(getattr(row, key_column(table))))


def found(
    rule: Rule,
    *rests_on: SQLModel | RowRef | None,
    also: Iterable[str] = (),
    alternative: Request | None = None,
) -> Finding:
    """Return the finding of a rule that fires, with the rows that decided it; None stands for no row."""
    refs = [row if isinstance(row, RowRef) else ref(row) for row in rests_on if row is not None]
    return Finding(rule.id, rule.outcome, rule.reason_code, tuple(dict.fromkeys(refs)), frozenset(also), alternative)


# ------------------------------------------------------------------- whose and which account


def told_row(request: Request, world: World) -> SQLModel | None:
    """Return the stored row that a `TELL` request is about, or None."""
    model = world.store.template.models.get(text(request, "table") or "")
    return None if model is None or request.tool != TELL else get(world, model, text(request, "key"))


def reader(request: Request, world: World) -> _Read:
    """Return a function that gives a request's arguments, or the columns of the row to be told, by name."""
    if request.tool == TELL:
        row = told_row(request, world)
        return lambda name: getattr(row, name, None)
    return request.arguments.get


def subject_of(request: Request, world: World) -> str | None:
    """Return the customer, a person or a firm, whose affair a request is; None if it is nobody's.

    An application is nobody's affair yet: who applies need not be a customer.
    """
    if request.tool == TELL and text(request, "table") == table_of(Customer).name:
        row = told_row(request, world)
        return row.id if isinstance(row, Customer) else None
    return _owner(reader(request, world), world)


def owner_of(row: SQLModel, world: World) -> str | None:
    """Return the customer to whom a stored row belongs, or None."""
    return row.id if isinstance(row, Customer) else _owner(lambda name: getattr(row, name, None), world)


def _owner(read: _Read, world: World) -> str | None:
    for name in _OWNERS:
        customer = get(world, Customer, _key(read, name))
        if customer is not None:
            return customer.id
    for name, model in _LINKS.items():
        row = get(world, model, _key(read, name))
        if row is not None:
            return owner_of(row, world)
    return None


def account_of(request: Request, world: World) -> Account | None:
    """Return the account that a request concerns, or None; a card's account is not meant."""
    if request.tool == TELL:
        row = told_row(request, world)
        if isinstance(row, Account):
            return row
    return _account(reader(request, world), world)


def _account(read: _Read, world: World) -> Account | None:
    for name in _ACCOUNT_LINKS:
        row = get(world, _LINKS[name], _key(read, name))
        if isinstance(row, Account):
            return row
        if row is not None:
            return _account(_columns(row), world)
    return None


def _columns(row: SQLModel) -> _Read:
    return lambda name: getattr(row, name, None)


def _key(read: _Read, name: str) -> str | None:
    value = read(name)
    return value if isinstance(value, str) else None


def card_of(request: Request, world: World) -> Card | None:
    """Return the card that a request names, or None."""
    return get(world, Card, text(request, "card_id"))


def owners(account: Account, world: World) -> frozenset[str]:
    """Return the customers who own an account."""
    return frozenset(row.customer_id for row in rows(world, AccountHolder, account_id=account.id)) | {
        account.customer_id
    }


def record_ids(request: Request) -> frozenset[str]:
    """Return every id among the arguments of a request, or the key of the row to be told."""
    names = ("key",) if request.tool == TELL else [name for name in request.arguments if name.endswith("_id")]
    return frozenset(value for name in names if (value := text(request, name)))


# ------------------------------------------------------------------------- money on its way


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A payment as it would leave: out of which account, to whom, how much.

    Attributes
    ----------
    payee
        Set on the external rail.
    target
        Set on the internal rail.
    payment
        The stored payment, where it exists already.
    """

    account: Account
    amount_cents: int
    purpose: str
    payee: Payee | None = None
    target: Account | None = None
    payment: Payment | None = None


def outgoing(request: Request, world: World) -> Outgoing | None:
    """Return the payment that a request of `MONEY_OUT` would make, or None if its records do not exist."""
    payment = get(world, Payment, text(request, "payment_id"))
    account = account_of(request, world)
    if account is None:
        return None
    if payment is not None:
        return Outgoing(
            account,
            payment.amount_cents,
            payment.purpose,
            payee=get(world, Payee, payment.to_payee_id),
            target=get(world, Account, payment.to_account_id),
            payment=payment,
        )
    if request.tool == "close_account":
        target = get(world, Account, text(request, "payout_account_id"))
        return Outgoing(account, account.balance_cents, "", target=target)
    amount_cents = cents(request, "amount_cents")
    if amount_cents is None:
        return None
    return Outgoing(
        account,
        amount_cents,
        text(request, "purpose") or "",
        payee=get(world, Payee, text(request, "payee_id")),
        target=get(world, Account, text(request, "to_account_id")),
    )


def settled_payments(payee: Payee, world: World) -> list[Payment]:
    """Return the payments to a payee that have settled."""
    return rows(world, Payment, to_payee_id=payee.id, status="settled")


def with_amount(request: Request, name: str, amount_cents: int) -> Request | None:
    """Return the request with another amount, or None if none is left."""
    return Request(request.tool, {**request.arguments, name: amount_cents}) if amount_cents > 0 else None


def basis_of(request: Request, world: World) -> Dispute | LedgerEntry | None:
    """Return the dispute or ledger entry on which a credit would rest, or None."""
    basis_id = text(request, "basis_id")
    return get(world, Dispute, basis_id) or get(world, LedgerEntry, basis_id)


def evidence_rows(contact: Contact, *names: str) -> tuple[RowRef, ...]:
    """Return the stored rows that carried any of these observations."""
    return tuple(item.row for item in contact.evidence if item.name in names and item.row is not None)


def written(contact: Contact, table: str) -> tuple[RowRef, ...]:
    """Return the addresses of the rows inserted into a table in this contact."""
    return tuple(RowRef(table, str(row["id"])) for row in contact.written(table))
