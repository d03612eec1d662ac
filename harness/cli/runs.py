"""`fraudbench run`, `report`, `view`, `grade`, `replay`, `demo`, and `runs diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli.output import fail, note, progress_bar, say

if TYPE_CHECKING:
    from harness.runs.engine import RunResult
    from harness.scenario.files import Library
    from harness.verdict import Grader

app = typer.Typer(help="Compare runs.", no_args_is_help=True, rich_markup_mode=None)

REFERENCE = ("complier", "refuser", "myopic", "oracle")
"""The agents of the bracket table, in its order."""

Folder = Annotated[Path, typer.Argument(help="The folder of a run.")]
TasksRoot = Annotated[
    list[Path] | None,
    typer.Option("--tasks-root", help="Folder or file of scenarios. By default those that come with fraudbench."),
]
CorpusRoot = Annotated[
    Path | None, typer.Option("--corpus", help="Folder of the corpora. By default the one that comes with fraudbench.")
]
Selector = Annotated[
    str | None,
    typer.Option("--tasks", help="Ids, patterns, mechanisms or tiers, comma-separated; or a path to scenarios."),
]


def register_top_level(root: typer.Typer) -> None:
    """Add the commands that stand at the top level."""
    for command in (demo, run, report, view, grade, replay):
        root.command(command.__name__)(command)


def run(
    agent: Annotated[
        str, typer.Option(help="complier, refuser, myopic, oracle, or your own as package.module:factory.")
    ] = "oracle",
    caller: Annotated[str, typer.Option(help="Who calls: scripted.")] = "scripted",
    retrieval: Annotated[str, typer.Option(help="How the agent finds its rules: oracle, bm25, none or full.")] = "bm25",
    tasks: Selector = None,
    suite: Annotated[str | None, typer.Option(help="Only this suite: core or chain.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only attacks or only twins: attack or twin.")] = None,
    domain: Annotated[
        str | None, typer.Option(help="Only scenarios of this domain; every domain's by default.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Episodes of each scenario.")] = 1,
    seed: Annotated[int, typer.Option(help="For agents that draw.")] = 0,
    resample: Annotated[int, typer.Option(help="Draw every cast afresh; 0 plays the published instances.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play episodes.")] = 1,
    history: Annotated[
        str, typer.Option(help="full, or latest to hide everything before the caller's latest turn.")
    ] = "full",
    out: Annotated[Path | None, typer.Option(help="Folder of the run. By default a new one below runs/.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    tasks_root: TasksRoot = None,
    corpus: CorpusRoot = None,
) -> None:
    """Play scenarios with an agent and grade every episode.

    Prints security (attacks stopped), utility (legitimate requests served) and what stands beside them. Exit status 0
    if every planned episode was played and graded, 3 if some were not, 2 if the run could not be started.
    """
    from harness.cli.selection import select_scenarios
    from harness.errors import RunError

    if resume and out is None:
        raise RunError("--resume needs --out, the folder of the run to go on with")
    library = select_scenarios(tasks_root, selector=tasks, suite=suite, kind=kind, domain=domain)
    result = _play(
        library,
        agent,
        out,
        caller=caller,
        retrieval=retrieval,
        trials=trials,
        seed=seed,
        resample=resample,
        workers=workers,
        history=history,
        resume=resume,
        corpus=corpus,
    )
    _print_report([result.folder], "table", tasks_root or _paths_of(library))
    note(f"Run folder: {result.folder}")
    _exit(result)


def demo(
    out: Annotated[
        Path | None, typer.Option(help="Folder for the four runs. By default a new one below runs/.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play episodes.")] = 2,
) -> None:
    """Play the whole suite with the four reference agents and print the bracket table; no key is needed.

    The complier does whatever is asked, the refuser nothing, the myopic agent forgets what came before, and the
    oracle applies every written rule. A sound suite lies between them.
    """
    from datetime import UTC, datetime

    from harness.cli.selection import select_scenarios

    library = select_scenarios(None)
    root = out or Path("runs") / f"demo-{datetime.now(tz=UTC):%Y%m%d-%H%M%S}"
    folders = []
    for name in REFERENCE:
        result = _play(library, name, root / name, workers=workers)
        folders.append(result.folder)
        if not result.is_complete:
            _exit(result)
    _print_report(folders, "table", None)
    path = root / "report.md"
    path.write_text(_render(folders, "markdown", None), encoding="utf-8")
    note(f"Runs:   {root}")
    note(f"Report: {path}")
    note(f"Look into an episode: fraudbench view {folders[-1]}")


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs.")],
    format: Annotated[  # noqa: A002 - the name of the option
        Literal["table", "markdown", "json"], typer.Option(help="table, markdown or json.")
    ] = "table",
    tasks_root: TasksRoot = None,
) -> None:
    """Report one run or several side by side.

    Every rate stands with its count, its 95 % interval, and what it would be if everything unassessed had gone badly
    or well. Exit status 3 if nothing could be graded.
    """
    _print_report(folders, format, tasks_root)


def view(
    folder: Folder,
    episode: Annotated[
        str | None, typer.Argument(help="Episode or scenario id; by default the episodes are listed.")
    ] = None,
) -> None:
    """Show an episode: what was said, every call with the rows it changed, and the checks that failed, marked."""
    from harness.reports.transcript import transcript
    from harness.runs.folder import RunFolder

    stored = RunFolder(folder)
    grades = stored.grades()
    if episode is None:
        for record in stored.records():
            found = grades.get(record.episode_id)
            say(f"{record.episode_id:32} {record.stop_reason:16} {_outcome(found)}")
        return
    record = _find_record(stored, episode)
    graded = grades.get(record.episode_id)
    say(f"{record.episode_id}  ({folder})")
    say(transcript(record.events, graded.grade if graded is not None else None))


def grade(folder: Folder, tasks_root: TasksRoot = None, corpus: CorpusRoot = None) -> None:
    """Grade the stored episodes of a run anew, without playing any conversation again."""
    from harness.runs.grading import grade_run
    from harness.scenario.files import load_library
    from harness.resources import data_root

    library = load_library(tasks_root or [data_root("tasks")])
    count = grade_run(folder, library, _grader(library, corpus))
    note(f"{count} episodes graded.")
    _print_report([folder], "table", tasks_root)


def replay(
    folder: Folder,
    episode: Annotated[str, typer.Argument(help="Episode or scenario id.")],
    tasks_root: TasksRoot = None,
    corpus: CorpusRoot = None,
) -> None:
    """Apply an episode's calls to a fresh bank and compare every result and the final state.

    Exit status 1 if anything differs.
    """
    from harness.cli.replaying import replay_episode
    from harness.runs.folder import RunFolder

    stored = RunFolder(folder)
    result = replay_episode(stored, _find_record(stored, episode), tasks_root, corpus)
    say(str(result))
    if not result.is_same:
        raise typer.Exit(1)


@app.command("diff")
def diff(one: Folder, other: Folder) -> None:
    """Compare two runs episode by episode, timings aside. Exit status 1 if anything differs."""
    from harness.runs.diff import diff_runs

    differences = diff_runs(one, other)
    for line in differences:
        say(line)
    if differences:
        raise typer.Exit(1)
    say("The runs are the same.")
