from __future__ import annotations

import calendar
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from domains.banking import names
from domains.banking.base import base_rows
from domains.banking.base.incidents import LINES
from domains.banking.base.ledger import all_lines, balance, ledgers
from domains.banking.base.profiles import FIRMS, LAST_DAY, PEOPLE
from domains.banking.cast.private import with_check_digit
from domains.banking.template import build_template
from domains.kit.cast import digit_runs
from domains.kit.draw import Draw, record_id
from domains.kit.json import digest
from domains.kit.store import Store, plain

ZONE = ZoneInfo("America/New_York")
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows() -> dict[str, Rows]:
    return base_rows()


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = build_template().open()
    yield opened
    opened.close()


def by_account(rows: dict[str, Rows]) -> dict[str, Rows]:
    found: dict[str, Rows] = defaultdict(list)
    for row in rows["ledger"]:
        found[row["account_id"]].append(row)
    return found


def test_the_store_holds_every_row_with_foreign_keys_intact(store: Store, rows: dict[str, Rows]) -> None:
    for table in store.template.models:
        assert len(store.rows(table)) == len(rows.get(table, [])), table
    assert store._raw.execute("PRAGMA foreign_keys").fetchall() == [(1,)]
    assert store._raw.execute("PRAGMA foreign_key_check").fetchall() == []
    assert store.take_changes() == ()


def test_every_column_is_written(store: Store, rows: dict[str, Rows]) -> None:
    for table, found in rows.items():
        columns = {column.name for column in store.template.models[table].__table__.columns}  # type: ignore[attr-defined]
        assert all(set(row) == columns for row in found), table


