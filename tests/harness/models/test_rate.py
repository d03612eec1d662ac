"""Rate limits: what goes out in any minute stays within them, in the order in which it came."""

from __future__ import annotations

import multiprocessing
import threading

from hypothesis import given
from hypothesis import strategies as st

from harness.models.rate import Pace, RateLimit
from harness.models.retry import Clock

BURST_S = 2.0


@given(
    st.floats(1, 6000),
    st.lists(st.tuples(st.floats(0, 20), st.integers(1, 500)), min_size=1, max_size=60),
)
def test_no_minute_has_more_than_its_share(per_minute: float, arrivals: list[tuple[float, int]]) -> None:
    pace = Pace(per_minute)
    now, sent = 1000.0, []
    for pause_s, units in arrivals:
        now += pause_s
        sent.append((now + pace.take(units, now), units))
    times = [time for time, _ in sent]
    assert times == sorted(times), "somebody overtook"
    for start in times:
        within = [units for time, units in sent if start <= time < start + 60.0]
        # The last to start within the minute may reach beyond it.
        assert sum(within[:-1]) <= per_minute * (60.0 + BURST_S) / 60.0 + 1e-6


def test_the_share_of_a_quiet_time_is_there_at_once_and_then_it_is_even() -> None:
    pace = Pace(60)
    assert [round(pace.take(1, 100.0), 6) for _ in range(5)] == [0.0, 0.0, 0.0, 1.0, 2.0]


def test_what_was_taken_for_too_much_is_given_back() -> None:
    pace = Pace(60)
    pace.take(100, 100.0)
    pace.correct(-97)
    assert pace.take(1, 100.0) == 1.0


def test_both_limits_are_kept() -> None:
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    clock = Clock(lambda: now[0], sleep)
    limit = RateLimit.of(requests_per_minute=600, tokens_per_minute=6000)
    for _ in range(5):
        limit.wait(1000, clock)
    assert slept == [8.0, 10.0, 10.0, 10.0]
    assert limit.wait(1000, clock) == 10.0


def test_without_limits_nobody_waits() -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError

    limit = RateLimit.of(None, None)
    assert limit.wait(10**9, Clock(lambda: 0.0, sleep)) == 0.0
    limit.settle(5, 7)


def test_threads_share_a_limit() -> None:
    pace, waits = Pace(60), []

    def take() -> None:
        for _ in range(50):
            waits.append(pace.take(1, 100.0))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(round(wait) for wait in waits) == [0, 0, *range(198)]


def _take_one(pace: Pace, send: multiprocessing.connection.Connection[float, float]) -> None:
    send.send(pace.take(1, 100.0))


def test_processes_share_a_limit() -> None:
    context = multiprocessing.get_context("spawn")
    pace = Pace(60)
    for _ in range(3):
        pace.take(1, 100.0)
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_take_one, args=(pace, send))
    process.start()
    assert receive.recv() == 1.0
    process.join()
