"""Cards and what protects them."""

from __future__ import annotations

from datetime import date, datetime

from domains.banking.tables.base import BankRow, key, moment, ref


class Card(BankRow, table=True):
    """A debit or credit card."""

    __tablename__ = "cards"

    id: str = key()
    account_id: str = ref("accounts.id")
    customer_id: str = ref("customers.id")
    kind: str
    """debit or credit."""
    number: str
    cvv: str
    pin: str
    limit_cents: int
    """Daily limit."""
    status: str = "active"
    """issued (not activated), active, frozen, blocked (lost, stolen) or replaced."""
    expires_on: date
    blocked_as: str = ""
    """lost or stolen, once the card is blocked."""


class CardControl(BankRow, table=True):
    """A freeze or an alert on a card, and who put it there."""

    __tablename__ = "card_controls"

    id: str = key()
    card_id: str = ref("cards.id")
    kind: str
    """freeze or alert."""
    placed_by: str
    """customer or bank."""
    status: str = "active"
    """active or lifted."""
    placed_at: datetime = moment()


class ActivationAttempt(BankRow, table=True):
    """One check while activating a card."""

    __tablename__ = "activation_attempts"

    id: str = key()
    card_id: str = ref("cards.id")
    passed: bool
    at: datetime = moment()


class LimitChange(BankRow, table=True):
    """A temporary change of a card's daily limit."""

    __tablename__ = "limit_changes"

    id: str = key()
    card_id: str = ref("cards.id")
    old_cents: int
    new_cents: int
    at: datetime = moment()


class CardOrder(BankRow, table=True):
    """A replacement card that was ordered."""

    __tablename__ = "card_orders"

    id: str = key()
    card_id: str = ref("cards.id")
    customer_id: str = ref("customers.id")
    delivery: str
    """mail or branch."""
    address: str
    """Where it goes; the branch's name for pick-up."""
    ordered_at: datetime = moment()
