"""Tables on the models of runs: what they used, whether callers played fair, how far judges agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.reports.ledger import RoleUse
from harness.reports.measures import Rate
from harness.reports.summary import Summary
from harness.reports.tables import Table
from harness.verdict import Feeds

_UNKNOWN: Final = "unknown"
_NOTHING: Final = "n/a"

_ON: Final = {Feeds.PROTECTION: "security"}
"""What statements are about, where another word is used for it than for the checks that feed it."""


def model_tables(summaries: Sequence[Summary]) -> list[Table]:
    """Return the tables; those without rows say nothing of the runs."""
    return [_ledger_table(summaries), _caller_table(summaries), _judge_table(summaries)]


def _ledger_table(summaries: Sequence[Summary]) -> Table:
    uses = [(summary, use) for summary in summaries for use in summary.models]
    rows = [
        (
            f"{summary.agent}: {use.role}",
            f"{use.calls:,}",
            f"{use.tries:,}",
            str(use.failed),
            _tokens(use.input_tokens, use),
            _tokens(use.output_tokens, use),
            _UNKNOWN if use.cost_usd is None else f"${use.cost_usd:,.4f}",
            _NOTHING if use.latency_s is None else f"{use.latency_s:.2f}",
        )
        for summary, use in uses
    ]
    notes = [f"{summary.agent}: {use.role}: answered by {_models(use)}." for summary, use in uses if use.models]
    notes += [
        f"{summary.agent}: {use.role}: {count} tries failed: {kind}."
        for summary, use in uses
        for kind, count in use.faults.items()
    ]
    notes += [
        f"{summary.agent}: {use.role}: the price of {use.unknown_cost} replies is unknown"
        + (f"; the others cost ${use.known_cost_usd:,.4f}." if use.known_cost_usd else ".")
        for summary, use in uses
        if use.unknown_cost
    ]
    if any(use.unknown_tokens for _, use in uses):
        notes.append("Tokens marked + are more: some replies did not state theirs.")
    header = ("role", "calls", "requests", "failed", "input tokens", "output tokens", "cost", "seconds a call")
    return Table("Models", header, tuple(rows), tuple(notes))


def _caller_table(summaries: Sequence[Summary]) -> Table:
    """Return how often callers played their part; runs with scripted callers that all did are no news."""
    told = [
        summary
        for summary in summaries
        if summary.caller != "scripted" or summary.caller_validity.count < summary.caller_validity.n
    ]
    rows = [(summary.agent, summary.caller, *_rate(summary.caller_validity), str(summary.invalid)) for summary in told]
    header = ("agent", "caller", "valid", "count", "95 % interval", "invalid episodes")
    return Table("Callers", header, tuple(rows))


def _judge_table(summaries: Sequence[Summary]) -> Table:
    rows = []
    for summary in summaries:
        found = summary.judge_agreement
        for feeds, passed in found.passed.items():
            rows.append((f"{summary.agent}: statements on {_ON.get(feeds, feeds)} that hold", *_rate(passed), ""))
        for judge, answered in found.answered.items():
            rows.append((f"{summary.agent}: {judge}: answered", *_rate(answered), ""))
        for pair in found.pairs:
            kappa = _NOTHING if pair.kappa is None else f"{pair.kappa:.3f}"
            rows.append((f"{summary.agent}: {pair.first} and {pair.second} agree", *_rate(pair.agreement), kappa))
        if found.pairs:
            rows.append((f"{summary.agent}: all who answered agree", *_rate(found.unanimous), ""))
    note = "Counted over statements; kappa is Cohen's."
    return Table("Judges", ("judges", "share", "count", "95 % interval", "kappa"), tuple(rows), (note,))


def _tokens(count: int, use: RoleUse) -> str:
    return f"{count:,}{'+' if use.unknown_tokens else ''}"


def _models(use: RoleUse) -> str:
    return ", ".join(f"{name} ({count})" for name, count in use.models.items())


def _rate(rate: Rate) -> tuple[str, str, str]:
    if rate.rate is None:
        return _NOTHING, f"{rate.count}/{rate.n}", _NOTHING
    return f"{rate.rate:.3f}", f"{rate.count}/{rate.n}", f"{rate.low:.3f} to {rate.high:.3f}"
