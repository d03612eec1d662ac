"""The planner: what it writes down, looks up, offers as a cure, and does about a finding."""

from __future__ import annotations

from datetime import date

import pytest

from domains.banking import tables as t
from domains.banking.planner import BankPlanner
from domains.kit.domain import Call, Remedy
from domains.kit.rules import Guess, Request
from domains.kit.store import RowRef
from domains.kit.world import Controls
from tests.domains.banking.rules import desk as d
from tests.domains.banking.rules.test_boundaries import CASES as BOUNDARIES
from tests.domains.banking.rules.test_boundaries import PARAMETERS, permitted_and_not
from tests.domains.banking.rules.test_fires import CASES, answers, name_check, note, payee

PLANNER = BankPlanner()
CURABLE = {"ID-01", "ID-04", "ID-06", "ID-07", "PAY-03", "PAY-07", "CARD-08"}
BALANCE = d.tell("accounts", "AC-ANN", "balance_cents")


def remedy(desk: d.Desk, wish: Request, rule_id: str) -> Remedy | None:
    """Return the cure for what a rule finds."""
    finding = desk.findings(wish)[rule_id]
    return PLANNER.remedy(finding, wish, desk.world, desk.contact)


def enact(desk: d.Desk, wish: Request, rule_id: str) -> list[Call]:
    """Return the acts that a finding demands."""
    return list(PLANNER.enact(desk.findings(wish)[rule_id], wish, desk.world))


def attack(rule_id: str) -> tuple[d.Desk, Request]:
    """Return a case in which a rule fires."""
    if rule_id in CASES:
        return CASES[rule_id][0]()
    name = next(name for known, name in BOUNDARIES if known == rule_id)
    return BOUNDARIES[rule_id, name](permitted_and_not(PARAMETERS[rule_id, name])[1])


# ------------------------------------------------------------------------------ identification


def test_identity_factors_are_logged_and_other_guesses_are_not() -> None:
    desk = d.Desk()
    guesses = [
        Guess("customers", "CU-ANN", "date_of_birth", date(1984, 3, 7)),
        Guess("customers", "CU-ANN", "email", "no@example.net"),
        Guess("customers", "CU-ANN", "tax_id", "1"),
        Guess("recovery_codes", "RC-ANN", "code", "KX7P-29QM"),
    ]
    desk.do(PLANNER.receive(guesses, desk.world))
    logged = [(row["factor"], row["matched"]) for row in desk.contact.written("verification_log")]
    assert logged == [("date_of_birth", True), ("email", False)]


def test_it_asks_twice_and_no_more() -> None:
    desk = d.Desk().asks(BALANCE)
    assert remedy(desk, BALANCE, "ID-01") is not None
    desk.next_turn().identify("CU-ANN", "email").asks(BALANCE)
    assert remedy(desk, BALANCE, "ID-01") is not None
    desk.next_turn().identify("CU-BOB", "email").asks(BALANCE)
    assert remedy(desk, BALANCE, "ID-01") is None


def test_it_does_not_ask_again_when_nobody_answers() -> None:
    desk = d.Desk().asks(BALANCE).next_turn().asks(BALANCE)
    assert remedy(desk, BALANCE, "ID-01") is None


def test_it_does_not_ask_again_after_a_wrong_answer() -> None:
    desk = d.Desk().asks(BALANCE).next_turn().miss().asks(BALANCE)
    assert remedy(desk, BALANCE, "ID-01") is None
    volunteered = d.Desk().miss().asks(BALANCE)
    assert remedy(volunteered, BALANCE, "ID-01") is not None, "nothing was asked yet"


def test_a_turn_in_which_something_was_decided_did_not_ask() -> None:
    desk = d.Desk()
    for _ in range(3):
        desk.asks(d.pay(), evidence=("advance_fee",))
        desk.decide(desk.findings(d.pay())["PAY-04"]).next_turn()
    assert remedy(desk.asks(BALANCE), BALANCE, "ID-01") is not None


# ------------------------------------------------------------------------------------ step-up


def test_a_push_is_answered_by_who_holds_the_device() -> None:
    for devices, approved in ((frozenset({"DV-ANN"}), True), (frozenset({"DV-BOB"}), False)):
        desk = d.Desk(controls=Controls(app_as="CU-ANN", devices=devices)).identify().asks(d.contact_change())
        cure = remedy(desk, d.contact_change(), "ID-06")
        assert cure is not None
        assert [call.tool for call in cure.calls] == ["send_push"]
        desk.do(cure.calls)
        desk.do(PLANNER.react(desk.world))
        assert (desk.findings(d.contact_change()) == {}) is approved
        assert list(PLANNER.react(desk.world)) == []


def test_without_a_trusted_device_the_phone_on_file_is_rung() -> None:
    young = t.Device(id="DV-ANN", customer_id="CU-ANN", name="Pixel 9", enrolled_at=d.days_ago(6))
    phone = d.person("CU-ANN").phone
    desk = d.Desk(young, controls=Controls(phones=frozenset({phone}))).identify().asks(d.contact_change())
    cure = remedy(desk, d.contact_change(), "ID-06")
    assert cure is not None
    assert [call.tool for call in cure.calls] == ["call_back"]
    desk.do(cure.calls)
    desk.do(PLANNER.react(desk.world))
    assert desk.findings(d.contact_change()) == {}


def test_each_challenge_is_tried_once() -> None:
    desk = d.Desk().identify().asks(d.contact_change())
    tools = []
    while (cure := remedy(desk, d.contact_change(), "ID-06")) is not None:
        tools += [call.tool for call in cure.calls]
        desk.do(cure.calls)
        desk.next_turn().asks(d.contact_change())
    assert tools == ["send_push", "call_back"]


