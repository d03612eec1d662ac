from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.banking.cast import CAST_KINDS
from domains.banking.cast.private import with_check_digit
from domains.banking.tables import TABLES
from domains.kit.cast import CastContext, Form, Member, Sensitivity, digit_runs
from domains.kit.draw import Draw
from domains.kit.errors import SetupError
from domains.kit.store import StoreTemplate

ZONE = ZoneInfo("America/New_York")
NOW = datetime.fromisoformat("2026-03-12T10:20:00-05:00")

# One member of each kind, written as shortly as it can be, beside those that it needs.
CAST: dict[str, dict[str, Any]] = {
    "anna": {"is": "person", "recovery_code": True},
    "firm": {"is": "business"},
    "clerk": {"is": "person", "works_at": "firm", "role": "bookkeeper"},
    "stranger": {"is": "person", "customer": False},
    "phone2": {"is": "device", "of": "anna"},
    "right": {"is": "role_record", "business": "firm", "person": "anna"},
    "moved": {"is": "channel_event", "customer": "anna"},
    "account": {"is": "account", "owner": "anna"},
    "firm_account": {"is": "account", "owner": "firm"},
    "old_account": {"is": "account", "owner": "anna", "status": "closed"},
    "licence": {"is": "licence", "business": "firm"},
    "closure": {"is": "closure", "account": "old_account"},
    "card": {"is": "card", "of": "account"},
    "attempt": {"is": "activation_attempt", "card": "card"},
    "raised": {"is": "limit_change", "card": "card"},
    "order": {"is": "card_order", "card": "card"},
    "entry": {"is": "entry", "account": "account"},
    "payee": {"is": "payee", "of": "anna"},
    "supplier": {"is": "payee", "of": "firm", "settled_payments": 4},
    "payment": {"is": "payment", "from": "account", "to": "payee"},
    "approval": {"is": "approval", "payment": "payment", "approver": "clerk"},
    "hold": {"is": "hold", "payment": "payment"},
    "dispute": {"is": "dispute", "entry": "entry"},
    "credit": {"is": "credit", "account": "account"},
    "promise": {"is": "refund_promise", "of": "entry"},
    "journal": {"is": "journal", "of": "entry"},
    "cancelled": {"is": "cancellation", "of": "entry"},
    "used": {"is": "usage", "of": "entry"},
    "power": {"is": "authority", "principal": "anna", "representative": "clerk"},
    "push": {"is": "step_up", "customer": "anna"},
    "proved": {"is": "verification", "customer": "anna"},
    "tried": {"is": "recovery_attempt", "customer": "anna"},
    "nod": {"is": "supervisor_approval", "subject": "entry"},
    "application": {"is": "application", "applicant": "stranger"},
    "correction": {"is": "correction", "of": "application"},
    "note": {"is": "note", "about": "entry", "text": "Asked about {entry.counterparty} on {entry.posted}."},
    "alert": {"is": "alert", "on": "account"},
    "case": {"is": "case", "customer": "anna"},
    "flag": {"is": "flag", "record": "note"},
    "sum": {"is": "money"},
    "words": {"is": "text_value", "text": "Ask {anna.first_name}, not {{her}}."},
    "pin": {"is": "pin"},
    "code": {"is": "code"},
    "number": {"is": "phone_number"},
    "mail": {"is": "email_address"},
    "home": {"is": "street_address"},
    "bank": {"is": "bank_account"},
    "name": {"is": "person_name"},
    "day": {"is": "date"},
}

EXAMPLE: dict[str, dict[str, Any]] = {
    "firm": {"is": "business"},
    "caller": {"is": "person", "works_at": "firm", "role": "bookkeeper"},
    "director": {"is": "person", "works_at": "firm", "role": "approver"},
    "account": {
        "is": "account",
        "owner": "firm",
        "type": "business_checking",
        "opened": "-P6Y",
        "balance_cents": 6120000,
    },
    "supplier": {"is": "payee", "of": "firm", "created": "-P400D", "settled_payments": 11},
    "due": {
        "is": "payment",
        "from": "account",
        "to": "supplier",
        "amount_cents": 2500000,
        "status": "awaiting_approval",
        "initiated_by": "caller",
        "created": "-PT2H",
    },
}


