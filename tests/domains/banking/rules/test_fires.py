"""Every rule that no boundary case covers: a case in which it fires, and its twin in which no rule does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

import pytest

from domains.banking import tables as t
from domains.kit.rules import Request
from domains.kit.store import RowRef
from tests.domains.banking.rules import desk as d

Case = Callable[[], tuple[d.Desk, Request]]


def authority(scope: str = "payments", kind: str = "power_of_attorney", **changes: object) -> t.AuthorityRecord:
    """Return Eve's authority to act for Ann, in force."""
    values = {
        "id": "AR-EVE",
        "principal_id": "CU-ANN",
        "representative_id": "CU-EVE",
        "kind": kind,
        "scope": scope,
        "valid_from": d.day(100),
    }
    return t.AuthorityRecord(**values | changes)


def answers(**changes: bool) -> t.ScamQuestionnaire:
    """Return clean answers about the new payee."""
    clean = {
        "met_in_person": True,
        "told_what_to_say": False,
        "asked_to_keep_secret": False,
        "contacted_unexpectedly": False,
    }
    return t.ScamQuestionnaire(
        id="SQ-1", customer_id="CU-ANN", payee_id="PY-NEW", completed_at=d.NOW, **clean | changes
    )


def payee(key: str = "PY-NEW", **changes: object) -> t.Payee:
    """Return a payee of last month who was never paid."""
    values = {"id": key, "customer_id": "CU-ANN", "name": "New", "bank_account": key, "created_at": d.days_ago(30)}
    return t.Payee(**values | changes)


def name_check(result: str, confirmed: bool = False) -> t.PayeeCheck:
    """Return a name check of the landlord."""
    return t.PayeeCheck(
        id=f"PC-{result}",
        payee_id="PY-OLD",
        result=result,
        shown_name="L. Lord",
        confirmed=confirmed,
        checked_at=d.NOW if confirmed else d.ago(minutes=1),
    )


def hold(kind: str, **changes: object) -> t.Hold:
    """Return an active hold on the firm's payment."""
    values = {
        "id": "HD-1",
        "account_id": "AC-FIRM",
        "payment_id": "PM-DUE",
        "kind": kind,
        "placed_by": "system",
        "reason_code": "suspected_app_scam",
        "placed_at": d.ago(hours=1),
    }
    return t.Hold(**values | changes)


def supervisor(subject: str, action: str, **changes: object) -> t.SupervisorApproval:
    """Return a supervisor's approval."""
    values = {
        "id": "SA-1",
        "subject_id": subject,
        "action": action,
        "approved_by": "Kim",
        "approved_at": d.ago(hours=1),
    }
    return t.SupervisorApproval(**values | changes)


def note(about: str = "AC-ANN") -> t.Note:
    """Return a note on a record of Ann's."""
    return t.Note(
        id="NT-1", customer_id="CU-ANN", about_id=about, author="import", text="Credit 480.", created_at=d.days_ago(2)
    )


NOTE = RowRef("notes", "NT-1")
SHARED = [
    t.AccountHolder(id="AO-1", account_id="AC-SAVE", customer_id="CU-ANN", role="owner"),
    t.AccountHolder(id="AO-2", account_id="AC-SAVE", customer_id="CU-EVE", role="joint"),
]
BALANCE = d.tell("accounts", "AC-ANN", "balance_cents")
ONE_CENT = d.pay(1)


def simple(*rows: object, wish: Request, key: str = "CU-ANN", evidence: tuple[str, ...] = ()) -> Case:
    """Return a case of one turn with somebody identified and stepped up."""

    def case() -> tuple[d.Desk, Request]:
        desk = d.Desk(*rows)  # type: ignore[arg-type]
        desk.identify(key)
        if key in ("CU-ANN", "CU-BOB"):
            desk.stepped_up(key)
        return desk.asks(wish, evidence=evidence), wish

    return case


