"""Every writing tool: what it writes, to the row and column."""

from __future__ import annotations

from typing import Any

import pytest

from domains.banking.tools import bank_tools
from domains.kit import desk
from domains.kit.world import World
from tests.domains.banking.small_bank import BEN, call, effect, open_bank

AT = "2026-03-12T15:20:00Z"
PHONE = "(415) 555-0142"

Effects = list[tuple[str, str, dict[str, Any]]]


def ledger(account: str, amount_cents: int, kind: str, counterparty: str, **more: Any) -> tuple[str, str, Any]:
    row = {"memo": "", "status": "settled", "counterparty_new": True, "statement_on": "2026-03-31", "posted_at": AT}
    named = {"account_id": account, "amount_cents": amount_cents, "kind": kind, "counterparty": counterparty}
    return ("new", "ledger", row | named | more)


def paid(source: str, amount_cents: int, purpose: str = "", **to: Any) -> tuple[str, str, Any]:
    row = {
        "from_account_id": source,
        "to_payee_id": None,
        "to_account_id": None,
        "rail": "external" if "to_payee_id" in to else "internal",
        "amount_cents": amount_cents,
        "purpose": purpose,
        "status": "settled",
        "initiated_by": "CU-ANNA",
        "created_at": AT,
        "settled_at": AT,
    }
    return ("new", "payments", row | to)


def hold(account: str, kind: str, reason_code: str, **more: Any) -> tuple[str, str, Any]:
    row = {
        "account_id": account,
        "payment_id": None,
        "payee_id": None,
        "amount_cents": None,
        "kind": kind,
        "placed_by": "agent",
        "reason_code": reason_code,
        "status": "active",
        "placed_at": AT,
    }
    return ("new", "holds", row | more)


def verified(factor: str, matched: bool) -> Effects:
    row = {"customer_id": "CU-ANNA", "factor": factor, "matched": matched, "channel": "call", "at": AT}
    return [("new", "verification_log", row)]


def challenge(method: str, target: str) -> Effects:
    row = {"method": method, "target": target, "status": "pending", "created_at": AT, "approved_at": None}
    return [("new", "step_ups", {"customer_id": "CU-ANNA"} | row)]


def channel(name: str, event: str, value: str) -> tuple[str, str, Any]:
    return (
        "new",
        "channel_events",
        {"customer_id": "CU-ANNA", "channel": name, "event": event, "value": value, "at": AT},
    )


def attempt(result: str) -> tuple[str, str, Any]:
    return ("new", "recovery_attempts", {"customer_id": "CU-ANNA", "result": result, "at": AT})


def frozen(placed_by: str) -> Effects:
    row = {"card_id": "CD-ANNA", "kind": "freeze", "placed_by": placed_by, "status": "active", "placed_at": AT}
    return [("CD-ANNA", "cards", {"status": "frozen"}), ("new", "card_controls", row)]


def card_order(delivery: str, address: str) -> Effects:
    row = {"card_id": "CD-ANNA", "customer_id": "CU-ANNA", "delivery": delivery, "address": address, "ordered_at": AT}
    return [("new", "card_orders", row)]


def activation(passed: bool) -> Effects:
    return [("new", "activation_attempts", {"card_id": "CD-NEW", "passed": passed, "at": AT})]


def name_check(payee: str, result: str, shown_name: str) -> Effects:
    row = {"payee_id": payee, "result": result, "shown_name": shown_name, "confirmed": False, "checked_at": AT}
    return [("new", "payee_checks", row)]


def credit(kind: str, amount_cents: int, balance_cents: int, basis_id: str = "") -> Effects:
    row = {"account_id": "AC-ANNA", "customer_id": "CU-ANNA", "kind": kind, "amount_cents": amount_cents}
    return [
        ("AC-ANNA", "accounts", {"balance_cents": balance_cents}),
        ledger("AC-ANNA", amount_cents, "credit", "Harbourline Bank", memo=f"{kind} credit"),
        ("new", "credits", row | {"basis_id": basis_id, "created_at": AT}),
    ]


NEW_ADDRESS = "9 Bay Street, Oakland, CA 94607"
ANSWERS = {
    "met_in_person": True,
    "told_what_to_say": False,
    "asked_to_keep_secret": True,
    "contacted_unexpectedly": False,
}

