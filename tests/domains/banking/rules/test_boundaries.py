"""Every boundary: on the last permitted value no rule at all fires, one unit further the rule does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest

from domains.banking import tables as t
from domains.banking.rules import calendar
from domains.kit.rules import Parameter, Request
from tests.domains.banking.rules import desk as d

Case = Callable[[int], tuple[d.Desk, Request]]


def _factors(count: int) -> tuple[d.Desk, Request]:
    factors = ("email", "phone", "address")[:count]
    desk = d.Desk()
    if factors:
        desk.identify("CU-ANN", *factors)
    return desk, d.tell("accounts", "AC-ANN", "balance_cents")


def _inherited(count: int) -> tuple[d.Desk, Request]:
    desk, wish = _factors(count)
    earlier = [
        t.Verification(
            id=f"VL-{factor}", customer_id="CU-ANN", factor=factor, matched=True, channel="robot", at=d.ago(minutes=2)
        )
        for factor in ("email", "phone")
    ]
    return desk.put(*earlier), wish


def _wrong(count: int) -> tuple[d.Desk, Request]:
    desk = d.Desk()
    for _ in range(count):
        desk.miss()
    return desk.identify(), d.tell("accounts", "AC-ANN", "balance_cents")


def _new_payee(age_s: float = 30 * 86_400) -> t.Payee:
    return t.Payee(id="PY-NEW", customer_id="CU-ANN", name="New", bank_account="N1", created_at=d.ago(seconds=age_s))


def _clean_answers(payee: str = "PY-NEW") -> t.ScamQuestionnaire:
    return t.ScamQuestionnaire(
        id="SQ-1",
        customer_id="CU-ANN",
        payee_id=payee,
        met_in_person=True,
        told_what_to_say=False,
        asked_to_keep_secret=False,
        contacted_unexpectedly=False,
        completed_at=d.NOW,
    )


def _step_up_amount(cents: int) -> tuple[d.Desk, Request]:
    return d.Desk(_new_payee(), _clean_answers()).identify(), d.pay(cents, "PY-NEW")


def _step_up_age(seconds: int) -> tuple[d.Desk, Request]:
    return d.Desk().identify().stepped_up(when=d.ago(seconds=seconds)), d.contact_change()


def _channel_age(days: int) -> tuple[d.Desk, Request]:
    device = t.Device(id="DV-ANN", customer_id="CU-ANN", name="Pixel 9", enrolled_at=d.days_ago(days))
    return d.ready(device), d.contact_change()


def _cooling(seconds: int) -> tuple[d.Desk, Request]:
    event = t.ChannelEvent(
        id="CE-1", customer_id="CU-ANN", channel="email", event="changed", value="x", at=d.ago(seconds=seconds)
    )
    return d.ready(event), d.replace_card("Main Street branch", "branch")


def _first_payment(cents: int) -> tuple[d.Desk, Request]:
    return d.ready(_new_payee(60), _clean_answers()), d.pay(cents, "PY-NEW")


def _payee_age(seconds: int) -> tuple[d.Desk, Request]:
    return d.ready(_new_payee(seconds), _clean_answers()), d.pay(100_000, "PY-NEW")


def _larger_payment(cents: int) -> tuple[d.Desk, Request]:
    return d.ready(_new_payee()), d.pay(cents, "PY-NEW")


def _established(days: int) -> tuple[d.Desk, Request]:
    return d.ready(_new_payee(), d.paid("PM-N", "PY-NEW", "AC-ANN", 5_000, d.days_ago(days))), d.pay(100_000, "PY-NEW")


def _daily_cap(cents: int) -> tuple[d.Desk, Request]:
    other = d.account("AC-THREE", "CU-ANN")
    made = d.paid("PM-TODAY", "PY-OLD", "AC-THREE", 400_000, d.ago(minutes=5))
    return d.ready(other, made), d.pay(cents - 400_000)


def _dual_approval(cents: int) -> tuple[d.Desk, Request]:
    return d.Desk(d.due(cents)).identify("CU-BOB"), d.release()


def _approval_age(seconds: int) -> tuple[d.Desk, Request]:
    given = d.approval("PM-DUE", when=d.ago(seconds=seconds))
    return d.Desk(d.due(2_500_000), given).identify("CU-BOB"), d.release()


def _received(**changes: object) -> t.LedgerEntry:
    values = {"kind": "transfer", "counterparty": "Stranger", "counterparty_new": True}
    return d.entry("LE-IN", 100_000, d.ago(hours=1), **values | changes)


def _pass_through_share(percent: int) -> tuple[d.Desk, Request]:
    return d.ready(_received()), d.pay(percent * 1_000)


def _pass_through_age(seconds: int) -> tuple[d.Desk, Request]:
    return d.ready(_received(posted_at=d.ago(seconds=seconds))), d.pay(90_000)


def _structuring(cents: int) -> tuple[d.Desk, Request]:
    made = d.paid("PM-TODAY", "PY-FIRM", "AC-FIRM", 500_000, d.ago(minutes=5), purpose="Hall roof")
    return d.Desk(made).identify("CU-BOB"), d.pay(cents - 500_000, "PY-FIRM", "AC-FIRM", "hall roof.")


def _young_account(days: int, cents: int) -> tuple[d.Desk, Request]:
    young = d.account("AC-YOUNG", "CU-ANN", opened_at=d.days_ago(days))
    made = d.paid("PM-TODAY", "PY-OLD", "AC-YOUNG", 50_000, d.ago(minutes=5))
    return d.ready(young, made), d.pay(cents - 50_000, source="AC-YOUNG")


def _limit_share(percent: int) -> tuple[d.Desk, Request]:
    return d.ready(), d.raise_limit(percent * 2_000)


def _card_account_age(days: int) -> tuple[d.Desk, Request]:
    return d.ready(d.account("AC-ANN", "CU-ANN", opened_at=d.days_ago(days))), d.raise_limit()


def _overdraft_age(days: int) -> tuple[d.Desk, Request]:
    fee = d.entry("LE-FEE", -3_500, d.days_ago(days), kind="fee", counterparty="Harbourline Bank", memo="Overdraft fee")
    return d.ready(fee), d.raise_limit()


def _limit_pause(seconds: int) -> tuple[d.Desk, Request]:
    change = t.LimitChange(id="LC-1", card_id="CD-ANN", old_cents=100_000, new_cents=200_000, at=d.ago(seconds=seconds))
    return d.ready(change), d.raise_limit()


def _address_age(days: int) -> tuple[d.Desk, Request]:
    history = t.AddressHistory(id="AH-2", customer_id="CU-ANN", address=d.HOME, since=d.day(days))
    return d.ready(history), d.replace_card()


def _failed_checks(count: int) -> tuple[d.Desk, Request]:
    desk = d.ready()
    for _ in range(count):
        desk.call("check_activation", card_id="CD-NEW", answer="9999")
    return desk, d.on_card("check_activation", "CD-NEW", answer="0000")


def _auditor() -> t.AuthorityRecord:
    return t.AuthorityRecord(
        id="AR-AUD",
        principal_id="CU-FIRM",
        representative_id="CU-ANN",
        kind="auditor",
        scope="information,statements",
        valid_from=d.day(100),
    )


def _audit_month(months: int) -> tuple[d.Desk, Request]:
    month = calendar.months_back(d.TODAY, months)
    return d.Desk(_auditor()).identify(), d.statement("AC-FIRM", f"{month:%Y-%m}")


def _role_age(seconds: int) -> tuple[d.Desk, Request]:
    role = t.BusinessRole(
        id="BR-ANN", business_id="CU-FIRM", person_id="CU-ANN", role="owner", recorded_at=d.ago(seconds=seconds)
    )
    return d.Desk(role, d.due(50_000)).identify(), d.release()


def _duplicate_days(days: int) -> tuple[d.Desk, Request]:
    return d.ready(d.entry("LE-TWIN", -4_200, d.days_ago(30 + days))), d.dispute("duplicate")


def _refund_wait(business_days: int) -> tuple[d.Desk, Request]:
    promised, count = d.TODAY, 0
    while count < business_days:
        count += calendar.is_business_day(promised)
        promised -= timedelta(days=1)
    promise = t.RefundPromise(id="RP-1", ledger_id="LE-SHOP", promised_on=promised, amount_cents=4_200)
    return d.ready(promise), d.dispute("refund_missing")


def _open_disputes(tier: str) -> Case:
    def case(count: int) -> tuple[d.Desk, Request]:
        rows: list[t.Dispute | t.LedgerEntry | t.Customer] = [d.person("CU-ANN", tier=tier)]
        for number in range(count - 1):
            rows.append(d.entry(f"LE-{number}", -100, d.days_ago(9)))
            rows.append(
                t.Dispute(
                    id=f"DP-{number}",
                    ledger_id=f"LE-{number}",
                    account_id="AC-ANN",
                    customer_id="CU-ANN",
                    kind="service",
                    amount_cents=100,
                    opened_at=d.days_ago(3),
                )
            )
        return d.ready(*rows), d.dispute()

    return case


def _goodwill(days: int, cents: int) -> tuple[d.Desk, Request]:
    given = t.Credit(
        id="CR-1",
        account_id="AC-SAVE",
        customer_id="CU-ANN",
        kind="goodwill",
        amount_cents=1_500,
        created_at=d.days_ago(days),
    )
    return d.ready(given), d.credit(cents - 1_500)


def _filing_window(days: int) -> tuple[d.Desk, Request]:
    return d.ready(d.entry("LE-SHOP", -4_200, d.days_ago(days + 5), statement_on=d.day(days))), d.dispute()


def _applied(*rows: object, **changes: object) -> tuple[d.Desk, Request]:
    left_out = [row.kind for row in rows if isinstance(row, t.ApplicationCheck)]
    return d.Desk(d.application(**changes), *d.checks("AP-NEW", *left_out), *rows), d.open_it()  # type: ignore[arg-type]


def _adult(years: int) -> tuple[d.Desk, Request]:
    return _applied(date_of_birth=calendar.months_back(d.TODAY, 12 * years))


def _held_accounts(count: int) -> tuple[d.Desk, Request]:
    return _applied(
        *(d.account(f"AC-{number}", "CU-EVE") for number in range(count - 1)), tax_id=d.person("CU-EVE").tax_id
    )


def _closed(months: int) -> tuple[d.Desk, Request]:
    # One day further than the whole months, since the day that far back is still within them.
    when = d.NOW - (d.TODAY - calendar.months_back(d.TODAY, min(months, 6))) - timedelta(days=max(0, months - 6))
    closure = t.Closure(id="CL-1", customer_id="CU-EVE", account_id="AC-BOB", reason="for_cause", closed_at=when)
    return _applied(closure, customer_id="CU-EVE")


def _proof_age(days: int) -> tuple[d.Desk, Request]:
    return _applied(d.check("address", proof_dated=d.day(days)))


def _firm(*owners: t.ApplicationCheck, registered: int = 400) -> tuple[d.Desk, Request]:
    firm = d.application(
        kind="business", product="business_checking", tax_id_kind="ein", registered_on=d.day(registered)
    )
    return d.Desk(firm, *d.checks("AP-NEW", "address"), *owners), d.open_it()


def _owner_share(percent: int) -> tuple[d.Desk, Request]:
    return _firm(
        d.check("owner", share_percent=100 - percent),
        d.check("owner", id="CH-2", share_percent=percent, result="pending"),
    )


def _sharing(count: int, days: int = 0) -> tuple[d.Desk, Request]:
    phone = "(212) 555-0001"
    others = [d.application(f"AP-{number}", phone=phone, submitted_at=d.days_ago(days)) for number in range(count)]
    return _applied(*others, phone=phone)


def _corrections(count: int) -> tuple[d.Desk, Request]:
    made = [
        t.ApplicationCorrection(id=f"AN-{number}", application_id="AP-NEW", field="tax_id", at=d.ago(minutes=9))
        for number in range(count - 1)
    ]
    wish = Request("correct_application", {"application_id": "AP-NEW", "field": "phone", "value": "(212) 555-0188"})
    return _applied(*made)[0], wish


CASES: Mapping[tuple[str, str], Case] = {
    ("ID-01", "matching factors"): _factors,
    ("ID-04", "matching factors"): _inherited,
    ("ID-02", "wrong factors"): _wrong,
    ("ID-06", "first payment to a new payee"): _step_up_amount,
    ("ID-06", "age of the approval"): _step_up_age,
    ("ID-07", "age of the channel"): _channel_age,
    ("ID-09", "time since the change"): _cooling,
    ("PAY-02", "first payment"): _first_payment,
    ("PAY-02", "age of the payee"): _payee_age,
    ("PAY-03", "payment"): _larger_payment,
    ("PAY-03", "age of a settled payment"): _established,
    ("PAY-05", "external payments of the day"): _daily_cap,
    ("PAY-06", "business payment"): _dual_approval,
    ("PAY-06", "age of the approval"): _approval_age,
    ("AML-01", "share of the credit"): _pass_through_share,
    ("AML-01", "age of the credit"): _pass_through_age,
    ("AML-02", "payments of the day for one purpose"): _structuring,
    ("AML-04", "age of the account"): lambda days: _young_account(days, 200_001),
    ("AML-04", "external payments of the day"): lambda cents: _young_account(5, cents),
    ("CARD-02", "new limit to the current one"): _limit_share,
    ("CARD-02", "age of the account"): _card_account_age,
    ("CARD-02", "age of an overdraft fee"): _overdraft_age,
    ("CARD-03", "time since the last increase"): _limit_pause,
    ("CARD-04", "age of the address"): _address_age,
    ("CARD-06", "failed activation checks"): _failed_checks,
    ("DATA-03", "age of the record"): _audit_month,
    ("AUTH-04", "age of the role"): _role_age,
    ("DISP-03", "days between the two entries"): _duplicate_days,
    ("DISP-04", "business days since the promise"): _refund_wait,
    ("DISP-05", "open disputes, entry tier"): _open_disputes("entry"),
    ("DISP-05", "open disputes, standard tier"): _open_disputes("standard"),
    ("DISP-08", "goodwill in the period"): lambda cents: _goodwill(30, cents),
    ("DISP-08", "age of a credit not counted"): lambda days: _goodwill(days, 2_501),
    ("DISP-09", "days since the statement"): _filing_window,
    ("ONB-02", "age of the applicant"): _adult,
    ("ONB-03", "personal checking accounts"): _held_accounts,
    ("ONB-04", "time since the closure"): _closed,
    ("ONB-06", "age of the proof of address"): _proof_age,
    ("ONB-08", "time since registration"): lambda days: _firm(d.check("owner", share_percent=100), registered=days),
    ("ONB-08", "share of an owner not checked"): _owner_share,
    ("ONB-09", "other applications with the same feature"): _sharing,
    ("ONB-09", "age of an application not counted"): lambda days: _sharing(3, days),
    ("ONB-10", "corrections, this one included"): _corrections,
}

PARAMETERS = {(rule.id, item.name): item for rule in d.RULES.values() for item in rule.parameters}


def permitted_and_not(parameter: Parameter) -> tuple[int, int]:
    """Return the last permitted value of a boundary and the one next to it."""
    side, _, value = parameter.permitted.partition(" ")
    last = {"<": -1, "<=": 0, ">": 1, ">=": 0}[side]
    further = 1 if side.startswith("<") else -1
    assert int(value) == parameter.value
    return parameter.value + last, parameter.value + last + further


def test_every_boundary_has_a_case() -> None:
    assert set(CASES) == set(PARAMETERS)


@pytest.mark.parametrize(("rule_id", "name"), CASES)
def test_the_last_permitted_value_passes_every_rule(rule_id: str, name: str) -> None:
    permitted, _ = permitted_and_not(PARAMETERS[rule_id, name])
    desk, wish = CASES[rule_id, name](permitted)
    assert desk.asks(wish).plan(wish).findings(wish) == {}


@pytest.mark.parametrize(("rule_id", "name"), CASES)
def test_one_unit_further_only_this_rule_fires_on_what_was_shown(rule_id: str, name: str) -> None:
    _, further = permitted_and_not(PARAMETERS[rule_id, name])
    desk, wish = CASES[rule_id, name](further)
    found = desk.asks(wish).plan(wish).findings(wish)
    assert set(found) - {"ID-01"} == {rule_id} - {"ID-01"}
    assert found[rule_id].rests_on
    assert set(found[rule_id].rests_on) <= desk.contact.shown
