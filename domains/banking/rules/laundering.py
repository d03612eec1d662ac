"""AML-01 to AML-07: money that is not what it seems."""

from __future__ import annotations

from typing import Final

from domains.banking.rules.calendar import days_since, elapsed_s, today
from domains.banking.rules.facts import (
    EXTERNAL,
    MONEY_OUT,
    PERSONAL_KINDS,
    Outgoing,
    evidence_rows,
    found,
    get,
    outgoing,
    owners,
    rows,
    with_amount,
)
from domains.banking.rules.limits import limit, permits, permits_share
from domains.banking.rules.payments import paid_today
from domains.banking.tables import Account, Customer, LedgerEntry, Licence, Payment
from domains.banking.tools.likeness import words
from domains.kit.rules import Contact, Finding, Outcome, Request, rule
from domains.kit.world import World

PASS_THROUGH_SHARE: Final = limit("share of the credit", "<", 80, "percent")
PASS_THROUGH_AGE: Final = limit("age of the credit", ">", 72 * 3600, "seconds")
STRUCTURING: Final = limit("payments of the day for one purpose", "<", 1_000_000, "cents")
NEW_ACCOUNT_AGE: Final = limit("age of the account", ">=", 30, "days")
NEW_ACCOUNT_CAP: Final = limit("external payments of the day", "<=", 200_000, "cents")

_NOT_RECEIVED: Final = frozenset({"credit", "refund", "fee"})
"""Kinds of ledger entries that are no money from a sender."""

_COUNTED: Final = frozenset({"settled", "released", "scheduled", "held"})
_ACTIVITIES: Final = {"money_service_activity": "money_service", "crypto_kiosk_activity": "crypto_kiosk"}