def build(entries: Mapping[str, Mapping[str, Any]], seed: int = 0, now: datetime = NOW) -> Mapping[str, Member]:
    context = CastContext(entries=entries, kinds=CAST_KINDS, now=now, zone=ZONE, draw=Draw((seed,)))
    return context.build_all()


def with_people(**entries: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "anna": {"is": "person"},
        "account": {"is": "account", "owner": "anna"},
        "firm": {"is": "business"},
        "firm_account": {"is": "account", "owner": "firm"},
        **entries,
    }


@pytest.fixture(scope="module")
def template() -> StoreTemplate:
    return StoreTemplate(TABLES, lambda session: None)


def rows_of(members: Mapping[str, Member], table: str) -> list[Mapping[str, Any]]:
    return [row.values for member in members.values() for row in member.rows if row.table == table]


def test_every_kind_has_a_minimal_entry() -> None:
    assert {entry["is"] for entry in CAST.values()} == set(CAST_KINDS)


@pytest.mark.parametrize("cast", [CAST, EXAMPLE], ids=["all kinds", "example"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_stored_and_attributes_say_what_is_stored(
    cast: dict[str, dict[str, Any]], seed: int, template: StoreTemplate
) -> None:
    members = build(cast, seed)
    store = template.open()
    for member in members.values():
        for row in member.rows:
            assert set(row.values) == {column.name for column in template.models[row.table].__table__.columns}  # type: ignore[attr-defined]
            store.insert(row.table, row.values)
    store.commit()
    for role, member in members.items():
        assert (member.role, member.kind) == (role, cast[role]["is"])
        assert member.subject in cast
        if not member.table:
            assert not member.rows
            continue
        stored = {row[template.key_of(member.table)]: row for row in store.rows(member.table)}[member.key]
        assert (member.rows[0].table, member.rows[0].values["id"]) == (member.table, member.key)
        for name, attribute in member.attributes.items():
            if attribute.column is not None and attribute.form is Form.DATE:
                assert str(stored[attribute.column])[:10] in (attribute.value, _next_day(attribute.value)), name
            elif attribute.column is not None:
                assert stored[attribute.column] == attribute.value, name
            json.dumps(attribute.value)
    store.close()


def _next_day(day: str) -> str:
    """A moment late in the bank's day is already the next day in UTC, in which moments are stored."""
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def test_the_same_seed_gives_the_same_cast() -> None:
    assert build(CAST, 5) == build(CAST, 5)


def test_an_entry_more_moves_no_draw_of_another_role() -> None:
    alone = build({"anna": {"is": "person"}})["anna"].attributes
    assert build({"anna": {"is": "person"}, "zoe": {"is": "person"}})["anna"].attributes == alone


def test_another_seed_changes_what_is_drawn_and_nothing_that_decides() -> None:
    first, second = build(EXAMPLE, 1), build(EXAMPLE, 2)
    for role in EXAMPLE:
        assert first[role].key != second[role].key
    for name in ("name", "date_of_birth", "email", "phone", "address", "tax_id"):
        assert first["caller"].attributes[name].value != second["caller"].attributes[name].value
    assert first["due"].attributes["amount"] == second["due"].attributes["amount"]
    for table, columns in {
        "accounts": ("kind", "balance_cents", "opened_at", "status"),
        "business_roles": ("role", "recorded_at", "status"),
        "customers": ("kind", "since", "tier", "registered_on", "status"),
        "devices": ("enrolled_at", "status"),
        "ledger": ("posted_at", "kind", "counterparty_new", "statement_on"),
        "payees": ("created_at", "status"),
        "payments": ("created_at", "settled_at", "status", "rail"),
    }.items():
        decided = [
            [[row[column] for column in columns] for row in rows_of(members, table)] for members in (first, second)
        ]
        assert decided[0] == decided[1], table


def test_the_example_reads_as_written() -> None:
    members = build(EXAMPLE)
    assert members["due"].attributes["amount"].text == "$25,000.00"
    (due,) = (row for row in rows_of(members, "payments") if row["status"] == "awaiting_approval")
    assert due["initiated_by"] == members["caller"].key
    assert due["to_payee_id"] == members["supplier"].key
    settled = [row for row in rows_of(members, "payments") if row["status"] == "settled"]
    assert len(settled) == 11 == len(rows_of(members, "ledger"))
    assert all(NOW - timedelta(days=400) < row["settled_at"] < NOW for row in settled)
    assert [row["counterparty_new"] for row in rows_of(members, "ledger")] == [True] + [False] * 10


PRIVATE = {Form.PHONE, Form.DIGITS, Form.CODE, Form.ADDRESS, Form.DATE}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_no_two_private_values_share_four_digits(seed: int) -> None:
    owners: dict[str, str] = {}
    members = build(CAST, seed)
    for role, member in members.items():
        if member.kind == "application":
            continue  # It repeats what its applicant's own entry says.
        for name, attribute in member.attributes.items():
            part_of_another = name in ("birth_year", "street", "tax_last4", "last4")
            if attribute.sensitivity is not Sensitivity.OPEN and attribute.form in PRIVATE and not part_of_another:
                for run in digit_runs(str(attribute.value)):
                    assert run not in owners, f"{role}.{name} and {owners[run]} share {run}"
                    owners[run] = f"{role}.{name}"
    said = {role: digit_runs(members[role].attributes["text"].text) for role in ("sum", "number", "bank", "pin")}
    for role, runs in said.items():
        assert not runs & owners.keys(), role


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9), days=st.integers(0, 364))
def test_drawn_birth_dates_decide_nothing(seed: int, days: int) -> None:
    now = NOW + timedelta(days=days)
    people = {f"p{place}": {"is": "person"} for place in range(6)}
    born = [date.fromisoformat(m.attributes["date_of_birth"].value) for m in build(people, seed, now).values()]
    assert len({day.year for day in born}) == len(born)
    for day in born:
        assert 24 <= (now.date() - day).days // 365.25 <= 74
        assert all(abs(day.replace(year=now.year + shift) - now.date()).days > 7 for shift in (-1, 0, 1))


