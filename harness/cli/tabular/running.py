"""`fraudbench tabular run` and `fraudbench tabular grid`: compute cells and record them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from harness.cli.exits import STOPPED, WRONG
from harness.cli.output import note, progress_bar, say
from harness.cli.tabular.options import AttackedRows, DataRoot, Epsilon, MaxQueries, MaxSwitches, NormName, PresetName

if TYPE_CHECKING:
    from tabular_bench.budget import Budget
    from tabular_bench.cell import CellSpec
    from tabular_bench.grid import Grid
    from tabular_bench.registry import Record

DEFAULT_REGISTRY = Path("runs/tabular/registry.jsonl")

_SHOWN_FAILURES = 10

Out = Annotated[Path, typer.Option("--out", help="The registry: a file of one JSON line a cell.", metavar="FILE")]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache", help="Folder for trained detectors and prepared real rows; beside the registry by default."
    ),
]


def run(
    cells: Annotated[
        list[str],
        typer.Argument(
            metavar="CELL...",
            help="DATASET/MODEL/ATTACK/PROTOCOL, such as lcld/mlp/capgd/C2; without PROTOCOL all four.",
        ),
    ],
    defence: Annotated[str, typer.Option("--defence", help="See: fraudbench tabular defences.")] = "none",
    preset: PresetName = "strict",
    threat: Annotated[str, typer.Option("--threat", help="What the attacker knows.")] = "white_box",
    epsilon: Epsilon = 0.1,
    norm: NormName = "linf",
    max_switches: MaxSwitches = 1,
    max_queries: MaxQueries = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of split, training and attack.")] = 42,
    attacked: AttackedRows = "positives",
    max_rows: Annotated[int, typer.Option("--max-rows", min=0, help="Rows to attack at most; 0 for all.")] = 0,
    data_root: DataRoot = None,
    out: Out = DEFAULT_REGISTRY,
    cache: Cache = None,
) -> None:
    """Compute cells of the bench, print what was found, and record it.

    A cell is a data set, a model, an attack and a protocol; the options are the same for all cells named. Each is
    computed, whether or not the registry has it already. Exit status 1 if one failed.
    """
    from tabular_bench.registry import Registry, run_cells
    from tabular_bench.runner import Bench, check_names

    budget = _budget(epsilon, norm, max_switches, max_queries)
    options = {
        "defence": defence,
        "preset": preset,
        "threat": threat,
        "budget": budget,
        "seed": seed,
        "attacked": attacked,
        "max_rows": max_rows or None,
    }
    asked = [cell for text in cells for cell in parse_cell(text, options)]
    for cell in asked:
        check_names(cell)
    bench = Bench(data_root, cache or _cache_beside(out))
    with Registry(out) as registry, _progress(len(asked)) as report:
        records = run_cells(asked, bench.compute, registry, resume=False, report=report)
    say(_result(records))
    _tell_failures(records)
    note(f"Recorded in {out}. Try next: fraudbench tabular report {out}")
    if any(record.status == "failed" for record in records):
        raise typer.Exit(WRONG)


def grid(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A TOML file, or the name of a grid of the bench: quick, paper.")
    ],
    workers: Annotated[int, typer.Option("--workers", min=1, max=256, help="Processes, one thread each.")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Leave out what the registry has already.")
    ] = True,
    seeds: Annotated[
        str | None, typer.Option("--seeds", help="In place of those of the file, such as 42,123.", show_default=False)
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option("--max-rows", min=1, help="Rows to attack at most, in place of the file's.", show_default=False),
    ] = None,
    data_root: DataRoot = None,
    out: Out = DEFAULT_REGISTRY,
    cache: Cache = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cells and compute nothing.")] = False,
) -> None:
    """Compute a grid of cells in worker processes, recording each as soon as it is there.

    What the registry has from the same code and rows is left out, so that the same command goes on after Ctrl-C or a
    crash. A cell that fails is recorded and tried again by the next run. Exit status 1 if one failed.
    """
    from tabular_bench.grid import run_grid

    read = _grid(config).changed(seeds=_seeds(seeds), max_rows=max_rows)
    cells = read.cells()
    if dry_run:
        say("\n".join(describe(cell) for cell in cells))
        note(f"{len(cells)} cells. Nothing was computed.")
        return
    records: list[Record] = []
    with _late_progress() as (start, report):

        def started(waiting: int) -> None:
            note(f"{len(cells)} cells, {len(cells) - waiting} of them recorded already. Workers: {workers}.")
            start(waiting)

        def recorded(record: Record) -> None:
            records.append(record)
            report(record)

        try:
            run_grid(
                cells,
                out,
                workers=workers,
                resume=resume,
                data_root=data_root,
                cache=cache or _cache_beside(out),
                on_start=started,
                on_record=recorded,
            )
        except KeyboardInterrupt:
            note(f"Stopped. {_counts(records)}; they are in {out}. The same command goes on from there.")
            raise typer.Exit(STOPPED) from None
    _tell_failures(records)
    say(_counts(records))
    note(f"Recorded in {out}. Try next: fraudbench tabular report {out}")
    if any(record.status == "failed" for record in records):
        raise typer.Exit(WRONG)


def parse_cell(text: str, options: dict[str, Any]) -> list[CellSpec]:
    """Read ``DATASET/MODEL/ATTACK/PROTOCOL``, or ``DATASET/MODEL/ATTACK`` for all protocols.

    Parameters
    ----------
    text
        A model may be the path of a file, with slashes of its own.
    options
        The other fields of the cells.

    Raises
    ------
    InputError
        If it has too few parts.
    """
    from tabular_bench.cell import CellSpec
    from tabular_bench.errors import InputError
    from tabular_bench.grid import PROTOCOLS

    parts = text.split("/")
    protocols = tuple(name for name in PROTOCOLS if name == parts[-1]) or PROTOCOLS
    named = parts[:-1] if len(protocols) == 1 else parts
    if len(named) < 3 or not all(named):
        raise InputError(
            f"expected DATASET/MODEL/ATTACK/PROTOCOL, such as lcld/mlp/capgd/C2, found {text!r}; a protocol is one of "
            f"{', '.join(PROTOCOLS)}, and fraudbench tabular datasets, models and attacks list the rest"
        )
    if len(named) > 3 and not named[1:-1][-1].endswith((".json", ".ubj")):
        raise InputError(
            f"expected DATASET/MODEL/ATTACK/PROTOCOL with a protocol of {', '.join(PROTOCOLS)}, found {text!r}"
        )
    return [CellSpec(named[0], "/".join(named[1:-1]), named[-1], protocol, **options) for protocol in protocols]


def describe(cell: CellSpec) -> str:
    """Name a cell on one line, with what differs from the defaults.

    Parameters
    ----------
    cell
        Any.
    """
    from dataclasses import fields

    name = f"{cell.dataset}/{cell.model}/{cell.attack}/{cell.protocol}"
    told = [f"seed {cell.seed}", f"{cell.budget.norm} {cell.budget.epsilon:g}"]
    named = ("dataset", "model", "attack", "protocol", "seed", "budget")
    told += [
        f"{field.name} {getattr(cell, field.name)}"
        for field in fields(cell)
        if field.name not in named and getattr(cell, field.name) != field.default
    ]
    return f"{name}  {', '.join(told)}"


def _budget(epsilon: float, norm: Literal["linf", "l2"], max_switches: int, max_queries: int | None) -> Budget:
    from tabular_bench.budget import Budget
    from tabular_bench.errors import InputError

    try:
        return Budget(epsilon, norm, max_switches, max_queries)
    except ValueError as error:
        raise InputError(str(error)) from None


def _grid(config: str) -> Grid:
    from tabular_bench.errors import UnknownName
    from tabular_bench.grid import preset_names, read_grid, read_preset

    if config in preset_names():
        return read_preset(config)
    if not config.endswith(".toml") and not Path(config).exists():
        raise UnknownName("grid", config, [*preset_names(), "FILE.toml"])
    return read_grid(Path(config))


def _seeds(text: str | None) -> Sequence[int]:
    from tabular_bench.errors import InputError

    if text is None:
        return ()
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        seeds = [-1]
    if min(seeds) < 0:
        raise InputError(f"--seeds: expected whole numbers of at least 0 with commas, such as 42,123, found {text!r}")
    return seeds


def _cache_beside(registry: Path) -> Path:
    return registry.parent / "cache"


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Record], None]]:
    """Show how far it is; yields the function that is told of each record."""
    began, counted = time.monotonic(), Counter[str]()
    on_terminal = sys.stderr.isatty()
    with progress_bar("cells", total if on_terminal else 0) as advance:

        def report(record: Record) -> None:
            counted[record.status] += 1
            done = counted.total()
            if on_terminal:
                advance(done)
            elif done == total or done * 20 // total > (done - 1) * 20 // total:
                rest = (time.monotonic() - began) / done * (total - done)
                left = f"; about {_duration(rest)} left" if done < total else ""
                others = "".join(
                    f", {counted[status]} {title}"
                    for status, title in (("failed", "failed"), ("not_applicable", "not applicable"))
                    if counted[status]
                )
                note(f"{done} of {total} cells{others}{left}")

        yield report


@contextmanager
def _late_progress() -> Iterator[tuple[Callable[[int], None], Callable[[Record], None]]]:
    """Show progress of a number of cells that is known only when work begins; yields what starts it, what reports."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        reports: list[Callable[[Record], None]] = []

        def start(total: int) -> None:
            reports.append(stack.enter_context(_progress(total)))

        yield start, lambda record: reports[0](record)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _counts(records: Sequence[Record]) -> str:
    counted = Counter(record.status for record in records)
    return f"{counted['done']} done, {counted['failed']} failed, {counted['not_applicable']} not applicable"


