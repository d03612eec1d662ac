"""What the models of a run have used, by role, from the calls that are stored with it. Unknown is not zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.models.contract import Role
from harness.models.ledger import Account
from harness.models.record import EpisodeCalls, ModelCall
from harness.reports.measures import Part
from harness.runs.record import Timing


class RoleUse(Part):
    """What one role has used, calls of episodes that were cut off or played again counted too.

    Attributes
    ----------
    models
        The models behind it by the names that their provider gives them, with the calls that each answered.
    calls, tries, failed
        Calls, the requests that they took, and those that came to no reply.
    faults
        Why tries and calls failed, by kind.
    input_tokens, output_tokens
        Over the replies that stated them; `unknown_tokens` did not.
    cost_usd
        None if the price of any reply is unknown; `known_cost_usd` is over the others, `unknown_cost` counts those.
    latency_s
        The mean of a call with its tries and pauses; None where no times are stored.
    waited_s
        For the limits of providers, in all.
    """

    role: Role
    models: dict[str, int]
    calls: int
    tries: int
    failed: int
    faults: dict[str, int]
    input_tokens: int
    output_tokens: int
    unknown_tokens: int
    cost_usd: float | None
    known_cost_usd: float
    unknown_cost: int
    latency_s: float | None
    waited_s: float | None


@dataclass(slots=True)
class _Sums:
    account: Account = field(default_factory=Account)
    models: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    timed: int = 0
    wall_s: float = 0.0
    waited_s: float = 0.0

    def add(self, call: ModelCall) -> None:
        usage = None if call.reply is None else call.reply.usage
        self.account = self.account.plus(usage, call.tries, 0.0)
        self.faults.update(fault.kind for fault in call.failed_tries)
        if call.fault is not None:
            self.faults[call.fault.kind] += 1
        if call.reply is not None:
            self.models[call.reply.model or call.sent.model] += 1


def take_ledger(calls: Iterable[EpisodeCalls], timings: Iterable[Timing]) -> tuple[RoleUse, ...]:
    """Sum up the calls of a run; roles that made none are left out."""
    sums = {role: _Sums() for role in Role}
    for line in calls:
        for call in line.calls:
            sums[call.role].add(call)
    for timing in timings:
        for timed in timing.model_calls:
            found = sums[timed.role]
            found.timed += 1
            found.wall_s += timed.wall_s
            found.waited_s += timed.waited_s
    return tuple(_use(role, found) for role, found in sums.items() if found.account.calls)


def _use(role: Role, sums: _Sums) -> RoleUse:
    account = sums.account
    return RoleUse(
        role=role,
        models=dict(sorted(sums.models.items())),
        calls=account.calls,
        tries=account.tries,
        failed=account.failed,
        faults=dict(sorted(sums.faults.items())),
        input_tokens=account.input_tokens,
        output_tokens=account.output_tokens,
        unknown_tokens=account.unknown_tokens,
        cost_usd=account.known_cost_usd,
        known_cost_usd=account.cost_usd,
        unknown_cost=account.unknown_cost,
        latency_s=sums.wall_s / sums.timed if sums.timed else None,
        waited_s=sums.waited_s if sums.timed else None,
    )


class Spent(NamedTuple):
    """What some calls have used: the tokens that are known, and the cost, or at least the part of it that is known."""

    tokens: int
    cost_usd: float | None
    known_cost_usd: float


def spent(calls: Iterable[EpisodeCalls]) -> Spent:
    """Return what all stored calls together have used; the cost is None if the price of any is unknown."""
    uses = take_ledger(calls, ())
    known_usd = sum(use.known_cost_usd for use in uses)
    tokens = sum(use.input_tokens + use.output_tokens for use in uses)
    return Spent(tokens, None if any(use.unknown_cost for use in uses) else known_usd, known_usd)