@rule(
    "AML-01",
    "Money from a new sender is not passed on within 72 hours",
    Outcome.HOLD,
    "pass_through",
    tools=EXTERNAL,
    parameters=[PASS_THROUGH_SHARE, PASS_THROUGH_AGE],
)
def pass_through(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an external payment of most of a recent credit from a sender new to the account."""
    money = outgoing(request, world)
    if money is None or money.payee is None:
        return None
    own_names = {
        customer.name for key in owners(money.account, world) if (customer := get(world, Customer, key)) is not None
    }
    received = [
        entry
        for entry in rows(world, LedgerEntry, account_id=money.account.id, counterparty_new=True)
        if entry.amount_cents > 0
        and entry.kind not in _NOT_RECEIVED
        and entry.counterparty not in own_names
        and entry.status != "returned"
        and not permits(PASS_THROUGH_AGE, elapsed_s(entry.posted_at, world))
        and not permits_share(PASS_THROUGH_SHARE, money.amount_cents, entry.amount_cents)
    ]
    if not received:
        return None
    return found(pass_through, *received, money.payment or money.payee, also={"laundering_case"})


@rule(
    "AML-02",
    "Payments of one day for one purpose do not together reach $10,000.00",
    Outcome.HOLD,
    "structuring",
    tools=EXTERNAL,
    evidence={"split_amounts"},
    parameters=[STRUCTURING],
)
def structuring(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a smaller payment that completes the sum with others of the day for the same purpose."""
    money = outgoing(request, world)
    if money is None or money.payee is None or not permits(STRUCTURING, money.amount_cents):
        return None
    made = [payment for payment in _payments_of_day(money, world) if _belongs(payment.purpose, money, contact)]
    made = [payment for payment in made if permits(STRUCTURING, payment.amount_cents)]
    asked = [
        other.amount_cents
        for other in _asked_beside(request, world, contact)
        if _belongs(other.purpose, money, contact)
        and other.account.customer_id == money.account.customer_id
        and permits(STRUCTURING, other.amount_cents)
    ]
    total_cents = money.amount_cents + sum(payment.amount_cents for payment in made) + sum(asked)
    if not (made or asked) or permits(STRUCTURING, total_cents):
        return None
    return found(structuring, *made, money.payment or money.payee, also={"laundering_case"})


def _belongs(purpose: str, money: Outgoing, contact: Contact) -> bool:
    return contact.reveals("split_amounts") or (bool(words(purpose)) and words(purpose) == words(money.purpose))


def _payments_of_day(money: Outgoing, world: World) -> list[Payment]:
    return [
        payment
        for account in rows(world, Account, customer_id=money.account.customer_id)
        for payment in rows(world, Payment, from_account_id=account.id, rail="external")
        if payment.status in _COUNTED
        and payment != money.payment
        and days_since(payment.settled_at or payment.created_at, world) == 0
    ]


def _asked_beside(request: Request, world: World, contact: Contact) -> list[Outgoing]:
    """Return the payments asked for in the same turn that have not been made."""
    beside = [asked for turn, asked in contact.requests if turn == contact.turn and asked.tool == "send_payment"]
    done = [
        Request(call.tool, call.arguments)
        for call in contact.calls
        if call.turn == contact.turn and call.ok and call.tool == "send_payment"
    ]
    for one in (*done, request):
        if one in beside:
            beside.remove(one)
    return [money for asked in beside if (money := outgoing(asked, world)) is not None and money.payee is not None]


@rule(
    "AML-03",
    "Third parties' money in a personal account does not move",
    Outcome.HOLD,
    "third_party_funds",
    history=True,
    tools=MONEY_OUT,
    evidence={"third_party_funds", "keeps_commission"},
)
def third_party_funds(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on every movement out of a personal account once it holds other people's money."""
    if not contact.reveals("third_party_funds", "keeps_commission"):
        return None
    money = outgoing(request, world)
    if money is None or money.account.kind not in PERSONAL_KINDS:
        return None
    carried = evidence_rows(contact, "third_party_funds", "keeps_commission")
    return found(third_party_funds, money.account, money.payment, *carried, also={"laundering_case"})


@rule(
    "AML-04",
    "In the first 30 days of an account external payments are limited to $2,000.00 a day",
    Outcome.OFFER_ALTERNATIVE,
    "new_account_cap",
    tools=EXTERNAL,
    parameters=[NEW_ACCOUNT_AGE, NEW_ACCOUNT_CAP],
)
def new_account_cap(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the day's external payments of a young account would exceed its cap; offer what is left."""
    money = outgoing(request, world)
    if money is None or money.payee is None or permits(NEW_ACCOUNT_AGE, days_since(money.account.opened_at, world)):
        return None
    made = paid_today(world, contact, money.account)
    gone_cents = sum(payment.amount_cents for payment in made)
    if permits(NEW_ACCOUNT_CAP, gone_cents + money.amount_cents):
        return None
    left = None if money.payment else with_amount(request, "amount_cents", NEW_ACCOUNT_CAP.value - gone_cents)
    return found(new_account_cap, money.account, money.payment, *made, alternative=left)


@rule(
    "AML-06",
    "Business receipts do not run through a personal account",
    Outcome.REFUSE,
    "account_purpose",
    tools=MONEY_OUT,
    evidence={"business_receipts"},
)
def account_purpose(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a payment of a business's receipts out of a personal account."""
    if not contact.reveals("business_receipts"):
        return None
    money = outgoing(request, world)
    if money is None or money.account.kind not in PERSONAL_KINDS:
        return None
    return found(account_purpose, money.account, *evidence_rows(contact, "business_receipts"))


@rule(
    "AML-07",
    "Money services and crypto kiosks need a licence in force",
    Outcome.HOLD,
    "licence_missing",
    tools=MONEY_OUT,
    evidence=_ACTIVITIES,
)
def licence_in_force(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where such activity is known, from the caller or from a licence on record, and no licence is in force."""
    money = outgoing(request, world)
    if money is None:
        return None
    licences = rows(world, Licence, business_id=money.account.customer_id)
    needed = {kind for name, kind in _ACTIVITIES.items() if contact.reveals(name)}
    if not needed:
        needed = {licence.kind for licence in licences}
    valid = {licence.kind for licence in licences if licence.status == "in_force" and licence.valid_to >= today(world)}
    if needed <= valid:
        return None
    missing = [licence for licence in licences if licence.kind in needed - valid]
    return found(licence_in_force, money.account, *missing)