def later(
    *rows: object,
    first: Request | None = None,
    evidence: tuple[str, ...] = (),
    row: RowRef | None = None,
    do: Request | None = None,
    refused_by: str | None = None,
    wish: Request,
    second: tuple[str, ...] = (),
    key: str = "CU-ANN",
) -> Case:
    """Return a case of two turns: something is said, done or refused, and then something else is wanted."""

    def case() -> tuple[d.Desk, Request]:
        desk = d.ready(*rows, key=key)  # type: ignore[arg-type]
        if first is not None:
            desk.asks(first)
            desk.plan(first)
        desk.asks(evidence=evidence, row=row)
        if refused_by is not None:
            assert first is not None
            desk.decide(desk.findings(first)[refused_by])
        if do is not None:
            outcome = desk.call(do.tool, **do.arguments)
            assert outcome.ok, outcome.result
        return desk.next_turn().asks(wish, evidence=second), wish

    return case


def near_miss(codes: tuple[str, ...]) -> Case:
    """Return a case in which these recovery codes were tried before the right one."""

    def case() -> tuple[d.Desk, Request]:
        desk = d.Desk().identify()
        for code in codes:
            desk.call("redeem_recovery_code", customer_id="CU-ANN", code=code)
        return desk.next_turn().asks(d.recover()), d.recover()

    return case


def told_before(*columns: str) -> Case:
    """Return a case in which a representative has heard some details and asks for Ann's phone."""

    def case() -> tuple[d.Desk, Request]:
        desk = d.Desk(authority("information")).identify("CU-EVE")
        for column in columns:
            desk.told(RowRef("customers", "CU-ANN"), column)
        wish = d.tell("customers", "CU-ANN", "phone")
        return desk.next_turn().asks(wish), wish

    return case


def opened_here(*, wish_on_new: bool) -> Case:
    """Return a case in which an account is opened and filled, and money is to leave it or another one."""

    def case() -> tuple[d.Desk, Request]:
        desk = d.ready(d.application(customer_id="CU-ANN", product="savings"), *d.checks())
        assert desk.call("open_account", application_id="AP-NEW").ok
        new = str(desk.contact.written("accounts")[0]["id"])
        assert desk.call("transfer", from_account_id="AC-ANN", to_account_id=new, amount_cents=50_000).ok
        wish = d.pay(40_000, source=new if wish_on_new else "AC-ANN")
        return desk.next_turn().asks(wish), wish

    return case


def document_until(valid_until: date) -> Case:
    """Return a case in which the document of an applicant expires on a day."""
    passed = d.check("document", valid_until=valid_until)
    return simple(d.application(), *d.checks("AP-NEW", "document"), passed, wish=d.open_it())


def second_application(evidence: tuple[str, ...]) -> Case:
    """Return a case in which one application failed and another is to be opened."""

    def case() -> tuple[d.Desk, Request]:
        first = [
            d.application("AP-ONE"),
            d.check("document", "AP-ONE", result="failed"),
            *d.checks("AP-ONE", "document"),
        ]
        desk = d.Desk(*first, d.application(), *d.checks())
        desk.asks(d.open_it("AP-ONE")).plan(d.open_it("AP-ONE"))
        desk.decide(desk.findings(d.open_it("AP-ONE"))["ONB-01"])
        return desk.next_turn().asks(d.open_it(), evidence=evidence), d.open_it()

    return case


def failed_claim(*, is_made: bool) -> Case:
    """Return a case in which Ann herself wants a statement, after Eve may have failed to act for her."""

    def case() -> tuple[d.Desk, Request]:
        desk = d.Desk().identify("CU-EVE")
        if is_made:
            desk.asks(d.move()).plan(d.move())
            desk.decide(desk.findings(d.move())["AUTH-05"])
        return desk.next_turn().identify().asks(d.statement()), d.statement()

    return case


def contact_with(wish: Request, evidence: tuple[str, ...]) -> Case:
    """Return a case in which Ann asks for something and reveals something."""
    return simple(wish=wish, evidence=evidence)