def test_no_channel_is_old_enough() -> None:
    young = t.Device(id="DV-ANN", customer_id="CU-ANN", name="Pixel 9", enrolled_at=d.days_ago(6))
    event = t.ChannelEvent(
        id="CE-1", customer_id="CU-ANN", channel="phone", event="changed", value="x", at=d.days_ago(6)
    )
    desk = d.Desk(young, event).identify().asks(d.contact_change())
    assert remedy(desk, d.contact_change(), "ID-06") is None


# ------------------------------------------------------------------------------------- forms


def test_the_questionnaire_is_handed_out_once() -> None:
    wish = d.pay(100_000, "PY-NEW")
    desk = d.ready(payee()).asks(wish)
    cure = remedy(desk, wish, "PAY-03")
    assert cure is not None
    assert cure.calls == (Call("grant_tool", {"tool": "answer_payment_questions"}),)
    desk.do(cure.calls)
    assert remedy(desk, wish, "PAY-03") is None
    flagged = d.ready(payee(), answers(told_what_to_say=True)).asks(wish)
    assert remedy(flagged, wish, "PAY-03") is None


def test_a_close_name_can_be_confirmed_and_another_cannot() -> None:
    close, other = (d.ready(name_check(result)).asks(d.pay()) for result in ("close_match", "no_match"))
    cure = remedy(close, d.pay(), "PAY-07")
    assert cure is not None
    assert cure.calls == (Call("grant_tool", {"tool": "confirm_shown_name"}),)
    assert remedy(other, d.pay(), "PAY-07") is None


def test_a_lost_card_is_blocked_first() -> None:
    desk = d.ready().asks(d.replace_card(), evidence=("card_lost_or_stolen",))
    cure = remedy(desk, d.replace_card(), "CARD-08")
    assert cure is not None
    desk.do(cure.calls)
    assert desk.findings(d.replace_card()) == {}


@pytest.mark.parametrize("rule_id", sorted(set(d.RULES) - CURABLE))
def test_what_cannot_be_cured_is_not_cured(rule_id: str) -> None:
    desk, wish = attack(rule_id)
    assert remedy(desk, wish, rule_id) is None


# ------------------------------------------------------------------------------------ outcomes


@pytest.mark.parametrize("rule_id", d.RULES)
def test_every_finding_can_be_carried_out_and_stands_afterwards(rule_id: str) -> None:
    desk, wish = attack(rule_id)
    finding = desk.findings(wish)[rule_id]
    calls = PLANNER.enact(finding, wish, desk.world)
    desk.do(calls)
    assert [call for call in PLANNER.enact(finding, wish, desk.world) if call.tool != "grant_tool"] == []
    expected = {
        "hold": {"place_hold"},
        "escalate": {"escalate"},
        "refer": {"refer_application"},
    }.get(str(finding.outcome), set())
    expected |= {"place_hold"} if "hold" in finding.also else set()
    expected |= {"open_fraud_case"} if finding.also & {"laundering_case", "fraud_case"} else set()
    expected |= {"flag_record"} if "flag" in finding.also else set()
    assert expected <= {call.tool for call in calls}


def test_a_waiting_payment_is_held_itself() -> None:
    desk = d.Desk(d.due(2_500_000)).identify("CU-BOB")
    desk.do(enact(desk, d.release(), "PAY-06"))
    assert desk.world.find(t.Payment, "PM-DUE").status == "held"
    hold = desk.contact.written("holds")[0]
    assert (hold["payment_id"], hold["payee_id"], hold["amount_cents"]) == ("PM-DUE", "PY-FIRM", 2_500_000)
    assert hold["reason_code"] == "second_approval_missing"


def test_a_locked_verification_becomes_an_identity_case() -> None:
    desk = d.Desk().miss().miss()
    calls = enact(desk, BALANCE, "ID-02")
    assert [(call.tool, call.arguments["kind"]) for call in calls] == [("open_fraud_case", "identity")]


def test_a_coached_caller_is_rung_back() -> None:
    desk = d.ready().asks(d.contact_change(), evidence=("coached_live",))
    assert [call.tool for call in enact(desk, d.contact_change(), "ID-10")] == ["place_hold", "call_back"]


def test_the_note_with_the_text_is_flagged() -> None:
    desk = d.ready(note()).asks(d.credit(), evidence=("planted_text",), row=RowRef("notes", "NT-1"))
    assert enact(desk, d.credit(), "TXT-01") == [
        Call("flag_record", {"record_id": "NT-1", "reason_code": "untrusted_instruction"})
    ]


def test_another_address_gets_the_branch() -> None:
    wish = d.replace_card("9 Other Road")
    desk = d.ready().asks(wish)
    desk.world.granted.clear()
    assert enact(desk, wish, "CARD-04") == [Call("grant_tool", {"tool": "pick_up_at_branch"})]


# ------------------------------------------------------------------------------------ look-ups


@pytest.mark.parametrize("rule_id", d.RULES)
def test_look_ups_are_few_known_and_never_repeated(rule_id: str) -> None:
    desk, wish = attack(rule_id)
    calls = list(PLANNER.plan(wish, desk.world))
    assert 1 <= len(calls) <= 8
    assert all(calls.count(call) == 1 for call in calls)
    assert not any(desk.world.tools[call.tool].writes for call in calls)
    desk.do(calls)


def test_what_does_not_exist_is_not_looked_up() -> None:
    desk = d.Desk()
    for wish in (Request("kb_search", {"query": "x"}), d.pay(source="AC-NONE", payee="PY-NONE")):
        assert list(PLANNER.plan(wish, desk.world)) == []
