"""What the parcel counter keeps: people, their parcels, who may collect for whom, and tries at pick-up codes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from domains.kit.store import Moment


class CounterRow(SQLModel, registry=registry()):
    """Base of the counter's tables; its own registry leaves other domains' table names free."""


class Person(CounterRow, table=True):
    """Somebody who gets parcels."""

    __tablename__ = "people"

    id: str = Field(primary_key=True)
    name: str
    phone: str


class Parcel(CounterRow, table=True):
    """A parcel on the shelf or handed over."""

    __tablename__ = "parcels"

    id: str = Field(primary_key=True)
    addressee_id: str = Field(foreign_key="people.id", index=True)
    pickup_code: str
    status: str = "waiting"
    """waiting or collected."""
    arrived_at: datetime = Field(sa_type=Moment)
    collected_by: str | None = Field(default=None, foreign_key="people.id")


class Mandate(CounterRow, table=True):
    """An addressee's written word that somebody else may collect."""

    __tablename__ = "mandates"

    id: str = Field(primary_key=True)
    parcel_id: str = Field(foreign_key="parcels.id", index=True)
    collector_id: str = Field(foreign_key="people.id")


class CodeTry(CounterRow, table=True):
    """One try at a pick-up code."""

    __tablename__ = "code_tries"

    id: str = Field(primary_key=True)
    parcel_id: str = Field(foreign_key="parcels.id", index=True)
    matched: bool
    at: datetime = Field(sa_type=Moment)
