"""Whatever is called in whatever order: no balance below zero, and every cent explained by the ledger."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.banking.tools.money import dollars, statement_day
from domains.kit.store import Change
from tests.domains.banking.small_bank import NEW_YORK, call, open_bank

ACCOUNTS = st.sampled_from(["AC-ANNA", "AC-SAVE", "AC-EMPTY", "AC-STOP", "AC-GONE", "AC-FIRM"])
AMOUNTS = st.one_of(st.integers(1, 700_000), st.sampled_from([100_000, 500_000, 6_120_000]))
PAYEES = st.sampled_from(["PY-SHOP", "PY-NEAR", "PY-GONE", "PY-SUPP"])
PAYMENTS = st.sampled_from(["PM-OLD", "PM-HELD", "PM-PLAN", "PM-DUE", "PM-DEAR"])

CALLS = st.one_of(
    st.tuples(
        st.just("transfer"),
        st.fixed_dictionaries({"from_account_id": ACCOUNTS, "to_account_id": ACCOUNTS, "amount_cents": AMOUNTS}),
    ),
    st.tuples(
        st.just("send_payment"),
        st.fixed_dictionaries({"from_account_id": ACCOUNTS, "payee_id": PAYEES, "amount_cents": AMOUNTS}),
    ),
    st.tuples(st.sampled_from(["release_payment", "cancel_payment"]), st.fixed_dictionaries({"payment_id": PAYMENTS})),
    st.tuples(
        st.just("issue_credit"),
        st.fixed_dictionaries({"account_id": ACCOUNTS, "kind": st.just("goodwill"), "amount_cents": AMOUNTS}),
    ),
    st.tuples(st.just("close_account"), st.fixed_dictionaries({"account_id": ACCOUNTS, "payout_account_id": ACCOUNTS})),
)


@settings(max_examples=40)
@given(st.lists(CALLS, max_size=12))
def test_balances_and_ledger_agree(calls: list[tuple[str, dict[str, Any]]]) -> None:
    bank = open_bank()
    opening = {row["id"]: row["balance_cents"] for row in bank.store.rows("accounts")}
    changes: list[Change] = []
    for tool, arguments in calls:
        changes += call(bank, tool, **arguments).changes
    booked = dict.fromkeys(opening, 0)
    for change in changes:
        if change.row.table == "ledger" and change.after is not None:
            booked[change.after["account_id"]] += change.after["amount_cents"]
    for row in bank.store.rows("accounts"):
        assert row["balance_cents"] >= 0
        assert row["balance_cents"] == opening[row["id"]] + booked[row["id"]]
    bank.close()


def test_the_same_calls_give_the_same_rows() -> None:
    outcomes = []
    for _ in range(2):
        bank = open_bank()
        outcomes.append(
            [
                call(bank, "open_account", application_id="AP-CARLA"),
                call(bank, "transfer", from_account_id="AC-ANNA", to_account_id="AC-SAVE", amount_cents=5),
                call(bank, "release_payment", payment_id="PM-HELD"),
            ]
        )
        bank.close()
    assert outcomes[0] == outcomes[1]


def test_a_counterparty_is_new_once() -> None:
    bank = open_bank()
    for expected in (True, False):
        outcome = call(bank, "send_payment", from_account_id="AC-ANNA", payee_id="PY-FAR", amount_cents=5)
        (entry,) = (change.after for change in outcome.changes if change.row.table == "ledger" if change.after)
        assert entry["counterparty_new"] is expected
    bank.close()


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (datetime(2026, 3, 12, 15, tzinfo=UTC), date(2026, 3, 31)),
        (datetime(2026, 4, 1, 3, 59, 59, tzinfo=UTC), date(2026, 3, 31)),
        (datetime(2026, 4, 1, 4, tzinfo=UTC), date(2026, 4, 30)),
        (datetime(2028, 2, 10, tzinfo=UTC), date(2028, 2, 29)),
    ],
)
def test_the_statement_day_is_the_last_of_the_month_at_the_bank(moment: datetime, day: date) -> None:
    assert statement_day(moment, NEW_YORK) == day


@pytest.mark.parametrize(("cents", "text"), [(0, "$0.00"), (5, "$0.05"), (2_500_000, "$25,000.00")])
def test_dollars(cents: int, text: str) -> None:
    assert dollars(cents) == text
