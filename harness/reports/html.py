"""One HTML file with everything: the rates of some runs and every episode behind them.

It needs nothing else, neither a network nor JavaScript, which only filters. A content security policy admits the one
script and the one stylesheet of this package and nothing more.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from harness.errors import RunError
from harness.reports.account import Account, take_account
from harness.reports.comparison import Comparison, compare_folders
from harness.reports.dossier import findings, outcome, transcript
from harness.reports.ledger import take_ledger
from harness.reports.markup import Markup, element, join, verbatim
from harness.reports.overview import as_html, heading_id, overview, section, use_table
from harness.reports.render import told_apart
from harness.reports.summary import Summary, summarise_folder
from harness.reports.tables import Table
from harness.runs.config import RunConfig
from harness.runs.engine import plan
from harness.runs.folder import RunFolder
from harness.verdict import Standing

MAX_TRANSCRIPTS: Final = 48_000_000
"""Characters of transcripts in a page, shared equally by its runs; what goes beyond is left out, and said so."""

_PARTS: Final = ("Security and utility", "Frontier", "By mechanism", "By tier", "Failures", "Expected loss", "Episodes")
"""Headings that the top of the page links to."""
_LEFT_OUT: Final = "The transcript is left out to keep the page readable. Read it with `fraudbench view`."
_NO_EPISODE: Final = "No transcript: the episode was not played to its end."


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the page."""

    number: int
    folder: RunFolder
    summary: Summary
    accounts: tuple[Account, ...]

    def anchor(self, place: int) -> str:
        """Return the id of an episode in the page; nothing in it comes from data."""
        return f"e{self.number}-{place}"


@dataclass(frozen=True, slots=True)
class _Index:
    """What episodes are linked and filtered by: where each one is, and the numbers of the values of each filter."""

    places: dict[tuple[int, str, int], int]
    twins: dict[str, list[str]]
    filters: dict[str, dict[str, int]]


def render_html(folders: Sequence[RunFolder]) -> str:
    """Return the page over some runs.

    Raises
    ------
    RecordError
        If a file of a run cannot be read.
    """
    return "".join(_page(folders))


def write_html(folders: Sequence[RunFolder], path: Path) -> None:
    """Write the page over some runs; a page that was there is replaced once the new one is complete.

    Raises
    ------
    RecordError
        If a file of a run cannot be read.
    RunError
        If the page cannot be written.
    """
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(_page(folders))
        draft.replace(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}. Choose another file.") from None
    finally:
        with suppress(OSError):
            draft.unlink()


def _page(folders: Sequence[RunFolder]) -> Iterator[str]:
    runs = _read(folders)
    summaries = [run.summary for run in runs]
    comparisons, notes = _compared(folders)
    index = _index(runs)
    planned = sum(summary.planned for summary in summaries)
    parts = [element("a", title, href=f"#{heading_id(title)}") for title in _PARTS]
    yield "<!DOCTYPE html>\n"
    yield '<html lang="en">\n'
    yield _head()
    yield "\n<body>\n"
    yield element(
        "header",
        element("h1", "fraudbench report"),
        element("p", f"{_counted(len(runs), 'run')}, {_counted(planned, 'planned episode')}."),
        element("nav", join(parts, between=" · "), aria_label="Parts of the page"),
    )
    yield "\n<main>\n"
    for part in overview(summaries, comparisons, notes):
        yield f"{part}\n"
    uses = [
        (run.summary.agent, use) for run in runs for use in take_ledger(run.folder.model_calls(), run.folder.timings())
    ]
    yield use_table(uses)
    yield _conditions(runs)
    yield '\n<section aria-labelledby="episodes">\n'
    yield element("h2", "Episodes", id="episodes")
    yield _filters(index, planned)
    for run in runs:
        for episode in _episodes(run, runs, index):
            yield f"{episode}\n"
    yield "</section>\n</main>\n"
    yield verbatim("script", _asset("report.js"))
    yield "\n</body>\n</html>\n"


def _head() -> Markup:
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; base-uri 'none'; "
        "form-action 'none'"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", "fraudbench report"),
        verbatim("style", style),
    )


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _source(content: str) -> str:
    """Return how a content security policy names a text: by its digest."""
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# ------------------------------------------------------------------ what is read


