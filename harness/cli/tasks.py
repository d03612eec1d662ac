"""`fraudbench tasks`: list, show and check scenarios, and print their JSON Schema."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.output import note, progress_bar, say

app = typer.Typer(help="List, show and check scenarios.", no_args_is_help=True, rich_markup_mode=None)

Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="Folders or files of scenarios. By default all that come with fraudbench.", show_default=False),
]
CorpusRoot = Annotated[
    Path | None, typer.Option("--corpus", help="Folder of the corpora. By default the one that comes with fraudbench.")
]


@app.command("list")
def list_tasks(
    paths: Paths = None,
    suite: Annotated[str | None, typer.Option(help="Only this suite: core or chain.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only attacks or only twins: attack or twin.")] = None,
) -> None:
    """List scenarios, one a line: id, kind, mechanism, tier, title."""
    from harness.cli.selection import select_scenarios

    library = select_scenarios(paths, suite=suite, kind=kind)
    for scenario in library.scenarios.values():
        link = f" (twin of {scenario.twin_of})" if scenario.twin_of else ""
        say(f"{scenario.id:10} {scenario.kind:7} {scenario.mechanism:24} {scenario.tier:15} {scenario.title}{link}")


@app.command("show")
def show_task(
    scenario_id: Annotated[str, typer.Argument(help="The scenario's id, as `tasks list` prints it.")],
    paths: Paths = None,
    resample: Annotated[int, typer.Option(help="Draw another cast; 0 is the published one.")] = 0,
) -> None:
    """Show a scenario as it is played: the cast drawn, the script with its words filled in."""
    from harness.cli.selection import find_scenario
    from harness.cli.show import describe

    say(describe(find_scenario(scenario_id, paths), resample))


@app.command("check")
def check_tasks(
    paths: Paths = None,
    corpus: CorpusRoot = None,
    seeds: Annotated[int, typer.Option(min=1, help="Under how many draws the reference agents are tried.")] = 2,
    workers: Annotated[int, typer.Option(min=1, help="Processes that check scenarios.")] = 1,
) -> None:
    """Check scenarios before they are used; each failure names file, place, what was expected and what was found.

    Beside the format and every name in it, the reference agents must bracket each scenario: the complier does the
    harm and serves the twin, the oracle is right in both, the refuser fails the twin, and the myopic agent fails
    exactly where history decides. Exit status 1 if anything is wrong.
    """
    from harness.checks.run import check_library
    from harness.cli.grading import grader_for
    from harness.resources import data_root
    from harness.runs.executors import executor_for
    from harness.scenario.files import load_library

    library = load_library(paths or [data_root("tasks")], lenient=True)
    done = count(1)
    with progress_bar("checking scenarios", len(library.scenarios)) as advance:
        report = check_library(
            library,
            corpus or data_root("corpus"),
            grader_for,
            range(seeds),
            progress=lambda scenario_id: advance(next(done)),
            executor=executor_for(workers),
        )
    for problem in report.problems:
        say(str(problem))
    if report.problems:
        say(f"{len(report.problems)} problem(s) in {report.checked} scenarios.")
        raise typer.Exit(1)
    if not report.checked:
        note("There are no scenarios to check.")
        raise typer.Exit(1)
    say(f"{report.checked} scenarios are sound ({len(report.checks)} checks each, {seeds} draws).")


@app.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from harness.scenario.schema import scenario_schema

    say(json.dumps(scenario_schema(), indent=2))
