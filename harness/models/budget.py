"""The run's own limits of money, tokens and time; when one is reached, the run ends cleanly and can go on later."""

from __future__ import annotations

from harness.models.contract import Usage
from harness.models.faults import BudgetSpent
from harness.models.retry import Clock
from harness.models.shared import alone_with, shared_integer, shared_number


class Budget:
    """What a run may spend, counted over all its threads and processes.

    Calls that are under way when a limit is reached are not cut off: that many more may be paid.

    Parameters
    ----------
    max_cost_usd, max_tokens, max_minutes
        The limits; None for none.
    clock
        None for that of the machine; the time starts now.
    """

    def __init__(
        self,
        max_cost_usd: float | None = None,
        max_tokens: int | None = None,
        max_minutes: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._max_cost_usd = max_cost_usd
        self._max_tokens = max_tokens
        self._max_minutes = max_minutes
        self._end = None if max_minutes is None else self._clock.now() + max_minutes * 60
        self._cost_usd = shared_number()
        self._tokens = shared_integer()

    @property
    def limits_cost(self) -> bool:
        """Whether every call needs a price."""
        return self._max_cost_usd is not None

    def check(self) -> None:
        """Let a call pass while there is something left.

        Raises
        ------
        BudgetSpent
            Naming the limit that is reached.
        """
        hint = "Go on with --resume and a larger limit."
        if self._max_cost_usd is not None and self._cost_usd.value >= self._max_cost_usd:
            raise BudgetSpent(f"the run has spent ${self._cost_usd.value:.4f} of ${self._max_cost_usd:g}. {hint}")
        if self._max_tokens is not None and self._tokens.value >= self._max_tokens:
            raise BudgetSpent(f"the run has used {self._tokens.value} of {self._max_tokens} tokens. {hint}")
        if self._end is not None and self._clock.now() >= self._end:
            raise BudgetSpent(f"the run has taken its {self._max_minutes:g} minutes. {hint}")

    def spend(self, usage: Usage, thought: Usage | None = None) -> None:
        """Count a call, or what a run has spent before it was resumed.

        Parameters
        ----------
        usage
            What the provider reported.
        thought
            What the call is taken for where it reported nothing.
        """
        thought = thought or Usage()
        if usage.input_tokens is None or usage.output_tokens is None:
            tokens = (thought.input_tokens or 0) + (thought.output_tokens or 0)
        else:
            tokens = usage.input_tokens + usage.output_tokens
        cost_usd = thought.cost_usd if usage.cost_usd is None else usage.cost_usd
        with alone_with(self._tokens):
            self._tokens.value += tokens
        with alone_with(self._cost_usd):
            self._cost_usd.value += cost_usd or 0.0
