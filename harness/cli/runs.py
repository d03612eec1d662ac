"""`fraudbench report`, `view`, `replay`, and `runs diff`: what is done with stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.exits import INCOMPLETE, WRONG
from harness.cli.options import CorpusRoot, Folder
from harness.cli.output import say
from harness.cli.reporting import Format, print_report

if TYPE_CHECKING:
    from harness.runs.record import GradeRecord

app = typer.Typer(help="Compare runs.", no_args_is_help=True, rich_markup_mode=None)


def register_top_level(root: typer.Typer) -> None:
    """Add the commands that stand at the top level."""
    for command in (report, view, replay):
        root.command(command.__name__)(command)


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs.")],
    format: Annotated[
        Format, typer.Option(help="table, markdown, json, or html: one page with every transcript in it.")
    ] = "table",
    out: Annotated[Path | None, typer.Option(help="File to write the report to; html needs one.")] = None,
) -> None:
    """Report one run or several side by side.

    Every rate stands with its count, its 95 % interval, and what it would be if everything unassessed had gone badly
    or well. Exit status 3 if nothing could be graded.
    """
    if print_report(folders, format, out):
        raise typer.Exit(INCOMPLETE)


def view(
    folder: Folder,
    episode: Annotated[
        str | None, typer.Argument(help="Episode or scenario id; by default the episodes are listed.")
    ] = None,
) -> None:
    """Show an episode: what was said, every call with the rows it changed, and the checks that failed, marked."""
    from harness.cli.stored import find_record
    from harness.reports.transcript import transcript
    from harness.runs.folder import RunFolder

    stored = RunFolder(folder)
    grades = stored.grades()
    if episode is None:
        for record in stored.records():
            found = grades.get(record.episode_id)
            say(f"{record.episode_id:32} {record.stop_reason:16} {_outcome(found)}")
        return
    record = find_record(stored, episode)
    graded = grades.get(record.episode_id)
    say(f"{record.episode_id}  ({folder})")
    say(transcript(record.events, graded.grade if graded is not None else None))


def replay(
    folder: Folder,
    episode: Annotated[str, typer.Argument(help="Episode or scenario id.")],
    corpus: CorpusRoot = None,
) -> None:
    """Apply an episode's calls to a fresh bank and compare every result and the final state.

    Exit status 1 if anything differs.
    """
    from harness.cli.stored import find_record, stage_of
    from harness.runs.folder import RunFolder
    from harness.runs.replay import replay as replay_record

    stored = RunFolder(folder)
    record = find_record(stored, episode)
    stage = stage_of(stored, corpus)
    result = replay_record(stage.instance(record.scenario_id), stage.knowledge(record.scenario_id), record)
    if not result.is_same:
        say(f"{result.episode_id}: differs at call {result.calls}: {result.difference}")
        raise typer.Exit(WRONG)
    say(f"{result.episode_id}: {result.calls} calls applied, every result and the final state as recorded.")


@app.command("diff")
def diff(one: Folder, other: Folder) -> None:
    """Compare two runs episode by episode, timings aside. Exit status 1 if anything differs."""
    from harness.runs.diff import diff_runs
    from harness.runs.folder import RunFolder

    found = diff_runs(RunFolder(one), RunFolder(other))
    for line in found.lines():
        say(line)
    if not found.is_empty:
        raise typer.Exit(WRONG)
    say("The runs are the same.")


# ------------------------------------------------------------------ what the commands share


def _outcome(line: GradeRecord | None) -> str:
    if line is None or line.grade is None:
        return "not graded"
    grade = line.grade
    if not grade.valid:
        return "invalid"
    rate, value = ("useful", grade.useful) if grade.secure is None else ("secure", grade.secure)
    return f"{rate}: {'undecided' if value is None else 'yes' if value else 'no'}"
