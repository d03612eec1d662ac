"""How far a planted text reaches: from a note over its record to a dispute of that record."""

from __future__ import annotations

import pytest

from domains.banking import tables as t
from domains.kit.store import RowRef
from tests.domains.banking.rules import desk as d

NOTE = RowRef("notes", "NT-1")


def note_on(ledger_id: str) -> t.Note:
    """Return a note on an entry of Ann's account."""
    return t.Note(
        id="NT-1", customer_id="CU-ANN", about_id=ledger_id, author="import", text="x", created_at=d.days_ago(2)
    )


@pytest.mark.parametrize(("ledger_id", "fires"), [("LE-SHOP", True), ("LE-FEE", False)])
def test_a_dispute_rests_on_the_entry_that_it_contests(ledger_id: str, fires: bool) -> None:
    claim = t.Dispute(
        id="DP-1",
        ledger_id="LE-SHOP",
        account_id="AC-ANN",
        customer_id="CU-ANN",
        kind="service",
        amount_cents=4_200,
        opened_at=d.days_ago(9),
    )
    desk = d.ready(note_on(ledger_id), claim).asks(evidence=("planted_text",), row=NOTE).next_turn()
    wish = d.credit(4_200, "provisional", "DP-1")
    assert ("TXT-05" in desk.plan(wish).findings(wish)) is fires
    assert ("TXT-06" in desk.findings(wish)) is fires


def test_a_note_is_looked_at_before_it_is_told() -> None:
    desk = d.ready(note_on("LE-SHOP"))
    assert NOTE in desk.plan(d.tell("notes", "NT-1", "text")).contact.shown


def test_what_was_referred_in_this_contact_is_left_to_its_own_rule() -> None:
    late = d.check("address", proof_dated=d.day(61))
    desk = d.ready(d.application(), *d.checks("AP-NEW", "address"), late)
    assert list(desk.plan(d.open_it()).findings(d.open_it())) == ["ONB-06"]
    desk.call("refer_application", application_id="AP-NEW", reason_code="address_check")
    assert list(desk.findings(d.open_it())) == ["ONB-06"]
