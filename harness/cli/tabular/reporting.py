"""`fraudbench tabular report` and `fraudbench tabular plot`: what recorded cells say, in tables and in pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from harness.cli.output import note, say

if TYPE_CHECKING:
    from tabular_bench.registry import Record
    from tabular_bench.reports.plots import FileFormat

DEFAULT_REGISTRY: Final = Path("runs/tabular/registry.jsonl")
DEFAULT_PICTURES: Final = Path("runs/tabular/pictures")

Registries = Annotated[
    list[Path] | None,
    typer.Argument(help=f"Registries of cells; {DEFAULT_REGISTRY} if there is none.", show_default=False),
]


def report(
    registries: Registries = None,
    format: Annotated[
        Literal["table", "markdown", "csv", "json"], typer.Option(help="For a terminal, or for another program.")
    ] = "table",
    table: Annotated[
        list[str] | None,
        typer.Option(help="Only this published table: II to X; may be given several times.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report to this file.", show_default=False)] = None,
) -> None:
    """Tables II to X from recorded cells, the published values beside ours, and whether the published findings hold."""
    from tabular_bench.reports.render import TERMINAL_WIDTH, render
    from tabular_bench.reports.report import make_report

    paths = registries or [DEFAULT_REGISTRY]
    wanted = [number.upper() for number in table or ()]
    made = make_report(_read(paths), [str(path) for path in paths], wanted)
    text = render(made, format, TERMINAL_WIDTH if out else _terminal_width())
    if out is None:
        say(text)
    else:
        _write(out, text)
        note(f"Report: {out}")
    note(f"Pictures of the same cells: fraudbench tabular plot {' '.join(map(str, paths))}")


def plot(
    registries: Registries = None,
    kind: Annotated[
        Literal["bars", "epsilon", "ranking", "all"],
        typer.Option(help="bars of protocols, curves over epsilon, rankings of models"),
    ] = "all",
    out: Annotated[Path, typer.Option(help="The folder for the pictures.")] = DEFAULT_PICTURES,
    format: Annotated[Literal["png", "svg", "both"], typer.Option(help="Of the files.")] = "both",
) -> None:
    """Pictures of recorded cells: protocols side by side, curves over epsilon, rankings of models."""
    from tabular_bench.errors import InputError
    from tabular_bench.reports.plots import KINDS, draw

    paths = registries or [DEFAULT_REGISTRY]
    kinds = KINDS if kind == "all" else (kind,)
    formats: tuple[FileFormat, ...] = ("png", "svg") if format == "both" else (format,)
    drawn = draw(_read(paths), out, kinds=kinds, formats=formats, origin=", ".join(path.name for path in paths))
    for path in drawn.files:
        say(str(path))
    for line in drawn.notes:
        note(line)
    if not drawn.files:
        raise InputError(f"there is nothing to draw in {', '.join(map(str, paths))}: {'; '.join(drawn.notes)}")
    note(f"Pictures in {out}: {len(drawn.files)}. Their numbers: fraudbench tabular report {' '.join(map(str, paths))}")


def _read(paths: list[Path]) -> list[list[Record]]:
    """Read registries.

    Raises
    ------
    InputError
        Naming file and line, if one cannot be read or holds no cell.
    """
    from tabular_bench.errors import InputError
    from tabular_bench.registry import read_records

    found = []
    for path in paths:
        if not path.exists():
            raise InputError(
                f"{path}: expected a registry of cells, found no such file; `fraudbench tabular grid` makes one"
            )
        records = list(read_records(path))
        if not records:
            raise InputError(f"{path}: expected at least one recorded cell from line 1 on, found none")
        found.append(records)
    return found


def _write(out: Path, text: str) -> None:
    from tabular_bench.errors import InputError

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: the report cannot be written: {error.strerror or error}") from None


def _terminal_width() -> int:
    """Return the columns of the terminal; enough for most tables where the output is no terminal."""
    import shutil
    import sys

    from tabular_bench.reports.render import TERMINAL_WIDTH

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else TERMINAL_WIDTH
