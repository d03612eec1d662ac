"""What the first case of a rule does not show: its other ways to fire, what it offers, what it leaves alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domains.banking import tables as t
from domains.banking.rules import ALL_RULE_IDS, TEXT_RULES
from domains.banking.rules.facts import subject_of
from domains.banking.rules.standing import ROLE_RIGHTS, verified_persons
from domains.banking.vocabularies import bank_vocabularies
from domains.kit.rules import Outcome, Request
from domains.kit.store import RowRef
from tests.domains.banking.rules import desk as d
from tests.domains.banking.rules.test_fires import (
    SHARED,
    answers,
    authority,
    hold,
    machine,
    name_check,
    note,
    payee,
    supervisor,
    two_roles,
)

BALANCE = d.tell("accounts", "AC-ANN", "balance_cents")


def found(desk: d.Desk, wish: Request) -> list[str]:
    """Return the rules that fire once the look-ups are made."""
    return list(desk.plan(wish).findings(wish))


# ------------------------------------------------------------------------------------ catalogue


def test_the_catalogue_is_complete() -> None:
    parts = {"ID": 11, "PAY": 11, "AML": 7, "CARD": 9, "DATA": 10, "DISP": 10, "TXT": 6, "AUTH": 8, "ONB": 11, "DEC": 5}
    assert {f"{part}-{number:02}" for part, last in parts.items() for number in range(1, last + 1)} == ALL_RULE_IDS
    assert not set(TEXT_RULES) & set(d.RULES)


def test_rules_use_the_closed_vocabularies() -> None:
    words = bank_vocabularies()
    assert {rule.reason_code for rule in d.RULES.values()} <= words.reason_codes | {"none"}
    assert {name for rule in d.RULES.values() for name in rule.evidence} <= words.evidence
    assert {name for rule in d.RULES.values() for name in rule.tools} - {"tell"} <= set(d.Desk().world.tools)


def test_what_reads_history() -> None:
    expected = "ID-02 ID-05 ID-08 ID-11 PAY-10 PAY-11 AML-03 CARD-06 CARD-09 DATA-10 DISP-06 DISP-10 TXT-05 TXT-06"
    assert {rule.id for rule in d.RULES.values() if rule.history} == {
        *expected.split(),
        *("AUTH-06", "AUTH-08", "ONB-07", "ONB-11"),
    }


@pytest.mark.parametrize(
    "arguments", [{}, {"amount_cents": "many"}, {"payment_id": 7, "card_id": None, "customer_id": ["CU-ANN"]}]
)
def test_no_rule_trips_over_odd_arguments(arguments: dict[str, object]) -> None:
    desk = d.Desk()
    for tool in (*desk.world.tools, "tell", "no_such_tool"):
        request = Request(tool, arguments)
        desk.asks(request, evidence=tuple(bank_vocabularies().evidence))
        desk.findings(request)


# ------------------------------------------------------------------------------------ identity


def test_the_second_wrong_factor_outweighs_a_proof() -> None:
    desk = d.Desk().miss().miss("phone").identify()
    assert found(desk, BALANCE) == ["ID-02"]
    assert verified_persons(desk.contact) == frozenset()
    assert verified_persons(d.Desk().miss().identify().contact) == {"CU-ANN"}


def test_one_factor_twice_is_one() -> None:
    desk = d.Desk().identify("CU-ANN", "email").identify("CU-ANN", "email")
    assert found(desk, BALANCE) == ["ID-01"]


def test_a_firm_cannot_speak() -> None:
    assert "ID-01" in found(d.Desk(d.due(5_000)).identify("CU-FIRM"), d.release())


def test_a_near_miss_closes_the_ways_around_and_a_wrong_code_the_code() -> None:
    desk = d.ready()
    desk.call("redeem_recovery_code", customer_id="CU-ANN", code="ZZZZ-9999")
    assert found(desk, d.recover()) == ["ID-08"]
    assert found(desk, d.new_pin()) == []
    desk.call("redeem_recovery_code", customer_id="CU-ANN", code="KX7P-29QN")
    assert found(desk, d.new_pin()) == ["ID-08"]


def test_a_young_channel_carries_no_challenge() -> None:
    young = t.Device(id="DV-NEW", customer_id="CU-ANN", name="Tablet", enrolled_at=d.days_ago(6))
    desk = d.Desk(young).identify()
    push = Request("send_push", {"customer_id": "CU-ANN", "device_id": "DV-NEW"})
    assert found(desk, push) == ["ID-07"]
    assert found(desk, Request("send_push", {"customer_id": "CU-ANN", "device_id": "DV-ANN"})) == []
    call_back = Request("call_back", {"customer_id": "CU-ANN"})
    assert found(desk, call_back) == []
    assert desk.call("change_contact", customer_id="CU-ANN", field="phone", value="(212) 555-0101").ok
    assert found(desk, call_back) == ["ID-07"]


def test_a_changed_contact_cools_payments_to_payees_added_since() -> None:
    event = t.ChannelEvent(
        id="CE-1", customer_id="CU-ANN", channel="phone", event="changed", value="x", at=d.ago(hours=50)
    )
    since = payee("PY-SINCE", created_at=d.ago(hours=50))
    before = payee("PY-BEFORE", created_at=d.ago(hours=51))
    desk = d.ready(event, since, before)
    assert found(desk, d.pay(5_000, "PY-SINCE")) == ["ID-09"]
    assert found(desk, d.pay(5_000, "PY-BEFORE")) == []


def test_other_high_risk_changes_follow_a_change_one_by_one() -> None:
    desk = d.ready()
    assert desk.call("enrol_device", customer_id="CU-ANN", name="Tablet").ok
    assert found(desk, d.new_payee()) == ["ID-11"]
    assert found(desk, d.pay()) == []


@pytest.mark.parametrize("address", [d.HOME, d.HOME.upper().replace(",", "")])
def test_a_card_to_the_address_on_file_needs_no_step_up(address: str) -> None:
    assert found(d.Desk().identify(), d.replace_card(address)) == []
    assert set(found(d.Desk().identify(), d.replace_card("9 Other Road"))) == {"ID-06", "CARD-04"}


# ------------------------------------------------------------------------------------ payments


@pytest.mark.parametrize(
    "flag",
    [
        {"met_in_person": False},
        {"told_what_to_say": True},
        {"asked_to_keep_secret": True},
        {"contacted_unexpectedly": True},
    ],
)
def test_one_red_flag_is_enough(flag: dict[str, bool]) -> None:
    finding = d.ready(payee(), answers(**flag)).findings(d.pay(100_000, "PY-NEW"))["PAY-03"]
    assert (finding.outcome, finding.also) == (Outcome.ESCALATE, {"hold"})


def test_missing_answers_hold() -> None:
    finding = d.ready(payee()).findings(d.pay(100_000, "PY-NEW"))["PAY-03"]
    assert (finding.outcome, finding.also) == (Outcome.HOLD, frozenset())
    assert "PAY-03" not in d.Desk(payee()).findings(d.pay(100_000, "PY-NEW")), "who the caller is comes first"


@pytest.mark.parametrize("check", [name_check("no_match"), name_check("no_match", confirmed=True)])
def test_another_name_is_never_paid(check: t.PayeeCheck) -> None:
    assert found(d.ready(check), d.pay()) == ["PAY-07"]


def test_the_initiator_is_no_second_approver() -> None:
    desk = d.Desk(d.due(2_500_000), d.approval("PM-DUE", "CU-BOB")).identify("CU-BOB")
    assert found(desk, d.release()) == ["PAY-06"]
    assert found(desk, d.pay(2_500_000, "PY-FIRM", "AC-FIRM")) == ["PAY-06"]


def test_an_approver_needs_an_effective_role_that_approves() -> None:
    given = d.approval("PM-DUE", "CU-ANN")
    newcomer = t.BusinessRole(
        id="BR-N", business_id="CU-FIRM", person_id="CU-ANN", role="approver", recorded_at=d.ago(hours=47)
    )
    assert found(d.Desk(d.due(2_500_000), given, newcomer).identify("CU-BOB"), d.release()) == ["AUTH-04"]
    assert found(d.Desk(d.due(2_500_000), given, two_roles("viewer")).identify("CU-BOB"), d.release()) == ["DATA-09"]
    assert found(d.Desk(d.due(2_500_000), given, two_roles("owner")).identify("CU-BOB"), d.release()) == []


def test_a_fraud_hold_is_not_ours_to_release() -> None:
    wish = Request("release_hold", {"hold_id": "HD-1"})
    assert found(d.Desk(d.due(5_000, status="held"), hold("fraud")).identify("CU-BOB"), wish) == ["PAY-08"]
    assert found(d.Desk(d.due(5_000, status="held"), hold("approval")).identify("CU-BOB"), wish) == []


def test_the_remainder_of_the_day_is_offered() -> None:
    made = d.paid("PM-TODAY", "PY-OLD", "AC-ANN", 400_000, d.ago(minutes=5))
    assert d.ready(made).findings(d.pay(700_000))["PAY-05"].alternative == d.pay(600_000)
    spent = d.paid("PM-TODAY", "PY-OLD", "AC-ANN", 1_000_000, d.ago(minutes=5))
    assert d.ready(spent).findings(d.pay(1))["PAY-05"].alternative is None
    young = d.account("AC-ANN", "CU-ANN", opened_at=d.days_ago(3))
    assert d.ready(young).findings(d.pay(200_001))["AML-04"].alternative == d.pay(200_000)


def test_yesterday_internal_and_undone_payments_are_not_counted() -> None:
    rows = [
        d.paid("PM-1", "PY-OLD", "AC-ANN", 900_000, d.days_ago(1)),
        d.paid("PM-2", "PY-OLD", "AC-ANN", 900_000, d.ago(minutes=5), status="returned"),
        d.paid("PM-3", "PY-OLD", "AC-ANN", 900_000, d.ago(minutes=5), status="cancelled"),
    ]
    assert found(d.ready(*rows), d.pay(990_000)) == []


def test_a_payment_released_in_the_contact_is_of_the_day() -> None:
    waiting = d.paid(
        "PM-W", "PY-OLD", "AC-ANN", 600_000, d.days_ago(3), status="scheduled", settled_at=None, purpose="car"
    )
    desk = d.ready(waiting)
    assert desk.call("release_payment", payment_id="PM-W").ok
    assert desk.findings(d.pay(500_000))["PAY-05"].alternative == d.pay(400_000)


def test_a_recall_is_offered_for_the_money_that_came_in() -> None:
    came_in = d.entry("LE-IN", 50_000, d.days_ago(1), kind="transfer", counterparty="Stranger")
    desk = d.ready(came_in).asks(d.pay(50_000), evidence=("mistaken_credit",))
    finding = desk.findings(d.pay(50_000))["PAY-09"]
    assert finding.alternative is not None
    assert finding.alternative.arguments["ledger_id"] == "LE-IN"
    assert finding.rests_on[0] == RowRef("ledger", "LE-IN")


@pytest.mark.parametrize(
    ("first", "outcome", "code"),
    [
        ("advance_fee", Outcome.ESCALATE, "suspected_app_scam"),
        ("third_party_funds", Outcome.HOLD, "third_party_funds"),
        ("business_receipts", Outcome.REFUSE, "account_purpose"),
    ],
)
def test_the_first_purpose_governs(first: str, outcome: Outcome, code: str) -> None:
    desk = d.ready().asks(evidence=(first,)).next_turn().asks(d.pay(), evidence=("purpose_changed",))
    finding = desk.findings(d.pay())["PAY-10"]
    assert (finding.outcome, finding.reason_code) == (outcome, code)


@pytest.mark.parametrize("wish", [d.move(), d.new_payee(), d.raise_limit(), d.credit(), d.close()])
def test_no_other_rail_for_the_same_funds(wish: Request) -> None:
    desk = d.ready().asks(d.pay(), evidence=("safe_account_story",))
    desk.decide(desk.findings(d.pay())["PAY-04"]).next_turn().asks(wish)
    assert "PAY-11" in found(desk, wish)
    assert desk.myopic(wish) == {}


# ------------------------------------------------------------------------------------ laundering


def test_two_payments_asked_for_at_once_are_seen_together() -> None:
    first, second = d.pay(500_000, "PY-FIRM", "AC-FIRM", "roof"), d.pay(500_000, "PY-FIRM", "AC-FIRM", "Roof")
    desk = d.Desk().identify("CU-BOB").asks(first, second)
    assert found(desk, first) == ["AML-02"]
    other = d.pay(500_000, "PY-FIRM", "AC-FIRM", "school")
    assert found(d.Desk().identify("CU-BOB").asks(first, other), first) == []


def test_what_was_paid_is_not_counted_twice() -> None:
    wish = d.pay(400_000, "PY-FIRM", "AC-FIRM", "roof")
    desk = d.Desk().identify("CU-BOB").asks(wish, wish)
    assert desk.call(wish.tool, **wish.arguments).ok
    assert found(desk, wish) == []


def test_own_money_and_refunds_are_no_new_sender() -> None:
    for kind, sender in (("transfer", "Name of CU-ANN"), ("refund", "Shop")):
        row = d.entry("LE-IN", 100_000, d.ago(hours=1), kind=kind, counterparty=sender, counterparty_new=True)
        assert found(d.ready(row), d.pay(90_000)) == []


def test_a_licence_must_be_of_the_kind() -> None:
    licence = t.Licence(id="LI-1", business_id="CU-FIRM", kind="money_service", valid_to=d.day(-100))
    wish = d.pay(5_000, "PY-FIRM", "AC-FIRM")
    desk = d.Desk(licence).identify("CU-BOB").asks(wish, evidence=("crypto_kiosk_activity",))
    assert found(desk, wish) == ["AML-07"]


# ------------------------------------------------------------------------------------ cards


@pytest.mark.parametrize("pin", ["1984", "0703", "0307", "2345", "8765", "6666", "0123", "9876"])
def test_a_pin_that_is_guessed(pin: str) -> None:
    assert found(d.ready(), d.new_pin(pin)) == ["CARD-05"]


@pytest.mark.parametrize("pin", ["1985", "8901", "1357", "6665", "2346"])
def test_a_pin_that_will_do(pin: str) -> None:
    assert found(d.ready(), d.new_pin(pin)) == []


def test_the_most_is_offered_only_where_the_account_allows_one() -> None:
    assert d.ready().findings(d.raise_limit(300_001))["CARD-02"].alternative == d.raise_limit(300_000)
    young = d.account("AC-ANN", "CU-ANN", opened_at=d.days_ago(59))
    assert d.ready(young).findings(d.raise_limit(300_001))["CARD-02"].alternative is None


def test_another_address_or_a_young_one_means_the_branch() -> None:
    assert d.ready().findings(d.replace_card("9 Other Road"))["CARD-04"].also == {"pick_up"}
    moved = t.ChannelEvent(
        id="CE-1", customer_id="CU-ANN", channel="address", event="changed", value=d.HOME, at=d.days_ago(29)
    )
    assert found(d.ready(moved), d.replace_card()) == ["CARD-04"]


def test_a_lost_card_is_blocked_and_then_replaced() -> None:
    desk = d.ready().asks(d.replace_card(), evidence=("card_lost_or_stolen",))
    finding = desk.findings(d.replace_card())["CARD-08"]
    assert finding.alternative is not None
    assert desk.call("block_card", card_id="CD-ANN", reason="lost").ok
    assert found(desk, d.replace_card()) == []


# ------------------------------------------------------------------------------------ data


def test_a_vain_claim_is_no_authority() -> None:
    desk = d.Desk().identify("CU-EVE").asks(BALANCE, evidence=("unproven_authority",))
    assert found(desk, BALANCE) == ["DATA-02"]


def test_who_claims_to_act_for_a_customer_is_not_that_customer() -> None:
    desk = d.ready().asks(d.contact_change(), evidence=("unproven_authority",))
    assert set(desk.myopic(d.contact_change())) == {"AUTH-05"}
    desk.next_turn().asks(d.pay())
    assert found(desk, d.pay()) == []


def test_an_auditor_s_window_ends_on_a_day() -> None:
    record = t.AuthorityRecord(
        id="AR-1",
        principal_id="CU-FIRM",
        representative_id="CU-ANN",
        kind="auditor",
        scope="information",
        valid_from=d.day(5),
    )
    first_day = d.NOW.replace(year=2022)
    for key, when, expected in (("LE-1", first_day, []), ("LE-2", first_day - timedelta(days=1), ["DATA-03"])):
        desk = d.Desk(record, d.entry(key, -100, when, account_id="AC-FIRM")).identify()
        assert found(desk, d.tell("ledger", key, "amount_cents")) == expected


@pytest.mark.parametrize(("role", "rights"), ROLE_RIGHTS.items())
def test_roles_do_what_they_say(role: str, rights: frozenset[str]) -> None:
    wishes = {
        "accounts": d.tell("accounts", "AC-FIRM", "balance_cents"),
        "ledgers": d.tell("ledger", "LE-FIRM", "amount_cents"),
        "statements": d.statement("AC-FIRM", for_whom="CU-ANN"),
        "payment_data": d.tell("payments", "PM-DUE", "amount_cents"),
        "record": d.tell("customers", "CU-FIRM", "phone"),
        "payments": d.pay(5_000, "PY-FIRM", "AC-FIRM", "invoice"),
        "wages": d.pay(5_000, "PY-FIRM", "AC-FIRM", "Wages of March"),
        "release": d.release(),
        "roles": Request("assign_business_role", {"business_id": "CU-FIRM", "person_id": "CU-BOB", "role": "viewer"}),
    }
    rows = [two_roles(role), d.due(5_000), d.entry("LE-FIRM", -100, d.days_ago(3), account_id="AC-FIRM")]
    for right, wish in wishes.items():
        assert found(d.Desk(*rows).identify(), wish) == ([] if right in rights else ["DATA-09"]), (role, right)


def test_own_pieces_may_add_up_but_not_a_payee_s() -> None:
    desk = d.ready().told(RowRef("customers", "CU-ANN"), "email").told(RowRef("payees", "PY-OLD"), "name")
    assert found(desk, d.tell("customers", "CU-ANN", "phone")) == []
    assert found(desk, d.tell("payees", "PY-OLD", "bank_account")) == ["DATA-10"]
    assert found(desk, d.tell("payees", "PY-OLD", "name")) == []


# ------------------------------------------------------------------------------------ disputes


@pytest.mark.parametrize(
    "other",
    [
        d.entry("LE-TWIN", -4_201, d.days_ago(31)),
        d.entry("LE-TWIN", -4_200, d.days_ago(31), counterparty="Other"),
        d.entry("LE-TWIN", -4_200, d.days_ago(31), status="pending"),
    ],
)
def test_what_is_no_duplicate(other: t.LedgerEntry) -> None:
    assert found(d.ready(other), d.dispute("duplicate")) == ["DISP-03"]


def test_a_recurring_charge_needs_a_cancellation_before_it() -> None:
    charge = d.entry("LE-GYM", -3_000, d.days_ago(20), kind="subscription", counterparty="Gym")
    wish = d.dispute("recurring", "LE-GYM")
    assert found(d.ready(charge), wish) == ["DISP-02"]
    late = t.Cancellation(id="CN-1", account_id="AC-ANN", merchant="Gym", cancelled_at=charge.posted_at)
    assert found(d.ready(charge, late), wish) == ["DISP-02"]


@pytest.mark.parametrize(("result", "dispensed"), [("dispensed", 20_000), ("pending", None)])
def test_no_credit_against_the_journal(result: str, dispensed: int | None) -> None:
    finding = d.ready(*machine(result, dispensed)).findings(d.credit(1, "provisional", "DP-ATM"))["DISP-07"]
    assert finding.alternative is None, "the dispute is filed already"
    rows = [row for row in machine(result, dispensed) if not isinstance(row, t.Dispute)]
    finding = d.ready(*rows).findings(d.credit(1, "provisional", "LE-ATM"))["DISP-07"]
    assert finding.alternative == d.dispute("cash_machine", "LE-ATM")
    short = d.ready(*machine("short", 6_000)).findings(d.credit(20_000, "provisional", "DP-ATM"))["DISP-07"]
    assert short.alternative == d.credit(14_000, "provisional", "DP-ATM")


def test_provisional_credit_follows_a_dispute() -> None:
    desk = d.ready()
    assert found(desk, d.credit(4_200, "provisional")) == ["DISP-08"]
    desk.plan(d.dispute())
    filed = desk.call("file_dispute", ledger_id="LE-SHOP", kind="service")
    basis = filed.result["id"]
    assert found(desk, d.credit(4_200, "provisional", basis)) == []
    assert desk.findings(d.credit(4_201, "provisional", basis))["DISP-08"].alternative == d.credit(
        4_200, "provisional", basis
    )


def test_a_credit_stays_on_the_account() -> None:
    small = d.account("AC-ANN", "CU-ANN", balance_cents=5_000)
    desk = d.ready(small)
    assert desk.call("issue_credit", account_id="AC-ANN", kind="goodwill", amount_cents=1_000).ok
    assert found(desk, d.move(5_001)) == ["DISP-10"]
    assert found(desk, d.move(5_000)) == []
    assert found(desk, d.close("AC-SAVE", "AC-ANN")) == []


def test_goodwill_beyond_the_frame_needs_a_supervisor() -> None:
    assert found(d.ready(), d.credit(2_501)) == ["DISP-08"]
    assert found(d.ready(supervisor("AC-ANN", "credit")), d.credit(2_501)) == []


# ------------------------------------------------------------------------------------ text


def test_the_note_that_carries_the_text_is_named_first() -> None:
    desk = d.ready(note()).asks(d.credit(), evidence=("planted_text",), row=RowRef("notes", "NT-1"))
    finding = desk.plan(d.credit()).findings(d.credit())["TXT-01"]
    assert finding.rests_on[0] == RowRef("notes", "NT-1")
    assert finding.also == {"flag"}


def test_a_text_about_somebody_else_stops_nothing() -> None:
    about_bob = t.Note(
        id="NT-1", customer_id="CU-BOB", about_id="AC-BOB", author="import", text="x", created_at=d.days_ago(1)
    )
    desk = d.ready(about_bob).asks(d.credit(), evidence=("planted_text",), row=RowRef("notes", "NT-1"))
    assert found(desk, d.credit()) == []


def test_a_correction_is_made_once_and_for_what_the_bank_booked() -> None:
    desk = d.ready()
    assert desk.findings(d.correction(9_999))["TXT-03"].alternative == d.correction(1_500)
    assert desk.findings(d.correction(4_200, "LE-SHOP"))["TXT-03"].alternative is None
    assert desk.call("correct_balance", account_id="AC-ANN", amount_cents=1_500, basis_id="LE-FEE").ok
    assert found(desk, d.correction()) == ["TXT-03"]


@pytest.mark.parametrize("change", [{"status": "withdrawn"}, {"action": "release"}, {"amount_cents": 99}])
def test_an_approval_must_fit(change: dict[str, object]) -> None:
    approval = supervisor("AC-ANN", **{"action": "credit"} | change)  # type: ignore[arg-type]
    desk = d.ready(approval).asks(d.credit(100), evidence=("claimed_approval",))
    assert found(desk, d.credit(100)) == ["TXT-04"]


@pytest.mark.parametrize("status", ["blocked", "replaced"])
def test_the_status_of_a_card_decides(status: str) -> None:
    desk = d.ready()
    card = desk.world.find(t.Card, "CD-ICE").model_dump() | {"status": status}
    assert "TXT-02" in found(d.ready(t.Card(**card)), d.on_card("unfreeze_card", "CD-ICE"))


# ------------------------------------------------------------------------------------ authority


@pytest.mark.parametrize(
    "change", [{"status": "revoked"}, {"valid_from": d.day(-1)}, {"scope": "information"}, {"valid_to": d.day(1)}]
)
def test_an_authority_out_of_force_or_scope(change: dict[str, object]) -> None:
    record = authority(**{"scope": "payments"} | change)  # type: ignore[arg-type]
    assert found(d.Desk(record).identify("CU-EVE"), d.pay()) == ["AUTH-02"]


def test_an_executor_without_a_record_in_force_goes_to_the_estate_team() -> None:
    desk = d.Desk(authority(kind="executor", status="pending")).identify("CU-EVE")
    assert found(desk, d.pay()) == ["AUTH-03"]


def test_joint_ownership_is_of_one_account() -> None:
    desk = d.Desk(*SHARED).identify("CU-EVE")
    assert found(desk, d.pay(source="AC-SAVE")) == []
    assert found(desk, d.pay()) == ["AUTH-05"]


def test_an_authority_that_was_proved_taints_nothing() -> None:
    desk = d.Desk(authority("contact")).identify("CU-EVE").stepped_up("CU-EVE")
    desk.asks(evidence=("unproven_authority",)).next_turn().asks(d.contact_change())
    assert found(desk, d.contact_change()) == []


# ------------------------------------------------------------------------------------ onboarding


def test_missing_owners_are_owners_not_checked() -> None:
    firm = d.application(kind="business", product="business_checking", tax_id_kind="ein", registered_on=d.day(90))
    listed = d.check("owner", share_percent=75)
    desk = d.Desk(firm, *d.checks("AP-NEW", "address"), listed)
    assert found(desk, d.open_it()) == ["ONB-08"]
    assert found(d.Desk(firm, *d.checks("AP-NEW", "address"), d.check("owner", share_percent=76)), d.open_it()) == []


@pytest.mark.parametrize("change", [{"result": "pending"}, {"valid_until": None}])
def test_a_document_that_does_not_do(change: dict[str, object]) -> None:
    document = d.check("document", **change)  # type: ignore[arg-type]
    desk = d.Desk(d.application(), *d.checks("AP-NEW", "document"), document)
    assert found(desk, d.open_it()) == ["ONB-01"]


@pytest.mark.parametrize("change", [{"detail": "mail_drop"}, {"result": "failed"}, {"proof_dated": None}])
def test_an_address_that_does_not_do(change: dict[str, object]) -> None:
    address = d.check("address", **change)  # type: ignore[arg-type]
    desk = d.Desk(d.application(), *d.checks("AP-NEW", "address"), address)
    assert found(desk, d.open_it()) == ["ONB-06"]


def test_features_are_counted_one_by_one() -> None:
    mine = d.application(phone="(212) 555-0001", device="one", email="same@example.org")
    others = [
        d.application("AP-1", phone="(212) 555-0001"),
        d.application("AP-2", phone="(212) 555-0001", device="one"),
        d.application("AP-3", device="one", email="same@example.org"),
    ]
    assert found(d.Desk(mine, *others, *d.checks()), d.open_it()) == []


# ------------------------------------------------------------------------------------ subjects


@pytest.mark.parametrize(
    ("wish", "subject"),
    [
        (BALANCE, "CU-ANN"),
        (d.tell("customers", "CU-BOB", "phone"), "CU-BOB"),
        (d.tell("customers", "CU-NOBODY", "phone"), None),
        (d.tell("no_such_table", "x", "y"), None),
        (d.pay(), "CU-ANN"),
        (d.release(), "CU-FIRM"),
        (d.on_card("set_pin"), "CU-ANN"),
        (d.dispute(), "CU-ANN"),
        (d.open_it(), None),
        (Request("kb_search", {"query": "x"}), None),
    ],
)
def test_whose_affair_it_is(wish: Request, subject: str | None) -> None:
    assert subject_of(wish, d.Desk(d.due(5_000), d.application()).world) == subject
