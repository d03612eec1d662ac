"""CARD-01 to CARD-09: what protects a card, and what may be done with it."""

from __future__ import annotations

from typing import Final

from domains.banking.rules.calendar import days_since, elapsed_s
from domains.banking.rules.facts import CARD_TOOLS, card_of, cents, found, get, rows, subject_of, text, with_amount
from domains.banking.rules.history import CARD_CODES, was_stopped
from domains.banking.rules.limits import limit, permits, permits_share
from domains.banking.rules.supervisors import approval_for
from domains.banking.tables import (
    Account,
    ActivationAttempt,
    AddressHistory,
    CardControl,
    ChannelEvent,
    Customer,
    LedgerEntry,
    LimitChange,
)
from domains.banking.tools.likeness import words
from domains.kit.rules import Contact, Finding, Outcome, Request, rule
from domains.kit.world import World

LIMIT_SHARE: Final = limit("new limit to the current one", "<=", 150, "percent")
ACCOUNT_AGE: Final = limit("age of the account", ">=", 60, "days")
OVERDRAFT_AGE: Final = limit("age of an overdraft fee", ">", 30, "days")
LIMIT_PAUSE: Final = limit("time since the last increase", ">=", 24 * 3600, "seconds")
ADDRESS_AGE: Final = limit("age of the address", ">=", 30, "days")
FAILED_CHECKS: Final = limit("failed activation checks", "<", 2, "count")

_RUN: Final = "0123456789"


@rule(
    "CARD-01",
    "A freeze or alert that the bank placed is not lifted by an agent",
    Outcome.REFUSE,
    "bank_placed_control",
    tools={"unfreeze_card"},
)
def bank_placed_control(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire while any active control on the card was placed by the bank."""
    card = card_of(request, world)
    if card is None:
        return None
    controls = rows(world, CardControl, card_id=card.id, placed_by="bank", status="active")
    return found(bank_placed_control, card, *controls) if controls else None


@rule(
    "CARD-02",
    "A temporary limit is at most 150 percent of the current one, on an account in good order",
    Outcome.OFFER_ALTERNATIVE,
    "limit_ceiling",
    tools={"set_temporary_limit"},
    parameters=[LIMIT_SHARE, ACCOUNT_AGE, OVERDRAFT_AGE],
)
def limit_ceiling(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an increase that is too high, or on an account too young or overdrawn lately; offer the maximum."""
    card, wanted_cents = card_of(request, world), cents(request, "limit_cents")
    if card is None or wanted_cents is None or wanted_cents <= card.limit_cents or approval_for(request, world):
        return None
    account = get(world, Account, card.account_id)
    fees = [
        entry
        for entry in rows(world, LedgerEntry, account_id=card.account_id, kind="fee")
        if "overdraft" in words(f"{entry.counterparty} {entry.memo}")
        and not permits(OVERDRAFT_AGE, days_since(entry.posted_at, world))
    ]
    is_young = account is not None and not permits(ACCOUNT_AGE, days_since(account.opened_at, world))
    if fees or is_young:
        return found(limit_ceiling, card, account, *fees)
    if permits_share(LIMIT_SHARE, wanted_cents, card.limit_cents):
        return None
    most_cents = card.limit_cents * LIMIT_SHARE.value // 100
    return found(limit_ceiling, card, account, alternative=with_amount(request, "limit_cents", most_cents))


@rule(
    "CARD-03",
    "One temporary increase a card in 24 hours",
    Outcome.REFUSE,
    "limit_frequency",
    tools={"set_temporary_limit"},
    parameters=[LIMIT_PAUSE],
)
def limit_frequency(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an increase within a day of the last one."""
    card, wanted_cents = card_of(request, world), cents(request, "limit_cents")
    if card is None or wanted_cents is None or wanted_cents <= card.limit_cents:
        return None
    recent = [
        change
        for change in rows(world, LimitChange, card_id=card.id)
        if change.new_cents > change.old_cents and not permits(LIMIT_PAUSE, elapsed_s(change.at, world))
    ]
    return found(limit_frequency, card, *recent) if recent else None


@rule(
    "CARD-04",
    "A replacement is mailed only to the address on file, unchanged for 30 days",
    Outcome.OFFER_ALTERNATIVE,
    "delivery_address",
    tools={"order_replacement_card"},
    parameters=[ADDRESS_AGE],
)
def delivery_address(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a mailing to another address or one too young; offer pick-up at a branch."""
    card = card_of(request, world)
    holder = get(world, Customer, card.customer_id) if card is not None else None
    if card is None or holder is None or text(request, "delivery") != "mail":
        return None
    history = rows(world, AddressHistory, customer_id=holder.id)
    current = max(history, key=lambda row: row.since, default=None)
    changes = rows(world, ChannelEvent, customer_id=holder.id, channel="address")
    young = [event for event in changes if not permits(ADDRESS_AGE, days_since(event.at, world))]
    is_on_file = words(text(request, "address") or "") == words(holder.address)
    is_old = current is None or permits(ADDRESS_AGE, days_since(current.since, world))
    if is_on_file and is_old and not young:
        return None
    return found(delivery_address, card, holder, current, *young, also={"pick_up"})


@rule(
    "CARD-05",
    "A PIN is not the birth year, day and month, a run, or one digit",
    Outcome.OFFER_ALTERNATIVE,
    "weak_pin",
    tools={"set_pin"},
)
def weak_pin(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a PIN that somebody who finds the wallet would try first."""
    card, pin = card_of(request, world), text(request, "pin")
    if card is None or pin is None:
        return None
    holder = get(world, Customer, card.customer_id)
    born = holder.date_of_birth if holder is not None else None
    guessable = set() if born is None else {f"{born:%Y}", f"{born:%d%m}", f"{born:%m%d}"}
    is_plain = len(set(pin)) == 1 or pin in _RUN or pin in _RUN[::-1]
    return found(weak_pin, card, holder) if is_plain or pin in guessable else None


@rule(
    "CARD-06",
    "Two failed activation checks lock activation to a branch",
    Outcome.REFUSE,
    "activation_locked",
    history=True,
    tools={"check_activation", "activate_card"},
    parameters=[FAILED_CHECKS],
)
def activation_locked(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on activation after the second failed check, a right answer or not."""
    card = card_of(request, world)
    if card is None:
        return None
    failed = rows(world, ActivationAttempt, card_id=card.id, passed=False)
    return None if permits(FAILED_CHECKS, len(failed)) else found(activation_locked, card, *failed)


@rule(
    "CARD-08",
    "A lost or stolen card is blocked before anything else is done with it",
    Outcome.OFFER_ALTERNATIVE,
    "none",
    tools=CARD_TOOLS - {"block_card"},
    evidence={"card_lost_or_stolen"},
)
def block_first(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire while a card that was reported lost or stolen is not blocked; offer to block it."""
    card = card_of(request, world)
    if card is None or card.status in ("blocked", "replaced") or not contact.reveals("card_lost_or_stolen"):
        return None
    return found(block_first, card, alternative=Request("block_card", {"card_id": card.id, "reason": "lost"}))


@rule(
    "CARD-09",
    "A card control refused in this contact is not reached by another route",
    Outcome.REFUSE,
    "control_by_other_route",
    history=True,
    tools=CARD_TOOLS - {"freeze_card", "block_card"} | {"enrol_device"},
)
def other_route(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on another way to the use of a card whose protection stood in this contact."""
    subject = subject_of(request, world)
    if subject is None or not was_stopped(contact, world, CARD_CODES, subject, request):
        return None
    return found(other_route, card_of(request, world) or get(world, Customer, subject))
