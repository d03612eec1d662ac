"""Two runs over the same scenarios, compared pair by pair: is one agent better, or was it luck?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from harness.errors import RunError
from harness.reports.account import Account, take_account
from harness.reports.measures import Part, bounds
from harness.reports.statistics import Trials, mcnemar, paired_bootstrap
from harness.runs.folder import RunFolder
from harness.scenario.model import Kind

NO_PAIRS: Final = "no episode is graded in both runs"


class PairedRate(Part):
    """One rate of two runs over the episodes graded in both.

    Attributes
    ----------
    pairs
        Episodes (scenario and trial) graded in both runs.
    first, second
        The rate of each run over these pairs.
    only_first, only_second
        Pairs in which only one of the runs succeeded.
    difference
        Second minus first, with its paired bootstrap interval of 95 % over scenarios.
    p_value
        Exact two-sided McNemar test over the pairs. Where a scenario has several trials its pairs are not
        independent, and the interval is the better guide.
    reason
        Why the values are None.
    """

    pairs: int
    first: float | None
    second: float | None
    only_first: int
    only_second: int
    difference: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    reason: str | None = None


class Comparison(Part):
    """Two runs compared."""

    first: str
    second: str
    security: PairedRate
    utility: PairedRate


def compare_folders(first: RunFolder, second: RunFolder) -> Comparison:
    """Compare two runs as they lie on disk.

    Raises
    ------
    RunError
        If they were played with different contents of the scenarios, or different instances of them.
    RecordError
        If a file of one of them cannot be read.
    """
    ours, theirs = first.config, second.config
    if ours.resample != theirs.resample:
        raise RunError(
            f"expected two runs over the same instances, found resample seeds {ours.resample} and {theirs.resample}"
        )
    if set(ours.tasks) == set(theirs.tasks) and ours.scenarios_hash != theirs.scenarios_hash:
        raise RunError("expected two runs over the same scenarios; what these scenarios say has changed in between")
    left, right = (
        take_account(folder.config, folder.library().scenarios, folder.records(), folder.grades())
        for folder in (first, second)
    )
    return Comparison(
        first=first.config.name,
        second=second.config.name,
        security=compare(left, right, Kind.ATTACK),
        utility=compare(left, right, Kind.TWIN),
    )


def compare(first: Iterable[Account], second: Iterable[Account], kind: Kind) -> PairedRate:
    """Compare the outcomes of the scenarios of one kind."""
    ours, theirs = _outcomes(first, kind), _outcomes(second, kind)
    pairs = [key for key in ours if key in theirs]
    if not pairs:
        return PairedRate(
            pairs=0,
            first=None,
            second=None,
            only_first=0,
            only_second=0,
            difference=None,
            interval=None,
            p_value=None,
            reason=NO_PAIRS,
        )
    only_first = sum(ours[key] and not theirs[key] for key in pairs)
    only_second = sum(theirs[key] and not ours[key] for key in pairs)
    scenarios = list(dict.fromkeys(scenario for scenario, _ in pairs))
    first_trials, second_trials = (
        _trials(scenarios, [(key[0], side[key]) for key in pairs]) for side in (ours, theirs)
    )
    interval = paired_bootstrap(first_trials, second_trials, f"paired/{kind}")
    return PairedRate(
        pairs=len(pairs),
        first=sum(ours[key] for key in pairs) / len(pairs),
        second=sum(theirs[key] for key in pairs) / len(pairs),
        only_first=only_first,
        only_second=only_second,
        difference=(only_second - only_first) / len(pairs),
        interval=bounds(interval),
        p_value=mcnemar(only_first, only_second),
    )


def _outcomes(accounts: Iterable[Account], kind: Kind) -> dict[tuple[str, int], bool]:
    return {
        (account.scenario.id, account.trial): account.outcome
        for account in accounts
        if account.scenario.kind is kind and account.outcome is not None
    }


def _trials(scenarios: Sequence[str], outcomes: Sequence[tuple[str, bool]]) -> list[Trials]:
    totals, successes = dict.fromkeys(scenarios, 0), dict.fromkeys(scenarios, 0)
    for scenario, outcome in outcomes:
        totals[scenario] += 1
        successes[scenario] += outcome
    return [Trials(totals[scenario], successes[scenario]) for scenario in scenarios]
