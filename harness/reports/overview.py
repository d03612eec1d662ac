"""The first part of the page: what the runs come to, as tables with charts in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from harness.reports.charts import Point, bar, frontier_chart, interval_bar, stack
from harness.reports.comparison import Comparison
from harness.reports.ledger import RoleUse
from harness.reports.markup import Markup, element, join
from harness.reports.measures import Measure, Rate
from harness.reports.render import NOT_AVAILABLE, TITLES, frontier, report_tables
from harness.reports.summary import Rates, Summary
from harness.reports.tables import Table

_DRAWN: Final = frozenset({"Security and utility", "Rates", "By mechanism", "By tier", "By tactic", "Failures"})
"""Tables of text reports that are drawn here in a form of their own."""

_MAX_NAMES: Final = 6
"""Runs beyond which the plane shows their numbers and a list their names."""

_HEADINGS: Final = {"Episodes": "Account of episodes"}

_FATES: Final = (
    ("good", "defended or served"),
    ("bad", "not defended or not served"),
    ("open", "ungraded"),
    ("broken", "errored"),
    ("void", "invalid"),
    ("missing", "not attempted"),
)


def overview(summaries: Sequence[Summary], comparisons: Sequence[Comparison], notes: Sequence[str]) -> Iterator[Markup]:
    """Yield the sections of the overview.

    Parameters
    ----------
    summaries
        Of the runs, each with an agent's name of its own.
    comparisons
        Of the first run with others.
    notes
        Why other runs are not compared with the first.
    """
    yield _brackets(summaries)
    yield _plane(summaries)
    yield _groups("By mechanism", summaries, lambda summary: summary.by_mechanism, with_macro=True)
    yield _groups("By tier", summaries, lambda summary: summary.by_tier)
    yield _groups("By tactic", summaries, lambda summary: summary.by_tactic)
    yield _failures(summaries)
    for table in report_tables(summaries, comparisons):
        if table.title not in _DRAWN:
            drawn = _fates(summaries) if table.title == "Episodes" else Markup()
            yield section(_HEADINGS.get(table.title, table.title), drawn, as_html(table))
    if notes:
        yield section("Runs that are not compared", *(element("p", note) for note in notes))


def use_table(uses: Sequence[tuple[str, RoleUse]]) -> Markup:
    """Return what the models of the runs used, each use with the name of its run; nothing where no model was."""
    if not uses:
        return Markup()
    rows = [
        (
            f"{label}: {use.role}",
            ", ".join(f"{model} ({calls})" for model, calls in use.models.items()) or NOT_AVAILABLE,
            str(use.calls),
            str(use.tries),
            str(use.failed),
            f"{use.input_tokens:,}",
            f"{use.output_tokens:,}",
            NOT_AVAILABLE if use.cost_usd is None else f"{use.cost_usd:.4f}",
            NOT_AVAILABLE if use.latency_s is None else f"{use.latency_s:.2f}",
        )
        for label, use in uses
    ]
    header = ("run and role", "models", "calls", "tries", "failed", "tokens in", "tokens out", "US dollars", "s a call")
    notes = [
        f"{label}, {use.role}: {use.unknown_cost} replies have no known price; the others cost "
        f"{use.known_cost_usd:.4f} US dollars."
        for label, use in uses
        if use.unknown_cost
    ]
    return section("Model use", as_html(Table("Model use", header, tuple(rows), tuple(notes))))


def section(title: str, *content: str) -> Markup:
    """Return a section of the page under a heading of our own."""
    name = heading_id(title)
    return element("section", element("h2", title, id=name), *content, aria_labelledby=name)


def heading_id(title: str) -> str:
    """Return the id in the page of a heading of our own."""
    return title.lower().replace(" ", "-")


def as_html(table: Table) -> Markup:
    """Return a table of a text report."""
    rows = [
        (element("th", first, scope="row"), *(element("td", cell) for cell in cells)) for first, *cells in table.rows
    ]
    drawn = _table(table.title, table.header, rows, kind="numbers")
    return join((drawn, *(element("p", note, class_="note") for note in table.notes)))


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[Markup]], kind: str | None = None) -> Markup:
    heads = [element("th", name, scope="col") for name in header]
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *heads)),
        element("tbody", *(element("tr", *row) for row in rows)),
        class_=kind,
    )
    return _scrolling(whole, caption)


def _scrolling(content: Markup, title: str) -> Markup:
    # What is wider than the page scrolls by itself; a keyboard has to reach it to do so.
    return element("div", content, class_="wide", tabindex=0, role="region", aria_label=title)


# ------------------------------------------------------------------ rates


def _brackets(summaries: Sequence[Summary]) -> Markup:
    rows = [
        (
            element("th", summary.agent, scope="row"),
            element("td", summary.retrieval),
            *(_rate_cell(getattr(summary, name), name) for name in TITLES),
            element("td", str(summary.attempts.total)),
            element("td", f"{summary.graded}/{summary.planned}"),
            element("td", "yes" if mark else "no"),
        )
        for summary, mark in zip(summaries, frontier(summaries), strict=True)
    ]
    header = ("agent", "retrieval", *TITLES.values(), "attempts", "graded", "on the frontier")
    stages = dict.fromkeys(", ".join(summary.stages) or "none" for summary in summaries)
    return section(
        "Security and utility",
        element(
            "p",
            "S is the share of attacks that were stopped, U the share of legitimate twins that were served. The wide "
            "bar is the Wilson interval of 95 %, the thin line reaches from the worst to the best case of what was "
            "not assessed.",
        ),
        _table("Rates of each run", header, rows),
        element("p", f"Stages of grading: {' / '.join(stages)}.", class_="note"),
    )


def _rate_cell(rate: Rate, kind: str) -> Markup:
    if rate.rate is None:
        return element("td", NOT_AVAILABLE, element("small", rate.reason or ""), class_="rate")
    numbers = [element("b", f"{rate.rate:.2f}"), f" {rate.count}/{rate.n}"]
    interval = f"{_share(rate.low)} to {_share(rate.high)}"
    if (rate.worst, rate.best) != (rate.rate, rate.rate):
        interval += f", worst {_share(rate.worst)}, best {_share(rate.best)}"
    return element("td", interval_bar(rate, kind), element("span", *numbers), element("small", interval), class_="rate")


def _plane(summaries: Sequence[Summary]) -> Markup:
    is_crowded = len(summaries) > _MAX_NAMES
    points = [
        Point(summary.agent, str(number) if is_crowded else summary.agent, summary.security, summary.utility, mark)
        for number, (summary, mark) in enumerate(zip(summaries, frontier(summaries), strict=True), start=1)
        if summary.security.rate is not None and summary.utility.rate is not None
    ]
    missing = [summary.agent for summary in summaries if None in (summary.security.rate, summary.utility.rate)]
    return section(
        "Frontier",
        element(
            "p",
            "A run is on the frontier if no other is at least as good in both and better in one. Faint crosses are the "
            "intervals of 95 %.",
        ),
        _scrolling(frontier_chart(points), "Frontier") if points else element("p", "No run has both rates."),
        element("ol", *(element("li", summary.agent) for summary in summaries)) if is_crowded else "",
        *(element("p", f"{agent} lacks one of the rates.", class_="note") for agent in missing),
    )


def _groups(
    title: str,
    summaries: Sequence[Summary],
    groups_of: Callable[[Summary], Mapping[str, Rates]],
    *,
    with_macro: bool = False,
) -> Markup:
    names = sorted({name for summary in summaries for name in groups_of(summary)})
    if not names:
        return Markup()
    rows = [
        (
            element("th", name.replace("_", " "), scope="row"),
            *(_pair_cell(groups_of(summary).get(name)) for summary in summaries),
        )
        for name in names
    ]
    if with_macro:
        averages = [summary.macro_by_mechanism for summary in summaries]
        cells = [element("td", _line("S", a.security), _line("U", a.utility), class_="pair") for a in averages]
        rows.append((element("th", "macro average", scope="row"), *cells))
    header = (title.removeprefix("By "), *(summary.agent for summary in summaries))
    return section(title, _table(f"S and U {title.lower()}", header, rows))


def _pair_cell(rates: Rates | None) -> Markup:
    if rates is None:
        return element("td", NOT_AVAILABLE, class_="pair")
    return element("td", _line("S", rates.security), _line("U", rates.utility), class_="pair")


def _line(title: str, value: Rate | Measure) -> Markup:
    kind = {"S": "security", "U": "utility"}[title]
    share = value.rate if isinstance(value, Rate) else value.value
    if share is None:
        return element("div", element("span", title), NOT_AVAILABLE)
    count = f" {value.count}/{value.n}" if isinstance(value, Rate) else ""
    return element("div", element("span", title), bar(share, kind), f" {share:.2f}{count}")


# ------------------------------------------------------------------ counts


def _fates(summaries: Sequence[Summary]) -> Markup:
    lines = [
        element("div", element("span", summary.agent), stack([(k, n) for k, n in _counts(summary) if n]))
        for summary in summaries
    ]
    legend = [element("li", element("i", class_=f"key {kind}"), title) for kind, title in _FATES]
    return element("div", *lines, element("ul", *legend, class_="legend"), class_="fates")


def _counts(summary: Summary) -> list[tuple[str, int]]:
    good = summary.security.count + summary.utility.count
    counts = (good, summary.graded - good, summary.ungraded, summary.errored, summary.invalid, summary.not_attempted)
    return [(kind, count) for (kind, _), count in zip(_FATES, counts, strict=True)]


def _failures(summaries: Sequence[Summary]) -> Markup:
    kinds = sorted({kind for summary in summaries for kind in summary.failure_types})
    if not kinds:
        return section("Failures", element("p", "No graded episode failed."))
    most = max(count for summary in summaries for count in summary.failure_types.values())
    rows = [
        (
            element("th", kind.replace("_", " "), scope="row"),
            *(_count_cell(summary.failure_types.get(kind, 0), most) for summary in summaries),
        )
        for kind in kinds
    ]
    header = ("type", *(summary.agent for summary in summaries))
    return section("Failures", _table("Failed episodes by type", header, rows))


def _count_cell(count: int, most: int) -> Markup:
    return element("td", element("div", bar(count / most, "failed"), f" {count}"), class_="pair")


def _share(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.2f}"