def _read(folders: Sequence[RunFolder]) -> list[_Run]:
    summaries = _named([summarise_folder(folder) for folder in folders])
    return [
        _Run(number, folder, summary, tuple(_accounts(folder)))
        for number, (folder, summary) in enumerate(zip(folders, summaries, strict=True))
    ]


def _accounts(folder: RunFolder) -> list[Account]:
    return take_account(folder.config, folder.library().scenarios, folder.records(), folder.grades())


def _named(summaries: Sequence[Summary]) -> list[Summary]:
    """Give every run a name of its own: runs may lie in folders of one name below different ones."""
    named = told_apart(summaries)
    agents, seen = Counter(summary.agent for summary in named), Counter[str]()
    found = []
    for summary in named:
        seen[summary.agent] += 1
        number = f" #{seen[summary.agent]}" if agents[summary.agent] > 1 else ""
        found.append(summary.model_copy(update={"agent": f"{summary.agent}{number}"}))
    return found


def _compared(folders: Sequence[RunFolder]) -> tuple[list[Comparison], list[str]]:
    comparisons, notes = [], []
    for other in folders[1:]:
        try:
            comparisons.append(compare_folders(folders[0], other))
        except RunError as error:
            notes.append(f"{folders[0].config.name} and {other.config.name} are not compared: {error}")
    return comparisons, notes


def _index(runs: Sequence[_Run]) -> _Index:
    places = {
        (run.number, account.scenario.id, account.trial): place
        for run in runs
        for place, account in enumerate(run.accounts)
    }
    twins: dict[str, list[str]] = {}
    for scenario in {account.scenario.id: account.scenario for run in runs for account in run.accounts}.values():
        if scenario.twin_of is not None:
            twins.setdefault(scenario.twin_of, []).append(scenario.id)
            twins.setdefault(scenario.id, []).append(scenario.twin_of)
    values: dict[str, set[str]] = {"outcome": set(), "kind": set(), "mechanism": set(), "tier": set(), "check": set()}
    for run in runs:
        for account in run.accounts:
            for name, found in _filtered(account).items():
                values[name].update(found)
    # A page refers to values by number: nothing that comes from data reaches the script.
    filters = {name: {value: number for number, value in enumerate(sorted(found))} for name, found in values.items()}
    names = {run.summary.agent: run.number for run in runs}
    return _Index(places, twins, {"run": names, **filters})


def _filtered(account: Account) -> dict[str, list[str]]:
    """Return the values of an episode that the page filters by."""
    failed = [v.check for v in account.grade.verdicts if v.standing is Standing.FAIL] if account.grade else []
    return {
        "outcome": [outcome(account)[1]],
        "kind": [str(account.scenario.kind)],
        "mechanism": [account.scenario.mechanism],
        "tier": [str(account.scenario.tier)],
        # Checks of one family differ by what they are about, which the search for text finds.
        "check": sorted({check.partition("/")[0] for check in failed}),
    }


# ------------------------------------------------------------------ what is written


def _conditions(runs: Sequence[_Run]) -> Markup:
    def row(run: _Run) -> tuple[str, ...]:
        config: RunConfig = run.folder.config
        values = (config.name, config.agent, config.caller, config.retrieval, config.history)
        numbers = (config.trials, config.seed, config.resample)
        return (
            run.summary.agent,
            *values,
            *map(str, numbers),
            config.package_version,
            config.commit[:12] if config.commit else "unknown",
            config.scenarios_hash[:12],
        )

    header = (
        "run", "folder", "agent", "caller", "retrieval", "history", "trials", "seed", "resample", "version", "commit",
        "scenarios",
    )  # fmt: skip
    return section("Conditions", as_html(Table("Conditions of each run", header, tuple(map(row, runs)))))


