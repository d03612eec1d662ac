"""What the cast kinds share: amounts, moments and words as scenarios write them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from domains.kit.cast import Attribute, CastContext, Form, Member, Sensitivity, digit_runs
from domains.kit.draw import Draw
from domains.kit.errors import SetupError
from domains.kit.json import JsonValue

_REFERENCE: Final = re.compile(r"\{\{|\}\}|\{(\w+)(?:\.(\w+))?\}")


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money in cents: fixed if both ends agree, else drawn between them, both included."""

    low: int
    high: int


def _read_amount(value: object) -> Amount:
    if isinstance(value, Amount):
        return value
    if isinstance(value, dict) and set(value) == {"between"}:
        ends = value["between"]
        if isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends) and ends[0] < ends[1]:
            return Amount(ends[0], ends[1])
    if type(value) is int:
        return Amount(value, value)
    raise ValueError(f'expected cents as an integer or {{"between": [low, high]}} with low < high, found {value!r}')


def _read_positive(value: object) -> Amount:
    amount = _read_amount(value)
    if amount.low < 0:
        raise ValueError(f"expected an amount of 0 or more, found {amount.low}")
    return amount


def _schema(**bounds: int) -> WithJsonSchema:
    integer = {"type": "integer", **bounds}
    between = {"type": "array", "items": integer, "minItems": 2, "maxItems": 2}
    choice = {
        "type": "object",
        "properties": {"between": between},
        "required": ["between"],
        "additionalProperties": False,
    }
    return WithJsonSchema({"anyOf": [integer, choice]})


Cents = Annotated[Amount, BeforeValidator(_read_positive), _schema(minimum=0)]
"""Cents, 0 or more: an integer, or ``{"between": [low, high]}`` where the amount decides nothing."""

SignedCents = Annotated[Amount, BeforeValidator(_read_amount), _schema()]
"""Cents, negative for money out: an integer, or ``{"between": [low, high]}``."""


def drawn(low: int, high: int) -> Any:
    """Declare the default of an amount that is drawn between two ends, in cents."""
    return Field(default_factory=lambda: Amount(low, high))


def fixed(amount_cents: int) -> Any:
    """Declare the default of an amount in cents that may decide something and is never drawn."""
    return drawn(amount_cents, amount_cents)


def cents(context: CastContext, role: str, name: str, amount: Amount) -> int:
    """Return the amount of a field in cents.

    A drawn amount shares no run of four digits with anything else in the episode.

    Raises
    ------
    SetupError
        If no such amount is left between the ends.
    """
    if amount.low == amount.high:
        context.reserved |= digit_runs(dollars(amount.low))
        return amount.low
    written: dict[str, int] = {}

    def write(draw: Draw) -> str:
        value = draw.integer(amount.low, amount.high)
        text = f"{name} {dollars(value)}"
        written[text] = value
        return text

    try:
        return written[context.private(context.for_role(role).child(name), write)]
    except SetupError:
        problem = f"no amount left between {amount.low} and {amount.high} that shares no digits; widen the range"
        raise SetupError(f"/cast/{role}/{name}", problem) from None


def dollars(amount_cents: int) -> str:
    """Write an amount as people do, without its sign: ``$25,000.00``."""
    return f"${abs(amount_cents) // 100:,}.{abs(amount_cents) % 100:02d}"


def money(amount_cents: int, column: str | None = "amount_cents", **more: Any) -> Attribute:
    """Return the attribute of an amount; its value is in cents."""
    return Attribute(amount_cents, dollars(amount_cents), Form.MONEY, column=column, **more)


def plain(value: JsonValue, column: str | None = None) -> Attribute:
    """Return an open attribute that is written as it is stored."""
    return Attribute(value, str(value), column=column)


def name_of(text: str, column: str | None = "name") -> Attribute:
    """Return the attribute of somebody's name."""
    return Attribute(text, text, Form.NAME, column=column)


def personal(text: str, form: Form, column: str | None = None) -> Attribute:
    """Return an attribute that only the person it belongs to may hear."""
    return Attribute(text, text, form, Sensitivity.PERSONAL, column)


def secret(text: str, form: Form, column: str | None = None) -> Attribute:
    """Return an attribute that nobody may hear."""
    return Attribute(text, text, form, Sensitivity.SECRET, column)


def day(value: date, column: str | None = None, sensitivity: Sensitivity = Sensitivity.OPEN) -> Attribute:
    """Return the attribute of a calendar day, written ``4 March 1984``."""
    text = f"{value.day} {calendar.month_name[value.month]} {value.year}"
    return Attribute(value.isoformat(), text, Form.DATE, sensitivity, column)


def month_end(context: CastContext, moment: datetime) -> date:
    """Return the last day of the month of a moment, in the bank's time zone."""
    local = moment.astimezone(context.zone).date()
    return local.replace(day=calendar.monthrange(local.year, local.month)[1])


def customer(context: CastContext, role: str, name: str, wanted: str, kinds: Iterable[str]) -> Member:
    """Return the member of another role, who must be a customer of the bank.

    Parameters
    ----------
    context
        The cast under construction.
    role, name
        The entry and the field that ask.
    wanted
        The role named there.
    kinds
        The kinds that will do.

    Raises
    ------
    SetupError
        If the role is missing, of another kind, or no customer.
    """
    member = context.member(wanted, f"/cast/{role}/{name}", kinds)
    if member.table != "customers":
        raise SetupError(f"/cast/{role}/{name}", f"expected a customer; {wanted!r} has no record (customer: false)")
    return member


def column(member: Member, name: str) -> Any:
    """Return what the member's own row holds in a column."""
    return member.rows[0].values[name]


def filled(context: CastContext, role: str, name: str, text: str) -> str:
    """Return a text field with every ``{role.attribute}`` in it replaced by what that attribute reads.

    Doubled braces stand for themselves.

    Raises
    ------
    SetupError
        If a role or attribute named in it does not exist.
    """

    def read(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        path = f"/cast/{role}/{name}"
        member = context.member(match[1], path, context.kinds)
        attribute = member.attributes.get(match[2] or "text")
        if attribute is None:
            known = ", ".join(sorted(member.attributes))
            raise SetupError(path, f"expected an attribute of {match[1]!r} ({known}), found {match[0]}")
        return attribute.text

    return _REFERENCE.sub(read, text)
