"""A report as text. Markdown and the terminal show the same; CSV and JSON hold every value in full.

CSV has one line for each value of ours or in print::

    table, title, setting      which table
    dataset ... protocol       which row; empty where the table has no such label
    measure, attacked, source  which column; source is ours or published
    mean, deviation, seeds     of a number; empty where there is none
    text                       of words
    marks, flags               as in `Value` and `Row` of `tabular_bench.reports.document`
    missing                    why there is no number, or not of every seed, with the seeds

and the findings as lines of the table ``findings``, one for each reading and seed, whose text says whether the seed
agrees. JSON is `tabular_bench.reports.document.Report`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from tabular_bench.reports import footnotes
from tabular_bench.reports.document import Column, FindingResult, Mark, Report, Row, SeedFinding, Table, Value

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "markdown", "csv", "json"]

BLANK: Final = "–"
SATURATED: Final = "‡"
DEGENERATE: Final = "†"
TRANSFER: Final = "§"
TERMINAL_WIDTH: Final = 160
_UNLIMITED: Final = 10_000
# Longer words in a table are prose.
_LONGEST_LABEL: Final = 24

_SIGNS: Final[Mapping[Mark, str]] = {"saturated": SATURATED, "transfer_under_A": TRANSFER}
_MARKS_TOLD: Final[Mapping[Mark, str]] = {
    "saturated": "saturated: on the floor of average precision on some seed, where it no longer tells attacks apart",
    "transfer_under_A": footnotes.TRANSFER,
}
# Most findings are about it, and their definitions say so.
_PR_AUC: Final = " robust PR-AUC"
_LABELS: Final = ("dataset", "provenance", "model", "defence", "protocol")
_CSV_HEADER: Final = (
    *("table", "title", "setting", *_LABELS, "measure", "attacked", "source"),
    *("mean", "deviation", "seeds", "text", "marks", "flags", "missing"),
)


@dataclass(slots=True)
class _Notes:
    """Footnotes, numbered in the order in which they are first referred to."""

    texts: dict[str, int] = field(default_factory=dict)

    def refer(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts) + 1)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table as strings."""

    title: str
    lines: tuple[str, ...]
    header: tuple[str, ...]
    is_text: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    below: tuple[str, ...]


def render(report: Report, format: Format, width: int = TERMINAL_WIDTH) -> str:
    """Write a report.

    Parameters
    ----------
    report
        What to write.
    format
        ``table``, ``markdown``, ``csv`` or ``json``.
    width
        Of the terminal, in characters.
    """
    if format == "table":
        return _as_terminal(report, width)
    return _RENDERERS[format](report)


def format_value(value: Value | None, column: Column, seeds: int = 0) -> str:
    """Write one value; a blank is a dash.

    Parameters
    ----------
    value
        None for an empty place.
    column
        Says with how many decimals.
    seeds
        Over how many seeds the table is; a number over fewer says so.
    """
    if value is None:
        return ""
    if value.text is not None:
        return value.text
    if value.mean is None:
        return BLANK
    shown = f"{value.mean:,.{column.decimals}f}"
    if value.deviation is not None and (value.deviation or column.decimals):
        shown += f"±{value.deviation:,.{column.decimals}f}"
    if value.seeds is not None and value.seeds != seeds and seeds:
        shown += f" (n={value.seeds})"
    return " ".join([shown, *(_SIGNS[mark] for mark in value.marks)])


def _as_markdown(report: Report) -> str:
    notes = _Notes()
    parts = ["# Tabular bench report", "", *(f"{_escaped(line)}\n" for line in _head(report))]
    for sheet in _sheets(report, notes):
        parts += [f"## {_escaped(sheet.title)}", ""]
        parts += [f"{_escaped(line)}  " for line in sheet.lines]
        if sheet.rows:
            rule = ["---" if is_text else "---:" for is_text in sheet.is_text]
            rows = [[_escaped(cell) for cell in row] for row in (sheet.header, *sheet.rows)]
            rows.insert(1, rule)
            parts += ["", *(f"| {' | '.join(row)} |" for row in rows)]
        parts += ["", *(f"{_escaped(line)}  " for line in sheet.below), ""]
    if notes.texts:
        parts += ["## Notes", "", *(f"{place}. {_escaped(text)}" for text, place in notes.texts.items())]
    return "\n".join(parts).rstrip() + "\n"


