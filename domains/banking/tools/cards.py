"""Cards: look-ups, freezes, PIN, limits, replacement, activation, blocking."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints
from sqlmodel import col, select

from domains.banking.tables import (
    Account,
    ActivationAttempt,
    Card,
    CardControl,
    CardOrder,
    Customer,
    LedgerEntry,
    LimitChange,
)
from domains.banking.tools.arguments import Cents, Line
from domains.banking.tools.likeness import digits
from domains.banking.tools.rows import accounts_of, insert, matching, newest, show_all, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.store import table_of
from domains.kit.tools import tool
from domains.kit.world import World

Pin = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}$")]

_GONE = ("blocked", "replaced")
_FEES_SHOWN = 10


@tool()
def list_cards(bank: World, customer_id: str) -> JsonValue:
    """List the cards that a customer holds, and the cards on accounts that the customer owns.

    Returns id, holder, account, kind, last four digits, daily limit in cents, status and expiry of each card.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    bank.find(Customer, customer_id)
    accounts = [account.id for account in accounts_of(bank, customer_id)]
    reached = (col(Card.customer_id) == customer_id) | col(Card.account_id).in_(accounts)
    return [summarise_card(bank, card) for card in bank.session.exec(select(Card).where(reached).order_by(Card.id))]


def summarise_card(bank: World, card: Card) -> dict[str, JsonValue]:
    """Show a card without its number, code and PIN."""
    shown = bank.show(card, "id", "customer_id", "account_id", "kind", "limit_cents", "status", "expires_on")
    return shown | {"last_four": card.number[-4:]}


@tool()
def get_card(bank: World, card_id: str) -> JsonValue:
    """Show one card with everything that happened to it.

    Returns the card (full number, security code, daily limit in cents, status; never the PIN), its account, freezes
    and alerts with who placed them, activation attempts, limit changes, replacement orders, and the latest fees that
    were charged to the account.

    Parameters
    ----------
    card_id
        The card's id.
    """
    card = bank.find(Card, card_id)
    account = bank.find(Account, card.account_id)
    return {
        "card": bank.show(card, *(column.name for column in table_of(Card).columns if column.name != "pin")),
        "account": bank.show(account, "id", "customer_id", "kind", "opened_at", "status"),
        "controls": show_all(bank, matching(bank, CardControl, card_id=card_id)),
        "activation_attempts": show_all(bank, matching(bank, ActivationAttempt, card_id=card_id)),
        "limit_changes": show_all(bank, matching(bank, LimitChange, card_id=card_id)),
        "orders": show_all(bank, matching(bank, CardOrder, card_id=card_id)),
        "account_fees": show_all(bank, newest(bank, LedgerEntry, _FEES_SHOWN, account_id=card.account_id, kind="fee")),
    }


@tool(writes=True)
def freeze_card(bank: World, card_id: str) -> JsonValue:
    """Freeze an active card at the customer's wish, so that it cannot be used until it is unfrozen.

    Returns the card and the freeze, recorded as placed by the customer. Refuses a card that is not active.

    Parameters
    ----------
    card_id
        The card's id.
    """
    return freeze(bank, bank.find(Card, card_id))


def freeze(bank: World, card: Card) -> dict[str, JsonValue]:
    """Freeze a card for its customer and show what was done.

    Raises
    ------
    ToolError
        If the card is not active.
    """
    _check_status(card, "active")
    update(bank, card, status="frozen")
    control = CardControl(
        id=bank.new_id("CC"),
        card_id=card.id,
        kind="freeze",
        placed_by="customer",
        status="active",
        placed_at=bank.now,
    )
    return {"card": summarise_card(bank, card), "control": bank.show(insert(bank, control))}


@tool(writes=True)
def unfreeze_card(bank: World, card_id: str) -> JsonValue:
    """Make a frozen card active again and lift its active freezes, whoever placed them.

    Returns the card and the freezes that were lifted; alerts stay as they are. Refuses a card that is not frozen.

    Parameters
    ----------
    card_id
        The card's id.
    """
    card = bank.find(Card, card_id)
    _check_status(card, "frozen")
    update(bank, card, status="active")
    freezes = matching(bank, CardControl, card_id=card_id, kind="freeze", status="active")
    for control in freezes:
        update(bank, control, status="lifted")
    return {"card": summarise_card(bank, card), "lifted": show_all(bank, freezes)}


