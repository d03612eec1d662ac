"""One SQLite store per episode, copied from a prepared template, that records every change of a row.

Changes are caught by triggers and not by the object mapper, so that no statement, however issued, can change
a row unseen. A template is built once per process. A store is a page-by-page copy of it and lives in one
transaction, which is rolled back when the store is closed: what is left is the template again, and the next store
takes it over, with all that SQLite has learned of tables and statements.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Date,
    Dialect,
    Enum,
    Float,
    Integer,
    String,
    Table,
    TypeDecorator,
    bindparam,
    create_engine,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Session, SQLModel, select
from sqlmodel.sql.expression import SelectOfScalar

from domains.kit.clock import iso
from domains.kit.errors import StoreEnded
from domains.kit.json import JsonValue

RowT = TypeVar("RowT", bound=SQLModel)

LOG_TABLE: Final = "change_log"
_SAVEPOINT: Final = "since_commit"
_IDLE_STORES: Final = 64
_PAGE_BYTES: Final = 1024


class Moment(TypeDecorator[datetime]):
    """A point in time, kept as ISO 8601 text in UTC so that text order is time order."""

    impl = String(20)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Write an aware datetime."""
        return None if value is None else iso(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        """Read it back, aware and in UTC."""
        return None if value is None else datetime.fromisoformat(value)


_COLUMN_TYPES: Final = (String, Integer, Float, Boolean, Date, Moment)


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


@cache
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
    return {name: plain(getattr(row, name)) for name in _column_names(table_of(type(row)))}


@cache
def _column_names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def table_of(model: type[SQLModel]) -> Table:
    """Return the SQLAlchemy table of a mapped SQLModel class."""
    table: Table = model.__table__  # type: ignore[attr-defined]
    return table


class _Connection(sqlite3.Connection):
    """A connection on which only its store ends a transaction.

    The object mapper and the tools may "commit" and "roll back" as they please: nothing is permanent, and nothing
    is lost, before the store says so.
    """

    def commit(self) -> None:
        """Leave it to the store."""

    def rollback(self) -> None:
        """Leave it to the store."""


_quoted: Final = sqlite.dialect().identifier_preparer.quote
"""Quotes a name where it must be: each store that is opened reads the schema, and faster without needless quotes."""


class StoreTemplate:
    """A prepared database from which fresh stores are copied.

    Parameters
    ----------
    models
        The mapped classes, in an order in which foreign keys point backwards.
    fill
        Writes the shared base rows through the session it is given.

    Raises
    ------
    TypeError
        If a table has not exactly one primary-key column, a column of a type whose values the change log and the
        object mapper would write differently, or a default that is computed.
    """

    def __init__(self, models: Sequence[type[SQLModel]], fill: Callable[[Session], None]) -> None:
        self.models: Mapping[str, type[SQLModel]] = {table_of(model).name: model for model in models}
        self._tables = {name: _Layout.of(table_of(model)) for name, model in self.models.items()}
        self._template = sqlite3.connect(":memory:", check_same_thread=False)
        self._template.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        self._engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        self._idle: deque[Connection] = deque()
        self._build(fill)
        self.keys = frozenset(key for name in self.models for (key,) in self._template.execute(_keys_of(self, name)))
        """The keys of all base rows, as text."""

    def _build(self, fill: Callable[[Session], None]) -> None:
        with self._engine.connect() as connection:
            for model in self.models.values():
                table = table_of(model)
                connection.execute(CreateTable(table))
                for index in sorted(table.indexes, key=lambda index: str(index.name)):
                    connection.execute(CreateIndex(index))
            connection.exec_driver_sql(
                f"CREATE TABLE {LOG_TABLE} (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, tbl TEXT NOT NULL,"
                " key TEXT NOT NULL, before TEXT)"
            )
            with Session(connection, expire_on_commit=False) as session:
                fill(session)
                session.commit()
            for name, layout in self._tables.items():
                for statement in layout.triggers(name):
                    connection.exec_driver_sql(statement)
            raw = raw_connection(connection)
            raw.execute("COMMIT")
            raw.backup(self._template)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            ":memory:", check_same_thread=False, isolation_level=None, cached_statements=512, factory=_Connection
        )
        # Most tables hold a few rows: small pages waste less, in the copy and among the pages kept for a rollback.
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        self._template.backup(connection)
        # A row that REPLACE removes is logged only if triggers fire for it, which SQLite calls recursive.
        connection.executescript("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; BEGIN")
        return connection

    def open(self) -> Store:
        """Return a fresh copy of the template as a store of its own."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._engine.connect()
        return Store(self, connection)

    def take_back(self, connection: Connection, *, is_sound: bool) -> None:
        """Undo whatever was done on the connection of a closed store, and keep it for the next one."""
        raw = raw_connection(connection)
        if is_sound and raw.in_transaction and len(self._idle) < _IDLE_STORES:
            raw.execute("ROLLBACK")
            raw.execute("BEGIN")
            self._idle.append(connection)
        else:
            connection.close()

    def key_of(self, table: str) -> str:
        """Return the primary-key column of a table."""
        return self._tables[table].key

    def insertion(self, table: str) -> tuple[str, Mapping[str, JsonValue]]:
        """Return the statement that inserts a row of a table, and the default of each column."""
        layout = self._tables[table]
        return layout.insertion, layout.defaults

    def selection(self, table: str, *, by_key: bool = False) -> str:
        """Return the statement that reads a table in the order of its keys, or the row with one key."""
        layout = self._tables[table]
        which = f'WHERE "{layout.key}" = ?' if by_key else f'ORDER BY "{layout.key}"'
        return f"{layout.selection} {which}"

    def columns_of(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table in their order."""
        return self._tables[table].columns

    def decode(self, table: str, text: str | None) -> dict[str, JsonValue] | None:
        """Read a row as it was logged."""
        return None if text is None else self.row(table, json.loads(text))

    def row(self, table: str, values: Iterable[JsonValue]) -> dict[str, JsonValue]:
        """Return the stored values of a row by column, in JSON form."""
        return self.restore(table, dict(zip(self.columns_of(table), values, strict=True)))

    def restore(self, table: str, values: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Give stored values the types of their columns: SQLite has no booleans, and the log writes floats as text."""
        layout = self._tables[table]
        for column in layout.booleans:
            if values[column] is not None:
                values[column] = bool(values[column])
        for column in layout.floats:
            if values[column] is not None:
                values[column] = float(values[column])
        return values


def _default(column: Column[Any]) -> JsonValue:
    default = column.default
    if default is None:
        return None
    if not default.is_scalar:
        raise TypeError(f"{column.table.name}.{column.name}: expected a plain default, found {default!r}")
    return plain(getattr(default, "arg"))  # noqa: B009 - only scalar defaults have it, which the type does not say


def _keys_of(template: StoreTemplate, table: str) -> str:
    return f'SELECT CAST("{template.key_of(table)}" AS TEXT) FROM "{table}"'


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of one table, as the change log needs them."""

    key: str
    columns: tuple[str, ...]
    booleans: tuple[str, ...]
    floats: tuple[str, ...]
    defaults: Mapping[str, JsonValue]
    insertion: str
    selection: str

    @staticmethod
    def of(table: Table) -> _Layout:
        for column in table.columns:
            kind = column.type
            if isinstance(kind, TypeDecorator) and not isinstance(kind, Moment):
                kind = kind.impl_instance
            if not isinstance(kind, _COLUMN_TYPES) or isinstance(kind, Enum):
                raise TypeError(
                    f"{table.name}.{column.name}: expected a column of text, whole numbers, floats, booleans, dates or"
                    f" Moments; found {type(column.type).__name__}"
                )
        names = [f'"{column.name}"' for column in table.columns]
        holders = [f":{column.name}" for column in table.columns]
        return _Layout(
            key=key_column(table),
            columns=_column_names(table),
            booleans=tuple(column.name for column in table.columns if isinstance(column.type, Boolean)),
            floats=tuple(column.name for column in table.columns if isinstance(column.type, Float)),
            defaults={column.name: _default(column) for column in table.columns},
            insertion=f'INSERT INTO "{table.name}" ({", ".join(names)}) VALUES ({", ".join(holders)})',
            selection=f'SELECT {", ".join(names)} FROM "{table.name}"',
        )

    def triggers(self, table: str) -> Iterable[str]:
        """Return the statements that log every change: which row, and what it held before.

        What it held afterwards is what it held before its next change, or holds now. The statements are kept short,
        rows as lists without names: each store that is opened reads them and holds them in memory.
        """
        old = self._as_json("OLD")
        for kind, side, before in (
            (ChangeKind.INSERT, "NEW", "NULL"),
            (ChangeKind.UPDATE, "NEW", old),
            (ChangeKind.DELETE, "OLD", old),
        ):
            yield (
                f'CREATE TRIGGER "log_{table}_{kind}" AFTER {kind.upper()} ON "{table}" BEGIN'
                f" INSERT INTO {LOG_TABLE} VALUES"
                f" (NULL, '{kind}', '{table}', {side}.{_quoted(self.key)}, {before}); END"
            )

    def _as_json(self, side: str) -> str:
        # SQLite writes a float with 15 digits, which does not bring every float back; 17 do.
        values = {name: f"{side}.{_quoted(name)}" for name in self.columns}
        for name in self.floats:
            values[name] = f"CASE WHEN {values[name]} IS NOT NULL THEN printf('%!.17g', {values[name]}) END"
        return f"json_array({', '.join(values.values())})"


class Store:
    """One episode's database: a session, and the changes made since the last look.

    What is written is undone by `rollback` until `commit` makes it permanent, whoever wrote it and however.
    """

    def __init__(self, template: StoreTemplate, connection: Connection) -> None:
        self.template = template
        self._connection = connection
        self._raw = raw_connection(connection)
        self._raw.execute(f"SAVEPOINT {_SAVEPOINT}")
        self._is_sound = True
        self._is_closed = False
        self.session = Session(self._connection, expire_on_commit=False)
        self._inserted: set[str] = set()
        self._seen_total = self._kept_total = self._known_total = self._raw.total_changes
        self._seen_seq = self._known_seq = 0
        self._known: dict[str, dict[tuple[Any, ...], list[Any]]] = {}

    # -------------------------------------------------------------------- reading

    def select(self, model: type[RowT], values: Mapping[str, Any]) -> list[RowT]:
        """Return the rows whose columns have these values, in the order of their keys.

        Raises
        ------
        KeyError
            If a column does not exist.
        """
        is_there, query = _query(model, tuple(values))
        self.session.flush()
        # Most look-ups find nothing. SQLite says so in a fraction of the time that the object mapper takes.
        if self._raw.execute(is_there, [plain(value) for value in values.values()]).fetchone() is None:
            return []
        return list(self.session.exec(query, params=dict(values)))

    def recall(self, model: type[RowT], values: Mapping[str, Any]) -> list[RowT]:
        """Return what `select` does, from memory if no row of the table has changed since.

        The rows are for reading only: a change to one of them may never be written.
        """
        self._forget_what_changed()
        known = self._known.setdefault(table_of(model).name, {})
        wanted = (*values, *values.values())
        if wanted not in known:
            known[wanted] = self.select(model, values)
        return known[wanted]

    def _forget_what_changed(self) -> None:
        if self._raw.total_changes != self._known_total:
            self._known_total = self._raw.total_changes
            logged = f"SELECT seq, tbl FROM {LOG_TABLE} WHERE seq > ? ORDER BY seq"
            for seq, table in self._raw.execute(logged, (self._known_seq,)).fetchall():
                self._known_seq = seq
                self._known.pop(table, None)

    # -------------------------------------------------------------------- writing

    def insert(self, table: str, values: Mapping[str, Any]) -> None:
        """Insert one row for good, with values of the columns' Python types; columns left out take their defaults.

        Raises
        ------
        KeyError
            If the table or a column does not exist.
        sqlite3.Error
            If the row breaks a constraint.
        """
        statement, defaults = self.template.insertion(table)
        given = {name: plain(value) for name, value in values.items()}
        if not given.keys() <= defaults.keys():
            raise KeyError(f"{table} has no column {', '.join(sorted(given.keys() - defaults.keys()))}")
        self._raw.execute(statement, {**defaults, **given})
        self._inserted.add(str(given[self.template.key_of(table)]))
        self._keep()

    def update(self, table: str, key: str, values: Mapping[str, Any]) -> int:
        """Update the row with this key for good and return how many rows that touched (0 or 1)."""
        target = table_of(self.template.models[table])
        statement = target.update().where(target.c[self.template.key_of(table)] == key).values(dict(values))
        touched = self._connection.execute(statement).rowcount
        self.commit()
        return touched

    def has_key(self, key: str) -> bool:
        """Tell whether a base row or a row that was inserted here has this key, in whichever table."""
        return key in self.template.keys or key in self._inserted

    def commit(self) -> None:
        """Make what was written so far permanent for this store.

        Raises
        ------
        StoreEnded
            If a statement has ended the transaction in which the store lives.
        """
        if self.session.in_nested_transaction():
            self.session.commit()
        # The session's own transaction stays open: to end it and begin another takes as long as a query.
        self.session.flush()
        self._forget()
        self._keep()

    def rollback(self) -> None:
        """Undo everything since the last commit.

        Raises
        ------
        StoreEnded
            If a statement has ended the transaction in which the store lives.
        """
        # Forgotten first: a row that somebody still holds keeps the values that it was read with.
        self._forget()
        if self.session.in_nested_transaction() or not self.session.is_active:
            self.session.rollback()
        self._run(f"ROLLBACK TO {_SAVEPOINT}")
        if self._raw.total_changes != self._kept_total:
            # What was read may have been taken back, and its numbers in the log are given out anew.
            self._known, self._known_seq = {}, self._seen_seq

    def _forget(self) -> None:
        # Rows that the session remembers may have been changed by plain SQL or taken back: each call reads afresh.
        self.session.expunge_all()

    def _keep(self) -> None:
        self._run(f"RELEASE {_SAVEPOINT}")
        self._run(f"SAVEPOINT {_SAVEPOINT}")
        self._kept_total = self._raw.total_changes

    def _run(self, statement: str) -> None:
        try:
            self._raw.execute(statement)
        except sqlite3.OperationalError as error:
            self._is_sound = False
            raise StoreEnded(f"a statement has ended the transaction of the store, which is lost: {error}") from error

    def settle(self) -> None:
        """Let whatever has been written so far count as having been there from the beginning."""
        self._seen_total = self._raw.total_changes
        (self._seen_seq,) = self._raw.execute(f"SELECT coalesce(max(seq), 0) FROM {LOG_TABLE}").fetchone()

    def take_changes(self) -> tuple[Change, ...]:
        """Return the committed row changes since the last call, in the order in which they happened.

        An update that left every column as it was is no change and is not reported.
        """
        if self._raw.total_changes == self._seen_total:
            return ()
        logged = self._raw.execute(
            f"SELECT seq, kind, tbl, key, before FROM {LOG_TABLE} WHERE seq > ? ORDER BY seq DESC", (self._seen_seq,)
        ).fetchall()
        self._seen_total = self._raw.total_changes
        changes: list[Change] = []
        # Walked backwards from the rows as they are now: what a row held after a change is known by then.
        held: dict[RowRef, dict[str, JsonValue] | None] = {}
        for seq, kind, table, key, before in logged:
            self._seen_seq = max(seq, self._seen_seq)
            row, old = RowRef(table, key), self.template.decode(table, before)
            new = held[row] if row in held else self._row(row)
            changes += self._changes(ChangeKind(kind), row, old, new)
            held[row] = None
            if old is not None:
                held[RowRef(table, str(old[self.template.key_of(table)]))] = old
        return tuple(reversed(changes))

    def _row(self, row: RowRef) -> dict[str, JsonValue] | None:
        found = self._raw.execute(self.template.selection(row.table, by_key=True), (row.key,)).fetchone()
        return None if found is None else self.template.row(row.table, found)

    def _changes(
        self, kind: ChangeKind, row: RowRef, old: dict[str, JsonValue] | None, new: dict[str, JsonValue] | None
    ) -> Iterable[Change]:
        """Return one logged change, the last part first.

        Nothing has changed if all columns are as they were; a row whose key has changed is one that is gone and
        another that has come.
        """
        if old == new:
            return ()
        key = self.template.key_of(row.table)
        if old is None or new is None or old[key] == new[key]:
            return (Change(kind, row, old, new),)
        gone = Change(ChangeKind.DELETE, RowRef(row.table, str(old[key])), old, None)
        return (Change(ChangeKind.INSERT, row, None, new), gone)

    def rows(self, table: str) -> list[dict[str, JsonValue]]:
        """Return every row of a table in JSON form, ordered by key.

        Raises
        ------
        KeyError
            If the table does not exist.
        """
        found = self._raw.execute(self.template.selection(table)).fetchall()
        return [self.template.row(table, values) for values in found]

    def close(self) -> None:
        """Release the database; the store cannot be used afterwards."""
        if not self._is_closed:
            self._is_closed = True
            self.session.close()
            self.template.take_back(self._connection, is_sound=self._is_sound)


@cache
def _query(model: type[RowT], columns: tuple[str, ...]) -> tuple[str, SelectOfScalar[RowT]]:
    """Build once what finds rows by equality: whether there are any, in plain SQL, and the rows."""
    table = table_of(model)
    conditions = [table.c[name].is_not_distinct_from(bindparam(name)) for name in columns]
    query = select(model).where(*conditions).order_by(table.c[key_column(table)])
    where = " AND ".join(f'"{name}" IS ?' for name in columns)
    return f'SELECT 1 FROM "{table.name}" WHERE {where or 1} LIMIT 1', query


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