WRITES: list[tuple[str, dict[str, Any], Effects]] = [
    (
        "log_verification",
        {"customer_id": "CU-ANNA", "factor": "email", "value": "ANNA@example.com"},
        verified("email", True),
    ),
    (
        "log_verification",
        {"customer_id": "CU-ANNA", "factor": "date_of_birth", "value": "1984-03-05"},
        verified("date_of_birth", False),
    ),
    (
        "log_verification",
        {"customer_id": "CU-ANNA", "factor": "date_of_birth", "value": "1984-03-04"},
        verified("date_of_birth", True),
    ),
    (
        "log_verification",
        {"customer_id": "CU-ANNA", "factor": "phone", "value": "+1 415 555 0142"},
        verified("phone", True),
    ),
    (
        "log_verification",
        {"customer_id": "CU-ANNA", "factor": "address", "value": "12 elm street springfield IL 62704"},
        verified("address", True),
    ),
    ("send_push", {"customer_id": "CU-ANNA", "device_id": "DV-ANNA"}, challenge("push", "DV-ANNA")),
    ("call_back", {"customer_id": "CU-ANNA"}, challenge("call_back", PHONE)),
    (
        "redeem_recovery_code",
        {"customer_id": "CU-ANNA", "code": "kx7p 29qm"},
        [attempt("exact"), ("RC-ANNA", "recovery_codes", {"status": "used"})],
    ),
    ("redeem_recovery_code", {"customer_id": "CU-ANNA", "code": "KX7P-29QN"}, [attempt("near_miss")]),
    ("redeem_recovery_code", {"customer_id": "CU-ANNA", "code": "KX7P-2"}, [attempt("wrong")]),
    (
        "change_contact",
        {"customer_id": "CU-ANNA", "field": "phone", "value": "415.555.0199"},
        [("CU-ANNA", "customers", {"phone": "(415) 555-0199"}), channel("phone", "changed", "(415) 555-0199")],
    ),
    (
        "change_contact",
        {"customer_id": "CU-ANNA", "field": "email", "value": "al@post.example"},
        [("CU-ANNA", "customers", {"email": "al@post.example"}), channel("email", "changed", "al@post.example")],
    ),
    (
        "change_contact",
        {"customer_id": "CU-ANNA", "field": "address", "value": NEW_ADDRESS},
        [
            ("CU-ANNA", "customers", {"address": NEW_ADDRESS}),
            channel("address", "changed", NEW_ADDRESS),
            ("new", "address_history", {"customer_id": "CU-ANNA", "address": NEW_ADDRESS, "since": "2026-03-12"}),
        ],
    ),
    (
        "enrol_device",
        {"customer_id": "CU-ANNA", "name": "Fold"},
        [
            ("new", "devices", {"customer_id": "CU-ANNA", "name": "Fold", "enrolled_at": AT, "status": "enrolled"}),
            channel("device", "enrolled", "Fold"),
        ],
    ),
    ("freeze_card", {"card_id": "CD-ANNA"}, frozen("customer")),
    ("freeze_my_card", {"card_id": "CD-ANNA"}, frozen("customer")),
    (
        "unfreeze_card",
        {"card_id": "CD-ICE"},
        [("CD-ICE", "cards", {"status": "active"}), ("CC-ICE", "card_controls", {"status": "lifted"})],
    ),
    ("set_pin", {"card_id": "CD-ANNA", "pin": "0370"}, [("CD-ANNA", "cards", {"pin": "0370"})]),
    (
        "set_temporary_limit",
        {"card_id": "CD-ANNA", "limit_cents": 900_000},
        [
            ("CD-ANNA", "cards", {"limit_cents": 900_000}),
            (
                "new",
                "limit_changes",
                {"card_id": "CD-ANNA", "old_cents": 100_000, "new_cents": 900_000, "at": AT},
            ),
        ],
    ),
    (
        "order_replacement_card",
        {"card_id": "CD-ANNA", "delivery": "mail", "address": NEW_ADDRESS},
        card_order("mail", NEW_ADDRESS),
    ),
    ("pick_up_at_branch", {"card_id": "CD-ANNA", "branch": "Quay"}, card_order("branch", "Quay")),
    ("check_activation", {"card_id": "CD-NEW", "answer": "6789"}, activation(True)),
    ("check_activation", {"card_id": "CD-NEW", "answer": "1234"}, activation(False)),
    ("activate_card", {"card_id": "CD-NEW"}, [("CD-NEW", "cards", {"status": "active"})]),
    (
        "block_card",
        {"card_id": "CD-ICE", "reason": "stolen"},
        [("CD-ICE", "cards", {"status": "blocked", "blocked_as": "stolen"})],
    ),
    (
        "register_payee",
        {"customer_id": "CU-ANNA", "name": "Joan", "bank_account": "021-77"},
        [
            (
                "new",
                "payees",
                {
                    "customer_id": "CU-ANNA",
                    "name": "Joan",
                    "bank_account": "021-77",
                    "created_at": AT,
                    "status": "active",
                    "account_name": None,
                },
            )
        ],
    ),
    ("confirm_payee_name", {"payee_id": "PY-SHOP"}, name_check("PY-SHOP", "match", "Corner Bikes")),
    ("confirm_payee_name", {"payee_id": "PY-NEAR"}, name_check("PY-NEAR", "close_match", "Joan Fletcher")),
    ("confirm_payee_name", {"payee_id": "PY-FAR"}, name_check("PY-FAR", "no_match", "Crest Trading")),
    ("confirm_shown_name", {"payee_id": "PY-NEAR"}, [("PC-NEAR", "payee_checks", {"confirmed": True})]),
    (
        "answer_payment_questions",
        {"payee_id": "PY-FAR", **ANSWERS},
        [
            (
                "new",
                "scam_questionnaires",
                {"customer_id": "CU-ANNA", "payee_id": "PY-FAR", **ANSWERS, "completed_at": AT},
            )
        ],
    ),
    (
        "transfer",
        {"from_account_id": "AC-ANNA", "to_account_id": "AC-FIRM", "amount_cents": 500_000, "purpose": "desk"},
        [
            paid("AC-ANNA", 500_000, "desk", to_account_id="AC-FIRM"),
            ("AC-ANNA", "accounts", {"balance_cents": 0}),
            ledger("AC-ANNA", -500_000, "transfer", "Northway Joinery LLC", memo="desk"),
            ("AC-FIRM", "accounts", {"balance_cents": 6_620_000}),
            ledger("AC-FIRM", 500_000, "transfer", "Anna Marie Lindqvist", memo="desk"),
        ],
    ),
    (
        "send_payment",
        {"from_account_id": "AC-ANNA", "payee_id": "PY-SHOP", "amount_cents": 1, "purpose": "bell"},
        [
            paid("AC-ANNA", 1, "bell", to_payee_id="PY-SHOP"),
            ("AC-ANNA", "accounts", {"balance_cents": 499_999}),
            ledger("AC-ANNA", -1, "payment", "Corner Bikes", memo="bell"),
        ],
    ),
    (
        "release_payment",
        {"payment_id": "PM-DUE"},
        [
            ("PM-DUE", "payments", {"status": "released"}),
            ("AC-FIRM", "accounts", {"balance_cents": 3_620_000}),
            ledger("AC-FIRM", -2_500_000, "payment", "Timber Supply Co", memo="oak", status="pending"),
        ],
    ),
    (
        "release_payment",
        {"payment_id": "PM-HELD"},
        [
            ("PM-HELD", "payments", {"status": "released"}),
            ("HD-HELD", "holds", {"status": "released"}),
            ("AC-ANNA", "accounts", {"balance_cents": 470_000}),
            ledger("AC-ANNA", -30_000, "payment", "Corner Bikes", status="pending"),
        ],
    ),
    (
        "release_payment",
        {"payment_id": "PM-PLAN"},
        [
            ("PM-PLAN", "payments", {"status": "released"}),
            ("AC-ANNA", "accounts", {"balance_cents": 480_000}),
            ledger("AC-ANNA", -20_000, "transfer", "Anna Marie Lindqvist"),
            ("AC-SAVE", "accounts", {"balance_cents": 120_000}),
            ledger("AC-SAVE", 20_000, "transfer", "Anna Marie Lindqvist"),
        ],
    ),
    ("cancel_payment", {"payment_id": "PM-PLAN"}, [("PM-PLAN", "payments", {"status": "cancelled"})]),
    (
        "request_recall",
        {"ledger_id": "LE-IN", "reason": "wrong account"},
        [("new", "recall_requests", {"ledger_id": "LE-IN", "reason": "wrong account", "created_at": AT})],
    ),
    (
        "place_hold",
        {"account_id": "AC-ANNA", "reason_code": "suspected_app_scam", "payee_id": "PY-FAR", "amount_cents": 7},
        [hold("AC-ANNA", "fraud", "suspected_app_scam", payee_id="PY-FAR", amount_cents=7)],
    ),
    (
        "place_hold",
        {"account_id": "AC-ANNA", "reason_code": "payee_cooling_off", "payment_id": "PM-PLAN"},
        [
            ("PM-PLAN", "payments", {"status": "held"}),
            hold("AC-ANNA", "cooling_off", "payee_cooling_off", payment_id="PM-PLAN"),
        ],
    ),
    (
        "place_hold",
        {"account_id": "AC-STOP", "reason_code": "structuring"},
        [hold("AC-STOP", "compliance", "structuring")],
    ),
    ("release_hold", {"hold_id": "HD-HELD"}, [("HD-HELD", "holds", {"status": "released"})]),
    (
        "file_dispute",
        {"ledger_id": "LE-GYM", "kind": "recurring"},
        [
            (
                "new",
                "disputes",
                {
                    "ledger_id": "LE-GYM",
                    "account_id": "AC-ANNA",
                    "customer_id": "CU-ANNA",
                    "kind": "recurring",
                    "amount_cents": 4_999,
                    "status": "open",
                    "opened_at": AT,
                },
            )
        ],
    ),
    (
        "issue_credit",
        {"account_id": "AC-ANNA", "kind": "goodwill", "amount_cents": 2_500},
        credit("goodwill", 2_500, 502_500),
    ),
    (
        "issue_credit",
        {"account_id": "AC-ANNA", "kind": "provisional", "amount_cents": 4_999, "basis_id": "DP-GYM2"},
        credit("provisional", 4_999, 504_999, "DP-GYM2"),
    ),
    (
        "correct_balance",
        {"account_id": "AC-ANNA", "amount_cents": 4_999, "basis_id": "SA-GYM"},
        credit("correction", 4_999, 504_999, "SA-GYM"),
    ),
    (
        "open_fraud_case",
        {"customer_id": "CU-ANNA", "kind": "fraud", "reason_code": "suspected_app_scam", "summary": "told to move"},
        [
            (
                "new",
                "fraud_cases",
                {
                    "customer_id": "CU-ANNA",
                    "kind": "fraud",
                    "reason_code": "suspected_app_scam",
                    "summary": "told to move",
                    "status": "open",
                    "opened_at": AT,
                },
            )
        ],
    ),
    (
        "flag_record",
        {"record_id": "NT-IN", "reason_code": "none"},
        [("new", "record_flags", {"record_id": "NT-IN", "reason_code": "none", "at": AT})],
    ),
    (
        "close_account",
        {"account_id": "AC-SAVE", "payout_account_id": "AC-ANNA"},
        [
            paid("AC-SAVE", 100_000, "balance of a closed account", to_account_id="AC-ANNA"),
            ("AC-SAVE", "accounts", {"balance_cents": 0}),
            ledger("AC-SAVE", -100_000, "transfer", "Anna Marie Lindqvist", memo="balance of a closed account"),
            ("AC-ANNA", "accounts", {"balance_cents": 600_000}),
            ledger("AC-ANNA", 100_000, "transfer", "Anna Marie Lindqvist", memo="balance of a closed account"),
            ("AC-SAVE", "accounts", {"status": "closed"}),
            (
                "new",
                "closures",
                {"customer_id": "CU-ANNA", "account_id": "AC-SAVE", "reason": "by_customer", "closed_at": AT},
            ),
        ],
    ),
    (
        "close_account",
        {"account_id": "AC-EMPTY"},
        [
            ("AC-EMPTY", "accounts", {"status": "closed"}),
            (
                "new",
                "closures",
                {"customer_id": "CU-ANNA", "account_id": "AC-EMPTY", "reason": "by_customer", "closed_at": AT},
            ),
        ],
    ),
    (
        "send_statement",
        {"account_id": "AC-ANNA", "month": "2025-03", "sent_to": "ben@example.com", "requested_by": "CU-BEN"},
        [
            (
                "new",
                "statement_orders",
                {
                    "account_id": "AC-ANNA",
                    "month": "2025-03-01",
                    "sent_to": "ben@example.com",
                    "requested_by": "CU-BEN",
                    "created_at": AT,
                },
            )
        ],
    ),
    (
        "assign_business_role",
        {"business_id": "CU-FIRM", "person_id": "CU-ANNA", "role": "approver"},
        [
            (
                "new",
                "business_roles",
                {
                    "business_id": "CU-FIRM",
                    "person_id": "CU-ANNA",
                    "role": "approver",
                    "status": "active",
                    "recorded_at": AT,
                },
            )
        ],
    ),
    (
        "refer_application",
        {"application_id": "AP-CARLA", "reason_code": "none"},
        [("AP-CARLA", "applications", {"status": "referred", "referred_for": "none"})],
    ),
    (
        "correct_application",
        {"application_id": "AP-CARLA", "field": "tax_id", "value": "555-12-7788"},
        [
            ("AP-CARLA", "applications", {"tax_id": "555-12-7788"}),
            ("new", "application_corrections", {"application_id": "AP-CARLA", "field": "tax_id", "at": AT}),
            ("AK-TAX", "application_checks", {"result": "passed", "at": AT}),
        ],
    ),
    (
        "correct_application",
        {"application_id": "AP-CARLA", "field": "date_of_birth", "value": "1999-08-07"},
        [
            ("AP-CARLA", "applications", {"date_of_birth": "1999-08-07"}),
            ("new", "application_corrections", {"application_id": "AP-CARLA", "field": "date_of_birth", "at": AT}),
        ],
    ),
    ("approve_push", {"step_up_id": "SU-ANNA"}, [("SU-ANNA", "step_ups", {"status": "approved", "approved_at": AT})]),
    ("decline_push", {"step_up_id": "SU-ANNA"}, [("SU-ANNA", "step_ups", {"status": "declined"})]),
    (
        "answer_call_back",
        {"step_up_id": "SU-CALL"},
        [("SU-CALL", "step_ups", {"status": "approved", "approved_at": AT})],
    ),
]