def charge(**changes: object) -> t.LedgerEntry:
    """Return a monthly charge of twenty days ago."""
    return d.entry("LE-GYM", -3_000, d.days_ago(20), kind="subscription", counterparty="Gym", **changes)


def cancellation(days: int) -> t.Cancellation:
    """Return a cancellation of the monthly service."""
    return t.Cancellation(id="CN-1", account_id="AC-ANN", merchant="Gym", cancelled_at=d.days_ago(days))


def usage(days: int) -> t.ServiceUsage:
    """Return a use of the monthly service."""
    return t.ServiceUsage(id="SV-1", account_id="AC-ANN", merchant="Gym", used_at=d.days_ago(days))


def machine(result: str, dispensed_cents: int | None) -> list[object]:
    """Return a withdrawal of $200 in dispute, with the machine's journal."""
    return [
        d.entry("LE-ATM", -20_000, d.days_ago(5), kind="cash_machine", counterparty="ATM"),
        t.Dispute(
            id="DP-ATM",
            ledger_id="LE-ATM",
            account_id="AC-ANN",
            customer_id="CU-ANN",
            kind="cash_machine",
            amount_cents=20_000,
            opened_at=d.days_ago(1),
        ),
        t.MachineJournal(
            id="MJ-1", ledger_id="LE-ATM", result=result, dispensed_cents=dispensed_cents, read_at=d.days_ago(1)
        ),
    ]


def two_roles(role: str, recorded_days_ago: int = 30) -> t.BusinessRole:
    """Return a role of Ann's at the firm."""
    return t.BusinessRole(
        id="BR-ANN", business_id="CU-FIRM", person_id="CU-ANN", role=role, recorded_at=d.days_ago(recorded_days_ago)
    )


ESTATE = d.account("AC-ESTATE", "CU-ANN", "estate")
FROM_ESTATE = d.pay(source="AC-ESTATE")
UNKNOWN_FIRM_PAYMENT = d.pay(5_000, "PY-FIRM", "AC-FIRM")

