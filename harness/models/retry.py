"""When a call is tried again: bounded by tries and time, and repeatable.

The pause doubles with every try and is shortened by a share that is hashed from seed, purpose and try, so that equal
runs pause alike while the episodes of one run do not pause in step.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from harness.models.faults import RetryableFault, TooSlow

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the retries see it, in seconds; tests put their own in its place."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call is worth waiting for.

    Attributes
    ----------
    tries
        How often it is tried at most.
    call_timeout_s
        For one try.
    turn_timeout_s
        For all tries and the pauses between them.
    """

    tries: int
    call_timeout_s: float
    turn_timeout_s: float


def pause_s(seed: int, purpose: str, number: int) -> float:
    """Return the pause after the failed try `number`, which counts from 1.

    >>> 0.25 <= pause_s(0, "agent/1", 1) < 0.5 <= pause_s(0, "agent/1", 2) < 1.0
    True
    """
    drawn = hashlib.sha256(f"{seed}/{purpose}/{number}".encode()).digest()
    share = int.from_bytes(drawn[:8], "big") / 2**64
    full = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(number - 1, 16))
    return full * (0.5 + share / 2)


def patiently(
    attempt: Callable[[float], ResultT],
    patience: Patience,
    pause: Callable[[int], float],
    *,
    admit: Callable[[], float] = lambda: 0.0,
    failed: Callable[[RetryableFault], None] = lambda fault: None,
    clock: Clock | None = None,
) -> ResultT:
    """Try until there is a result, or a fault that is final.

    Parameters
    ----------
    attempt
        Tries once; is given the seconds that it may take.
    patience
        How long to go on.
    pause
        The pause after so many tries, unless the provider asks for a longer one.
    admit
        Waits until a try may be sent, and returns the seconds that it waited; they do not count.
    failed
        Told of every fault after which there is another try.
    clock
        None for that of the machine.

    Raises
    ------
    RetryableFault
        The last, if neither tries nor time are left. `TooSlow` if the time was over before the first try.
    ModelFault
        Whatever else `attempt` or `admit` raises, at once.
    """
    clock = clock or Clock()
    end = clock.now() + patience.turn_timeout_s
    number = 0
    while True:
        number += 1
        end += admit()
        left_s = end - clock.now()
        if left_s <= 0:
            raise TooSlow("no time was left for the call")
        try:
            return attempt(min(left_s, patience.call_timeout_s))
        except RetryableFault as fault:
            wait_s = max(pause(number), fault.retry_after_s or 0.0)
            if number >= patience.tries or clock.now() + wait_s >= end:
                raise
            failed(fault)
        clock.sleep(wait_s)
