"""What all bank tables share."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from domains.kit.store import Moment


class BankRow(SQLModel, registry=registry()):
    """Base of the bank's tables; a registry of its own keeps other domains' table names free."""


def key() -> Any:
    """Declare the text primary key."""
    return Field(primary_key=True)


def ref(target: str, *, optional: bool = False, indexed: bool = False) -> Any:
    """Declare a foreign key to ``table.column``.

    Only tables of hundreds of rows are worth an index: every bank that is opened pays for each.
    """
    if optional:
        return Field(default=None, foreign_key=target, index=indexed)
    return Field(foreign_key=target, index=indexed)


def moment() -> Any:
    """Declare a required point in time."""
    return Field(sa_type=Moment)


def optional_moment() -> Any:
    """Declare a point in time that may be unset."""
    return Field(default=None, sa_type=Moment)
