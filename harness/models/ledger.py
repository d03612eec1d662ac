"""What the models of a run have cost, by role: calls, tries, tokens, money and time. What is unknown is not zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Final

from harness.models.contract import Role, Usage
from harness.models.shared import alone_with, shared_numbers


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


_sums = attrgetter(*(field.name for field in fields(Account)))

_NOTHING: Final[tuple[float, ...]] = _sums(Account())

_PLACES: Final = {role: place * len(_NOTHING) for place, role in enumerate(sorted(Role))}
"""Where the sums of each role begin."""


class Ledger:
    """The accounts of a run; all its threads and processes write into the same."""

    def __init__(self) -> None:
        # Counts are exact in a double up to 2**53.
        self._numbers = shared_numbers(len(_PLACES) * len(_NOTHING))

    def add(self, role: Role, usage: Usage | None, *, tries: int, latency_s: float = 0.0) -> None:
        """Count one call.

        Parameters
        ----------
        role
            Who made it.
        usage
            What it used; None if it came to no reply.
        tries
            Requests that it took.
        latency_s
            From the first request to the reply.
        """
        start = _PLACES[role]
        with alone_with(self._numbers):
            row = _sums(self._account(role).plus(usage, tries, latency_s))
            self._numbers.get_obj()[start : start + len(row)] = list(row)

    def accounts(self) -> Mapping[Role, Account]:
        """Return the accounts of those who have made calls, in the order of their names."""
        with alone_with(self._numbers):
            found = {role: self._account(role) for role in _PLACES}
        return {role: account for role, account in found.items() if account.calls}

    def _account(self, role: Role) -> Account:
        start = _PLACES[role]
        row = self._numbers.get_obj()[start : start + len(_NOTHING)]
        return Account(*(type(zero)(number) for zero, number in zip(_NOTHING, row, strict=True)))  # type: ignore[arg-type]
