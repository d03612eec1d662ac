"""Rows of the base bank's people and firms: records, devices, history, accounts and cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from typing import Any, Final

from domains.banking.base.keys import ROOT, key
from domains.banking.base.ledger import AccountRef, Line, at, balance, ledgers, month_end
from domains.banking.base.profiles import FIRMS, PEOPLE, Firm, Person
from domains.banking.cast import private
from domains.banking.names import TOWNS
from domains.kit.cast import CastContext, NewRow

LOST_CARDS: Final = ("Hedda Lindholm",)
"""Holders who lost the card before their present one."""

_DAILY_LIMIT: Final = {"entry": 50_000, "standard": 100_000, "premier": 200_000}


def payer_for(customer: str) -> str:
    """Return the name of the person who pays for a customer: for a firm, the one with the most to do with it."""
    at_firm = [person for person in PEOPLE if person.works_at is not None and person.works_at[0] == customer]
    order = ("bookkeeper", "administrator", "owner")
    return next((person.name for role in order for person in at_firm if person.works_at == (customer, role)), customer)


def customer_rows(context: CastContext) -> Iterator[NewRow]:
    """Return everybody's record with devices, contact history and roles at firms."""
    for firm in FIRMS:
        draw, home = ROOT.child(firm.name), _address(context, firm)
        record: dict[str, Any] = {"kind": "business", "date_of_birth": None, "registered_on": firm.registered}
        record |= {"email": private.firm_email(context, draw, firm.name), "tier": "standard", "address": home}
        record |= {"tax_id": private.tax_id(context, draw, "ein"), "phone": private.phone(context, draw)}
        yield from _party(firm, record, [(home, firm.since)])
    homes: dict[str, str] = {}
    for person in PEOPLE:
        draw, (first, last) = ROOT.child(person.name), person.name.split()
        home = homes[person.lives_with] if person.lives_with else _address(context, person)
        homes[person.name] = home
        record = {"kind": "person", "date_of_birth": person.born, "registered_on": None, "tier": person.tier}
        record |= {"email": private.person_email(context, draw, first, last), "address": home}
        record |= {"tax_id": private.tax_id(context, draw, "ssn"), "phone": private.phone(context, draw)}
        lived = [(home, person.since)]
        if person.moved is not None:
            lived = [(_address(context, person, "earlier"), person.since), (home, person.moved)]
        yield from _party(person, record, lived)
        yield from _devices(person)
    for person in PEOPLE:
        if person.works_at is not None:
            yield _role(person, *person.works_at)


def _address(context: CastContext, party: Person | Firm, label: str = "") -> str:
    towns = [town for town in TOWNS if town[0] == party.town]
    return private.address(context, ROOT.child(party.name, label), towns)


def _party(party: Person | Firm, record: Mapping[str, Any], lived: list[tuple[str, date]]) -> Iterator[NewRow]:
    customer_id = key("CU", party.name)
    yield NewRow(
        "customers", {"id": customer_id, "name": party.name, "since": party.since, "status": "active", **record}
    )
    for channel in ("phone", "email"):
        yield _event(party.name, channel, record[channel], party.since)
    for line, since in lived:
        home = {"id": key("AH", party.name, since.isoformat()), "customer_id": customer_id}
        yield NewRow("address_history", {**home, "address": line, "since": since})


def _devices(person: Person) -> Iterator[NewRow]:
    for name, enrolled in person.devices:
        device = {"id": key("DV", person.name, name), "customer_id": key("CU", person.name), "name": name}
        yield NewRow("devices", {**device, "enrolled_at": at(enrolled, time(18, 40)), "status": "enrolled"})
        yield _event(person.name, "device", name, enrolled)


def _event(owner: str, channel: str, value: str, day: date) -> NewRow:
    event = {"id": key("CE", owner, channel, value), "customer_id": key("CU", owner), "channel": channel}
    return NewRow("channel_events", {**event, "event": "enrolled", "value": value, "at": at(day, time(18, 40))})


def _role(person: Person, firm: str, role: str) -> NewRow:
    since = max(person.since, next(known.since for known in FIRMS if known.name == firm)) + timedelta(days=30)
    record = {"id": key("BR", firm, person.name), "business_id": key("CU", firm), "person_id": key("CU", person.name)}
    return NewRow("business_roles", {**record, "role": role, "status": "active", "recorded_at": at(since, time(11))})


def account_rows(context: CastContext, lines: Mapping[AccountRef, list[Line]]) -> Iterator[NewRow]:
    """Return every account with its holders; its balance is the one that its ledger leads to."""
    for account, ledger in ledgers().items():
        account_id = key("AC", account.owner, account.kind)
        values = {
            "id": account_id,
            "customer_id": key("CU", account.owner),
            "kind": account.kind,
            "number": private.account_number(context, ROOT.child(account.owner, account.kind)),
            "balance_cents": balance(ledger, lines[account])[1],
            "opened_at": at(ledger.opened, time(10)),
            "status": "open",
        }
        yield NewRow("accounts", values)
        for holder, role in ((account.owner, "owner"), (ledger.joint, "joint")):
            if holder is not None:
                share = {"id": key("HO", account_id, holder), "account_id": account_id}
                yield NewRow("account_holders", {**share, "customer_id": key("CU", holder), "role": role})


def card_rows(context: CastContext) -> Iterator[NewRow]:
    """Return a debit card for every holder of a checking account; at firms, for the person who pays."""
    people = {person.name: person for person in PEOPLE}
    for account, ledger in ledgers().items():
        if account.kind != "savings":
            for holder in (payer_for(account.owner), ledger.joint):
                if holder is not None:
                    yield _card(context, account, people[holder])
    for holder in LOST_CARDS:
        yield _card(context, AccountRef(holder, "personal_checking"), people[holder], "lost")


def _card(context: CastContext, account: AccountRef, holder: Person, lost: str = "") -> NewRow:
    draw = ROOT.child("card", account.owner, holder.name, lost)
    expires = date(draw.child("year").integer(2027, 2029), draw.child("month").integer(1, 12), 1)
    values = {
        "id": key("CD", account.owner, holder.name, lost),
        "account_id": key("AC", account.owner, account.kind),
        "customer_id": key("CU", holder.name),
        "kind": "debit",
        "number": private.card_number(context, draw),
        "cvv": private.card_code(context, draw),
        "pin": private.pin(context, draw),
        "limit_cents": _DAILY_LIMIT[holder.tier],
        "status": "blocked" if lost else "active",
        "blocked_as": lost,
        "expires_on": month_end(expires),
    }
    return NewRow("cards", values)
