"""Every reading tool: which rows it shows, and that what decides a rule stands in its result."""

from __future__ import annotations

from typing import Any

import pytest

from domains.banking.tools import bank_tools
from domains.kit import desk
from domains.kit.desk import DESK_TABLES
from domains.kit.json import canonical
from domains.kit.store import table_of
from domains.kit.world import Controls, World
from tests.domains.banking.small_bank import ANNA, BEN, call, open_bank

READS: list[tuple[str, dict[str, Any], str]] = [
    ("find_customer", {"name": "lindqvist ann"}, "CU-ANNA"),
    ("find_customer", {"phone": "1-415-555-0177", "name": "ben"}, "CU-BEN"),
    ("find_customer", {"email": "Office@Northway.example"}, "CU-FIRM"),
    ("find_customer", {"name": "na"}, ""),
    ("get_customer", {"customer_id": "CU-ANNA"}, "CU-ANNA DV-OLD DV-ANNA CE-ANNA AH-ANNA FA-ANNA"),
    ("get_customer", {"customer_id": "CU-BEN"}, "CU-BEN DV-BEN BR-BEN"),
    ("get_customer", {"customer_id": "CU-FIRM"}, "CU-FIRM BR-BEN"),
    ("list_accounts", {"customer_id": "CU-BEN"}, "AC-GONE AC-SAVE AC-STOP CL-GONE"),
    ("get_account", {"account_id": "AC-ANNA"}, "AC-ANNA AO-ANNA HD-HELD FA-ANNA"),
    ("get_account", {"account_id": "AC-GONE"}, "AC-GONE CL-GONE"),
    ("get_account", {"account_id": "AC-FIRM"}, "AC-FIRM LI-FIRM"),
    ("list_ledger", {"account_id": "AC-ANNA"}, "LE-IN LE-ATM LE-GYM2 LE-GYM LE-FEE LE-BACK"),
    ("list_ledger", {"account_id": "AC-ANNA", "limit": 2}, "LE-IN LE-ATM"),
    ("list_notes", {"about_id": "LE-IN"}, "NT-IN"),
    ("list_notes", {"about_id": "CU-ANNA"}, "NT-IN"),
    ("list_notes", {"about_id": "CU-BEN"}, ""),
    ("get_verification_log", {"customer_id": "CU-ANNA"}, "VL-ANNA SU-ANNA SU-CALL RA-ANNA"),
    ("list_cards", {"customer_id": "CU-ANNA"}, "CD-ANNA CD-ICE CD-LOST CD-NEW CD-PAST"),
    ("get_card", {"card_id": "CD-ICE"}, "CD-ICE AC-ANNA CC-ALERT CC-ICE LE-FEE"),
    ("get_card", {"card_id": "CD-NEW"}, "CD-NEW AC-ANNA AA-NEW LE-FEE"),
    ("get_card", {"card_id": "CD-ANNA"}, "CD-ANNA AC-ANNA LC-ANNA LE-FEE"),
    ("get_card", {"card_id": "CD-PAST"}, "CD-PAST AC-ANNA CO-NEW LE-FEE"),
    ("list_payees", {"customer_id": "CU-ANNA"}, "PY-FAR PY-GONE PY-NEAR PY-SHOP"),
    ("get_payee", {"payee_id": "PY-SHOP"}, "PY-SHOP SQ-SHOP PM-OLD"),
    ("get_payee", {"payee_id": "PY-NEAR"}, "PY-NEAR PC-NEAR"),
    ("list_payments", {"account_id": "AC-ANNA"}, "PM-PLAN PM-HELD PM-OLD"),
    ("get_payment", {"payment_id": "PM-HELD"}, "PM-HELD AV-HELD PY-SHOP HD-HELD"),
    ("get_payment", {"payment_id": "PM-PLAN"}, "PM-PLAN"),
    ("get_ledger_entry", {"ledger_id": "LE-GYM"}, "LE-GYM RP-GYM CA-GYM SE-GYM LE-GYM2"),
    ("get_ledger_entry", {"ledger_id": "LE-GYM2"}, "LE-GYM2 DP-GYM2 CA-GYM SE-GYM LE-GYM"),
    ("get_ledger_entry", {"ledger_id": "LE-BACK"}, "LE-BACK RR-BACK"),
    ("list_disputes", {"customer_id": "CU-ANNA"}, "DP-GYM2 CR-GYM2"),
    ("read_machine_journal", {"ledger_id": "LE-ATM"}, "MJ-ATM"),
    ("read_authority", {"customer_id": "CU-ANNA"}, "AR-BEN SA-GYM SA-HELD"),
    ("read_authority", {"customer_id": "CU-FIRM"}, "SA-FIRM"),
    ("review_application", {"application_id": "AP-CARLA"}, "AP-CARLA AK-DOC AK-TAX AP-TWIN"),
    ("review_application", {"application_id": "AP-BEN"}, "AP-BEN CU-BEN AC-GONE AC-SAVE AC-STOP CL-GONE"),
    ("review_application", {"application_id": "AP-TWIN"}, "AP-TWIN AN-CARLA AP-CARLA"),
    ("score_payment", {"from_account_id": "AC-ANNA", "amount_cents": 1, "payee_id": "PY-SHOP"}, ""),
    ("view_accounts", {}, "AC-ANNA AC-EMPTY AC-SAVE"),
    ("view_cards", {}, "CD-ANNA CD-ICE CD-LOST CD-NEW CD-PAST"),
    ("view_payees", {}, "PY-FAR PY-NEAR PC-NEAR PY-SHOP"),
    ("view_payments", {}, "PM-HELD PM-PLAN PM-OLD"),
    ("view_requests", {}, "SU-ANNA SU-CALL"),
]


