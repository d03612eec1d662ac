"""One SQLite store per episode, copied from a prepared template, that records every change of a row.

Changes are caught by triggers and not by the object mapper, so that no statement, however issued, can change
a row unseen. A template is built once per process; opening a store is one page-by-page SQLite backup.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Connection,
    Dialect,
    Engine,
    String,
    Table,
    TypeDecorator,
    create_engine,
    event,
)
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Session, SQLModel

from domains.kit.clock import iso
from domains.kit.json import JsonValue

LOG_TABLE: Final = "change_log"


class Moment(TypeDecorator[datetime]):
    """A point in time, kept as ISO 8601 text in UTC so that text order is time order."""

    impl = String(20)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Write an aware datetime."""
        return None if value is None else iso(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        """Read it back, aware and in UTC."""
        return None if value is None else datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


class ChangeKind(StrEnum):
    """What happened to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, order=True)
class RowRef:
    """The address of one row: table name and primary key as text."""

    table: str
    key: str


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after one statement; `before` is None for an insert, `after` for a delete."""

    kind: ChangeKind
    row: RowRef
    before: Mapping[str, JsonValue] | None
    after: Mapping[str, JsonValue] | None


def key_column(table: Table) -> str:
    """Return the name of a table's single primary-key column.

    Raises
    ------
    TypeError
        If the table has no primary key or one of several columns.
    """
    columns = list(table.primary_key.columns)
    if len(columns) != 1:
        raise TypeError(f"table {table.name} needs exactly one primary-key column, found {len(columns)}")
    return str(columns[0].name)


def plain(value: Any) -> JsonValue:
    """Turn a column value into the JSON form that the change log and the records use."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return str(value)
    return value


def row_values(row: SQLModel) -> dict[str, JsonValue]:
    """Return all columns of a mapped row in JSON form."""
    return {column.name: plain(getattr(row, column.name)) for column in table_of(type(row)).columns}


def table_of(model: type[SQLModel]) -> Table:
    """Return the SQLAlchemy table of a mapped SQLModel class."""
    table: Table = model.__table__  # type: ignore[attr-defined]
    return table


class StoreTemplate:
    """A prepared database from which fresh stores are copied.

    Parameters
    ----------
    models
        The mapped classes, in an order in which foreign keys point backwards.
    fill
        Writes the shared base rows through the connection it is given.
    """

    def __init__(self, models: Sequence[type[SQLModel]], fill: Callable[[Session], None]) -> None:
        self.models: Mapping[str, type[SQLModel]] = {table_of(model).name: model for model in models}
        self._key_columns = {name: key_column(table_of(model)) for name, model in self.models.items()}
        self._boolean_columns = {
            name: tuple(c.name for c in table_of(model).columns if isinstance(c.type, Boolean))
            for name, model in self.models.items()
        }
        self._template = sqlite3.connect(":memory:", check_same_thread=False)
        self._engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        event.listen(self._engine, "connect", _foreign_keys_on)
        self._build(fill)

    def _build(self, fill: Callable[[Session], None]) -> None:
        with self._engine.connect() as connection:
            for model in self.models.values():
                table = table_of(model)
                connection.execute(CreateTable(table))
                for index in sorted(table.indexes, key=lambda index: str(index.name)):
                    connection.execute(CreateIndex(index))
            connection.exec_driver_sql(
                f"CREATE TABLE {LOG_TABLE} (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, tbl TEXT NOT NULL,"
                " key TEXT NOT NULL, before TEXT, after TEXT)"
            )
            with Session(connection, expire_on_commit=False) as session:
                fill(session)
                session.commit()
            for statement in self._triggers():
                connection.exec_driver_sql(statement)
            connection.commit()
            raw = raw_connection(connection)
            raw.backup(self._template)

    def _triggers(self) -> Iterable[str]:
        for name, model in self.models.items():
            columns = [column.name for column in table_of(model).columns]
            key = self._key_columns[name]
            new, old = (
                "json_object(" + ", ".join(f"'{c}', {side}.\"{c}\"" for c in columns) + ")" for side in ("NEW", "OLD")
            )
            for kind, side, before, after in (
                (ChangeKind.INSERT, "NEW", "NULL", new),
                (ChangeKind.UPDATE, "NEW", old, new),
                (ChangeKind.DELETE, "OLD", old, "NULL"),
            ):
                yield (
                    f"CREATE TRIGGER log_{name}_{kind} AFTER {kind.upper()} ON {name} BEGIN"
                    f" INSERT INTO {LOG_TABLE} (kind, tbl, key, before, after)"
                    f" VALUES ('{kind}', '{name}', CAST({side}.\"{key}\" AS TEXT), {before}, {after}); END"
                )

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._template.backup(connection)
        return connection

    def open(self) -> Store:
        """Return a fresh copy of the template as a store of its own."""
        return Store(self, self._engine)

    def key_of(self, table: str) -> str:
        """Return the primary-key column of a table."""
        return self._key_columns[table]

    def decode(self, table: str, text: str | None) -> dict[str, JsonValue] | None:
        """Read one side of a logged change; SQLite's 0 and 1 become booleans where the column is one."""
        if text is None:
            return None
        values: dict[str, JsonValue] = json.loads(text)
        for column in self._boolean_columns[table]:
            if values[column] is not None:
                values[column] = bool(values[column])
        return values


class Store:
    """One episode's database: a session, and the changes made since the last look."""

    def __init__(self, template: StoreTemplate, engine: Engine) -> None:
        self.template = template
        self._connection = engine.connect()
        self._raw = raw_connection(self._connection)
        self.session = Session(self._connection, expire_on_commit=False)
        self._seen_total = self._raw.total_changes
        self._seen_seq = 0

    def insert(self, table: str, values: Mapping[str, Any]) -> None:
        """Insert one row with column values already of the column's Python type."""
        self._connection.execute(table_of(self.template.models[table]).insert(), dict(values))

    def update(self, table: str, key: str, values: Mapping[str, Any]) -> int:
        """Update the row with this key and return how many rows that touched (0 or 1)."""
        target = table_of(self.template.models[table])
        statement = target.update().where(target.c[self.template.key_of(table)] == key).values(dict(values))
        return self._connection.execute(statement).rowcount

    def commit(self) -> None:
        """Make what was written so far permanent for this store."""
        self.session.commit()

    def rollback(self) -> None:
        """Undo everything since the last commit."""
        self.session.rollback()

    def take_changes(self) -> tuple[Change, ...]:
        """Return the committed row changes since the last call, in the order in which they happened.

        An update that left every column as it was is no change and is not reported.
        """
        if self._raw.total_changes == self._seen_total:
            return ()
        rows = self._raw.execute(
            f"SELECT seq, kind, tbl, key, before, after FROM {LOG_TABLE} WHERE seq > ? ORDER BY seq",
            (self._seen_seq,),
        ).fetchall()
        self._seen_total = self._raw.total_changes
        changes = []
        for seq, kind, table, key, before, after in rows:
            self._seen_seq = seq
            if before == after:
                continue
            decode = self.template.decode
            changes.append(Change(ChangeKind(kind), RowRef(table, key), decode(table, before), decode(table, after)))
        return tuple(changes)

    def rows(self, table: str) -> list[dict[str, JsonValue]]:
        """Return every row of a table in JSON form, ordered by key.

        Raises
        ------
        KeyError
            If the table does not exist.
        """
        key = self.template.key_of(table)
        columns = [column.name for column in table_of(self.template.models[table]).columns]
        booleans = self.template._boolean_columns[table]
        found = self._raw.execute(f'SELECT {", ".join(columns)} FROM {table} ORDER BY "{key}"').fetchall()
        rows = [dict(zip(columns, values, strict=True)) for values in found]
        for row in rows:
            for column in booleans:
                if row[column] is not None:
                    row[column] = bool(row[column])
        return rows

    def close(self) -> None:
        """Release the database; the store cannot be used afterwards."""
        self.session.close()
        self._connection.close()


def raw_connection(connection: Connection) -> sqlite3.Connection:
    """Return the sqlite3 connection below a SQLAlchemy one.

    Raises
    ------
    TypeError
        If the driver below is another one.
    """
    raw = connection.connection.driver_connection
    if not isinstance(raw, sqlite3.Connection):
        raise TypeError(f"expected a sqlite3 connection, found {type(raw).__name__}")
    return raw


def _foreign_keys_on(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
