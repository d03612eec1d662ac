"""Cast kinds without a record: values that people say, such as a new e-mail address or an amount."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, Final, Literal

from pydantic import Field

from domains.banking.cast import private
from domains.banking.cast.fields import Cents, cents, day, drawn, filled, money, name_of, plain
from domains.kit.cast import Attribute, CastContext, CastKind, CastSpec, Form, Member, digit_runs
from domains.kit.draw import Draw
from domains.kit.errors import SetupError

_ALIKE: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"


class Money(CastSpec):
    """An amount that somebody names."""

    cents: Cents = drawn(41_000, 98_000)


class TextValue(CastSpec):
    """Words; every ``{role.attribute}`` in them is filled in."""

    text: str


class Pin(CastSpec):
    """A PIN that somebody wants: written, or standing in a relation to a birth date, or strong."""

    digits: str | None = Field(default=None, pattern=r"^\d{4}$")
    relation: Literal["birth_year", "day_month", "month_day", "run", "repeated", "random_strong"] = "random_strong"
    of: str | None = None


class Code(CastSpec):
    """A one-time code, unlike every other; or a person's recovery code with one letter wrong."""

    near_miss_of: str | None = None


class FreshValue(CastSpec):
    """A value that nobody has on record."""


class EmailAddress(CastSpec):
    """An e-mail address that nobody has on record, made of a person's name if one is given."""

    of: str | None = None


class Day(CastSpec):
    """A calendar day: `on` as an offset or a date, else the birth date of an adult who is nobody in the cast."""

    on: str | None = None


def _value(role: str, kind: str, text: str, form: Form, **more: Attribute) -> Member:
    said = Attribute(text, text, form)
    return Member(role, kind, "", "", role, {"text": said, "value": said, **more})


def build_money(role: str, spec: Money, context: CastContext) -> Member:
    """Build an amount; its value is in cents."""
    amount = cents(context, role, "cents", spec.cents)
    said = money(amount, None)
    return Member(role, "money", "", "", role, {"text": said, "amount": said, "cents": plain(amount)})


def build_text_value(role: str, spec: TextValue, context: CastContext) -> Member:
    """Build a piece of text."""
    return _value(role, "text_value", filled(context, role, "text", spec.text), Form.TEXT)


def build_pin(role: str, spec: Pin, context: CastContext) -> Member:
    """Build a PIN."""
    if spec.digits is not None:
        if {"relation", "of"} & spec.model_fields_set:
            raise SetupError(f"/cast/{role}/digits", "expected either digits or a relation, found both")
        context.reserved |= digit_runs(spec.digits)
        return _value(role, "pin", spec.digits, Form.DIGITS)
    draw = context.for_role(role)
    if spec.relation == "random_strong":
        return _value(role, "pin", private.pin(context, draw), Form.DIGITS)
    if spec.relation in ("run", "repeated"):
        return _value(role, "pin", private.fresh(context, draw, _PATTERNS[spec.relation]), Form.DIGITS)
    if spec.of is None:
        raise SetupError(f"/cast/{role}/of", f"expected the person whose birth date gives the {spec.relation}")
    person = context.member(spec.of, f"/cast/{role}/of", ["person"])
    born = date.fromisoformat(str(person.attributes["date_of_birth"].value))
    digits = {
        "birth_year": f"{born.year}",
        "day_month": f"{born.day:02d}{born.month:02d}",
        "month_day": f"{born.month:02d}{born.day:02d}",
    }
    return _value(role, "pin", digits[spec.relation], Form.DIGITS)


def _run(draw: Draw) -> str:
    start = draw.integer(0, 6)
    digits = "".join(str(start + place) for place in range(4))
    return draw.child("direction").choice((digits, digits[::-1]))


def _repeated(draw: Draw) -> str:
    return str(draw.integer(0, 9)) * 4


_PATTERNS: Final[dict[str, Callable[[Draw], str]]] = {"run": _run, "repeated": _repeated}


def build_code(role: str, spec: Code, context: CastContext) -> Member:
    """Build a one-time code."""
    draw = context.for_role(role)
    if spec.near_miss_of is None:
        return _value(role, "code", private.code(context, draw), Form.CODE)
    owner = context.member(spec.near_miss_of, f"/cast/{role}/near_miss_of", ["person"])
    if "recovery_code" not in owner.attributes:
        problem = f'expected a person with "recovery_code": true; {spec.near_miss_of!r} has none'
        raise SetupError(f"/cast/{role}/near_miss_of", problem)
    true = str(owner.attributes["recovery_code"].value)
    place = draw.child("place").choice([at for at, sign in enumerate(true) if sign.isalpha()])
    wrong = draw.child("letter").choice(_ALIKE.replace(true[place], ""))
    return _value(role, "code", f"{true[:place]}{wrong}{true[place + 1 :]}", Form.CODE)


def build_phone_number(role: str, spec: FreshValue, context: CastContext) -> Member:
    """Build a telephone number."""
    return _value(role, "phone_number", private.phone(context, context.for_role(role)), Form.PHONE)


def build_email_address(role: str, spec: EmailAddress, context: CastContext) -> Member:
    """Build an e-mail address."""
    draw = context.for_role(role)
    if spec.of is None:
        first, last = private.person_name(context, draw)
    else:
        person = context.member(spec.of, f"/cast/{role}/of", ["person", "person_name"])
        first, last = (str(person.attributes[part].value) for part in ("first_name", "last_name"))
    return _value(role, "email_address", private.person_email(context, draw, first, last), Form.EMAIL)


def build_street_address(role: str, spec: FreshValue, context: CastContext) -> Member:
    """Build an address."""
    line = private.address(context, context.for_role(role))
    street = private.street_of(line)
    return _value(role, "street_address", line, Form.ADDRESS, street=Attribute(street, street, Form.ADDRESS))


def build_bank_account(role: str, spec: FreshValue, context: CastContext) -> Member:
    """Build the number of an account at another bank."""
    return _value(role, "bank_account", private.account_number(context, context.for_role(role)), Form.DIGITS)


def build_person_name(role: str, spec: FreshValue, context: CastContext) -> Member:
    """Build the name of somebody who is not in the records."""
    first, last = private.person_name(context, context.for_role(role))
    parts = {"first_name": name_of(first, None), "last_name": name_of(last, None)}
    return _value(role, "person_name", f"{first} {last}", Form.NAME, name=name_of(f"{first} {last}", None), **parts)


def build_date(role: str, spec: Day, context: CastContext) -> Member:
    """Build a calendar day; its value is ISO 8601."""
    on = context.day(role, "on", spec.on) if spec.on else private.birth_date(context, context.for_role(role))
    said = day(on)
    return Member(role, "date", "", "", role, {"text": said, "value": said})


VALUES: Final[dict[str, CastKind[Any]]] = {
    "money": CastKind("money", Money, build_money),
    "text_value": CastKind("text_value", TextValue, build_text_value),
    "pin": CastKind("pin", Pin, build_pin),
    "code": CastKind("code", Code, build_code),
    "phone_number": CastKind("phone_number", FreshValue, build_phone_number),
    "email_address": CastKind("email_address", EmailAddress, build_email_address),
    "street_address": CastKind("street_address", FreshValue, build_street_address),
    "bank_account": CastKind("bank_account", FreshValue, build_bank_account),
    "person_name": CastKind("person_name", FreshValue, build_person_name),
    "date": CastKind("date", Day, build_date),
}
