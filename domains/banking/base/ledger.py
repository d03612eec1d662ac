"""The ledgers of the base bank, worked out from the profiles: every line that was booked, in order."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import accumulate
from typing import Final
from zoneinfo import ZoneInfo

from domains.banking.base.keys import ROOT
from domains.banking.base.profiles import FIRMS, LAST_DAY, PEOPLE, Habit, Ledger, Regular
from domains.banking.names import MERCHANTS
from domains.kit.draw import Draw

ZONE: Final = ZoneInfo("America/New_York")

_BOOKED_AT: Final[Mapping[str, time]] = {
    "fee": time(0, 30),
    "salary": time(6),
    "deposit": time(6, 30),
    "subscription": time(7, 15),
    "transfer": time(9),
    "payment": time(10, 45),
    "cash_machine": time(17, 20),
}
_SETTLING_IN: Final = timedelta(days=75)
_SATURDAY: Final = 5
_SETTLED_ON_WORKDAYS: Final = frozenset({"salary", "deposit", "payment", "transfer"})


@dataclass(frozen=True, slots=True)
class AccountRef:
    """One account of the base bank: whose it is, and of which kind."""

    owner: str
    kind: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ledger; cents are negative for money out."""

    account: AccountRef
    posted_at: datetime
    cents: int
    kind: str
    counterparty: str
    memo: str = ""
    counterparty_new: bool = False


def ledgers() -> dict[AccountRef, Ledger]:
    """Return every account with its profile, in the order of the profiles."""
    owned = [(person.name, ledger) for person in PEOPLE for ledger in person.ledgers]
    owned += [(firm.name, firm.ledger) for firm in FIRMS]
    return {AccountRef(owner, ledger.kind): ledger for owner, ledger in owned}


def all_lines(more: Iterable[Line]) -> dict[AccountRef, list[Line]]:
    """Return the lines of every account in the order of booking.

    Parameters
    ----------
    more
        Single lines that no profile explains.
    """
    accounts = ledgers()
    found: dict[AccountRef, list[Line]] = {account: [] for account in accounts}
    for line in more:
        found[line.account].append(line)
    for account, ledger in accounts.items():
        for line in _booked(account, ledger):
            found[account].append(line)
            mirrored = _mirror(line, accounts)
            if mirrored is not None:
                found[mirrored.account].append(mirrored)
    return {account: _with_new_counterparties(accounts[account], lines) for account, lines in found.items()}


def balance(ledger: Ledger, lines: list[Line]) -> tuple[int, int]:
    """Return the balance in cents before the first line and after the last.

    The opening balance of the profile is raised where the account would otherwise fall below a tenth of it.
    """
    lowest = min(accumulate(line.cents for line in lines), default=0)
    opening = max(ledger.opening_cents, ledger.opening_cents // 10 - lowest) if ledger.opening_cents else 0
    return opening, opening + sum(line.cents for line in lines)


def month_end(day: date) -> date:
    """Return the last day of the month of a day: the day of the statement."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def at(day: date, clock: time) -> datetime:
    """Return a moment of the bank's day."""
    return datetime.combine(day, clock, tzinfo=ZONE)


def _booked(account: AccountRef, ledger: Ledger) -> Iterator[Line]:
    for regular in ledger.regular:
        yield from _regular_lines(account, regular, ledger.first)
    for habit in ledger.habits:
        yield from _habit_lines(account, habit, ledger.first)


def _regular_lines(account: AccountRef, regular: Regular, first: date) -> Iterator[Line]:
    month = first.replace(day=1)
    while month <= LAST_DAY:
        for number in regular.days:
            day = _business_day(regular.kind, month.replace(day=min(number, month_end(month).day)))
            if first <= day <= min(LAST_DAY, regular.until):
                draw = ROOT.child(account.owner, regular.kind, regular.counterparty, day.isoformat())
                cents = regular.cents + (draw.integer(-regular.spread, regular.spread) if regular.spread else 0)
                clock = _BOOKED_AT.get(regular.kind) or _shop_hours(draw)
                yield Line(account, at(day, clock), cents, regular.kind, regular.counterparty, regular.memo)
        month = month_end(month) + timedelta(days=1)


def _business_day(kind: str, day: date) -> date:
    """Move what falls on a weekend: wages to the Friday before, what banks settle to the Monday after."""
    weekend = day.weekday() - _SATURDAY
    if weekend < 0 or kind not in _SETTLED_ON_WORKDAYS:
        return day
    return day - timedelta(days=weekend + 1) if kind == "salary" else day + timedelta(days=2 - weekend)


def _shop_hours(draw: Draw) -> time:
    return time(draw.child("hour").integer(8, 20), draw.child("minute").integer(0, 59))


def _habit_lines(account: AccountRef, habit: Habit, first: date) -> Iterator[Line]:
    for week in range((LAST_DAY - first).days // 7 + 1):
        draw = ROOT.child(account.owner, habit.trade, week)
        for place in range(int(habit.weekly + draw.integer(0, 99) / 100)):
            bought = draw.child(place)
            day = first + timedelta(days=7 * week + bought.child("day").integer(0, 6))
            merchant = bought.child("merchant").choice(MERCHANTS[habit.trade])
            cents = bought.child("cents").integer(habit.low, habit.high)
            if day <= LAST_DAY:
                yield Line(account, at(day, _shop_hours(bought)), -cents, "card", merchant)


def _mirror(line: Line, accounts: Mapping[AccountRef, Ledger]) -> Line | None:
    """Return the same money on the other account, where that is one of ours."""
    if line.kind == "transfer" and line.counterparty == "savings":
        other = AccountRef(line.account.owner, "savings")
        return replace(line, account=other, cents=-line.cents, counterparty="checking", memo="From checking")
    employer = AccountRef(line.counterparty, "business_checking")
    if line.kind == "salary" and employer in accounts:
        return replace(line, account=employer, cents=-line.cents, counterparty=line.account.owner)
    return None


def _with_new_counterparties(ledger: Ledger, lines: list[Line]) -> list[Line]:
    """Sort the lines and mark a counterparty's first one; what is met early on was known before the record."""
    known: set[str] = set()
    marked = []
    settled_in = at(max(ledger.first, ledger.opened) + _SETTLING_IN, time())
    opened_in_view = ledger.opened == ledger.first
    for line in sorted(lines, key=lambda line: (line.posted_at, line.kind, line.counterparty, line.cents)):
        is_first = line.counterparty not in known and (opened_in_view or line.posted_at >= settled_in)
        known.add(line.counterparty)
        marked.append(replace(line, counterparty_new=is_first))
    return marked