@pytest.mark.parametrize(("tool", "arguments", "keys"), READS)
def test_a_read_shows_exactly_its_rows(bank: World, tool: str, arguments: dict[str, Any], keys: str) -> None:
    outcome = call(bank, tool, **arguments)
    assert outcome.ok, outcome.result
    assert [row.key for row in outcome.shown] == keys.split()
    assert outcome.changes == ()
    assert canonical(outcome.result)


def test_every_read_of_the_bank_is_tested() -> None:
    ours = (name for name, tool in bank_tools().items() if not tool.writes and tool.run.__module__ != desk.__name__)
    assert set(ours) == {tool for tool, _, _ in READS}


def test_every_table_that_can_decide_is_shown_by_a_tool(bank: World) -> None:
    shown = {row.table for tool, arguments, _ in READS for row in call(bank, tool, **arguments).shown}
    written_only = {"recovery_codes", "fraud_cases", "statement_orders", "record_flags"}
    assert set(bank.store.template.models) - shown == written_only | {table_of(t).name for t in DESK_TABLES}


def test_a_flag_is_shown_where_notes_are(bank: World) -> None:
    flag = call(bank, "flag_record", record_id="NT-IN", reason_code="none").result
    assert call(bank, "list_notes", about_id="NT-IN").result == {"notes": [], "flags": [flag]}


def test_what_no_tool_may_tell_is_in_no_result(bank: World) -> None:
    results = canonical([call(bank, tool, **arguments).result for tool, arguments, _ in READS])
    names = ("pin", "account_name", "register_value", "code")
    assert [name for name in names if f'"{name}":' in results] == []
    assert "KX7P" not in results
    assert "8264" not in results


def test_a_payee_shows_what_makes_it_new_or_old(bank: World) -> None:
    shop = call(bank, "get_payee", payee_id="PY-SHOP").result
    assert shop["age_hours"] == 9600
    assert shop["settled_count"] == 1
    assert shop["settled_payments"] == [{"id": "PM-OLD", "amount_cents": 8_000, "settled_at": "2025-12-02T15:20:00Z"}]


def test_an_application_says_what_others_share_with_it(bank: World) -> None:
    assert call(bank, "review_application", application_id="AP-CARLA").result["sharing"] == [
        {"id": "AP-TWIN", "submitted_at": "2026-02-20T15:20:00Z", "shares": ["phone", "email"]}
    ]


def test_an_account_number_is_listed_by_its_end(bank: World) -> None:
    listed = call(bank, "list_accounts", customer_id="CU-BEN").result["accounts"]
    full = call(bank, "get_account", account_id="AC-SAVE").result["account"]["number"]
    assert {row["id"]: row["last_four"] for row in listed}["AC-SAVE"] == full[-4:]
    assert full not in canonical(listed)


def test_the_app_shows_the_firms_of_its_user() -> None:
    bank = open_bank(BEN)
    assert [row["id"] for row in call(bank, "view_accounts").result] == ["AC-FIRM", "AC-GONE", "AC-SAVE", "AC-STOP"]
    assert [row["id"] for row in call(bank, "view_payees").result] == ["PY-SUPP"]
    assert [row["id"] for row in call(bank, "view_requests").result] == ["SU-BEN"]
    bank.close()


@pytest.mark.parametrize(
    ("controls", "reached"),
    [
        (Controls(phones=ANNA.phones), ["SU-CALL"]),
        (Controls(devices=ANNA.devices), ["SU-ANNA"]),
        (Controls(app_as="CU-ANNA"), []),
    ],
)
def test_challenges_reach_only_what_the_caller_holds(controls: Controls, reached: list[str]) -> None:
    bank = open_bank(controls)
    assert [row["id"] for row in call(bank, "view_requests").result] == reached
    bank.close()
