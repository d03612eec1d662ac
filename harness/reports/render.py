"""Reports as text: one run or several side by side, as terminal tables, Markdown or JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from harness.reports.comparison import Comparison, PairedRate
from harness.reports.measures import Measure, Rate
from harness.reports.model_tables import model_tables
from harness.reports.summary import PassHat, Rates, Summary
from harness.reports.tables import Table

NOT_AVAILABLE: Final = "n/a"

_RATES: Final = ("security", "utility", "harm_free", "documented")
TITLES: Final = {"security": "S", "utility": "U", "harm_free": "harm-free", "documented": "documented"}
"""The four rates of a summary and how tables name them."""


def render_text(summaries: Sequence[Summary], comparisons: Sequence[Comparison] = ()) -> str:
    """Write a report for a terminal."""
    return "\n".join(table.as_text() for table in report_tables(summaries, comparisons))


def render_markdown(summaries: Sequence[Summary], comparisons: Sequence[Comparison] = ()) -> str:
    """Write a report in Markdown."""
    return "# Report\n\n" + "\n".join(table.as_markdown() for table in report_tables(summaries, comparisons))


def render_json(summaries: Sequence[Summary], comparisons: Sequence[Comparison] = ()) -> str:
    """Write a report as JSON: the object of a single run, or one with ``runs`` and ``comparisons``."""
    runs = [summary.model_dump(mode="json") for summary in summaries]
    compared = [comparison.model_dump(mode="json") for comparison in comparisons]
    whole: Any = runs[0] if len(runs) == 1 else {"runs": runs, "comparisons": compared}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: Final[Mapping[str, Callable[[Sequence[Summary], Sequence[Comparison]], str]]] = {
    "table": render_text,
    "markdown": render_markdown,
    "json": render_json,
}
"""How reports are written, by name."""


def report_tables(summaries: Sequence[Summary], comparisons: Sequence[Comparison] = ()) -> list[Table]:
    """Return the tables of a report, empty ones left out."""
    summaries = told_apart(summaries)
    tables = [
        bracket_table(summaries),
        _interval_table(summaries),
        _account_table(summaries),
        _group_table("By mechanism", summaries, lambda summary: summary.by_mechanism, with_macro=True),
        tier_table(summaries),
        _group_table("By tactic", summaries, lambda summary: summary.by_tactic),
        _pass_table(summaries),
        _failure_table(summaries),
        _measure_table(summaries),
        _loss_table(summaries),
        *model_tables(summaries),
        _comparison_table(comparisons),
    ]
    return [table for table in tables if table.rows]


def told_apart(summaries: Sequence[Summary]) -> list[Summary]:
    """Put the name of the run beside that of its agent where several runs have the same agent."""
    agents = Counter(summary.agent for summary in summaries)
    return [
        summary.model_copy(update={"agent": f"{summary.agent} ({summary.name})"})
        if agents[summary.agent] > 1
        else summary
        for summary in summaries
    ]


def bracket_table(summaries: Sequence[Summary]) -> Table:
    """Return the table with one line a run: the rates side by side, and who is on the frontier.

    A run is on the frontier of security and utility if no other is at least as good in both and better in one.
    """
    marks = frontier(summaries)
    rows = [
        (
            summary.agent,
            summary.retrieval,
            *(_share(getattr(summary, name)) for name in _RATES),
            str(summary.attempts.total),
            f"{summary.graded}/{summary.planned}",
            "yes" if mark else "no",
        )
        for summary, mark in zip(summaries, marks, strict=True)
    ]
    header = ("agent", "retrieval", *(TITLES[name] for name in _RATES), "attempts", "graded", "frontier")
    shown = dict.fromkeys(map(_stages, summaries))
    notes = [f"Stages of grading: {' / '.join(shown)}."]
    reasons = {
        f"{TITLES[name]} of {summary.agent} is {NOT_AVAILABLE}: {rate.reason}."
        for summary in summaries
        for name in _RATES
        if (rate := getattr(summary, name)).reason is not None
    }
    return Table("Security and utility", header, tuple(rows), (*notes, *sorted(reasons)))


def _stages(summary: Summary) -> str:
    """Name the stages of grading, and how many episodes a judge has read where it was not all of them."""
    played = summary.graded + summary.ungraded + summary.invalid
    partly = f" ({summary.judged} of {played} episodes)" if 0 < summary.judged < played else ""
    return ", ".join(summary.stages) + partly or "none"


def tier_table(summaries: Sequence[Summary]) -> Table:
    """Return security and utility by what makes scenarios difficult."""
    return _group_table("By tier", summaries, lambda summary: summary.by_tier)


def frontier(summaries: Sequence[Summary]) -> list[bool]:
    """Tell for each run whether it is on the frontier of security and utility; a run without both is not."""
    points = [(summary.security.rate, summary.utility.rate) for summary in summaries]
    complete = [(s, u) for s, u in points if s is not None and u is not None]
    return [
        s is not None and u is not None and not any(a >= s and b >= u and (a, b) != (s, u) for a, b in complete)
        for s, u in points
    ]


def _interval_table(summaries: Sequence[Summary]) -> Table:
    rows = [
        (
            f"{summary.agent}: {TITLES[name]}",
            _number(rate.rate),
            f"{_number(rate.low)} to {_number(rate.high)}",
            f"{_number(rate.worst)} to {_number(rate.best)}",
            f"{rate.count}/{rate.n}",
        )
        for summary in summaries
        for name in _RATES
        if (rate := getattr(summary, name)).worst is not None
    ]
    note = "The interval is Wilson's; worst and best count what was not assessed as failed and as succeeded."
    return Table("Rates", ("rate", "value", "95 % interval", "worst to best", "count"), tuple(rows), (note,))


def _account_table(summaries: Sequence[Summary]) -> Table:
    parts = ("planned", "not_attempted", "graded", "ungraded", "errored", "invalid")
    rows = [(summary.agent, *(str(getattr(summary, part)) for part in parts)) for summary in summaries]
    notes = [
        f"{summary.agent}: {count} {status.replace('_', ' ')}: {reason}."
        for summary in summaries
        for status, reasons in summary.reasons.items()
        for reason, count in reasons.items()
    ]
    return Table("Episodes", ("agent", *(part.replace("_", " ") for part in parts)), tuple(rows), tuple(notes))


def _group_table(
    title: str,
    summaries: Sequence[Summary],
    groups_of: Callable[[Summary], Mapping[str, Rates]],
    *,
    with_macro: bool = False,
) -> Table:
    names = dict.fromkeys(name for summary in summaries for name in groups_of(summary))
    rows = [(name, *_pairs(groups_of(summary).get(name) for summary in summaries)) for name in sorted(names)]
    if with_macro and rows:
        cells = []
        for summary in summaries:
            average = summary.macro_by_mechanism
            cells += [_number(average.security.value), _number(average.utility.value)]
        rows.append(("macro average", *cells))
    header = (
        title.removeprefix("By "),
        *(f"{summary.agent} {TITLES[n]}" for summary in summaries for n in _RATES[:2]),
    )
    return Table(title, header, tuple(rows))


def _pairs(groups: Iterable[Rates | None]) -> list[str]:
    cells = []
    for group in groups:
        cells += [NOT_AVAILABLE, NOT_AVAILABLE] if group is None else [_share(group.security), _share(group.utility)]
    return cells


def _pass_table(summaries: Sequence[Summary]) -> Table:
    several = [summary for summary in summaries if summary.trials > 1]
    rows = [
        (f"{summary.agent}: k = {a.k}", _passed(a), _passed(t), _passed(both))
        for summary in several
        for a, t, both in zip(summary.pass_hat_k.attacks, summary.pass_hat_k.twins, summary.pass_hat_k.all, strict=True)
    ]
    notes = tuple(dict.fromkeys(summary.pass_hat_k.definition for summary in several))
    return Table("pass^k", ("agent and k", "attacks", "twins", "all"), tuple(rows), notes)


def _failure_table(summaries: Sequence[Summary]) -> Table:
    kinds = sorted({kind for summary in summaries for kind in summary.failure_types})
    rows = [(kind.replace("_", " "), *(str(s.failure_types.get(kind, 0)) for s in summaries)) for kind in kinds]
    return Table("Failures", ("type", *(summary.agent for summary in summaries)), tuple(rows))


def _measure_table(summaries: Sequence[Summary]) -> Table:
    measures: list[tuple[str, Callable[[Summary], Measure]]] = [
        ("recall at 1", lambda summary: summary.recall.at_1),
        ("recall at 5", lambda summary: summary.recall.at_5),
        ("recall at 10", lambda summary: summary.recall.at_10),
        ("documents read", lambda summary: summary.recall.read),
        ("turns to intervention", lambda summary: summary.turns_to_intervention),
    ]
    rows = [(name, *(_number(of(summary).value) for summary in summaries)) for name, of in measures]
    rows.append(("false-safe", *(_share(summary.false_safe) for summary in summaries)))
    missing = [(name, of(summary).reason, summary) for name, of in measures for summary in summaries]
    missing += [("false-safe", summary.false_safe.reason, summary) for summary in summaries]
    notes = dict.fromkeys(
        f"{name} of {summary.agent} is {NOT_AVAILABLE}: {reason}." for name, reason, summary in missing if reason
    )
    return Table("Measures", ("measure", *(summary.agent for summary in summaries)), tuple(rows), tuple(notes))


def _loss_table(summaries: Sequence[Summary]) -> Table:
    parts = ("at_risk", "fraud", "investigation", "friction", "total")
    rows = [
        (part.replace("_", " "), *(_money(getattr(summary.expected_loss, f"{part}_cents")) for summary in summaries))
        for part in parts
    ]
    rows.append(("per episode", *(_money(summary.expected_loss.per_episode_cents) for summary in summaries)))
    notes = tuple(dict.fromkeys(summary.expected_loss.definition for summary in summaries))
    return Table("Expected loss", ("cost", *(summary.agent for summary in summaries)), tuple(rows), notes)


def _comparison_table(comparisons: Sequence[Comparison]) -> Table:
    rows = [
        (f"{item.first} and {item.second}: {title}", *_compared(rate))
        for item in comparisons
        for title, rate in (("S", item.security), ("U", item.utility))
    ]
    header = ("runs", "pairs", "first", "second", "difference", "95 % interval", "only first", "only second", "p")
    note = "Paired bootstrap over scenarios; p by McNemar's exact test."
    return Table("Comparison", header, tuple(rows), (note,))


def _compared(rate: PairedRate) -> tuple[str, ...]:
    low, high = rate.interval or (None, None)
    return (
        str(rate.pairs),
        _number(rate.first),
        _number(rate.second),
        _number(rate.difference),
        f"{_number(low)} to {_number(high)}",
        str(rate.only_first),
        str(rate.only_second),
        _number(rate.p_value),
    )


def _share(rate: Rate) -> str:
    return NOT_AVAILABLE if rate.rate is None else f"{rate.rate:.2f} ({rate.count}/{rate.n})"


def _passed(item: PassHat) -> str:
    return NOT_AVAILABLE if item.value is None else f"{item.value:.3f} ({item.scenarios} scenarios)"


def _number(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.3f}"


def _money(cents: float | None) -> str:
    return NOT_AVAILABLE if cents is None else f"{cents / 100:,.2f}"
