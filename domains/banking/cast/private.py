"""Values that belong to one person or firm. No two of an episode share a run of four digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final

from domains.banking import names
from domains.kit.cast import CastContext, digit_runs
from domains.kit.draw import Draw

# The years in which the bank's records lie: a telephone number that held one would seem to be told with every date.
_CALENDAR: Final = frozenset(str(year) for year in range(2003, 2036))

_BIRTHDAY_MARGIN: Final = timedelta(days=8)


def fresh(context: CastContext, draw: Draw, make: Callable[[Draw], str]) -> str:
    """Draw a private value that is clear of the scenario's years and of every birth date it fixes."""
    if not context.reserved >= _CALENDAR:
        context.reserved |= _CALENDAR
        for role, entry in context.entries.items():
            born = entry.get("born")
            if isinstance(born, str):
                context.reserved |= digit_runs(context.day(role, "born", born).isoformat())
    return context.private(draw, make)


def phone(context: CastContext, draw: Draw) -> str:
    """Return a telephone number such as ``(372) 641-8093``."""
    return fresh(context, draw.child("phone"), phone_shape)


def phone_shape(draw: Draw) -> str:
    """Draw a telephone number; its area code is one that no telephone has."""
    area = draw.child("area").choice(names.AREA_CODES)
    line = draw.child("line").digits(7)
    return f"({area}) {max(2, int(line[0]))}{line[1:3]}-{line[3:]}"


def tax_id(context: CastContext, draw: Draw, kind: str) -> str:
    """Return a tax id of a kind: ssn, itin, ein or other."""
    return fresh(context, draw.child("tax_id", kind), lambda below: tax_id_shape(below, kind))


def tax_id_shape(draw: Draw, kind: str) -> str:
    """Draw a number in the shape of its kind; one of kind other has the shape of none."""
    serial = draw.child("serial").digits(4)
    if kind == "ein":
        return f"{draw.integer(20, 88)}-{draw.child('middle').digits(3)}{serial}"
    if kind == "itin":
        return f"9{draw.integer(10, 99)}-{draw.child('group').integer(70, 88)}-{serial}"
    if kind == "ssn":
        return f"{draw.integer(101, 665)}-{draw.child('group').integer(10, 99)}-{serial}"
    return f"{draw.child('letters').code('AA')}-{draw.digits(3)}-{serial}"


def address(context: CastContext, draw: Draw, towns: Sequence[tuple[str, str, str]] = names.TOWNS) -> str:
    """Return an address in one of the towns, on one line: street, town, state and postal code."""
    return fresh(context, draw.child("address"), lambda below: address_shape(below, towns))


def address_shape(draw: Draw, towns: Sequence[tuple[str, str, str]]) -> str:
    """Draw an address in one of the towns."""
    town, state, postal = draw.child("town").choice(towns)
    street = draw.child("street").choice(names.STREETS)
    number = draw.child("number").integer(11, 989)
    return f"{number} {street}, {town}, {state} {postal}{draw.child('postal').integer(10, 99)}"


def street_of(line: str) -> str:
    """Return the street part of an address."""
    return line.partition(",")[0]


def account_number(context: CastContext, draw: Draw) -> str:
    """Return an account number of ten digits."""
    return fresh(context, draw.child("account_number"), lambda below: below.digits(10))


def card_number(context: CastContext, draw: Draw) -> str:
    """Return a card number of sixteen digits with a true check digit."""
    return fresh(context, draw.child("card_number"), card_number_shape)


def card_number_shape(draw: Draw) -> str:
    """Draw a card number."""
    return with_check_digit(f"4{draw.digits(14)}")


def with_check_digit(digits: str) -> str:
    """Append the check digit of card numbers (Luhn) to the digits before it."""
    total = 0
    for place, sign in enumerate(reversed(digits)):
        doubled = int(sign) * 2 if place % 2 == 0 else int(sign)
        total += doubled - 9 if doubled > 9 else doubled
    return f"{digits}{-total % 10}"


def card_code(context: CastContext, draw: Draw) -> str:
    """Return the three digits on the back of a card."""
    return fresh(context, draw.child("card_code"), lambda below: below.digits(3))


def pin(context: CastContext, draw: Draw) -> str:
    """Return a PIN of four digits that is neither a year, a day of the year, a run nor one digit."""
    return fresh(context, draw.child("pin"), pin_shape)


def pin_shape(draw: Draw) -> str:
    """Draw four digits in which no date can be read: the middle ones are 4 to 9 and differ by more than one."""
    first, last = draw.child("first").choice("3456789"), draw.child("last").choice("0123456789")
    return first + draw.child("middle").choice(("47", "58", "69", "74", "85", "96", "49", "94")) + last


def code(context: CastContext, draw: Draw) -> str:
    """Return a one-time code such as ``KT4W-7RQ9``."""
    return fresh(context, draw.child("code"), lambda below: below.code("AA9A-9AA9"))


def birth_date(context: CastContext, draw: Draw) -> date:
    """Return an adult's date of birth (26 to 74 years old), never within a week of a birthday."""
    today = context.now.astimezone(context.zone).date()

    def make(below: Draw) -> str:
        for attempt in range(1000):
            drawn = below.child(attempt)
            born = date(
                today.year - drawn.integer(27, 73),
                drawn.child("month").integer(1, 12),
                drawn.child("day").integer(1, 28),
            )
            birthdays = (born.replace(year=year) for year in (today.year - 1, today.year, today.year + 1))
            if all(abs(birthday - today) >= _BIRTHDAY_MARGIN for birthday in birthdays):
                return born.isoformat()
        raise AssertionError("most days of a year are far from any one day")

    return date.fromisoformat(fresh(context, draw.child("birth_date"), make))


def person_name(context: CastContext, draw: Draw) -> tuple[str, str]:
    """Return a first and a last name that nobody else in the cast has."""
    first = context.distinct(draw.child("first_name"), lambda below: below.choice(names.FIRST_NAMES))
    last = context.distinct(draw.child("last_name"), lambda below: below.choice(names.LAST_NAMES))
    return first, last


def firm_name(context: CastContext, draw: Draw) -> str:
    """Return the name of a firm whose first word no other firm of the cast has."""
    stem = context.distinct(draw.child("stem"), lambda below: below.choice(names.FIRM_STEMS))
    trade = draw.child("trade").choice(names.FIRM_TRADES)
    return f"{stem} {trade} {draw.child('suffix').choice(names.FIRM_SUFFIXES)}"


def person_email(context: CastContext, draw: Draw, first: str, last: str) -> str:
    """Return an e-mail address made of a person's name."""

    def make(below: Draw) -> str:
        local = below.choice((f"{first}.{last}", f"{first[0]}.{last}", f"{last}.{first}", f"{first}{last}"))
        return f"{local}@{below.child('domain').choice(names.MAIL_DOMAINS)}".lower()

    return context.distinct(draw.child("mail"), make)


def firm_email(context: CastContext, draw: Draw, name: str) -> str:
    """Return the e-mail address of a firm's office."""
    stem = name.split()[0].lower()
    return context.distinct(
        draw.child("mail"), lambda below: f"{below.choice(('office', 'hello', 'mail'))}@{stem}.example"
    )
