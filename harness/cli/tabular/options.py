"""Options that several commands of the tabular bench have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

DataRoot = Annotated[
    Path | None,
    typer.Option("--data-root", help="Folder with the real files. Without it rows are generated.", metavar="DIR"),
]
PresetName = Annotated[str, typer.Option("--preset", help="strict or published.")]
Epsilon = Annotated[float, typer.Option("--epsilon", min=0, help="Radius in standard deviations.")]
NormName = Annotated[Literal["linf", "l2"], typer.Option("--norm", help="How the radius is measured.")]
MaxSwitches = Annotated[
    int, typer.Option("--max-switches", min=0, help="How many categories and 0/1 columns of a row may switch.")
]
MaxQueries = Annotated[
    int | None, typer.Option("--max-queries", min=1, help="Questions to the detector a row; no limit by default.")
]
AttackedRows = Annotated[
    Literal["positives", "both"], typer.Option("--attacked", help="Whether only fraud is attacked.")
]