def test_it_is_the_same_in_every_process(rows: dict[str, Rows]) -> None:
    program = (
        "from domains.banking.base import base_rows\n"
        "from domains.kit.json import digest\n"
        "from domains.kit.store import plain\n"
        "print(digest({t: [{c: plain(v) for c, v in r.items()} for r in rs] for t, rs in base_rows().items()}))"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(
        {table: [{name: plain(value) for name, value in row.items()} for row in found] for table, found in rows.items()}
    )


def test_size(rows: dict[str, Rows]) -> None:
    kinds = Counter(row["kind"] for row in rows["customers"])
    assert kinds["business"] >= 4
    assert kinds.total() >= 14
    assert 1200 <= len(rows["ledger"]) <= 1800


def test_balances_follow_from_the_ledger_and_never_fall_below_zero(rows: dict[str, Rows]) -> None:
    lines = all_lines(LINES)
    stored = {row["id"]: row["balance_cents"] for row in rows["accounts"]}
    booked = by_account(rows)
    balances = []
    for account, ledger in ledgers().items():
        before, after = balance(ledger, lines[account])
        running = before
        for line in lines[account]:
            running += line.cents
            assert running >= 0, (account, line)
        assert running == after
        balances.append(after)
    assert sorted(balances) == sorted(stored.values())
    for account_id, entries in booked.items():
        assert stored[account_id] - sum(row["amount_cents"] for row in entries) >= 0


def test_an_account_opened_in_view_starts_from_nothing(rows: dict[str, Rows]) -> None:
    (imani,) = (row for row in rows["customers"] if row["name"] == "Imani Drummond")
    (account,) = (row for row in rows["accounts"] if row["customer_id"] == imani["id"])
    assert account["balance_cents"] == sum(row["amount_cents"] for row in by_account(rows)[account["id"]])


def test_ledgers_are_in_order_and_months_long(rows: dict[str, Rows]) -> None:
    for entries in by_account(rows).values():
        moments = [row["posted_at"] for row in entries]
        assert moments == sorted(moments)
        assert 140 <= (moments[-1] - moments[0]).days <= 220
        assert date(2026, 2, 10) <= moments[-1].date() <= LAST_DAY


def test_nothing_lies_after_the_last_day(rows: dict[str, Rows]) -> None:
    for table, found in rows.items():
        for row in found:
            for column, value in row.items():
                if isinstance(value, datetime):
                    assert value.astimezone(ZONE).date() <= LAST_DAY, (table, column)


def test_statements_close_with_the_month(rows: dict[str, Rows]) -> None:
    for row in rows["ledger"]:
        day, statement = row["posted_at"].astimezone(ZONE).date(), row["statement_on"]
        assert (statement.year, statement.month) == (day.year, day.month)
        assert statement.day == calendar.monthrange(day.year, day.month)[1]


def test_money_between_banks_moves_on_weekdays(rows: dict[str, Rows]) -> None:
    settled = [row for row in rows["ledger"] if row["kind"] in ("salary", "deposit", "payment", "transfer")]
    assert all(row["posted_at"].weekday() < 5 for row in settled)


def test_every_payment_is_booked_and_every_booking_of_one_is_a_payment(rows: dict[str, Rows]) -> None:
    payees = {row["id"]: row for row in rows["payees"]}
    owner_of = {row["id"]: row["customer_id"] for row in rows["accounts"]}
    booked = Counter(
        (row["account_id"], row["counterparty"], row["amount_cents"], row["posted_at"])
        for row in rows["ledger"]
        if row["kind"] == "payment"
    )
    paid: Counter[tuple[Any, ...]] = Counter()
    for payment in rows["payments"]:
        if payment["rail"] == "internal":
            assert owner_of[payment["from_account_id"]] == owner_of[payment["to_account_id"]]
            continue
        payee = payees[payment["to_payee_id"]]
        assert payee["customer_id"] == owner_of[payment["from_account_id"]]
        assert payee["created_at"] < payment["created_at"] < payment["settled_at"]
        name, cents = payee["name"], -payment["amount_cents"]
        paid[(payment["from_account_id"], name, cents, payment["settled_at"])] += 1
    assert paid == booked


def test_internal_money_arrives(rows: dict[str, Rows]) -> None:
    moved = [payment for payment in rows["payments"] if payment["rail"] == "internal"]
    arrived = Counter(
        (row["account_id"], row["amount_cents"], row["posted_at"])
        for row in rows["ledger"]
        if row["kind"] == "transfer"
    )
    assert moved
    for payment in moved:
        assert arrived[(payment["to_account_id"], payment["amount_cents"], payment["settled_at"])] == 1
        assert arrived[(payment["from_account_id"], -payment["amount_cents"], payment["settled_at"])] == 1


def test_firms_pay_the_wages_that_our_customers_receive(rows: dict[str, Rows]) -> None:
    name_of = {row["id"]: row["name"] for row in rows["customers"]}
    owner_of = {row["id"]: name_of[row["customer_id"]] for row in rows["accounts"]}
    firms = {firm.name for firm in FIRMS}
    wages = [row for row in rows["ledger"] if row["kind"] == "salary"]
    received = Counter(
        (row["counterparty"], owner_of[row["account_id"]], row["amount_cents"], row["posted_at"])
        for row in wages
        if row["counterparty"] in firms
    )
    people = {person.name for person in PEOPLE}
    paid = Counter(
        (owner_of[row["account_id"]], row["counterparty"], -row["amount_cents"], row["posted_at"])
        for row in wages
        if row["counterparty"] in people
    )
    assert received == paid
    assert received


def test_the_bank_kept_its_own_rules(rows: dict[str, Rows]) -> None:
    firms = {row["id"] for row in rows["customers"] if row["kind"] == "business"}
    owner_of = {row["id"]: row["customer_id"] for row in rows["accounts"]}
    approved = {row["payment_id"]: row for row in rows["approvals"]}
    spent: Counter[tuple[str, date]] = Counter()
    for payment in rows["payments"]:
        from_firm = owner_of[payment["from_account_id"]] in firms
        if from_firm and payment["amount_cents"] >= 2_500_000:
            assert approved[payment["id"]]["approver_id"] != payment["initiated_by"]
        elif not from_firm and payment["rail"] == "external":
            spent[(payment["from_account_id"], payment["created_at"].date())] += payment["amount_cents"]
    assert approved
    assert max(spent.values()) <= 1_000_000
    for change in rows["limit_changes"]:
        assert change["new_cents"] <= change["old_cents"] * 3 // 2


def test_the_dispute_rests_on_a_real_duplicate(rows: dict[str, Rows]) -> None:
    (dispute,) = rows["disputes"]
    (claimed,) = (row for row in rows["ledger"] if row["id"] == dispute["ledger_id"])
    twins = [
        row
        for row in rows["ledger"]
        if row["account_id"] == claimed["account_id"]
        and row["counterparty"] == claimed["counterparty"]
        and row["amount_cents"] == claimed["amount_cents"]
        and abs(row["posted_at"] - claimed["posted_at"]).days <= 3
    ]
    assert len(twins) == 2


def test_private_values_share_no_four_digits(rows: dict[str, Rows]) -> None:
    owner: dict[str, str] = {}
    for table, columns in {
        "customers": ("phone", "tax_id"),
        "accounts": ("number",),
        "cards": ("number", "pin"),
        "payees": ("bank_account",),
    }.items():
        for row in rows[table]:
            for column in columns:
                for run in digit_runs(row[column]):
                    assert run not in owner, f"{row['id']}.{column} and {owner[run]} share {run}"
                    owner[run] = f"{row['id']}.{column}"


def test_card_numbers_carry_a_true_check_digit(rows: dict[str, Rows]) -> None:
    assert all(with_check_digit(row["number"][:-1]) == row["number"] for row in rows["cards"])


def test_ids_are_of_a_shape_that_is_drawn_nowhere_else(rows: dict[str, Rows]) -> None:
    keys = [row["id"] for found in rows.values() for row in found]
    assert len(keys) == len(set(keys))
    assert all(key.partition("-")[2][0].isdigit() for key in keys)
    assert all(record_id(Draw((seed,)), "CU").partition("-")[2][0].isalpha() for seed in range(50))


def test_nobody_here_can_be_drawn_for_a_cast(rows: dict[str, Rows]) -> None:
    people = [row["name"] for row in rows["customers"] if row["kind"] == "person"]
    assert not {name.split()[-1] for name in people} & set(names.LAST_NAMES)
    known = {row["name"] for row in rows["customers"]} | {row["counterparty"] for row in rows["ledger"]}
    known |= {row["name"] for row in rows["payees"]}
    assert not {name.split()[0] for name in known} & set(names.FIRM_STEMS)
    assert not {name.split()[-1] for name in known} & set(names.LAST_NAMES)
