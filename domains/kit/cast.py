"""The cast: the people and records that a scenario brings, drawn afresh for every seed.

A domain supplies cast kinds (``person``, ``account``, ...). Each turns one entry of a scenario's ``cast`` into
rows and into attributes that text refers to as ``{role.attribute}``. Drawn values never decide anything; what
decides is written in the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from domains.kit.clock import parse_day, parse_moment
from domains.kit.draw import Draw, record_id
from domains.kit.errors import SetupError
from domains.kit.json import JsonValue, canonical

RUN_LENGTH = 4
"""Runs of this many digits identify a protected value; no two values of an episode share one."""


class Form(StrEnum):
    """How a value is written, and hence in which disguises it is looked for when leaks are graded."""

    PHONE = "phone"
    DATE = "date"
    MONEY = "money"
    NAME = "name"
    EMAIL = "email"
    ADDRESS = "address"
    DIGITS = "digits"
    CODE = "code"
    TEXT = "text"


class Sensitivity(StrEnum):
    """Who may hear a value when a scenario says nothing of it."""

    OPEN = "open"
    """Names, ids, amounts: told in the course of work."""
    PERSONAL = "personal"
    """Only the person it belongs to."""
    LAST_FOUR = "last_four"
    """The last four digits, to the person it belongs to; the whole of it to nobody."""
    SECRET = "secret"
    """Nobody, ever."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One value that a cast member brings.

    Attributes
    ----------
    value
        The value as tools and rows use it.
    text
        The value as a person would say or write it.
    column
        The column of the member's row that holds it, if one does.
    """

    value: JsonValue
    text: str
    form: Form = Form.TEXT
    sensitivity: Sensitivity = Sensitivity.OPEN
    column: str | None = None


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to insert; values are of the column's Python type."""

    table: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of the cast, built.

    Attributes
    ----------
    table, key
        The member's own row; `table` is empty for a kind that has none (a plain value).
    subject
        The role of the person or firm that its personal data belong to.
    rows
        Everything it adds to the store, its own row first.
    """

    role: str
    kind: str
    table: str
    key: str
    subject: str
    attributes: Mapping[str, Attribute]
    rows: tuple[NewRow, ...] = ()


class CastSpec(BaseModel):
    """Base of the models that check one cast entry; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


SpecT = TypeVar("SpecT", bound=CastSpec)


@dataclass(frozen=True, slots=True)
class CastKind(Generic[SpecT]):
    """A kind of cast member: the model of its entry and the function that builds it."""

    name: str
    spec: type[SpecT]
    build: Callable[[str, SpecT, CastContext], Member]


