"""`fraudbench tabular`: the commands of the tabular bench, each defined in a module of its subject.

They import what they need when they run: the base install has them in its help, and `NEEDS_EXTRA` says what to install.
"""

from __future__ import annotations

from typing import Final

import typer

from harness.cli.tabular import listing, reporting, running, scoring

app = typer.Typer(
    help=(
        "Attack fraud detectors that read table rows, under realistic constraints.\n\n"
        "Your own detector and table: `score`. The published grid: `grid quick`, then `report`. One cell of it: `run`. "
        "What there is: `datasets`, `models`, `attacks`, `defences`, `protocols`. docs/tabular.md explains it all."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command("score")(scoring.score)
app.command("report")(reporting.report)
app.command("plot")(reporting.plot)
app.command("run")(running.run)
app.command("grid")(running.grid)
listing.add_to(app)

NEEDS_EXTRA: Final = frozenset(
    "joblib matplotlib onnxruntime pandas scipy shap sklearn threadpoolctl torch xgboost".split()
)
"""Packages of the extra `tabular`, by the names they are imported under."""


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Say what to install if it is a package of the extra that cannot be imported; None if it is anything else."""
    name = (error.name or "").partition(".")[0]
    if name not in NEEDS_EXTRA:
        return None
    return f"this command needs {name}, which is not installed; install the extra: pip install 'fraudbench[tabular]'"