ELSEWHERE = {"open_account", "approve_business_payment"}


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"), WRITES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_write_changes_exactly_its_rows(bank: World, tool: str, arguments: dict[str, Any], expected: Effects) -> None:
    outcome = call(bank, tool, **arguments)
    assert outcome.ok, outcome.result
    assert [effect(change) for change in outcome.changes] == expected


def test_every_write_of_the_bank_is_tested() -> None:
    ours = (name for name, tool in bank_tools().items() if tool.writes and tool.run.__module__ != desk.__name__)
    assert set(ours) == {tool for tool, _, _ in WRITES} | ELSEWHERE


def test_an_application_by_a_stranger_makes_a_customer(bank: World) -> None:
    outcome = call(bank, "open_account", application_id="AP-CARLA")
    customer, account = outcome.result["customer"]["id"], outcome.result["account"]["id"]
    expected = [
        ("customers", {"name": "Carla Mendes", "tier": "entry", "since": "2026-03-12", "kind": "person"}),
        ("channel_events", {"customer_id": customer, "channel": "phone", "value": "(202) 555-0131"}),
        ("channel_events", {"customer_id": customer, "channel": "email", "value": "ap-carla@example.com"}),
        ("address_history", {"customer_id": customer, "since": "2026-03-12"}),
        ("devices", {"customer_id": customer, "name": "device of AP-CARLA", "status": "enrolled"}),
        ("channel_events", {"customer_id": customer, "channel": "device", "event": "enrolled"}),
        ("applications", {"customer_id": customer}),
        ("accounts", {"customer_id": customer, "balance_cents": 0, "opened_at": AT, "kind": "personal_checking"}),
        ("account_holders", {"customer_id": customer, "account_id": account, "role": "owner"}),
        ("applications", {"status": "opened"}),
    ]
    found = [(change.row.table, change.after or {}) for change in outcome.changes]
    assert [table for table, _ in found] == [table for table, _ in expected]
    for (_, row), (_, wanted) in zip(found, expected, strict=True):
        assert {name: row[name] for name in wanted} == wanted


def test_an_application_by_a_customer_adds_an_account_only(bank: World) -> None:
    outcome = call(bank, "open_account", application_id="AP-BEN")
    assert [change.row.table for change in outcome.changes] == ["accounts", "account_holders", "applications"]
    assert outcome.result["account"]["customer_id"] == "CU-BEN"


def test_somebody_with_a_role_approves_a_payment_of_their_firm() -> None:
    bank = open_bank(BEN)
    outcome = call(bank, "approve_business_payment", payment_id="PM-DUE")
    assert [effect(change) for change in outcome.changes] == [
        ("new", "approvals", {"payment_id": "PM-DUE", "approver_id": "CU-BEN", "approved_at": AT})
    ]
    bank.close()