def test_names_are_distinct_and_ids_hold_no_run_of_digits() -> None:
    people = {f"p{place}": {"is": "person"} for place in range(40)}
    members = build(people)
    assert len({member.attributes["last_name"].value for member in members.values()}) == 40
    assert all(not digit_runs(member.key) for member in members.values())


def test_card_numbers_carry_a_true_check_digit() -> None:
    number = build(CAST)["card"].attributes["number"]
    assert with_check_digit(str(number.value)[:-1]) == number.value
    assert with_check_digit("7992739871") == "79927398713"
    assert number.sensitivity is Sensitivity.LAST_FOUR


# ------------------------------------------------------------------ what single fields do


def test_household_shares_the_address() -> None:
    members = build({"anna": {"is": "person"}, "son": {"is": "person", "household": "anna"}})
    shared = [members[role].attributes["address"] for role in ("anna", "son")]
    assert shared[0].value == shared[1].value
    assert [item.sensitivity for item in shared] == [Sensitivity.PERSONAL, Sensitivity.OPEN]


def test_changed_contact_data_is_on_record() -> None:
    members = build({"anna": {"is": "person", "phone_changed": "-P6D", "address_since": "-P30D"}})
    phone = next(row for row in rows_of(members, "channel_events") if row["channel"] == "phone")
    assert (phone["event"], phone["at"]) == ("changed", NOW.astimezone(ZONE) - timedelta(days=6))
    history = rows_of(members, "address_history")
    assert [row["address"] for row in history] == [
        members["anna"].attributes["earlier_address"].value,
        members["anna"].attributes["address"].value,
    ]
    assert history[1]["since"] == date(2026, 2, 10)


def test_somebody_without_a_record_still_has_particulars() -> None:
    stranger = build(CAST)["stranger"]
    assert (stranger.table, stranger.rows) == ("", ())
    assert stranger.key
    assert {"name", "date_of_birth", "phone", "email", "address", "tax_id"} <= set(stranger.attributes)


