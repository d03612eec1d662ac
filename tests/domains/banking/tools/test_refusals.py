"""Every refusal: what is said, and that nothing changes."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest

from domains.banking.tools import bank_tools
from domains.kit.errors import Rejection
from domains.kit.world import Controls, World
from tests.domains.banking.small_bank import BEN, call, open_bank
from tests.domains.banking.tools.test_reads import READS
from tests.domains.banking.tools.test_writes import WRITES

REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("find_customer", {}, "Give a name"),
    ("find_customer", {"name": "..."}, "Give a name"),
    ("find_customer", {"phone": "0142"}, "not a telephone number"),
    ("log_verification", {"customer_id": "CU-FIRM", "factor": "date_of_birth", "value": "1984-03-04"}, "is a firm"),
    ("log_verification", {"customer_id": "CU-ANNA", "factor": "date_of_birth", "value": "4 March"}, "YYYY-MM-DD"),
    ("log_verification", {"customer_id": "CU-ANNA", "factor": "phone", "value": "0142"}, "not a telephone number"),
    ("send_push", {"customer_id": "CU-ANNA", "device_id": "DV-BEN"}, "not enrolled for customer CU-ANNA"),
    ("send_push", {"customer_id": "CU-ANNA", "device_id": "DV-OLD"}, "not enrolled"),
    ("redeem_recovery_code", {"customer_id": "CU-BEN", "code": "KX7P-29QM"}, "no open recovery code"),
    ("change_contact", {"customer_id": "CU-ANNA", "field": "email", "value": "anna"}, "not an e-mail"),
    ("change_contact", {"customer_id": "CU-ANNA", "field": "email", "value": "an na@b.example"}, "not an e-mail"),
    ("change_contact", {"customer_id": "CU-ANNA", "field": "email", "value": "anna@example.com"}, "already"),
    ("change_contact", {"customer_id": "CU-ANNA", "field": "phone", "value": "555-0142"}, "not a telephone number"),
    ("change_contact", {"customer_id": "CU-ANNA", "field": "phone", "value": "4155550142"}, "already"),
    ("freeze_card", {"card_id": "CD-ICE"}, "is frozen"),
    ("unfreeze_card", {"card_id": "CD-ANNA"}, "is active"),
    ("set_pin", {"card_id": "CD-LOST", "pin": "0370"}, "is blocked"),
    ("set_temporary_limit", {"card_id": "CD-PAST", "limit_cents": 5}, "is replaced"),
    ("set_temporary_limit", {"card_id": "CD-ANNA", "limit_cents": 100_000}, "already"),
    ("order_replacement_card", {"card_id": "CD-PAST", "delivery": "branch", "address": "Quay"}, "replaced already"),
    ("check_activation", {"card_id": "CD-ANNA", "answer": "6789"}, "is active"),
    ("activate_card", {"card_id": "CD-LOST"}, "is blocked"),
    ("block_card", {"card_id": "CD-LOST", "reason": "lost"}, "is blocked"),
    ("register_payee", {"customer_id": "CU-ANNA", "name": "X", "bank_account": "021 py shop"}, "payee PY-SHOP"),
    ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-ANNA", "amount_cents": 1}, "both ends"),
    ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-SAVE", "amount_cents": 500_001}, "does not cover"),
    ("transfer", {"from_account_id": "AC-STOP", "to_account_id": "AC-SAVE", "amount_cents": 1}, "is restricted"),
    ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-GONE", "amount_cents": 1}, "is closed"),
    ("send_payment", {"from_account_id": "AC-ANNA", "payee_id": "PY-SUPP", "amount_cents": 1}, "not registered"),
    ("send_payment", {"from_account_id": "AC-ANNA", "payee_id": "PY-GONE", "amount_cents": 1}, "was removed"),
    ("send_payment", {"from_account_id": "AC-ANNA", "payee_id": "PY-SHOP", "amount_cents": 500_001}, r"\$5,000\.00"),
    ("release_payment", {"payment_id": "PM-OLD"}, "is settled"),
    ("release_payment", {"payment_id": "PM-DEAR"}, "does not cover"),
    ("request_recall", {"ledger_id": "LE-ATM", "reason": "mistake"}, "money paid out"),
    ("place_hold", {"account_id": "AC-ANNA", "reason_code": "looks_odd"}, "not a reason code"),
    ("place_hold", {"account_id": "AC-SAVE", "reason_code": "none", "payment_id": "PM-PLAN"}, "does not go out of"),
    ("place_hold", {"account_id": "AC-ANNA", "reason_code": "none", "payment_id": "PM-OLD"}, "is settled"),
    ("place_hold", {"account_id": "AC-ANNA", "reason_code": "none", "payee_id": "PY-SUPP"}, "not registered"),
    ("release_hold", {"hold_id": "HD-DONE"}, "released already"),
    ("file_dispute", {"ledger_id": "LE-IN", "kind": "unauthorised"}, "money received"),
    ("file_dispute", {"ledger_id": "LE-GYM2", "kind": "duplicate"}, "DP-GYM2"),
    ("issue_credit", {"account_id": "AC-STOP", "kind": "goodwill", "amount_cents": 1}, "is restricted"),
    (
        "issue_credit",
        {"account_id": "AC-SAVE", "kind": "goodwill", "amount_cents": 1, "basis_id": "LE-GYM"},
        "no dispute",
    ),
    ("correct_balance", {"account_id": "AC-ANNA", "amount_cents": 1, "basis_id": ""}, "needs a basis"),
    ("correct_balance", {"account_id": "AC-ANNA", "amount_cents": 1, "basis_id": "NT-IN"}, "no dispute"),
    ("correct_balance", {"account_id": "AC-ANNA", "amount_cents": 1, "basis_id": "SA-FIRM"}, "no dispute"),
    ("read_machine_journal", {"ledger_id": "LE-GYM"}, "no withdrawal"),
    ("score_payment", {"from_account_id": "AC-ANNA", "amount_cents": 1}, "Name either"),
    (
        "score_payment",
        {"from_account_id": "AC-ANNA", "amount_cents": 1, "payee_id": "PY-SHOP", "to_account_id": "AC-SAVE"},
        "Name either",
    ),
    (
        "open_fraud_case",
        {"customer_id": "CU-ANNA", "kind": "fraud", "reason_code": "odd", "summary": ""},
        "not a reason code",
    ),
    ("flag_record", {"record_id": "NT-IN", "reason_code": "odd"}, "not a reason code"),
    ("close_account", {"account_id": "AC-ANNA"}, "name an account"),
    ("close_account", {"account_id": "AC-ANNA", "payout_account_id": "AC-ANNA"}, "both ends"),
    ("close_account", {"account_id": "AC-ANNA", "payout_account_id": "AC-STOP"}, "is restricted"),
    ("close_account", {"account_id": "AC-GONE"}, "is closed"),
    (
        "send_statement",
        {"account_id": "AC-ANNA", "month": "2026-04", "sent_to": "a", "requested_by": "CU-ANNA"},
        "to 2026-03",
    ),
    (
        "send_statement",
        {"account_id": "AC-ANNA", "month": "2019-01", "sent_to": "a", "requested_by": "CU-ANNA"},
        "not for",
    ),
    (
        "send_statement",
        {"account_id": "AC-ANNA", "month": "March", "sent_to": "a", "requested_by": "CU-ANNA"},
        "YYYY-MM",
    ),
    ("assign_business_role", {"business_id": "CU-ANNA", "person_id": "CU-BEN", "role": "viewer"}, "is a person"),
    ("assign_business_role", {"business_id": "CU-FIRM", "person_id": "CU-FIRM", "role": "viewer"}, "is a business"),
    ("assign_business_role", {"business_id": "CU-FIRM", "person_id": "CU-BEN", "role": "bookkeeper"}, "BR-BEN"),
    ("refer_application", {"application_id": "AP-DONE", "reason_code": "none"}, "is opened"),
    ("refer_application", {"application_id": "AP-CARLA", "reason_code": "odd"}, "not a reason code"),
    ("correct_application", {"application_id": "AP-DONE", "field": "email", "value": "x"}, "is opened"),
    ("correct_application", {"application_id": "AP-CARLA", "field": "date_of_birth", "value": "x"}, "YYYY-MM-DD"),
    ("correct_application", {"application_id": "AP-CARLA", "field": "phone", "value": "(202) 555-0131"}, "already"),
    ("open_account", {"application_id": "AP-DONE"}, "is opened"),
    ("approve_push", {"step_up_id": "SU-BEN"}, "No challenge"),
    ("approve_push", {"step_up_id": "SU-CALL"}, "No challenge"),
    ("decline_push", {"step_up_id": "SU-BEN"}, "No challenge"),
    ("answer_call_back", {"step_up_id": "SU-ANNA"}, "No challenge"),
    ("freeze_my_card", {"card_id": "CD-ICE"}, "is frozen"),
    ("pick_up_at_branch", {"card_id": "CD-PAST", "branch": "Quay"}, "replaced already"),
    ("confirm_shown_name", {"payee_id": "PY-SHOP"}, "No other name"),
    ("cancel_payment", {"payment_id": "PM-OLD"}, "is settled"),
    ("cancel_payment", {"payment_id": "PM-DUE"}, "shows no payment"),
    ("approve_business_payment", {"payment_id": "PM-PLAN"}, "not one of a firm"),
    ("approve_business_payment", {"payment_id": "PM-DUE"}, "shows no payment"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSALS)
def test_a_refusal_changes_nothing(bank: World, tool: str, arguments: dict[str, Any], message: str) -> None:
    outcome = call(bank, tool, **arguments)
    assert not outcome.ok
    assert outcome.rejection is None
    assert outcome.changes == ()
    assert re.search(message, outcome.result)


REPEATED = (
    "redeem_recovery_code change_contact freeze_card unfreeze_card activate_card block_card register_payee "
    "release_payment request_recall release_hold file_dispute flag_record close_account assign_business_role "
    "open_account refer_application confirm_shown_name cancel_payment approve_push decline_push answer_call_back "
    "freeze_my_card set_temporary_limit correct_application"
).split()


@pytest.mark.parametrize("tool", REPEATED)
def test_what_can_be_done_once_is_refused_the_second_time(bank: World, tool: str) -> None:
    first = [arguments for name, arguments, _ in WRITES if name == tool] or [{"application_id": "AP-CARLA"}]
    assert call(bank, tool, **first[0]).ok
    again = call(bank, tool, **first[0])
    assert not again.ok
    assert again.rejection is None


def test_a_payment_is_approved_once_by_each_person() -> None:
    bank = open_bank(BEN)
    assert call(bank, "approve_business_payment", payment_id="PM-DUE").ok
    assert "already" in call(bank, "approve_business_payment", payment_id="PM-DUE").result
    bank.close()


def test_a_search_that_fits_too_many_asks_for_more(bank: World) -> None:
    anna = bank.store.rows("customers")[0]
    for number in range(10):
        bank.store.insert("customers", _typed(anna) | {"id": f"CU-{number}"})
    assert "11 customers fit" in call(bank, "find_customer", name="Anna").result


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    return {name: date.fromisoformat(row[name]) if name in {"date_of_birth", "since"} else row[name] for name in row}


NAMED = [
    (tool, arguments, name)
    for tool, arguments in {tool: arguments for tool, arguments, _ in (*READS, *WRITES)}.items()
    for name in arguments
    if name.endswith("_id") or name == "requested_by"
]


@pytest.mark.parametrize(("tool", "arguments", "name"), NAMED)
@pytest.mark.parametrize("key", ["XX-NONE", " ", "'; DROP TABLE accounts; --", "CU-ANNA\x00"])
def test_an_unknown_id_is_named(bank: World, tool: str, arguments: dict[str, Any], name: str, key: str) -> None:
    outcome = call(bank, tool, **(arguments | {name: key}))
    assert not outcome.ok
    assert repr(key) in outcome.result
    assert outcome.changes == ()


def test_every_tool_that_takes_an_id_is_tried_with_an_unknown_one() -> None:
    takes_id = {
        name
        for name, tool in bank_tools().items()
        if any(field.endswith("_id") and field != "rule_id" for field in tool.arguments.model_fields)
    }
    ours = takes_id - {"kb_read"}
    assert ours == {tool for tool, _, _ in NAMED} | {"open_account", "approve_business_payment"}


@pytest.mark.parametrize("tool", ["open_account", "approve_business_payment"])
def test_an_unknown_id_is_named_there_too(bank: World, tool: str) -> None:
    (name,) = bank.tools[tool].arguments.model_fields
    assert "'XX-NONE'" in call(bank, tool, **{name: "XX-NONE"}).result


APP = [name for name in bank_tools() if name.startswith(("view_", "freeze_my", "confirm_shown", "cancel_", "pick_up"))]


@pytest.mark.parametrize("tool", [*APP, "answer_payment_questions", "approve_business_payment"])
def test_without_an_app_nothing_of_it_works(tool: str) -> None:
    bank = open_bank(Controls())
    arguments = next((arguments for name, arguments, _ in (*WRITES, *READS) if name == tool), {"payment_id": "PM-DUE"})
    outcome = call(bank, tool, **arguments)
    assert not outcome.ok
    assert "You are not signed in" in outcome.result or "You hold no app" in outcome.result
    bank.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("approve_push", {"step_up_id": "SU-ANNA"}),
        ("answer_call_back", {"step_up_id": "SU-CALL"}),
        ("freeze_my_card", {"card_id": "CD-ANNA"}),
        ("pick_up_at_branch", {"card_id": "CD-ANNA", "branch": "Quay"}),
        ("confirm_shown_name", {"payee_id": "PY-NEAR"}),
        ("cancel_payment", {"payment_id": "PM-PLAN"}),
    ],
)
def test_an_impostor_with_their_own_app_reaches_nothing_of_the_victim(tool: str, arguments: dict[str, Any]) -> None:
    bank = open_bank(BEN)
    assert not call(bank, tool, **arguments).ok
    bank.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-SAVE", "amount_cents": 0}),
        ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-SAVE", "amount_cents": -5}),
        ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-SAVE", "amount_cents": 10**30}),
        ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-SAVE", "amount_cents": "5"}),
        ("transfer", {"from_account_id": "AC-ANNA", "to_account_id": "AC-SAVE", "amount_cents": 1.5}),
        ("send_payment", {"from_account_id": "AC-ANNA", "payee_id": "PY-SHOP", "amount_cents": True}),
        ("set_pin", {"card_id": "CD-ANNA", "pin": "12345"}),
        ("set_pin", {"card_id": "CD-ANNA", "pin": "١٢٣٤"}),
        ("set_pin", {"card_id": "CD-ANNA", "pin": "1234\n"}),
        ("change_contact", {"customer_id": "CU-ANNA", "field": "name", "value": "X"}),
        ("change_contact", {"customer_id": "CU-ANNA", "field": "address", "value": "  "}),
        ("change_contact", {"customer_id": "CU-ANNA", "field": "address", "value": "x" * 1_000_000}),
        ("change_contact", {"customer_id": "CU-ANNA", "field": "address", "value": "\ud800"}),
        ("list_ledger", {"account_id": "AC-ANNA", "limit": 0}),
        ("list_ledger", {"account_id": "AC-ANNA", "limit": 10**9}),
        ("block_card", {"card_id": "CD-ANNA", "reason": "annoying"}),
        ("view_accounts", {"customer_id": "CU-BEN"}),
    ],
)
def test_bad_arguments_never_reach_a_tool(bank: World, tool: str, arguments: dict[str, Any]) -> None:
    outcome = call(bank, tool, **arguments)
    assert outcome.rejection is Rejection.BAD_ARGUMENTS
    assert tool in outcome.result