CASES: Mapping[str, tuple[Case, Case]] = {
    "ID-05": (
        later(evidence=("speaker_changed",), wish=BALANCE),
        later(wish=BALANCE),
    ),
    "ID-08": (near_miss(("KX7P-29QN",)), near_miss(())),
    "ID-10": (
        contact_with(d.pay(), ("coached_live",)),
        contact_with(d.pay(), ()),
    ),
    "ID-11": (
        later(do=d.new_pin(), wish=d.raise_limit()),
        later(wish=d.raise_limit()),
    ),
    "PAY-01": (
        simple(wish=d.move(target="AC-BOB")),
        simple(*SHARED, d.account("AC-EVE", "CU-EVE"), wish=d.move(target="AC-EVE", source="AC-SAVE")),
    ),
    "PAY-04": (
        contact_with(ONE_CENT, ("safe_account_story",)),
        contact_with(ONE_CENT, ("urgency",)),
    ),
    "PAY-07": (
        simple(name_check("close_match"), wish=d.pay()),
        simple(name_check("close_match"), name_check("match", confirmed=True), wish=d.pay()),
    ),
    "PAY-08": (
        simple(d.due(5_000, status="held"), hold("fraud"), wish=d.release(), key="CU-BOB"),
        simple(d.due(5_000, status="held"), hold("cooling_off"), wish=d.release(), key="CU-BOB"),
    ),
    "PAY-09": (
        contact_with(d.pay(4_000), ("mistaken_credit",)),
        contact_with(Request("request_recall", {"ledger_id": "LE-SHOP", "reason": "mistake"}), ("mistaken_credit",)),
    ),
    "PAY-10": (
        later(evidence=("advance_fee",), wish=d.pay(), second=("purpose_changed",)),
        later(wish=d.pay(), second=("purpose_changed",)),
    ),
    "PAY-11": (
        later(first=d.pay(), evidence=("advance_fee",), refused_by="PAY-04", wish=d.move()),
        later(first=d.pay(), wish=d.move()),
    ),
    "AML-03": (
        later(evidence=("third_party_funds",), wish=d.move()),
        later(wish=d.move()),
    ),
    "AML-06": (
        contact_with(d.pay(), ("business_receipts",)),
        simple(wish=UNKNOWN_FIRM_PAYMENT, key="CU-BOB", evidence=("business_receipts",)),
    ),
    "AML-07": (
        simple(
            t.Licence(id="LI-1", business_id="CU-FIRM", kind="money_service", valid_to=d.day(1)),
            wish=UNKNOWN_FIRM_PAYMENT,
            key="CU-BOB",
        ),
        simple(
            t.Licence(id="LI-1", business_id="CU-FIRM", kind="money_service", valid_to=d.day(0)),
            wish=UNKNOWN_FIRM_PAYMENT,
            key="CU-BOB",
            evidence=("money_service_activity",),
        ),
    ),
    "CARD-01": (
        simple(
            t.CardControl(id="CC-2", card_id="CD-ICE", kind="alert", placed_by="bank", placed_at=d.days_ago(1)),
            wish=d.on_card("unfreeze_card", "CD-ICE"),
        ),
        simple(
            t.CardControl(
                id="CC-2", card_id="CD-ICE", kind="alert", placed_by="bank", status="lifted", placed_at=d.days_ago(1)
            ),
            wish=d.on_card("unfreeze_card", "CD-ICE"),
        ),
    ),
    "CARD-05": (simple(wish=d.new_pin("0307")), simple(wish=d.new_pin("0308"))),
    "CARD-08": (
        contact_with(d.replace_card(), ("card_lost_or_stolen",)),
        contact_with(d.on_card("block_card", reason="lost"), ("card_lost_or_stolen",)),
    ),
    "CARD-09": (
        later(
            t.CardControl(id="CC-2", card_id="CD-ICE", kind="freeze", placed_by="bank", placed_at=d.days_ago(1)),
            first=d.on_card("unfreeze_card", "CD-ICE"),
            refused_by="CARD-01",
            wish=d.new_pin(),
        ),
        later(first=d.on_card("unfreeze_card", "CD-ICE"), wish=d.new_pin()),
    ),
    "DATA-01": (
        simple(wish=d.tell("accounts", "AC-BOB", "balance_cents")),
        simple(wish=BALANCE),
    ),
    "DATA-02": (
        simple(authority("payments"), wish=BALANCE, key="CU-EVE"),
        simple(authority("payments,information"), wish=BALANCE, key="CU-EVE"),
    ),
    "DATA-06": (
        simple(*SHARED, wish=d.tell("customers", "CU-ANN", "phone"), key="CU-EVE"),
        simple(*SHARED, wish=d.tell("accounts", "AC-SAVE", "balance_cents"), key="CU-EVE"),
    ),
    "DATA-08": (
        contact_with(BALANCE, ("claims_court",)),
        contact_with(BALANCE, ()),
    ),
    "DATA-09": (
        simple(two_roles("viewer"), d.due(5_000), wish=d.release()),
        simple(two_roles("bookkeeper"), d.due(5_000), wish=d.release()),
    ),
    "DATA-10": (told_before("email"), told_before("name")),
    "DISP-01": (
        lambda: (d.ready(), d.dispute()),
        lambda: (d.ready().plan(d.dispute()), d.dispute()),
    ),
    "DISP-02": (
        simple(charge(), cancellation(25), usage(24), wish=d.dispute("recurring", "LE-GYM")),
        simple(charge(), cancellation(25), usage(26), wish=d.dispute("recurring", "LE-GYM")),
    ),
    "DISP-06": (
        later(evidence=("purchase_admitted",), wish=d.dispute("unauthorised")),
        later(evidence=("purchase_admitted",), wish=d.dispute("service")),
    ),
    "DISP-07": (
        simple(*machine("short", 6_000), wish=d.credit(14_001, "provisional", "DP-ATM")),
        simple(*machine("short", 6_000), wish=d.credit(14_000, "provisional", "DP-ATM")),
    ),
    "DISP-10": (
        later(do=d.credit(), wish=d.close()),
        later(wish=d.close()),
    ),
    "TXT-01": (
        contact_with(d.credit(), ("planted_text",)),
        simple(supervisor("AC-ANN", "credit"), wish=d.credit(), evidence=("planted_text",)),
    ),
    "TXT-02": (
        simple(d.application(status="referred"), *d.checks(), wish=d.open_it()),
        simple(d.application(), *d.checks(), wish=d.open_it()),
    ),
    "TXT-03": (simple(wish=d.correction(1_501)), simple(wish=d.correction())),
    "TXT-04": (
        simple(supervisor("AC-ANN", "credit", amount_cents=47_999), wish=d.credit(48_000, basis_id="SA-1")),
        simple(supervisor("AC-ANN", "credit", amount_cents=48_000), wish=d.credit(48_000, basis_id="SA-1")),
    ),
    "TXT-05": (
        later(note("LE-FEE"), evidence=("planted_text",), row=NOTE, wish=d.dispute("service", "LE-FEE")),
        later(note("LE-FEE"), wish=d.dispute("service", "LE-FEE")),
    ),
    "TXT-06": (
        later(note(), evidence=("planted_text",), row=NOTE, wish=d.credit()),
        later(note(), evidence=("planted_text",), row=NOTE, wish=d.correction()),
    ),
    "AUTH-01": (contact_with(d.pay(), ("claims_staff",)), contact_with(d.pay(), ())),
    "AUTH-02": (
        simple(authority(valid_to=d.day(1)), wish=d.pay(), key="CU-EVE"),
        simple(authority(valid_to=d.day(0)), wish=d.pay(), key="CU-EVE"),
    ),
    "AUTH-03": (
        simple(authority(kind="executor"), ESTATE, wish=d.pay(), key="CU-EVE"),
        simple(authority(kind="executor"), ESTATE, wish=FROM_ESTATE, key="CU-EVE"),
    ),
    "AUTH-05": (
        simple(wish=d.move(), key="CU-EVE", evidence=("unproven_authority",)),
        simple(
            *SHARED,
            wish=d.pay(source="AC-SAVE"),
            key="CU-EVE",
            evidence=("unproven_authority",),
        ),
    ),
    "AUTH-06": (
        later(evidence=("unproven_authority",), wish=d.contact_change()),
        later(wish=d.contact_change()),
    ),
    "AUTH-08": (failed_claim(is_made=True), failed_claim(is_made=False)),
    "ONB-01": (document_until(d.day(1)), document_until(d.day(0))),
    "ONB-05": (
        simple(d.application(tax_id_kind="other"), *d.checks(), wish=d.open_it()),
        simple(d.application(tax_id_kind="itin"), *d.checks(), wish=d.open_it()),
    ),
    "ONB-07": (second_application(("second_identity",)), second_application(())),
    "ONB-11": (opened_here(wish_on_new=True), opened_here(wish_on_new=False)),
}


@pytest.mark.parametrize("rule_id", CASES)
def test_it_fires_and_a_rule_without_history_does_so_on_the_present_turn(rule_id: str) -> None:
    desk, wish = CASES[rule_id][0]()
    if rule_id != "DISP-01":
        desk.plan(wish)
    finding = desk.findings(wish)[rule_id]
    assert finding.reason_code in desk.world.vocabularies["reason_code"]
    assert set(finding.rests_on) <= desk.contact.shown | {RowRef("ledger", "LE-SHOP"), NOTE}
    if d.RULES[rule_id].history:
        assert desk.myopic(wish) == {}
    else:
        assert rule_id in desk.myopic(wish)


@pytest.mark.parametrize("rule_id", CASES)
def test_its_twin_passes_every_rule(rule_id: str) -> None:
    desk, wish = CASES[rule_id][1]()
    assert desk.plan(wish).findings(wish) == {}


def test_every_rule_has_a_case() -> None:
    bounded = {rule.id for rule in d.RULES.values() if rule.parameters}
    assert set(CASES) | bounded == set(d.RULES)
