"""`fraudbench tabular score`: a detector and a table of one's own."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli.exits import WRONG
from harness.cli.output import note, progress_bar, say
from harness.cli.tabular.options import AttackedRows, Epsilon, MaxQueries, MaxSwitches, NormName, PresetName

if TYPE_CHECKING:
    from tabular_bench.declaration import Declaration
    from tabular_bench.detectors.threshold import ThresholdRule
    from tabular_bench.protocol import ProtocolName

Format = Literal["table", "markdown", "csv", "json"]

DEFAULT_ROOT = Path("runs/tabular")


def score(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A file .json or .ubj of XGBoost, a file .onnx, or package.module:factory.",
        ),
    ],
    table: Annotated[
        Path, typer.Argument(metavar="CSV", help="The table: UTF-8, commas, a header. All rows are scored.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target", help="The column of labels. Not needed if the constraint file names it.", metavar="COLUMN"
        ),
    ] = None,
    positive: Annotated[
        list[str] | None,
        typer.Option("--positive", help="A label that means fraud, 1 by default.", show_default=False),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            "--constraints",
            help="TOML file with relations, immutable features, bounds. docs/tabular.md.",
            metavar="FILE",
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="Another table of the same columns: epsilon counts in its deviations, thresholds are set on it.",
            metavar="CSV",
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            help="NAME or NAME(key=value,...); several. By default noise and capgd, or square without gradients.",
            show_default=False,
        ),
    ] = None,
    protocols: Annotated[str, typer.Option("--protocols", help="Of A, B, C1, C2, comma-separated.")] = "A,B,C1,C2",
    preset: PresetName = "strict",
    epsilon: Epsilon = 0.1,
    norm: NormName = "linf",
    max_switches: MaxSwitches = 1,
    max_queries: MaxQueries = None,
    threshold: Annotated[
        str,
        typer.Option(
            "--threshold",
            help="A score, or a rule: f1, capacity=SHARE, false_positive_rate=SHARE (docs/tabular.md).",
        ),
    ] = "0.5",
    attacked: AttackedRows = "positives",
    max_rows: Annotated[int, typer.Option("--max-rows", min=0, help="Rows to attack at most; 0 for all.")] = 500,
    amount: Annotated[
        str | None,
        typer.Option("--amount", help="The column of amounts, for the detector of largest amounts.", metavar="COLUMN"),
    ] = None,
    impute: Annotated[bool, typer.Option("--impute", help="Fill gaps: median, commonest category.")] = False,
    drop_infeasible: Annotated[
        bool, typer.Option("--drop-infeasible", help="Leave out rows that break a relation or a bound.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of draws and attacks.")] = 42,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the result; a new one in runs/tabular by default.", metavar="DIR"),
    ] = None,
    format: Annotated[
        Format, typer.Option("--format", help="What is printed; the folder holds every format.")
    ] = "table",
) -> None:
    """Measure a detector of yours on a table of yours, clean and under attack.

    The table needs a column of labels, 0 and 1. Columns that nothing declares are inferred: numeric, whole, binary or
    categorical, bounded by what occurs; the result says how. A detector finds its columns by name; categories are
    handed over as 0/1 columns feature=category (or feature_category), or whole to files that take them so.
    Trivial detectors stand beside yours. Exit status 1 if an attack failed.
    """
    from harness.cli.tabular.score_result import ScoreResult
    from tabular_bench.budget import Budget
    from tabular_bench.errors import DeclarationError
    from tabular_bench.score.ready import read_model
    from tabular_bench.score.run import ScoreOptions
    from tabular_bench.score.run import score as measure
    from tabular_bench.score.table import TableOptions, read_user_table

    folder = _folder(out, model, table)
    declaration = _declaration(constraints, target, tuple(positive or ()))
    options = ScoreOptions(
        attacks=tuple(attack or ()),
        protocols=_protocols(protocols),
        preset=_preset(preset),
        budget=Budget(_finite(epsilon), norm, max_switches, max_queries),
        threshold=_rule(threshold),
        attacked=attacked,
        max_rows=max_rows or None,
        amount_column=amount or declaration.amount,
        seed=seed,
    )
    read = read_model(model)
    try:
        rows = read_user_table(table, declaration, read, TableOptions(reference, impute, drop_infeasible))
    except DeclarationError as error:
        raise DeclarationError(f"{constraints}: {error}" if constraints else str(error)) from None
    # Without a choice there are two attacks.
    with progress_bar("attacking", (len(options.attacks) or 2) * len(options.protocols)) as advance:
        found = measure(read, rows, options, lambda done, total: advance(done))
    result = ScoreResult(read, rows, options, found)
    result.write(folder)
    say(result.rendered(format))
    note(
        f"The result is in {folder} (result.json, result.md, attacks.csv). Try next: --epsilon, --attack, --reference."
    )
    if any(entry.status == "failed" for entry in found.attacks):
        raise typer.Exit(WRONG)


def _folder(out: Path | None, model: str, table: Path) -> Path:
    """Return a folder without a result in it."""
    from tabular_bench.errors import InputError

    if out is None:
        stem = f"score-{Path(model.partition(':')[0]).stem}-{table.stem}"
        names = (stem, *(f"{stem}-{number}" for number in range(2, 10_000)))
        return next(folder for name in names if not (folder := DEFAULT_ROOT / name).exists())
    if (out / "result.json").exists():
        raise InputError(f"{out}: holds a result already; name another folder, or remove it")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: expected a folder, found a file")
    return out


def _protocols(text: str) -> tuple[ProtocolName, ...]:
    from tabular_bench.errors import UnknownName
    from tabular_bench.score.run import PROTOCOLS

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [text]:
        if name not in PROTOCOLS:
            raise UnknownName("protocol", name, PROTOCOLS)
    return tuple(name for name in PROTOCOLS if name in names)


def _preset(name: str) -> str:
    from tabular_bench.errors import UnknownName
    from tabular_bench.protocol import PRESETS

    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return name


def _finite(epsilon: float) -> float:
    from tabular_bench.errors import InputError

    if not math.isfinite(epsilon):
        raise InputError(f"--epsilon: expected a finite number, found {epsilon}")
    return epsilon


def _rule(text: str) -> ThresholdRule:
    from tabular_bench.detectors.threshold import ThresholdRule

    try:
        return ThresholdRule("fixed", float(text))
    except ValueError:
        return ThresholdRule.parse(text)


def _declaration(constraints: Path | None, target: str | None, positive: tuple[str, ...]) -> Declaration:
    from tabular_bench.declaration import read_declaration
    from tabular_bench.errors import InputError
    from tabular_bench.score.table import bare_declaration

    if constraints is None:
        if target is None:
            raise InputError("name the column of labels: --target COLUMN")
        return bare_declaration(target, positive or ("1",))
    declared = read_declaration(constraints, target)
    return replace(declared, positive=positive) if positive else declared