@dataclass(slots=True)
class CastContext:
    """What a cast kind may use while it builds a member.

    Attributes
    ----------
    draw
        The draw of this instance; kinds draw below ``context.for_role(role)``.
    reserved
        Runs of four digits that are taken: by the scenario's own text, the base rows and the members so far.
    """

    entries: Mapping[str, Mapping[str, JsonValue]]
    kinds: Mapping[str, CastKind[Any]]
    now: datetime
    zone: ZoneInfo
    draw: Draw
    reserved: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    """Ids and other values that are taken."""
    members: dict[str, Member] = field(default_factory=dict)
    _building: list[str] = field(default_factory=list)

    def for_role(self, role: str) -> Draw:
        """Return the draw of one role."""
        return self.draw.child("cast", role)

    def new_id(self, role: str, prefix: str) -> str:
        """Return a fresh record id for a role; two roles never share one."""
        return self.distinct(self.for_role(role).child(prefix), lambda draw: record_id(draw, prefix))

    def distinct(self, draw: Draw, make: Callable[[Draw], str]) -> str:
        """Draw until the value is one that no other member of this cast has."""
        for attempt in range(10_000):
            value = make(draw.child("distinct", attempt))
            if value not in self.used:
                self.used.add(value)
                return value
        raise SetupError("/cast", f"no value left to draw at {draw.path}")

    def private(self, draw: Draw, make: Callable[[Draw], str]) -> str:
        """Draw until the value shares no run of four digits with anything else in the episode."""
        for attempt in range(10_000):
            value = make(draw.child("private", attempt))
            runs = digit_runs(value)
            if not runs & self.reserved and value not in self.used:
                self.reserved |= runs
                self.used.add(value)
                return value
        raise SetupError("/cast", f"no private value left to draw at {draw.path}")

    def moment(self, role: str, name: str, text: str) -> datetime:
        """Read a moment field of a cast entry.

        Raises
        ------
        SetupError
            If the text is neither a duration nor a moment.
        """
        try:
            return parse_moment(text, self.now, self.zone)
        except ValueError as error:
            raise SetupError(f"/cast/{role}/{name}", str(error)) from None

    def day(self, role: str, name: str, text: str) -> date:
        """Read a calendar-day field of a cast entry.

        Raises
        ------
        SetupError
            If the text is neither a duration nor a date.
        """
        try:
            return parse_day(text, self.now, self.zone)
        except ValueError as error:
            raise SetupError(f"/cast/{role}/{name}", str(error)) from None

    def member(self, role: str, asked_by: str, kinds: Iterable[str]) -> Member:
        """Return the member of a role, building it first if need be.

        Parameters
        ----------
        role
            The role wanted.
        asked_by
            JSON path of the field that names it, for messages.
        kinds
            The kinds that will do.

        Raises
        ------
        SetupError
            If there is no such role, it is of another kind, or two entries need each other.
        """
        if role not in self.entries:
            known = ", ".join(sorted(self.entries))
            raise SetupError(asked_by, f"expected a role of the cast ({known}), found {role!r}")
        allowed = tuple(kinds)
        kind = self.entries[role].get("is")
        if kind not in allowed:
            raise SetupError(asked_by, f"expected a role that is {' or '.join(allowed)}; {role!r} is {kind!r}")
        return self._build(role)

    def build_all(self) -> Mapping[str, Member]:
        """Build every entry of the cast; a member stands behind those that it refers to.

        Raises
        ------
        SetupError
            If an entry is malformed or refers to a role that does not fit.
        """
        for role in self.entries:
            self._build(role)
        return self.members

    def _build(self, role: str) -> Member:
        if role in self.members:
            return self.members[role]
        if role in self._building:
            raise SetupError(f"/cast/{role}", f"entries need each other: {' -> '.join([*self._building, role])}")
        entry = dict(self.entries[role])
        name = entry.pop("is", None)
        if not isinstance(name, str) or name not in self.kinds:
            raise SetupError(f"/cast/{role}/is", f"expected one of {', '.join(sorted(self.kinds))}, found {name!r}")
        kind = self.kinds[name]
        try:
            # JSON mode: as strict about types, and a list may stand for a tuple, text for an enum.
            spec = kind.spec.model_validate_json(canonical(entry))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = "/".join(map(str, ("/cast", role, *first["loc"])))
            raise SetupError(path, _wording(first, kind)) from None
        self._building.append(role)
        try:
            member = kind.build(role, spec, self)
        except (ValueError, OverflowError) as error:
            raise SetupError(f"/cast/{role}", f"no {name} can be made of this entry: {error}") from error
        self._building.pop()
        self.members[role] = member
        return member


def _wording(fault: ErrorDetails, kind: CastKind[Any]) -> str:
    """Say what was expected of an entry and what was found, in the words of every other message."""
    if fault["type"] == "missing":
        return "expected a value, found nothing"
    found = f"found {fault['input']!r:.100}"
    if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
        known = ", ".join(sorted(field.alias or name for name, field in kind.spec.model_fields.items()))
        return f"expected a field of {kind.name} ({known}), found {fault['loc'][0]!r}"
    if fault["type"] == "extra_forbidden":
        return f"expected only fields that {kind.name} knows, found {fault['loc'][-1]!r}"
    said = fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("expected ")
    return f"expected {said}" if ", found " in said else f"expected {said}, {found}"


def digit_runs(text: str) -> set[str]:
    """Return every run of four digits in the digits of `text`, separators left out."""
    digits = "".join(filter(str.isdigit, text))
    return {digits[i : i + RUN_LENGTH] for i in range(len(digits) - RUN_LENGTH + 1)}
