"""What a fraud detector sees of a payment: named measurements, their everyday values, and why a score is high."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlmodel import col, func, select

from domains.banking.tables import Account, ChannelEvent, LedgerEntry, Payee, Payment
from domains.kit.json import JsonValue
from domains.kit.world import World
from tabular_bench import Detector

_FRESH: Final = timedelta(hours=72)
_NEVER_DAYS: Final = 3650.0
_REASONS: Final = 3
_REASON_MIN_DROP: Final = 0.005


@dataclass(frozen=True, slots=True)
class Feature:
    """One measurement: what it says, and the value that an everyday payment has."""

    meaning: str
    everyday: float


FEATURES: Final[Mapping[str, Feature]] = {
    "amount_dollars": Feature("amount in dollars", 120.0),
    "balance_share": Feature("share of the balance that it takes, 0 to 1", 0.05),
    "payee_age_days": Feature("days since the receiver was registered", 700.0),
    "is_first_payment": Feature("1 if this receiver was never paid from this account, else 0", 0.0),
    "is_external": Feature("1 if the money leaves the bank, else 0", 1.0),
    "hour": Feature("hour of the day at the bank, 0 to 23", 13.0),
    "payments_today": Feature("payments out of the account earlier this day", 0.0),
    "account_age_days": Feature("days since the paying account was opened", 1500.0),
    "fresh_money_share": Feature("share of the balance that came in within 72 hours, 0 to 1", 0.0),
    "days_since_channel_change": Feature("days since telephone, e-mail or a device last changed", 900.0),
}
"""Every measurement that the bank takes of a payment. A detector may use any of them."""


def measure(bank: World, account: Account, receiver: Payee | Account, amount_cents: int) -> dict[str, float]:
    """Take every measurement of a payment that has not been made.

    Parameters
    ----------
    bank
        The world in which it would be made.
    account
        The account that would pay.
    receiver
        A payee outside, or another account of this bank.
    amount_cents
        The amount, in cents.

    Returns
    -------
    dict[str, float]
        A value for each of `FEATURES`.
    """
    local = bank.now.astimezone(bank.zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    paid = select(func.count(col(Payment.id))).where(Payment.from_account_id == account.id)
    is_external = isinstance(receiver, Payee)
    target = col(Payment.to_payee_id) if is_external else col(Payment.to_account_id)
    settled_before = bank.session.exec(paid.where(target == receiver.id, Payment.status == "settled")).one()
    known_since = receiver.created_at if isinstance(receiver, Payee) else receiver.opened_at
    balance = max(account.balance_cents, 1)
    return {
        "amount_dollars": amount_cents / 100,
        "balance_share": min(amount_cents / balance, 1.0),
        "payee_age_days": _days(bank, known_since),
        "is_first_payment": float(settled_before == 0),
        "is_external": float(is_external),
        "hour": float(local.hour),
        "payments_today": float(bank.session.exec(paid.where(col(Payment.created_at) >= midnight)).one()),
        "account_age_days": _days(bank, account.opened_at),
        "fresh_money_share": min(_received_since(bank, account, bank.now - _FRESH) / balance, 1.0),
        "days_since_channel_change": _days_since_channel_change(bank, account.customer_id),
    }


def _days(bank: World, since: datetime) -> float:
    return max((bank.now - since).total_seconds() / 86400, 0.0)


def _received_since(bank: World, account: Account, start: datetime) -> int:
    received = select(func.coalesce(func.sum(col(LedgerEntry.amount_cents)), 0)).where(
        LedgerEntry.account_id == account.id, LedgerEntry.amount_cents > 0, col(LedgerEntry.posted_at) >= start
    )
    return int(bank.session.exec(received).one())


def _days_since_channel_change(bank: World, customer_id: str) -> float:
    latest = bank.session.exec(
        select(ChannelEvent)
        .where(ChannelEvent.customer_id == customer_id, col(ChannelEvent.channel).in_(("phone", "email", "device")))
        .order_by(col(ChannelEvent.at).desc())
        .limit(1)
    ).first()
    return _NEVER_DAYS if latest is None else _days(bank, latest.at)


def explain(detector: Detector, measured: Mapping[str, float]) -> dict[str, JsonValue]:
    """Score a payment and name the measurements that raise the score most.

    The weight of a measurement is how far the score falls when that one alone is replaced by its everyday value,
    so that any detector can be explained in the same way.

    Parameters
    ----------
    detector
        Uses some or all of `FEATURES`.
    measured
        A value for each of `FEATURES`.

    Returns
    -------
    dict[str, JsonValue]
        ``score`` in 0..1, and up to three ``reasons`` with the highest weight first.

    Raises
    ------
    ValueError
        If the detector asks for a feature that the bank does not measure.
    """
    import numpy as np

    names = detector.feature_names
    if unknown := sorted(set(names) - set(FEATURES)):
        raise ValueError(
            f"the configured detector asks for {', '.join(unknown)}; the bank measures {', '.join(FEATURES)}"
        )
    rows = np.array([[measured[name] for name in names]] * (len(names) + 1), dtype=np.float64)
    for place, name in enumerate(names):
        rows[place + 1, place] = FEATURES[name].everyday
    score, *without = (float(value) for value in detector.predict_proba(rows))
    drops = sorted(((score - other, name) for other, name in zip(without, names, strict=True)), reverse=True)
    return {
        "score": round(score, 4),
        "reasons": [
            {
                "measurement": name,
                "meaning": FEATURES[name].meaning,
                "value": round(measured[name], 2),
                "weight": round(drop, 4),
            }
            for drop, name in drops[:_REASONS]
            if drop >= _REASON_MIN_DROP
        ],
    }