def _filters(index: _Index, planned: int) -> Markup:
    def choice(name: str, values: dict[str, int]) -> Markup:
        options = [element("option", "any", value="")]
        options += [element("option", value, value=str(number)) for value, number in values.items()]
        title = "failed check" if name == "check" else name
        return element("label", title, element("select", *options, data_filter=name))

    search = element("label", "text", element("input", type="search", data_filter="text"))
    buttons = [
        element("button", title, type="button", data_act=act)
        for title, act in (("Clear filters", "clear"), ("Open shown", "open"), ("Close all", "close"))
    ]
    shown = element("output", f"{planned} of {planned} episodes shown", aria_live="polite")
    choices = [choice(name, values) for name, values in index.filters.items()]
    form = element("div", *choices, search, *buttons, shown, id="filters", role="search", hidden=True)
    return join((form, element("noscript", element("p", "Filters need JavaScript; everything else does not."))))


def _episodes(run: _Run, runs: Sequence[_Run], index: _Index) -> Iterator[Markup]:
    """Yield the episodes of a run in the order of its plan, whatever the order in which they ended."""
    planned = [episode.episode_id for episode in plan(run.folder.config)]
    numbers = {identity: place for place, identity in enumerate(planned)}
    room = MAX_TRANSCRIPTS // len(runs)
    written: dict[str, Markup] = {}
    events: dict[str, frozenset[int]] = {}
    for record in run.folder.records():
        place = numbers.get(record.episode_id)
        if place is None:
            continue
        if room <= 0:
            written[record.episode_id] = element("p", _LEFT_OUT, class_="note")
            continue
        shown = transcript(record.events, run.accounts[place].grade, run.anchor(place))
        room -= len(shown)
        written[record.episode_id] = shown
        events[record.episode_id] = frozenset(event.id for event in record.events)
    for place, (account, identity) in enumerate(zip(run.accounts, planned, strict=True)):
        said = written.get(identity, element("p", _NO_EPISODE, class_="note"))
        found = findings(account, run.anchor(place), events.get(identity, frozenset()))
        parts = (_links(run, account, runs, index), found, element("h4", "Transcript"), said)
        yield _episode(run, place, join(parts), index)


def _episode(run: _Run, place: int, content: Markup, index: _Index) -> Markup:
    account = run.accounts[place]
    scenario, grade = account.scenario, account.grade
    kind, words = outcome(account)
    tags = [scenario.id, str(scenario.kind), scenario.mechanism, str(scenario.tier)]
    if run.folder.config.trials > 1:
        tags.append(f"trial {account.trial}")
    if grade is not None and grade.failure_type is not None:
        tags.append(grade.failure_type)
    title = element(
        "summary",
        element("span", words, class_=f"mark {kind}"),
        element("h3", scenario.title),
        element("span", run.summary.agent, class_="tag run"),
        *(element("span", tag.replace("_", " "), class_="tag") for tag in tags),
    )
    numbers = {
        f"data_{name}": " ".join(str(index.filters[name][value]) for value in values)
        for name, values in _filtered(account).items()
    }
    return element(
        "article",
        element("details", title, element("div", content, class_="body")),
        class_="episode",
        id=run.anchor(place),
        data_run=str(run.number),
        **numbers,
    )


def _links(run: _Run, account: Account, runs: Sequence[_Run], index: _Index) -> Markup:
    """Return where the twin of an episode is, and the same scenario in other runs."""
    scenario = account.scenario
    items: list[Markup] = [element("span", f"Rules: {', '.join(scenario.rules)}")]
    for other in index.twins.get(scenario.id, []):
        items.append(join(("Twin: ", _link(run, other, account.trial, other, index))))
    others = [
        _link(other, scenario.id, account.trial, other.summary.agent, index)
        for other in runs
        if other is not run and (other.number, scenario.id, account.trial) in index.places
    ]
    if others:
        items.append(join(("In other runs: ", join(others, between=", "))))
    return element("ul", *(element("li", item) for item in items), class_="links")


def _link(run: _Run, scenario_id: str, trial: int, title: str, index: _Index) -> Markup:
    place = index.places.get((run.number, scenario_id, trial))
    if place is None:
        return element("span", f"{title} (not in this run)")
    words = outcome(run.accounts[place])[1]
    return join((element("a", title, href=f"#{run.anchor(place)}"), f" ({words})"))
