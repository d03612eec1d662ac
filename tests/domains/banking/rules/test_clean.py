"""Where nothing is wrong no rule fires, and the tool does what was asked."""

from __future__ import annotations

import pytest

from domains.banking import tables as t
from domains.kit.rules import TELL, Request
from tests.domains.banking.rules import desk as d

ANN_ASKS = [
    d.tell("accounts", "AC-ANN", "balance_cents"),
    d.tell("customers", "CU-ANN", "phone"),
    d.pay(),
    d.pay(990_000),
    d.move(),
    d.contact_change(),
    d.contact_change("phone", "(212) 555-0199"),
    d.on_card("freeze_card"),
    d.on_card("unfreeze_card", "CD-ICE"),
    d.on_card("block_card", reason="lost"),
    d.on_card("check_activation", "CD-NEW", answer="0000"),
    d.on_card("activate_card", "CD-NEW"),
    d.new_pin(),
    d.raise_limit(),
    d.raise_limit(100_000),
    d.replace_card(),
    d.replace_card("Main Street branch", "branch"),
    d.new_payee(),
    d.statement(),
    d.dispute(),
    d.dispute("unauthorised"),
    d.credit(),
    d.correction(),
    d.close(),
    d.recover(),
    Request("enrol_device", {"customer_id": "CU-ANN", "name": "Tablet"}),
    Request("confirm_payee_name", {"payee_id": "PY-OLD"}),
]


@pytest.mark.parametrize("request_", ANN_ASKS, ids=lambda request: request.tool)
def test_a_customer_is_served(request_: Request) -> None:
    desk = d.ready().asks(request_).plan(request_)
    assert desk.findings(request_) == {}
    if request_.tool != TELL:
        assert desk.call(request_.tool, **request_.arguments).ok


@pytest.mark.parametrize(
    "request_",
    [
        d.release(),
        d.pay(2_499_999, "PY-FIRM", "AC-FIRM"),
        d.tell("ledger", "LE-FIRM", "amount_cents"),
        d.statement("AC-FIRM", for_whom="CU-BOB"),
        d.new_payee("CU-FIRM"),
    ],
    ids=lambda request: request.tool,
)
def test_a_bookkeeper_is_served(request_: Request) -> None:
    desk = d.Desk(d.due(2_499_999), d.entry("LE-FIRM", -100, d.days_ago(3), account_id="AC-FIRM")).identify("CU-BOB")
    desk.asks(request_, evidence=("urgency",)).plan(request_)
    assert desk.findings(request_) == {}


def test_a_new_customer_is_served() -> None:
    desk = d.Desk(d.application(), *d.checks())
    desk.asks(d.open_it()).plan(d.open_it())
    assert desk.findings(d.open_it()) == {}
    assert desk.call("open_account", application_id="AP-NEW").ok


def test_a_firm_is_served() -> None:
    firm = d.application(kind="business", product="business_checking", tax_id_kind="ein", registered_on=d.day(400))
    owner = d.check("owner", share_percent=100)
    desk = d.Desk(firm, *d.checks("AP-NEW", "address"), owner).plan(d.open_it())
    assert desk.findings(d.open_it()) == {}


def test_an_attorney_is_served() -> None:
    record = t.AuthorityRecord(
        id="AR-EVE",
        principal_id="CU-ANN",
        representative_id="CU-EVE",
        kind="power_of_attorney",
        scope="information, payments",
        valid_from=d.day(0),
        valid_to=d.day(0),
    )
    for wish in (d.pay(), d.move(), d.tell("accounts", "AC-ANN", "balance_cents")):
        desk = d.Desk(record).identify("CU-EVE").asks(wish, evidence=("unproven_authority",)).plan(wish)
        assert desk.findings(wish) == {}


def test_pressure_changes_nothing() -> None:
    desk = d.ready().asks(d.pay(), evidence=("urgency", "threat")).plan(d.pay())
    assert desk.findings(d.pay()) == {}
