"""Rows of the base bank's ledgers, and of the payees and payments behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from typing import Any, Final

from domains.banking.base.customers import payer_for
from domains.banking.base.keys import ROOT, key
from domains.banking.base.ledger import AccountRef, Line, at, ledgers, month_end
from domains.banking.base.profiles import FIRMS, PEOPLE
from domains.banking.cast import private
from domains.kit.cast import CastContext, NewRow

_SETTLES_WITHIN: Final = timedelta(minutes=45)

Lines = Mapping[AccountRef, list[Line]]


def ledger_key(account: AccountRef, place: int) -> str:
    """Return the id of a line by its place in the ledger of its account."""
    return key("LE", account.owner, account.kind, place)


def payment_key(line: Line) -> str:
    """Return the id of the payment that a line books."""
    return key("PM", line.account.owner, line.counterparty, line.posted_at.isoformat())


def ledger_rows(lines: Lines) -> Iterator[NewRow]:
    """Return every line of every ledger."""
    for account, booked in lines.items():
        account_id = key("AC", account.owner, account.kind)
        for place, line in enumerate(booked):
            values = {
                "id": ledger_key(account, place),
                "account_id": account_id,
                "posted_at": line.posted_at,
                "amount_cents": line.cents,
                "kind": line.kind,
                "counterparty": line.counterparty,
                "counterparty_new": line.counterparty_new,
                "memo": line.memo,
                "statement_on": month_end(line.posted_at.date()),
                "status": "settled",
            }
            yield NewRow("ledger", values)


def payee_rows(context: CastContext, lines: Lines) -> Iterator[NewRow]:
    """Return everybody who is paid from an account, with the check of their name."""
    since = {person.name: person.since for person in PEOPLE} | {firm.name: firm.since for firm in FIRMS}
    for account, ledger in ledgers().items():
        paid = dict.fromkeys(line.counterparty for line in lines[account] if line.kind == "payment")
        for name in paid:
            draw = ROOT.child("payee", account.owner, name)
            known = ledger.first - timedelta(days=draw.child("age").integer(70, 1400))
            created = at(max(known, since[account.owner] + timedelta(days=1)), time(14, 5))
            payee_id = key("PY", account.owner, name)
            payee = {"id": payee_id, "customer_id": key("CU", account.owner), "name": name, "account_name": None}
            number = private.account_number(context, draw)
            yield NewRow("payees", {**payee, "bank_account": number, "created_at": created, "status": "active"})
            check = {"id": key("PC", account.owner, name), "payee_id": payee_id, "result": "match", "confirmed": False}
            yield NewRow("payee_checks", {**check, "shown_name": name, "checked_at": created})


def payment_rows(lines: Lines) -> Iterator[NewRow]:
    """Return every payment out of an account, and every transfer between two accounts of one customer."""
    for account, booked in lines.items():
        for line in booked:
            if line.kind == "payment":
                yield _payment(
                    line, {"to_payee_id": key("PY", account.owner, line.counterparty), "to_account_id": None}
                )
            elif line.kind == "transfer" and line.counterparty == "savings":
                savings = key("AC", account.owner, "savings")
                yield _payment(line, {"to_payee_id": None, "to_account_id": savings})


def _payment(line: Line, target: Mapping[str, Any]) -> NewRow:
    values = {
        "id": payment_key(line),
        "from_account_id": key("AC", line.account.owner, line.account.kind),
        **target,
        "rail": "external" if line.kind == "payment" else "internal",
        "amount_cents": -line.cents,
        "purpose": line.memo,
        "status": "settled",
        "initiated_by": key("CU", payer_for(line.account.owner)),
        "created_at": line.posted_at - _SETTLES_WITHIN,
        "settled_at": line.posted_at,
    }
    return NewRow("payments", values)


def place_of(lines: Lines, account: AccountRef, counterparty: str, day: date) -> str:
    """Return the id of the first line with a counterparty on a day.

    Raises
    ------
    LookupError
        If there is none.
    """
    for place, line in enumerate(lines[account]):
        if line.counterparty == counterparty and line.posted_at.date() == day:
            return ledger_key(account, place)
    raise LookupError(f"{account} has no line with {counterparty} on {day}")
