"""How the bank's tools read and write rows: found by equality, in order of time, one statement a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, Date, bindparam
from sqlmodel import SQLModel, select
from sqlmodel.sql.expression import SelectOfScalar

from domains.banking.tables import (
    Account,
    AccountHolder,
    Application,
    BusinessRole,
    Card,
    Customer,
    Device,
    Dispute,
    Hold,
    LedgerEntry,
    Note,
    Payee,
    Payment,
)
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.store import Moment, RowT, table_of
from domains.kit.world import World

_RECORDS: Final = (Customer, Account, Card, LedgerEntry, Payment, Payee, Dispute, Application, Hold, Note, Device)
"""What notes and flags can hang on."""


@cache
def _time_order(model: type[SQLModel]) -> tuple[ColumnElement[Any], ...]:
    table = table_of(model)
    for kind in (Moment, Date):
        for column in table.columns:
            if isinstance(column.type, kind) and not column.nullable:
                return (column, *table.primary_key.columns)
    return tuple(table.primary_key.columns)


@cache
def _age(model: type[SQLModel]) -> Callable[[SQLModel], Any]:
    return attrgetter(*(str(column.key) for column in _time_order(model)))


@cache
def _newest(model: type[RowT], columns: tuple[str, ...]) -> SelectOfScalar[RowT]:
    """Build a query once; building it costs several times what running it does."""
    table = table_of(model)
    query = select(model).where(*(table.c[name] == bindparam(name) for name in columns))
    return query.order_by(*(column.desc() for column in _time_order(model))).limit(bindparam("row_limit"))


def matching(bank: World, model: type[RowT], **values: str) -> list[RowT]:
    """Return the rows whose columns have these values, the oldest first."""
    return sorted(bank.rows(model, **values), key=_age(model))


def newest(bank: World, model: type[RowT], limit: int, **values: str) -> list[RowT]:
    """Return at most `limit` of the rows whose columns have these values, the newest first."""
    return list(bank.session.exec(_newest(model, tuple(values)), params={**values, "row_limit": limit}))


def show_all(bank: World, rows: Iterable[RowT], *columns: str) -> list[dict[str, JsonValue]]:
    """Show each of these rows, or some of its columns."""
    return [bank.show(row, *columns) for row in rows]


def insert(bank: World, row: RowT) -> RowT:
    """Write one new row at once, so that changes are logged in the order of the code."""
    bank.session.add(row)
    bank.session.flush()
    return row


def update(bank: World, row: SQLModel, **values: Any) -> None:
    """Change columns of one row at once."""
    for name, value in values.items():
        setattr(row, name, value)
    bank.session.flush()


def accounts_of(bank: World, *customer_ids: str) -> list[Account]:
    """Return the accounts of which any of these customers is an owner, the oldest first."""
    owned = {
        account.id: account for customer_id in customer_ids for account in bank.rows(Account, customer_id=customer_id)
    }
    for customer_id in customer_ids:
        for holder in bank.rows(AccountHolder, customer_id=customer_id):
            owned.setdefault(holder.account_id, bank.find(Account, holder.account_id))
    return sorted(owned.values(), key=_age(Account))


def holders_of(bank: World, account: Account) -> frozenset[str]:
    """Return the ids of the customers who own an account."""
    return frozenset(row.customer_id for row in matching(bank, AccountHolder, account_id=account.id)) | {
        account.customer_id
    }


def acts_for(bank: World, person_id: str) -> frozenset[str]:
    """Return a person's own id and those of the firms where they hold an active role."""
    roles = matching(bank, BusinessRole, person_id=person_id, status="active")
    return frozenset(role.business_id for role in roles) | {person_id}


def check_record(bank: World, record_id: str) -> None:
    """Make sure that an id names a record that notes or flags can hang on.

    Raises
    ------
    ToolError
        If it names none.
    """
    if not any(bank.get(model, record_id) for model in _RECORDS):
        raise ToolError(f"There is no record {record_id!r}. Check the id; look it up first if you are not sure of it.")


def check_reason(bank: World, reason_code: str) -> None:
    """Make sure that a reason code is one of the house.

    Raises
    ------
    ToolError
        If it is not.
    """
    if reason_code not in bank.vocabularies["reason_code"]:
        raise ToolError(f"{reason_code!r} is not a reason code of this house. The corpus lists them.")
