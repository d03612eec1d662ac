"""What the models of a run have cost, by role: calls, tries, tokens, money and time. What is unknown is not zero."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.models.contract import Usage


@dataclass(frozen=True, slots=True)
class Account:
    """The sums of one role.

    Attributes
    ----------
    calls, tries
        Calls that were made, and the requests that they took; a call that failed in the end is one, too.
    failed
        Calls without a reply.
    input_tokens, output_tokens, cost_usd
        Over the calls that reported them.
    unknown_tokens, unknown_cost
        Replies whose tokens, or whose price, are not known.
    latency_s
        Of all calls with their tries and pauses.
    """

    calls: int = 0
    tries: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unknown_tokens: int = 0
    cost_usd: float = 0.0
    unknown_cost: int = 0
    latency_s: float = 0.0

    @property
    def known_cost_usd(self) -> float | None:
        """The cost of all calls, or None if that of any is unknown."""
        return None if self.unknown_cost else self.cost_usd

    def plus(self, usage: Usage | None, tries: int, latency_s: float) -> Account:
        """Return the account with one call more; a call without a reply has no usage."""
        used = usage or Usage()
        has_tokens = used.input_tokens is not None and used.output_tokens is not None
        return replace(
            self,
            calls=self.calls + 1,
            tries=self.tries + tries,
            failed=self.failed + (usage is None),
            input_tokens=self.input_tokens + (used.input_tokens or 0),
            output_tokens=self.output_tokens + (used.output_tokens or 0),
            unknown_tokens=self.unknown_tokens + (usage is not None and not has_tokens),
            cost_usd=self.cost_usd + (used.cost_usd or 0.0),
            unknown_cost=self.unknown_cost + (usage is not None and used.cost_usd is None),
            latency_s=self.latency_s + latency_s,
        )


class Ledger:
    """The accounts of a run; threads may write to it."""

    def __init__(self) -> None:
        self._accounts: dict[str, Account] = {}
        self._lock = threading.Lock()

    def add(self, role: str, usage: Usage | None, *, tries: int, latency_s: float = 0.0) -> None:
        """Count one call.

        Parameters
        ----------
        role
            Who made it: the name of a role, or another user of models such as ``embeddings``.
        usage
            What it used; None if it came to no reply.
        tries
            Requests that it took.
        latency_s
            From the first request to the reply.
        """
        with self._lock:
            self._accounts[role] = self._accounts.get(role, Account()).plus(usage, tries, latency_s)

    def accounts(self) -> Mapping[str, Account]:
        """Return the accounts by role, in the order of their names."""
        with self._lock:
            return dict(sorted(self._accounts.items()))