def _as_terminal(report: Report, width: int) -> str:
    from rich.text import Text

    stream = io.StringIO()
    console = _console(stream, width)
    notes = _Notes()
    for line in _head(report):
        console.print(Text(_visible(line)))
    for sheet in _sheets(report, notes):
        console.print(Text(f"\n{_visible(sheet.title)}"))
        for line in sheet.lines:
            console.print(Text(_visible(line)))
        if sheet.rows:
            _print_rows(sheet, stream, width)
        for line in sheet.below:
            console.print(Text(_visible(line)))
    if notes.texts:
        console.print(Text("\nNotes"))
        for text, place in notes.texts.items():
            console.print(Text(f"{place}. {_visible(text)}"))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip() + "\n"


def _print_rows(sheet: _Sheet, stream: io.StringIO, width: int) -> None:
    """Print the rows of a table, wider than the terminal if need be: only prose is broken into lines."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    header, *rows = [[_visible(cell) for cell in row] for row in (sheet.header, *sheet.rows)]
    for place, is_text in enumerate(sheet.is_text):
        title = header[place].replace(" (", "\n(")
        cells = [row[place] for row in rows]
        is_prose = is_text and max(map(len, cells)) > _LONGEST_LABEL
        unbroken = [title, *cells] if not is_prose else [word for text in (title, *cells) for word in text.split()]
        least = max(len(line) for text in unbroken for line in text.split("\n"))
        shown.add_column(Text(title), justify="left" if is_text else "right", min_width=least)
    for row in rows:
        shown.add_row(*map(Text, row))
    needed = _console(stream, _UNLIMITED).measure(shown).minimum
    _console(stream, max(width, needed)).print(shown)


def _console(stream: io.StringIO, width: int) -> Console:
    from rich.console import Console

    return Console(file=stream, width=width, color_system=None, highlight=False, markup=False, emoji=False)


def _as_csv(report: Report) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _CSV_HEADER, restval="", lineterminator="\n")
    writer.writeheader()
    for table in report.tables:
        for row in table.rows:
            writer.writerows(_csv_lines(table, row))
    for result in report.findings:
        for seed in result.seeds or (None,):
            writer.writerow(_csv_finding(result, seed))
    return stream.getvalue()


def _as_json(report: Report) -> str:
    return json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


_RENDERERS: Final[Mapping[str, Callable[[Report], str]]] = {
    "markdown": _as_markdown,
    "csv": _as_csv,
    "json": _as_json,
}


def _csv_lines(table: Table, row: Row) -> Iterator[dict[str, object]]:
    named: dict[str, object] = {name: row.values[name].text for name in _LABELS if name in row.values}
    for column in table.columns:
        value = row.values.get(column.name)
        if column.source == "label" or value is None:
            continue
        yield {
            "table": table.number,
            "title": table.title,
            "setting": table.setting,
            **named,
            "measure": column.name,
            "attacked": column.attacked or "",
            "source": column.source,
            "mean": "" if value.mean is None else value.mean,
            "deviation": "" if value.deviation is None else value.deviation,
            "seeds": "" if value.seeds is None else value.seeds,
            "text": value.text or "",
            "marks": " ".join(value.marks),
            "flags": " ".join(row.flags),
            "missing": "; ".join(_told(reason, seeds) for reason, seeds in value.missing.items()),
        }


def _csv_finding(result: FindingResult, seed: SeedFinding | None) -> dict[str, object]:
    return {
        "table": "findings",
        "title": result.name,
        "setting": f"{result.reading}; {result.cells}",
        "measure": f"verdict {result.verdict}",
        "source": "ours",
        "seeds": "" if seed is None else seed.seed,
        "text": "" if seed is None else _said(seed),
        "missing": result.reason if seed is None else seed.reason,
    }


def _head(report: Report) -> list[str]:
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in report.records.items())
    read = f" from {', '.join(report.sources)}" if report.sources else ""
    return [f"Cells{read}: {counts}.", *report.notes, f"Published: {report.published}."]


def _sheets(report: Report, notes: _Notes) -> Iterator[_Sheet]:
    if report.findings:
        yield _finding_sheet(report.findings)
    for table in report.tables:
        yield _table_sheet(table, notes)


def _finding_sheet(results: Sequence[FindingResult]) -> _Sheet:
    rows: list[tuple[str, ...]] = []
    below: list[str] = []
    for place, readings in enumerate(_by_name(results), 1):
        first = readings[0]
        below += [""] if below else []
        below.append(f"({place}) {first.name}: a seed agrees if {first.definition}.")
        for result in readings:
            agreeing = sum(seed.agrees is True for seed in result.seeds)
            claim = f"({place}) {result.claim}" if result is first else ""
            reading = f"{result.reading}{' *' if result.is_home else ''}"
            rows.append((claim, reading, result.verdict, f"{agreeing} of {len(result.seeds)}"))
            below += _finding_lines(result)
    return _Sheet(
        title="Published findings",
        lines=(
            "holds: every seed agrees; fails: every seed contradicts; undecided: seeds differ, or do not decide. "
            "* is the reading of the published numbers; the others tell whether a finding outlives it.",
        ),
        header=("Published claim", "Reading", "Verdict", "Seeds that agree"),
        is_text=(True,) * 4,
        rows=tuple(rows),
        below=tuple(below),
    )


def _by_name(results: Iterable[FindingResult]) -> list[list[FindingResult]]:
    found: dict[str, list[FindingResult]] = {}
    for result in results:
        found.setdefault(result.name, []).append(result)
    return list(found.values())


def _finding_lines(result: FindingResult) -> Iterator[str]:
    cells = f" ({result.cells})" if result.cells else ""
    reason = f": {result.reason}" if result.reason else ""
    yield f"- {result.reading}{cells}: {result.verdict}{reason}."
    for seed in result.seeds:
        numbers = ", ".join(f"{name.removesuffix(_PR_AUC)} {value:.4g}" for name, value in seed.numbers.items())
        yield f"  - seed {seed.seed} {_said(seed)}: {numbers or 'nothing found'}"


def _said(seed: SeedFinding) -> str:
    return {True: "agrees", False: "contradicts", None: "does not decide"}[seed.agrees]


def _table_sheet(table: Table, notes: _Notes) -> _Sheet:
    reasons = _Letters()
    rows = tuple(_row_cells(table, row, reasons) for row in table.rows)
    lines = []
    if table.setting:
        seeds = ", ".join(map(str, table.seeds))
        lines = [f"Setting: {table.setting}.", f"n = {len(table.seeds)} seed{'s' * (len(table.seeds) != 1)}: {seeds}."]
    below = [*_mark_lines(table), *reasons.lines()]
    if table.rows:
        references = ", ".join(str(notes.refer(text)) for text in table.notes)
        below += [f"Notes: {references}."] if references else []
    else:
        below += table.notes
    return _Sheet(
        title=f"Table {table.number}. {table.title}",
        lines=tuple(lines),
        header=tuple(column.title for column in table.columns),
        is_text=tuple(_is_text(table, column) for column in table.columns),
        rows=rows,
        below=tuple(below),
    )


@dataclass(slots=True)
class _Letters:
    """The reasons of a table's blanks, each with a letter."""

    found: dict[str, str] = field(default_factory=dict)

    def of(self, reasons: Iterable[str]) -> str:
        return "".join(f" ({self._letter(reason)})" for reason in reasons)

    def lines(self) -> list[str]:
        return [f"({letter}) {reason}" for reason, letter in self.found.items()]

    def _letter(self, reason: str) -> str:
        place = len(self.found)
        return self.found.setdefault(reason, chr(ord("a") + place) if place < 26 else f"a{place - 25}")