def _tell_failures(records: Sequence[Record]) -> None:
    failed = [record for record in records if record.status == "failed"]
    for record in failed[:_SHOWN_FAILURES]:
        note(f"failed: {describe(record.spec)}: {record.error}")
    if len(failed) > _SHOWN_FAILURES:
        note(f"and {len(failed) - _SHOWN_FAILURES} more failed; the registry says why")


def _result(records: Sequence[Record]) -> str:
    from harness.reports.tables import Table

    header = (
        "cell",
        "rows are",
        "attacked",
        "clean PR-AUC",
        "robust PR-AUC",
        "flipped",
        "feasible flips",
        "success",
        "feasible",
        "queries a row",
        "seconds",
    )
    rows, notes = [], []
    for record in records:
        cell = record.spec
        name = f"{cell.dataset}/{cell.model}/{cell.attack}/{cell.protocol}"
        if record.measured is None:
            rows.append((name, record.status.replace("_", " "), *["-"] * (len(header) - 2)))
            if record.status == "not_applicable":
                notes.append(f"{name}: {record.error}")
            continue
        metrics: dict[str, Any] = record.measured.metrics
        attack, blanks = metrics["attack"], record.measured.blanks
        rows.append(
            (
                name,
                record.measured.provenance,
                str(attack["attacked"]),
                _number(metrics["clean"]["average_precision"]),
                _number(metrics["robust"]["average_precision"]) + (" *" if metrics["robust"]["saturated"] else ""),
                str(attack["flipped"]),
                str(attack["feasible_flipped"]),
                _number(attack["success_rate"]),
                _number(attack["feasibility"]),
                _number(attack["queries_per_row"], 0),
                _number(record.runtime_s, 1),
            )
        )
        notes += [f"{name}: no success rate: {blanks[key]}" for key in ["attack.success_rate"] if key in blanks]
        notes += [f"{name}: {flag}: {detail}" for flag, detail in record.measured.flags.items()]
    if any(" *" in row[4] for row in rows):
        notes.append("*: as low as a robust PR-AUC can get with so much fraud; it tells attacks no longer apart.")
    return Table("Cells", header, tuple(rows), tuple(dict.fromkeys(notes))).as_text()


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