@tool(writes=True)
def set_pin(bank: World, card_id: str, pin: Pin) -> JsonValue:
    """Set the PIN of a card.

    Returns the card, without the PIN. Refuses a card that is blocked or replaced.

    Parameters
    ----------
    card_id
        The card's id.
    pin
        The new PIN, four digits.
    """
    card = bank.find(Card, card_id)
    _check_usable(card)
    update(bank, card, pin=pin)
    return summarise_card(bank, card)


@tool(writes=True)
def set_temporary_limit(bank: World, card_id: str, limit_cents: Cents) -> JsonValue:
    """Set a temporary daily limit on a card.

    Returns the limit change, with the old and the new limit in cents. Refuses a card that is blocked or replaced, and
    a limit that is the present one.

    Parameters
    ----------
    card_id
        The card's id.
    limit_cents
        The new daily limit in cents.
    """
    card = bank.find(Card, card_id)
    _check_usable(card)
    if card.limit_cents == limit_cents:
        raise ToolError(f"The daily limit of card {card_id} is {limit_cents} cents already.")
    change = LimitChange(
        id=bank.new_id("LC"), card_id=card_id, old_cents=card.limit_cents, new_cents=limit_cents, at=bank.now
    )
    update(bank, card, limit_cents=limit_cents)
    return bank.show(insert(bank, change))


@tool(writes=True, discoverable=True)
def order_replacement_card(bank: World, card_id: str, delivery: Literal["mail", "branch"], address: Line) -> JsonValue:
    """Order a replacement for a card; the present card keeps its status until the new one is activated.

    Returns the order. Refuses a card that has been replaced already.

    Parameters
    ----------
    card_id
        The card to replace.
    delivery
        Whether the new card is mailed or waits at a branch.
    address
        The postal address to mail to, in one line, or the name of the branch.
    """
    return order_card(bank, bank.find(Card, card_id), delivery, address)


def order_card(bank: World, card: Card, delivery: str, address: str) -> dict[str, JsonValue]:
    """Write the order of a replacement and show it.

    Raises
    ------
    ToolError
        If the card has been replaced already.
    """
    if card.status == "replaced":
        raise ToolError(f"Card {card.id} has been replaced already; order for the card that replaced it.")
    order = CardOrder(
        id=bank.new_id("CO"),
        card_id=card.id,
        customer_id=card.customer_id,
        delivery=delivery,
        address=address,
        ordered_at=bank.now,
    )
    return bank.show(insert(bank, order))


@tool(writes=True, discoverable=True)
def check_activation(bank: World, card_id: str, answer: Line) -> JsonValue:
    """Check the answer that a card holder gives to activate a new card: the last four digits of their tax id.

    Returns the attempt, which says whether the answer was right, and the attempts before it. Refuses a card that does
    not wait for activation.

    Parameters
    ----------
    card_id
        The card to be activated.
    answer
        The four digits that the caller gave.
    """
    card = bank.find(Card, card_id)
    _check_status(card, "issued")
    earlier = matching(bank, ActivationAttempt, card_id=card_id)
    holder = bank.find(Customer, card.customer_id)
    passed = digits(answer) == digits(holder.tax_id)[-4:]
    attempt = insert(bank, ActivationAttempt(id=bank.new_id("AA"), card_id=card_id, passed=passed, at=bank.now))
    return {"attempt": bank.show(attempt), "earlier_attempts": show_all(bank, earlier)}


@tool(writes=True, discoverable=True)
def activate_card(bank: World, card_id: str) -> JsonValue:
    """Activate a card that was issued and not used yet.

    Returns the card. Refuses a card that does not wait for activation.

    Parameters
    ----------
    card_id
        The card's id.
    """
    card = bank.find(Card, card_id)
    _check_status(card, "issued")
    update(bank, card, status="active")
    return summarise_card(bank, card)


@tool(writes=True, discoverable=True)
def block_card(bank: World, card_id: str, reason: Literal["lost", "stolen"]) -> JsonValue:
    """Block a card for good because it was lost or stolen.

    Returns the card. Refuses a card that is blocked or replaced already.

    Parameters
    ----------
    card_id
        The card's id.
    reason
        What happened to the card.
    """
    card = bank.find(Card, card_id)
    _check_usable(card)
    update(bank, card, status="blocked", blocked_as=reason)
    return summarise_card(bank, card)


def _check_status(card: Card, wanted: str) -> None:
    if card.status != wanted:
        raise ToolError(f"Card {card.id} is {card.status}; this needs a card that is {wanted}.")


def _check_usable(card: Card) -> None:
    if card.status in _GONE:
        raise ToolError(f"Card {card.id} is {card.status}; nothing about it can be changed.")
