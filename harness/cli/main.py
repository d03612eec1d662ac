"""The entry point of `fraudbench`.

Commands import what they need when they run, so that `fraudbench --help` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness.cli import corpus, judging, playing, prompts, runs, tasks
from harness.cli.exits import CANNOT, OUR_FAULT, STOPPED
from harness.cli.output import fail
from harness.cli.tabular.app import app as tabular_app
from harness.cli.tabular.app import missing_extra

app = typer.Typer(
    name="fraudbench",
    help=(
        "Find out whether a banking agent can be talked into fraud.\n\n"
        "A simulated caller tries an agent in conversation; both act on the same bank; every episode is graded on "
        "what was done and told. Start with `fraudbench demo`, which needs no key.\n\n"
        "Fraud detectors that read table rows are the subject of `fraudbench tabular`."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(tasks.app, name="tasks")
app.add_typer(corpus.app, name="corpus")
app.add_typer(runs.app, name="runs")
app.add_typer(tabular_app, name="tabular")
app.command("run")(playing.run)
app.command("demo")(playing.demo)
app.command("grade")(judging.grade)
runs.register_top_level(app)
app.command("prompt")(prompts.prompt)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"fraudbench {version('fraudbench')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command line; a mistake of the user ends with a message and status 2, never with a traceback."""
    from domains.kit.errors import DomainError
    from harness.errors import HarnessError
    from tabular_bench import TabularError

    try:
        app()
    except (HarnessError, DomainError, TabularError) as error:
        fail(str(error))
        sys.exit(CANNOT)
    except KeyboardInterrupt:
        fail("Stopped. What was complete is on disk; --resume goes on from there.")
        sys.exit(STOPPED)
    except Exception as error:  # noqa: BLE001 - the last boundary: a fault of ours is written down, not thrown at the user
        if isinstance(error, ModuleNotFoundError) and (advice := missing_extra(error)):
            fail(advice)
            sys.exit(CANNOT)
        fail(f"This is a fault in fraudbench, not in what you asked. The details are in {_write_down()}.")
        sys.exit(OUR_FAULT)


def _write_down() -> str:
    """Write the traceback at hand to a file and return its path."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="fraudbench-", suffix=".log", delete=False, encoding="utf-8") as file:
        file.write(traceback.format_exc())
    return file.name
