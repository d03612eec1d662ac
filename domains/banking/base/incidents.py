"""What happened once in the base bank: a dispute, a lost card, a second signature, notes, old contacts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, Final

from domains.banking.base.activity import Lines, payment_key, place_of
from domains.banking.base.customers import LOST_CARDS
from domains.banking.base.keys import key
from domains.banking.base.ledger import AccountRef, Line, at
from domains.kit.cast import NewRow

_LUCINDA: Final = AccountRef("Lucinda Castellanos", "personal_checking")
_GRAHAM: Final = AccountRef("Graham Whitaker", "personal_checking")
_ROHAN: Final = AccountRef("Rohan Kapadia", "personal_checking")
_IMANI: Final = AccountRef("Imani Drummond", "personal_checking")
_MARCUS: Final = AccountRef("Marcus Nwosu", "personal_checking")
_CELINE: Final = AccountRef("Celine Ferreira", "personal_checking")
_STONEFIELD: Final = AccountRef("Stonefield Mechanical Inc", "business_checking")
_GYM: Final = "Flexwell Gym"
_GYM_CENTS: Final = 3_499


def _at(month: int, day: int, hour: int, minute: int = 0) -> datetime:
    return at(date(2026 if month < 4 else 2025, month, day), time(hour, minute))


CHILLER: Final = Line(
    _STONEFIELD, _at(1, 20, 10, 45), -3_148_000, "payment", "Consolidated Pipe and Valve", "Chiller replacement"
)
"""The one payment so large that a second person had to approve it."""

LINES: Final[tuple[Line, ...]] = (
    Line(_LUCINDA, _at(11, 6, 7, 15), -_GYM_CENTS, "subscription", _GYM),
    Line(_LUCINDA, _at(11, 11, 9, 30), _GYM_CENTS, "credit", "Harbourline Bank", "Provisional credit"),
    Line(_GRAHAM, _at(1, 6, 13, 12), -6_480, "card", "Fieldstone Outfitters"),
    Line(_GRAHAM, _at(1, 14, 8, 2), 6_480, "refund", "Fieldstone Outfitters"),
    Line(_ROHAN, _at(10, 18, 21, 34), -12_000, "cash_machine", "Cash machine Harbor Casino"),
    Line(_ROHAN, _at(10, 19, 0, 30), -300, "fee", "Harbourline Bank", "Cash machine of another bank"),
    Line(_IMANI, _at(10, 1, 10, 20), 150_000, "deposit", "Branch deposit", "Opening deposit"),
    Line(_CELINE, _at(12, 23, 9, 0), 120_000, "transfer", "Lurdes Ferreira", "Feliz Natal"),
    CHILLER,
)
"""Lines that no profile explains."""


def incident_rows(lines: Lines) -> Iterator[NewRow]:
    """Return the rows of everything that happened once."""
    yield from _dispute(lines)
    yield from _cards()
    yield from _contacts()
    yield from _standing()
    yield from _notes(lines)


def _dispute(lines: Lines) -> Iterator[NewRow]:
    owner, account = key("CU", _LUCINDA.owner), key("AC", _LUCINDA.owner, _LUCINDA.kind)
    second = place_of(lines, _LUCINDA, _GYM, date(2025, 11, 6))
    claim: dict[str, Any] = {"id": key("DP", second), "ledger_id": second, "account_id": account, "customer_id": owner}
    claim |= {"kind": "duplicate", "status": "won", "opened_at": _at(11, 10, 16, 25)}
    yield NewRow("disputes", {**claim, "amount_cents": _GYM_CENTS})
    credit: dict[str, Any] = {
        "id": key("CR", second),
        "account_id": account,
        "customer_id": owner,
        "kind": "provisional",
    }
    credit |= {"amount_cents": _GYM_CENTS, "basis_id": claim["id"], "created_at": _at(11, 11, 9, 30)}
    yield NewRow("credits", credit)
    cancelled = {"id": key("CN", _MARCUS.owner), "account_id": key("AC", _MARCUS.owner, _MARCUS.kind)}
    yield NewRow("cancellations", {**cancelled, "merchant": "Birdsong Audio", "cancelled_at": _at(1, 26, 19, 10)})


def _cards() -> Iterator[NewRow]:
    for holder, account, kind, placed_by, status, placed in (
        ("Marcus Nwosu", "Marcus Nwosu", "freeze", "customer", "lifted", _at(12, 20, 18, 5)),
        ("Selma Yilmaz", "Selma Yilmaz", "alert", "bank", "active", _at(2, 11, 8, 45)),
        ("Teodor Baranski", "Teodor Baranski", "alert", "bank", "lifted", _at(10, 8, 9, 50)),
    ):
        card = key("CD", account, holder, "")
        control = {"id": key("CC", card), "card_id": card, "kind": kind, "placed_by": placed_by, "status": status}
        yield NewRow("card_controls", {**control, "placed_at": placed})
    card = key("CD", "Graham Whitaker", "Graham Whitaker", "")
    change = {"id": key("LC", card), "card_id": card, "old_cents": 100_000, "new_cents": 150_000}
    yield NewRow("limit_changes", {**change, "at": _at(12, 18, 12, 15)})
    for holder in LOST_CARDS:
        card = key("CD", holder, holder, "lost")
        order = {"id": key("CO", card), "card_id": card, "customer_id": key("CU", holder), "delivery": "branch"}
        yield NewRow("card_orders", {**order, "address": "Main Street branch", "ordered_at": _at(12, 4, 10, 30)})


def _contacts() -> Iterator[NewRow]:
    for name, factor, matched, channel, moment in (
        ("Lucinda Castellanos", "date_of_birth", True, "call", _at(11, 10, 16, 21)),
        ("Lucinda Castellanos", "email", True, "call", _at(11, 10, 16, 22)),
        ("Hedda Lindholm", "date_of_birth", True, "branch", _at(12, 4, 10, 24)),
        ("Hedda Lindholm", "address", True, "branch", _at(12, 4, 10, 25)),
        ("Graham Whitaker", "phone", False, "call", _at(12, 18, 12, 2)),
        ("Graham Whitaker", "date_of_birth", True, "call", _at(12, 18, 12, 3)),
        ("Graham Whitaker", "address", True, "call", _at(12, 18, 12, 4)),
        ("Ottilie Treadwell", "address", True, "robot", _at(2, 17, 9, 41)),
    ):
        entry = {"id": key("VL", name, factor, channel), "customer_id": key("CU", name), "factor": factor}
        yield NewRow("verification_log", {**entry, "matched": matched, "channel": channel, "at": moment})
    graham = "Graham Whitaker"
    challenge: dict[str, Any] = {
        "id": key("SU", graham),
        "customer_id": key("CU", graham),
        "method": "push",
        "status": "approved",
    }
    challenge |= {"target": key("DV", graham, "Android phone"), "created_at": _at(12, 18, 12, 6)}
    yield NewRow("step_ups", {**challenge, "approved_at": _at(12, 18, 12, 7)})


def _standing() -> Iterator[NewRow]:
    approval: dict[str, Any] = {"id": key("AP", "chiller"), "payment_id": payment_key(CHILLER)}
    approval |= {"approver_id": key("CU", "Teodor Baranski"), "approved_at": _at(1, 20, 10, 15)}
    yield NewRow("approvals", approval)
    ottilie = key("CU", "Ottilie Treadwell")
    power: dict[str, Any] = {
        "id": key("AU", ottilie),
        "principal_id": ottilie,
        "representative_id": key("CU", "Paulette Whitaker"),
    }
    power |= {"kind": "power_of_attorney", "scope": "information,statements", "status": "active"}
    yield NewRow("authority_records", {**power, "valid_from": date(2024, 5, 13), "valid_to": None})
    statement: dict[str, Any] = {
        "id": key("SO", ottilie),
        "account_id": key("AC", "Ottilie Treadwell", "personal_checking"),
    }
    statement |= {"month": date(2025, 12, 1), "sent_to": "address on file", "requested_by": ottilie}
    yield NewRow("statement_orders", {**statement, "created_at": _at(1, 8, 14, 30)})
    alert = {"id": key("FA", _CELINE.owner), "customer_id": key("CU", _CELINE.owner), "kind": "unusual_merchant"}
    alert |= {"account_id": key("AC", _CELINE.owner, _CELINE.kind), "status": "closed"}
    yield NewRow("fraud_alerts", {**alert, "created_at": _at(11, 19, 3, 12)})


def _notes(lines: Lines) -> Iterator[NewRow]:
    gym = place_of(lines, _LUCINDA, _GYM, date(2025, 11, 6))
    for place, (owner, about, author, text, moment) in enumerate(
        (
            ("Lucinda Castellanos", gym, "customer", "The gym took November twice, a day apart.", _at(11, 10, 16, 26)),
            ("Lucinda Castellanos", gym, "agent", "Merchant confirmed the double charge.", _at(12, 1, 11, 5)),
            ("Hedda Lindholm", "", "agent", "Lost her card at the market; came to the branch.", _at(12, 4, 10, 33)),
            ("Graham Whitaker", "", "agent", "Asked for a higher limit for holiday travel.", _at(12, 18, 12, 16)),
            ("Ottilie Treadwell", "", "agent", "Hard of hearing. Speak slowly and repeat figures.", _at(9, 23, 10, 0)),
            ("Ottilie Treadwell", "", "customer", "Please keep sending paper statements.", _at(1, 8, 14, 31)),
            ("Celine Ferreira", "", "agent", "Flower auction abroad was hers; alert closed.", _at(11, 19, 9, 40)),
            ("Imani Drummond", "", "system", "Welcome letter sent.", _at(10, 2, 3, 0)),
            ("Stonefield Mechanical Inc", "", "import", "Prefers e-mail for notices.", _at(9, 2, 4, 30)),
            ("Vale Street Veterinary Clinic", "", "agent", "Asked how to add a second approver.", _at(2, 5, 15, 20)),
        )
    ):
        note = {"id": key("NT", place), "customer_id": key("CU", owner), "about_id": about or key("CU", owner)}
        yield NewRow("notes", {**note, "author": author, "text": text, "created_at": moment})
