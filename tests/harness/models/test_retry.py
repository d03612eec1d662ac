"""Retries: only what may pass, never beyond tries or time, never earlier than the provider asks, and repeatable."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models import faults
from harness.models.faults import ModelFault, RateLimited, RetryableFault, TooSlow, Unavailable
from harness.models.retry import Clock, Patience, patiently, pause_s

PATIENCE = Patience(tries=4, call_timeout_s=10.0, turn_timeout_s=60.0)
FINAL = [
    kind
    for kind in vars(faults).values()
    if isinstance(kind, type) and issubclass(kind, ModelFault) and not issubclass(kind, RetryableFault)
]


@dataclass
class Time:
    """A clock that moves when somebody sleeps or works."""

    now_s: float = 100.0
    slept: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@dataclass
class Attempts:
    """Fails as listed, one fault a try, then succeeds; each try takes some time."""

    time: Time
    listed: list[ModelFault]
    each_s: float = 0.0
    allowed: list[float] = field(default_factory=list)

    def __call__(self, timeout_s: float) -> str:
        self.allowed.append(timeout_s)
        self.time.now_s += self.each_s
        if self.listed:
            raise self.listed.pop(0)
        return "done"


def one_second(number: int) -> float:
    return 1.0


def test_the_first_success_is_the_result() -> None:
    time = Time()
    attempts = Attempts(time, [Unavailable("a"), TooSlow("b")])
    told: list[RetryableFault] = []
    assert patiently(attempts, PATIENCE, one_second, failed=told.append, clock=time.clock) == "done"
    assert [str(fault) for fault in told] == ["a", "b"]
    assert time.slept == [1.0, 1.0]


@pytest.mark.parametrize("kind", FINAL)
def test_what_cannot_pass_is_tried_once(kind: type[ModelFault]) -> None:
    time = Time()
    attempts = Attempts(time, [kind("no")] * 2)
    with pytest.raises(kind):
        patiently(attempts, PATIENCE, one_second, clock=time.clock)
    assert len(attempts.allowed) == 1


def test_after_the_last_try_the_last_fault_stands() -> None:
    time = Time()
    attempts = Attempts(time, [Unavailable(str(number)) for number in range(9)])
    with pytest.raises(Unavailable, match="3"):
        patiently(attempts, PATIENCE, one_second, clock=time.clock)
    assert len(attempts.allowed) == 4
    assert len(time.slept) == 3


@pytest.mark.parametrize(("asked_s", "waits_s"), [(None, 1.0), (0.0, 1.0), (0.4, 1.0), (7.5, 7.5)])
def test_never_earlier_than_the_provider_asks(asked_s: float | None, waits_s: float) -> None:
    time = Time()
    patiently(Attempts(time, [RateLimited("busy", asked_s)]), PATIENCE, one_second, clock=time.clock)
    assert time.slept == [waits_s]


def test_a_provider_that_asks_for_more_than_there_is_time_ends_the_call_at_once() -> None:
    time = Time()
    with pytest.raises(RateLimited):
        patiently(Attempts(time, [RateLimited("busy", 3600.0)]), PATIENCE, one_second, clock=time.clock)
    assert time.slept == []


def test_no_try_may_outlive_the_turn() -> None:
    time = Time()
    attempts = Attempts(time, [TooSlow("slow")] * 9, each_s=10.0)
    patience = Patience(tries=9, call_timeout_s=10.0, turn_timeout_s=25.0)
    with pytest.raises(TooSlow):
        patiently(attempts, patience, one_second, clock=time.clock)
    assert attempts.allowed == [10.0, 10.0, 3.0]


def test_waiting_for_a_limit_takes_no_time_from_the_turn() -> None:
    time = Time()
    attempts = Attempts(time, [Unavailable("down")])

    def admit() -> float:
        time.now_s += 500.0
        return 500.0

    assert patiently(attempts, PATIENCE, one_second, admit=admit, clock=time.clock) == "done"
    assert attempts.allowed == [10.0, 10.0]


def test_what_keeps_a_try_from_being_sent_passes_through() -> None:
    def admit() -> float:
        raise faults.BudgetSpent("spent")

    attempts = Attempts(Time(), [])
    with pytest.raises(faults.BudgetSpent):
        patiently(attempts, PATIENCE, one_second, admit=admit)
    assert attempts.allowed == []


def test_without_time_nothing_is_tried() -> None:
    time = Time()
    attempts = Attempts(time, [])
    with pytest.raises(TooSlow, match="no time"):
        patiently(attempts, Patience(3, 10.0, 0.0), one_second, clock=time.clock)
    assert attempts.allowed == []


# ------------------------------------------------------------------ pauses


@given(st.integers(), st.text(max_size=20), st.integers(1, 200))
def test_pauses_repeat_and_grow_to_a_bound(seed: int, purpose: str, number: int) -> None:
    pause = pause_s(seed, purpose, number)
    assert pause == pause_s(seed, purpose, number)
    full = min(30.0, 0.5 * 2.0 ** min(number - 1, 20))
    assert full / 2 <= pause < full


def test_pauses_of_a_known_call_stay_what_they_are() -> None:
    assert [round(pause_s(7, "a/b/0/agent/1", number), 6) for number in (1, 2, 3)] == [0.421941, 0.97245, 1.020016]


def test_episodes_do_not_pause_in_step() -> None:
    assert len({pause_s(0, f"episode-{number}", 1) for number in range(200)}) == 200
