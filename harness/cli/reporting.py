"""Reports of stored runs, as commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from harness.cli.output import note, say

Format = Literal["table", "markdown", "json"]


def print_report(folders: Sequence[Path], format: Format) -> bool:
    """Print the report of some runs; return whether nothing in them could be graded."""
    from harness.cli.stored import summaries_of

    say(render(folders, format))
    return all(summary.graded == 0 for summary in summaries_of(folders))


def render(folders: Sequence[Path], format: Format) -> str:
    """Return the report of some runs, each compared with the first where they played the same."""
    from harness.cli.stored import summaries_of
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
    return FORMATS[format](summaries_of(folders), comparisons)


def brackets(folders: Sequence[Path]) -> str:
    """Return the tables that tell what a suite can tell apart."""
    from harness.cli.stored import summaries_of
    from harness.reports.render import bracket_table, tier_table

    summaries = summaries_of(folders)
    return "\n".join(table.as_text() for table in (bracket_table(summaries), tier_table(summaries)))