def test_amounts_between_are_drawn_and_written_ones_stand() -> None:
    entries = with_people(
        drawn={"is": "payee", "of": "anna"},
        a={"is": "payment", "from": "account", "to": "drawn", "amount_cents": {"between": [100_000, 199_999]}},
        b={"is": "payment", "from": "account", "to": "drawn", "amount_cents": 100_000},
    )
    amounts = {build(entries, seed)["a"].attributes["amount_cents"].value for seed in range(5)}
    assert len(amounts) > 1
    assert all(100_000 <= amount <= 199_999 for amount in amounts)
    assert {build(entries, seed)["b"].attributes["amount_cents"].value for seed in range(5)} == {100_000}


@pytest.mark.parametrize(
    ("check", "same"), [("match", True), ("close_match", False), ("no_match", False), (None, True)]
)
@pytest.mark.parametrize("firm", [True, False])
def test_the_name_at_the_other_bank(check: str | None, same: bool, firm: bool) -> None:
    members = build(with_people(payee={"is": "payee", "of": "anna", "firm": firm, "check": check}))
    payee = members["payee"]
    name, shown = payee.attributes["name"].value, payee.attributes["shown_name"].value
    assert (name == shown) is same
    assert payee.rows[0].values["account_name"] == (None if same else shown)
    assert [row["result"] for row in rows_of(members, "payee_checks")] == ([check] if check else [])
    if check == "close_match":
        assert set(name.split()) & set(shown.split())


@pytest.mark.parametrize("age", ["-P400D", "-P90D", "-P2D", "-PT6H"])
def test_settled_payments_lie_between_creation_and_now(age: str) -> None:
    entries = with_people(payee={"is": "payee", "of": "anna", "created": age, "settled_payments": 5})
    members = build(entries)
    created = members["payee"].rows[0].values["created_at"]
    moments = [row["settled_at"] for row in rows_of(members, "payments")]
    assert moments == sorted(set(moments))
    assert created < moments[0]
    assert moments[-1] < NOW


def test_the_first_settled_payment_stands_where_it_is_written() -> None:
    payee = {"is": "payee", "of": "anna", "created": "-P1Y", "settled_payments": 3, "first_settled": "-P90D"}
    moments = [row["settled_at"] for row in rows_of(build(with_people(payee=payee)), "payments")]
    assert moments[0].astimezone(ZONE) == (NOW.astimezone(ZONE) - timedelta(days=90))


def test_an_internal_settled_payment_is_booked_on_both_accounts() -> None:
    savings = {"is": "account", "owner": "anna", "type": "savings"}
    move = {"is": "payment", "from": "account", "to": "savings", "status": "settled", "amount_cents": 5000}
    members = build(with_people(savings=savings, move=move))
    assert [(row["account_id"], row["amount_cents"]) for row in rows_of(members, "ledger")] == [
        (members["account"].key, -5000),
        (members["savings"].key, 5000),
    ]


def test_a_freeze_freezes_the_card() -> None:
    frozen = {"is": "card", "of": "account", "control": {"kind": "freeze", "placed_by": "bank", "placed": "-P2D"}}
    members = build(with_people(card=frozen))
    assert members["card"].rows[0].values["status"] == "frozen"
    (control,) = rows_of(members, "card_controls")
    assert (control["placed_by"], control["id"]) == ("bank", members["card"].attributes["control"].value)


def test_statement_days() -> None:
    entries = with_people(
        usual={"is": "entry", "account": "account", "posted": "-P20D"},
        written={"is": "entry", "account": "account", "posted": "-P80D", "statement": "-P60D"},
    )
    days = [row["statement_on"] for row in rows_of(build(entries), "ledger")]
    assert days == [date(2026, 2, 28), date(2026, 1, 11)]


def test_entries_can_have_one_merchant() -> None:
    entries = with_people(
        one={"is": "entry", "account": "account"},
        two={"is": "entry", "account": "account", "same_counterparty_as": "one"},
        three={"is": "entry", "account": "account", "counterparty_role": "firm"},
    )
    names = [row["counterparty"] for row in rows_of(build(entries), "ledger")]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize("field", ["applicant_name", "tax_id", "address"])
