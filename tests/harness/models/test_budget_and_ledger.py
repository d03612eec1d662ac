"""Budgets end a run, ledgers say what it cost, and what is unknown is never zero."""

from __future__ import annotations

import threading

import pytest

from harness.models.budget import Budget
from harness.models.contract import Role, Usage
from harness.models.faults import BudgetSpent
from harness.models.ledger import Account, Ledger
from harness.models.retry import Clock


def test_a_budget_without_limits_never_ends() -> None:
    budget = Budget()
    budget.spend(Usage(10**12, 10**12, 1e9))
    budget.check()
    assert not budget.limits_cost


@pytest.mark.parametrize(
    ("limits", "usage", "message"),
    [
        ({"max_cost_usd": 0.5}, Usage(1, 1, 0.25), r"\$0\.5000 of \$0\.5"),
        ({"max_tokens": 20}, Usage(4, 6, None), "20 of 20 tokens"),
    ],
)
def test_a_limit_that_is_reached_ends_the_run(limits: dict[str, float], usage: Usage, message: str) -> None:
    budget = Budget(**limits)  # type: ignore[arg-type]
    budget.spend(usage)
    budget.check()
    budget.spend(usage)
    with pytest.raises(BudgetSpent, match=message):
        budget.check()


def test_time_is_a_limit_too() -> None:
    now = [0.0]
    budget = Budget(max_minutes=2, clock=Clock(lambda: now[0]))
    now[0] = 119.9
    budget.check()
    now[0] = 120.0
    with pytest.raises(BudgetSpent, match="2 minutes"):
        budget.check()


def test_a_call_without_usage_counts_for_what_it_is_taken_for() -> None:
    budget = Budget(max_tokens=100, max_cost_usd=1.0)
    budget.spend(Usage(), Usage(90, 10, 0.5))
    with pytest.raises(BudgetSpent, match="100 of 100 tokens"):
        budget.check()
    budget = Budget(max_cost_usd=1.0)
    budget.spend(Usage(), Usage(90, 10, 1.0))
    with pytest.raises(BudgetSpent):
        budget.check()


def test_threads_lose_nothing() -> None:
    budget, ledger = Budget(max_tokens=40_000), Ledger()

    def spend() -> None:
        for _ in range(500):
            budget.spend(Usage(6, 4, 0.001))
            ledger.add(Role.AGENT, Usage(6, 4, 0.001), tries=2, latency_s=0.5)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(BudgetSpent, match="40000 of 40000"):
        budget.check()
    account = ledger.accounts()[Role.AGENT]
    assert (account.calls, account.tries, account.input_tokens, account.output_tokens) == (4000, 8000, 24_000, 16_000)
    assert account.latency_s == 2000.0


def test_accounts_are_kept_by_role() -> None:
    ledger = Ledger()
    ledger.add(Role.JUDGE, Usage(10, 5, 0.5), tries=1)
    ledger.add(Role.AGENT, Usage(1, 1, 0.25), tries=3)
    assert list(ledger.accounts()) == ["agent", "judge"]
    assert ledger.accounts()[Role.JUDGE] == Account(calls=1, tries=1, input_tokens=10, output_tokens=5, cost_usd=0.5)
    assert ledger.accounts()[Role.JUDGE].known_cost_usd == 0.5


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    ledger = Ledger()
    ledger.add(Role.AGENT, Usage(10, 5, 0.5), tries=1)
    ledger.add(Role.AGENT, Usage(10, 5, None), tries=1)
    ledger.add(Role.AGENT, Usage(), tries=1)
    account = ledger.accounts()[Role.AGENT]
    assert account.known_cost_usd is None
    assert (account.cost_usd, account.unknown_cost, account.unknown_tokens) == (0.5, 2, 1)
    assert (account.input_tokens, account.output_tokens) == (20, 10)


def test_a_call_without_a_reply_has_no_unknown_cost_but_is_counted() -> None:
    ledger = Ledger()
    ledger.add(Role.AGENT, None, tries=6)
    account = ledger.accounts()[Role.AGENT]
    assert (account.calls, account.failed, account.tries, account.unknown_cost) == (1, 1, 6, 0)