def _row_cells(table: Table, row: Row, reasons: _Letters) -> tuple[str, ...]:
    cells = []
    for column in table.columns:
        value = row.values.get(column.name)
        shown = format_value(value, column, len(table.seeds))
        if value is not None:
            shown += reasons.of(_short(reason) for reason in value.missing)
        if column.name == "model" and row.flags:
            shown += f" {DEGENERATE}"
        cells.append(shown)
    return tuple(cells)


def _mark_lines(table: Table) -> Iterator[str]:
    flags: dict[str, dict[str, None]] = {}
    for row in table.rows:
        if row.flags:
            model = row.values.get("model")
            flags.setdefault((model.text if model else None) or "", {}).update(dict.fromkeys(row.flags))
    if flags:
        told = "; ".join(f"{model}: {', '.join(names)}" for model, names in flags.items())
        yield f"{DEGENERATE} degenerate, its numbers are no achievement: {told}."
    marks = {mark for row in table.rows for value in row.values.values() for mark in value.marks}
    yield from (f"{_SIGNS[mark]} {told}." for mark, told in _MARKS_TOLD.items() if mark in marks)


def _is_text(table: Table, column: Column) -> bool:
    return column.source == "label" or any(
        row.values[column.name].text is not None for row in table.rows if column.name in row.values
    )


def _told(reason: str, seeds: Sequence[int]) -> str:
    return f"{reason} (seed {', '.join(map(str, seeds))})" if seeds else reason


def _short(reason: str, limit: int = 200) -> str:
    return reason if len(reason) <= limit else f"{reason[: limit - 3]}..."


def _escaped(text: str) -> str:
    """Return text in which nothing is taken for Markdown or HTML."""
    return "".join(f"\\{sign}" if sign in r"\`*_[]<>|#~" else sign for sign in _visible(text))


def _visible(text: str) -> str:
    """Return text in which what cannot be seen is written as an escape: names may come from anybody's files."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