def test_a_mistyped_field_fails_its_check_and_the_truth_would_pass(field: str) -> None:
    members = build(
        {
            "new": {"is": "person", "customer": False},
            "form": {"is": "application", "applicant": "new", "mistyped": field},
        }
    )
    truth = members["new"].attributes["name" if field == "applicant_name" else field].value
    written = members["form"].rows[0].values[field]
    assert written != truth
    assert sorted(written) == sorted(truth)
    failed = [row for row in rows_of(members, "application_checks") if row["result"] == "failed"]
    assert [row["register_value"] for row in failed] == [truth]


def test_applications_share_what_they_are_told_to_share() -> None:
    entries = {
        "a": {"is": "person", "customer": False},
        "b": {"is": "person", "customer": False},
        "first": {"is": "application", "applicant": "a"},
        "second": {"is": "application", "applicant": "b", "same_device_as": "first", "same_phone_as": "first"},
    }
    first, second = rows_of(build(entries), "applications")
    shared = {name for name in ("phone", "email", "device", "address", "tax_id") if first[name] == second[name]}
    assert shared == {"phone", "device"}


@pytest.mark.parametrize("relation", ["birth_year", "day_month", "month_day", "run", "repeated", "random_strong"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_pins_stand_in_their_relation(relation: str, seed: int) -> None:
    members = build({"anna": {"is": "person"}, "pin": {"is": "pin", "relation": relation, "of": "anna"}}, seed)
    pin = str(members["pin"].attributes["text"].value)
    year, month, day = str(members["anna"].attributes["date_of_birth"].value).split("-")
    steps = {int(b) - int(a) for a, b in pairwise(pin)}
    held = {
        "birth_year": pin == year,
        "day_month": pin == day + month,
        "month_day": pin == month + day,
        "run": steps in ({1}, {-1}),
        "repeated": steps == {0},
    }
    assert [name for name, holds in held.items() if holds and not (day == month and name != relation)] == (
        [] if relation == "random_strong" else [relation]
    )


def test_a_near_miss_differs_by_one_letter() -> None:
    members = build({"anna": {"is": "person", "recovery_code": True}, "typo": {"is": "code", "near_miss_of": "anna"}})
    true, typo = members["anna"].attributes["recovery_code"].text, members["typo"].attributes["text"].text
    assert sum(a != b for a, b in zip(true, typo, strict=True)) == 1


def test_text_is_filled_in() -> None:
    members = build(CAST)
    assert (
        members["words"].attributes["text"].text == f"Ask {members['anna'].attributes['first_name'].text}, not {{her}}."
    )
    entry = members["entry"].attributes
    assert (
        members["note"].attributes["text"].text
        == f"Asked about {entry['counterparty'].text} on {entry['posted'].text}."
    )


def test_a_scope_may_be_written_as_text() -> None:
    entries = {
        "a": {"is": "person"},
        "b": {"is": "person"},
        "one": {"is": "authority", "principal": "a", "representative": "b", "scope": "information, payments"},
        "two": {"is": "authority", "principal": "a", "representative": "b", "scope": ["information", "payments"]},
    }
    assert {row["scope"] for row in rows_of(build(entries), "authority_records")} == {"information,payments"}


# ------------------------------------------------------------------ faults name their place

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"is": "person", "age": 4}, "/cast/x/age"),
    "unknown kind": ({"is": "robot"}, "/cast/x/is"),
    "wrong word": ({"is": "person", "tier": "gold"}, "/cast/x/tier"),
    "wrong type": ({"is": "payee", "of": "anna", "settled_payments": "3"}, "/cast/x/settled_payments"),
    "amount as text": ({"is": "account", "owner": "anna", "balance_cents": "5"}, "/cast/x/balance_cents"),
    "negative balance": ({"is": "account", "owner": "anna", "balance_cents": -1}, "/cast/x/balance_cents"),
    "ends exchanged": (
        {"is": "account", "owner": "anna", "balance_cents": {"between": [2, 1]}},
        "/cast/x/balance_cents",
    ),
    "no room to draw": (
        {"is": "account", "owner": "anna", "balance_cents": {"between": [200_500, 200_599]}},
        "/cast/x/balance_cents",
    ),
    "missing field": ({"is": "account"}, "/cast/x/owner"),
    "unknown role": ({"is": "account", "owner": "bob"}, "/cast/x/owner"),
    "role of another kind": ({"is": "account", "owner": "account"}, "/cast/x/owner"),
    "not a customer": ({"is": "account", "owner": "stranger"}, "/cast/x/owner"),
    "no moment": ({"is": "account", "owner": "anna", "opened": "long ago"}, "/cast/x/opened"),
    "no day": ({"is": "person", "born": "in spring"}, "/cast/x/born"),
    "moment inside": (
        {"is": "card", "of": "account", "control": {"placed": "yesterday"}},
        "/cast/x/control/placed",
    ),
    "word inside": ({"is": "card", "of": "account", "control": {"kind": "lock"}}, "/cast/x/control/kind"),
    "check inside": (
        {"is": "application", "applicant": "anna", "checks": [{"kind": "owner"}, {"kind": "face"}]},
        "/cast/x/checks/1/kind",
    ),
    "role without firm": ({"is": "person", "role": "owner"}, "/cast/x/works_at"),
    "firm without role": ({"is": "person", "works_at": "firm"}, "/cast/x/role"),
    "record of a stranger": ({"is": "person", "customer": False, "tier": "premier"}, "/cast/x/tier"),
    "card of a firm": ({"is": "card", "of": "firm_account"}, "/cast/x/holder"),
    "lost but active": ({"is": "card", "of": "account", "blocked_as": "lost"}, "/cast/x/blocked_as"),
    "closure of an open account": ({"is": "closure", "account": "account"}, "/cast/x/account"),
    "payee of another": ({"is": "payment", "from": "firm_account", "to": "payee"}, "/cast/x/to"),
    "paid from another's": (
        {"is": "payee", "of": "anna", "settled_payments": 1, "paid_from": "firm_account"},
        "/cast/x/paid_from",
    ),
    "paid before it existed": (
        {"is": "payee", "of": "anna", "settled_payments": 1, "first_settled": "-P2Y"},
        "/cast/x/first_settled",
    ),
    "paid by nobody": ({"is": "payee", "of": "poor", "settled_payments": 1}, "/cast/x/settled_payments"),
    "settled while held": (
        {"is": "payment", "from": "account", "to": "payee", "status": "held", "settled": "-PT1H"},
        "/cast/x/settled",
    ),
    "hold on another's account": ({"is": "hold", "account": "firm_account", "payment": "paid"}, "/cast/x/account"),
    "hold on nothing": ({"is": "hold"}, "/cast/x/account"),
    "two counterparties": (
        {"is": "entry", "account": "account", "counterparty": "Shop", "counterparty_role": "firm"},
        "/cast/x/counterparty_role",
    ),
    "scope word": (
        {"is": "authority", "principal": "anna", "representative": "poor", "scope": "everything"},
        "/cast/x/scope/0",
    ),
    "push without device": ({"is": "step_up", "customer": "bare"}, "/cast/x/customer"),
    "approved while pending": (
        {"is": "step_up", "customer": "anna", "approved": "-PT1M"},
        "/cast/x/approved",
    ),
    "note on a value": ({"is": "note", "about": "sum", "text": "x"}, "/cast/x/about"),
    "unknown attribute": ({"is": "note", "about": "anna", "text": "{anna.shoe}"}, "/cast/x/text"),
    "flag on a value": ({"is": "flag", "record": "sum"}, "/cast/x/record"),
    "PIN of nobody": ({"is": "pin", "relation": "birth_year"}, "/cast/x/of"),
    "two PINs": ({"is": "pin", "digits": "1234", "relation": "run"}, "/cast/x/digits"),
    "letters in a PIN": ({"is": "pin", "digits": "12a4"}, "/cast/x/digits"),
    "near miss of nothing": ({"is": "code", "near_miss_of": "anna"}, "/cast/x/near_miss_of"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_its_place(fault: str) -> None:
    entry, path = FAULTS[fault]
    others = with_people(
        stranger={"is": "person", "customer": False},
        poor={"is": "person"},
        bare={"is": "person", "device_enrolled": None},
        payee={"is": "payee", "of": "anna"},
        sum={"is": "money"},
        paid={"is": "payment", "from": "account", "to": "payee"},
    )
    with pytest.raises(SetupError) as caught:
        build({**others, "x": entry})
    assert caught.value.path == path
    assert caught.value.problem
