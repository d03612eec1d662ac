"""Reports of stored runs, as commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.cli.output import note, say

if TYPE_CHECKING:
    from harness.reports.summary import Summary

Format = Literal["table", "markdown", "json", "html"]


def print_report(folders: Sequence[Path], format: Format, out: Path | None = None) -> bool:
    """Print the report of some runs, or write it to a file; return whether nothing in them could be graded.

    Raises
    ------
    RunError
        If the page is asked for and no file, or the file cannot be written.
    """
    from harness.cli.stored import summaries_of
    from harness.errors import RunError

    summaries = summaries_of(folders)
    if format == "html":
        if out is None:
            raise RunError("--format html writes a page: name its file with --out")
        write_page(folders, out)
    elif out is not None:
        try:
            out.write_text(_rendered(folders, summaries, format), encoding="utf-8")
        except OSError as error:
            raise RunError(f"{out}: the report cannot be written: {error.strerror or error}") from None
        note(f"Report: {out}")
    else:
        say(_rendered(folders, summaries, format))
    return all(summary.graded == 0 for summary in summaries)


def write_page(folders: Sequence[Path], out: Path) -> None:
    """Write some runs as one self-contained page, every transcript in it.

    Raises
    ------
    RunError
        If the file cannot be written.
    """
    from harness.reports.html import write_html
    from harness.runs.folder import RunFolder

    write_html([RunFolder(folder) for folder in folders], out)
    note(f"Page: {out}")


def render(folders: Sequence[Path], format: Format) -> str:
    """Return the report of some runs, each compared with the first where they played the same."""
    from harness.cli.stored import summaries_of

    return _rendered(folders, summaries_of(folders), format)


def _rendered(folders: Sequence[Path], summaries: Sequence[Summary], format: Format) -> str:
    from harness.errors import RunError
    from harness.reports.comparison import Comparison, compare_folders
    from harness.reports.render import FORMATS
    from harness.runs.folder import RunFolder

    comparisons: list[Comparison] = []
    first, *others = [RunFolder(folder) for folder in folders]
    for other in others:
        try:
            comparisons.append(compare_folders(first, other))
        except RunError as error:
            note(f"{first.path} and {other.path} are not compared: {error}")
    return FORMATS[format](summaries, comparisons)


def brackets(folders: Sequence[Path]) -> str:
    """Return the tables that tell what a suite can tell apart."""
    from harness.cli.stored import summaries_of
    from harness.reports.render import bracket_table, tier_table

    summaries = summaries_of(folders)
    return "\n".join(table.as_text() for table in (bracket_table(summaries), tier_table(summaries)))
