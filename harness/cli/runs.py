"""`fraudbench run`, `report`, `view`, `grade`, `replay`, `demo`, and `runs diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli.output import note, progress_bar, say

if TYPE_CHECKING:
    from harness.runs.engine import Progress, RunResult
    from harness.runs.folder import RunFolder
    from harness.runs.record import EpisodeRecord, GradeRecord
    from harness.scenario.files import Library

app = typer.Typer(help="Compare runs.", no_args_is_help=True, rich_markup_mode=None)

Format = Literal["table", "markdown", "json"]

INCOMPLETE = 3
"""Exit status of a run in which something planned was not played or nothing could be graded."""

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
    domain: Annotated[str | None, typer.Option(help="Only scenarios of this domain.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Episodes of each scenario.")] = 1,
    seed: Annotated[int, typer.Option(help="For agents that draw.")] = 0,
    resample: Annotated[int, typer.Option(help="Draw every cast afresh; 0 plays the published instances.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play episodes.")] = 1,
    history: Annotated[
        Literal["full", "latest"],
        typer.Option(help="full, or latest to hide everything before the caller's latest turn."),
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
        corpus_root=corpus,
    )
    nothing_graded = _print_report([result.folder], "table")
    note(f"Run folder: {result.folder}")
    if not result.is_complete or nothing_graded:
        raise typer.Exit(INCOMPLETE)


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
            raise typer.Exit(INCOMPLETE)
    say(_brackets(folders))
    path = root / "report.md"
    path.write_text(_render(folders, "markdown"), encoding="utf-8")
    note(f"Runs:   {root}")
    note(f"Report: {path}")
    note(f"Look into an episode: fraudbench view {folders[-1]}")


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs.")],
    format: Annotated[Literal["table", "markdown", "json"], typer.Option(help="table, markdown or json.")] = "table",
) -> None:
    """Report one run or several side by side.

    Every rate stands with its count, its 95 % interval, and what it would be if everything unassessed had gone badly
    or well. Exit status 3 if nothing could be graded.
    """
    if _print_report(folders, format):
        raise typer.Exit(INCOMPLETE)


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
    """Grade the stored episodes of a run anew, without playing any conversation again.

    The scenarios are those kept with the run; name others with --tasks-root, to let corrected expectations take effect.
    """
    from harness.cli.grading import grader_for
    from harness.cli.stored import corpora_of
    from harness.runs.folder import RunFolder
    from harness.runs.grading import grade_run
    from harness.scenario.files import load_library

    stored = RunFolder(folder)
    config = stored.config
    library = load_library(tasks_root) if tasks_root else stored.library()
    corpora = corpora_of(config.corpus_hash, corpus)
    count = grade_run(folder, library, grader_for(*corpora, retrieval=config.retrieval))
    note(f"{count} episodes graded.")
    _print_report([folder], "table")


def replay(
    folder: Folder,
    episode: Annotated[str, typer.Argument(help="Episode or scenario id.")],
    corpus: CorpusRoot = None,
) -> None:
    """Apply an episode's calls to a fresh bank and compare every result and the final state.

    Exit status 1 if anything differs.
    """
    from harness.cli.stored import stage_of
    from harness.runs.folder import RunFolder
    from harness.runs.replay import replay as replay_record

    stored = RunFolder(folder)
    record = _find_record(stored, episode)
    stage = stage_of(stored, corpus)
    result = replay_record(stage.instance(record.scenario_id), stage.knowledge(record.scenario_id), record)
    if not result.is_same:
        say(f"{result.episode_id}: differs at call {result.calls}: {result.difference}")
        raise typer.Exit(1)
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
        raise typer.Exit(1)
    say("The runs are the same.")


# ------------------------------------------------------------------ what the commands share


def _play(
    library: Library,
    agent: str,
    out: Path | None,
    *,
    caller: str = "scripted",
    retrieval: str = "bm25",
    trials: int = 1,
    seed: int = 0,
    resample: int = 0,
    workers: int = 1,
    history: Literal["full", "latest"] = "full",
    resume: bool = False,
    corpus_root: Path | None = None,
) -> RunResult:
    from datetime import UTC, datetime

    from harness.cli.grading import grader_for
    from harness.cli.stored import corpora_of
    from harness.runs.engine import resolve_config
    from harness.runs.engine import run as play
    from harness.runs.executors import executor_for
    from harness.runs.folder import default_folder

    folder = out or default_folder(Path("runs"), agent, datetime.now(tz=UTC).date())
    config = resolve_config(
        library,
        name=folder.name,
        agent=agent,
        caller=caller,
        retrieval=retrieval,
        trials=trials,
        seed=seed,
        resample=resample,
        history=history,
        corpus_root=corpus_root,
    )
    grader = grader_for(*corpora_of(config.corpus_hash, corpus_root), retrieval=retrieval)
    with progress_bar(f"{agent:10}", len(config.tasks) * trials) as advance:

        def tell(progress: Progress) -> None:
            advance(progress.done)

        result = play(
            config,
            library,
            folder,
            grader=grader,
            executor=executor_for(workers),
            resume=resume,
            progress=tell,
            corpus_root=corpus_root,
        )
    for episode, why in result.lost.items():
        note(f"{episode} came to no end: {why}")
    if result.is_interrupted:
        note(f"Stopped. Go on with: fraudbench run ... --out {folder} --resume")
    return result


def _print_report(folders: list[Path], format: Format) -> bool:
    """Print the report of some runs; return whether nothing in them could be graded."""
    from harness.cli.stored import summaries_of

    say(_render(folders, format))
    return all(summary.graded == 0 for summary in summaries_of(folders))


def _render(folders: list[Path], format: Format) -> str:
    from harness.cli.stored import summaries_of
    from harness.reports.render import FORMATS

    return FORMATS[format](summaries_of(folders))


def _brackets(folders: list[Path]) -> str:
    from harness.cli.stored import summaries_of
    from harness.reports.render import bracket_table, tier_table

    summaries = summaries_of(folders)
    return "\n".join(table.as_text() for table in (bracket_table(summaries), tier_table(summaries)))


def _find_record(stored: RunFolder, name: str) -> EpisodeRecord:
    """Return the episode of this id, or the first of the scenario of this id.

    Raises
    ------
    UnknownName
        If there is neither.
    """
    from harness.errors import UnknownName

    found: dict[str, EpisodeRecord] = {}
    for record in stored.records():
        if record.episode_id == name:
            return record
        found.setdefault(record.scenario_id, record)
    if name not in found:
        raise UnknownName("episode or scenario of this run", name, found)
    return found[name]


def _outcome(line: GradeRecord | None) -> str:
    if line is None or line.grade is None:
        return "not graded"
    grade = line.grade
    if not grade.valid:
        return "invalid"
    rate, value = ("useful", grade.useful) if grade.secure is None else ("secure", grade.secure)
    return f"{rate}: {'undecided' if value is None else 'yes' if value else 'no'}"
