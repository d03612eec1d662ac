"""Keeping within a provider's requests and tokens a minute, for all threads and processes of a run together.

Each limit is one number: the time at which the next unit is free. Whoever comes takes the next free time, moves it on
by what it uses, and waits until then. So nobody overtakes, and nothing has to be counted or swept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.models.retry import Clock
from harness.models.shared import alone_with, shared_number

_BURST_S: Final = 2.0
"""So much of a minute's share may go out at once after a quiet time."""


class Pace:
    """One limit.

    Parameters
    ----------
    per_minute
        Units a minute.
    """

    def __init__(self, per_minute: float) -> None:
        self._seconds_each = 60.0 / per_minute
        self._free_at = shared_number()

    def take(self, units: float, now: float) -> float:
        """Take units and return the seconds to wait before they may be used."""
        with alone_with(self._free_at):
            start = max(self._free_at.value, now - _BURST_S)
            self._free_at.value = start + units * self._seconds_each
        return max(0.0, start - now)

    def correct(self, units: float) -> None:
        """Take so many units more than was thought, or give them back where it is a negative number."""
        with alone_with(self._free_at):
            self._free_at.value += units * self._seconds_each


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The limits of one provider; None where it has none."""

    requests: Pace | None = None
    tokens: Pace | None = None

    @classmethod
    def of(cls, requests_per_minute: float | None, tokens_per_minute: float | None) -> RateLimit:
        """Build the limits from numbers a minute."""
        return cls(
            None if requests_per_minute is None else Pace(requests_per_minute),
            None if tokens_per_minute is None else Pace(tokens_per_minute),
        )

    def wait(self, tokens: int, clock: Clock) -> float:
        """Wait until a request of about so many tokens may be sent, and return the seconds waited."""
        now = clock.now()
        wait_s = max(
            self.requests.take(1, now) if self.requests else 0.0, self.tokens.take(tokens, now) if self.tokens else 0.0
        )
        if wait_s > 0:
            clock.sleep(wait_s)
        return wait_s

    def settle(self, thought: int, used: int | None) -> None:
        """Put right what was thought of a request's tokens, if the provider said how many they were."""
        if self.tokens and used is not None:
            self.tokens.correct(used - thought)
