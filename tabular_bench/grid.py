"""Grids: many cells from one TOML file, computed in worker processes and recorded in one registry.

A file has one or several blocks; each stands for every combination of its axes::

    [[grid]]
    datasets = ["lcld", "sparkov"]
    models = ["mlp", "xgboost"]
    attacks = ["capgd", "square(iterations=100)"]
    protocols = ["A", "B", "C1", "C2"]        # this and all that follows may be left out
    defences = ["none"]
    presets = ["strict"]
    threats = ["white_box"]
    attacked = ["positives"]
    epsilons = [0.1]
    seeds = [42]
    norm = "linf"
    max_switches = 1
    max_queries = 200                         # no limit by default
    max_rows = 500                            # every row by default
    trivial = true

With ``trivial`` the detectors that know nothing stand beside the models: under the block's attacks that need no
gradients, or else, once for each data set and seed, under noise, for the sake of their clean numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby, product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tabular_bench.attacks.catalogue import find_attack
from tabular_bench.budget import Budget, Norm
from tabular_bench.cell import Attacked, CellSpec
from tabular_bench.detectors.models import TRIVIAL_MODELS
from tabular_bench.errors import InputError, TabularError, UnknownName
from tabular_bench.protocol import ProtocolName
from tabular_bench.registry import Record, Registry, code_hash
from tabular_bench.runner import NAMED, Bench
from tabular_bench.workers import BenchSettings, compute_in_processes

PROTOCOLS: Final[tuple[ProtocolName, ...]] = ("A", "B", "C1", "C2")
PRESET_FOLDER: Final = Path(__file__).parent / "presets"
MAX_CELLS: Final = 100_000

_BASELINE_ATTACK: Final = "noise"
_MAX_BYTES: Final = 1_000_000

Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


class Block(BaseModel):
    """One block of a file; the module says what its axes are.

    Attributes
    ----------
    datasets, models, attacks, protocols, defences, presets, threats, attacked, epsilons, seeds
        The axes: as in `tabular_bench.cell.CellSpec` and its budget, but several.
    norm, max_switches, max_queries, max_rows
        The same for all cells of the block.
    trivial
        Whether the trivial detectors stand beside.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    datasets: Names
    models: Names
    attacks: Names
    protocols: tuple[ProtocolName, ...] = Field(default=PROTOCOLS, min_length=1)
    defences: Names = ("none",)
    presets: Names = ("strict",)
    threats: Names = ("white_box",)
    attacked: tuple[Attacked, ...] = Field(default=("positives",), min_length=1)
    epsilons: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...] = Field(default=(0.1,), min_length=1)
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(default=(42,), min_length=1)
    norm: Norm = "linf"
    max_switches: Annotated[int, Field(ge=0)] = 1
    max_queries: Annotated[int, Field(ge=1)] | None = None
    max_rows: Annotated[int, Field(ge=1)] | None = None
    trivial: bool = True

    def cells(self) -> Iterator[CellSpec]:
        """Yield every combination of the axes, and the trivial detectors beside them."""
        yield from self._combined()
        if self.trivial:
            yield from self._beside()._combined()

    def _beside(self) -> Block:
        beside = {"models": tuple(TRIVIAL_MODELS), "defences": ("none",), "threats": ("white_box",), "trivial": False}
        asked = tuple(attack for attack in self.attacks if find_attack(attack).access != "gradient")
        if asked:
            return self.model_copy(update=beside | {"attacks": asked})
        once = {name: getattr(self, name)[:1] for name in ("protocols", "presets", "attacked", "epsilons")}
        return self.model_copy(update=beside | once | {"attacks": (_BASELINE_ATTACK,)})

    def _combined(self) -> Iterator[CellSpec]:
        axes = product(
            self.datasets,
            self.seeds,
            self.models,
            self.defences,
            self.attacks,
            self.presets,
            self.threats,
            self.epsilons,
            self.attacked,
            self.protocols,
        )
        for dataset, seed, model, defence, attack, preset, threat, epsilon, attacked, protocol in axes:
            yield CellSpec(
                dataset,
                model,
                attack,
                protocol,
                defence=defence,
                preset=preset,
                threat=threat,
                budget=Budget(epsilon, self.norm, self.max_switches, self.max_queries),
                seed=seed,
                attacked=attacked,
                max_rows=self.max_rows,
            )


class Grid(BaseModel):
    """A whole file.

    Attributes
    ----------
    grid
        The blocks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    grid: Annotated[tuple[Block, ...], Field(min_length=1)]

    def cells(self) -> list[CellSpec]:
        """Return every cell once, those of one data set and one detector together.

        Data sets, seeds, models and defences come in the order of the file; A stands before B, which judges its rows.
        """
        found = {cell.key: cell for block in self.grid for cell in block.cells()}.values()
        order = [
            {name: place for place, name in enumerate(dict.fromkeys(values))}
            for values in (
                [cell.dataset for cell in found],
                [cell.seed for cell in found],
                [cell.model for cell in found],
                [cell.defence for cell in found],
            )
        ]

        def place(cell: CellSpec) -> tuple[Any, ...]:
            detector = (cell.dataset, cell.seed, cell.model, cell.defence)
            budget = cell.budget
            return (
                *(positions[name] for positions, name in zip(order, detector, strict=True)),
                (budget.norm, budget.epsilon, budget.max_switches, budget.max_queries or 0),
                (cell.attack, cell.preset, cell.threat, cell.attacked, cell.max_rows or 0, cell.protocol),
            )

        return sorted(found, key=place)

    def changed(self, *, seeds: Sequence[int] = (), max_rows: int | None = None) -> Grid:
        """Return the same grid with other seeds or fewer rows.

        Parameters
        ----------
        seeds
            Of every block; empty to leave them.
        max_rows
            At most so many rows are attacked in every block; None to leave it.
        """
        changes: dict[str, Any] = {"seeds": tuple(seeds)} if seeds else {}
        if max_rows is not None:
            changes["max_rows"] = max_rows
        return Grid(grid=tuple(block.model_copy(update=changes) for block in self.grid))


def preset_names() -> list[str]:
    """Return the names of the grids that come with the bench."""
    return sorted(path.stem for path in PRESET_FOLDER.glob("*.toml"))


def read_preset(name: str) -> Grid:
    """Read a grid that comes with the bench.

    Parameters
    ----------
    name
        One of `preset_names`.

    Raises
    ------
    UnknownName
        If there is none of that name.
    """
    if name not in preset_names():
        raise UnknownName("preset grid", name, preset_names())
    return read_grid(PRESET_FOLDER / f"{name}.toml")


def read_grid(path: Path) -> Grid:
    """Read a grid from a file.

    Parameters
    ----------
    path
        A TOML file of at most 1 MB.

    Raises
    ------
    InputError
        Naming the file and the place in it, if it cannot be read, says what cannot be, or names what there is not.
    """
    try:
        raw = path.read_bytes() if path.stat().st_size <= _MAX_BYTES else None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if raw is None:
        raise InputError(f"{path}: expected at most {_MAX_BYTES} bytes, found {path.stat().st_size}")
    try:
        return parse_grid(raw.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8, found byte {raw[error.start]:#x}") from None


def parse_grid(text: str, source: str) -> Grid:
    """Read a grid from text.

    Parameters
    ----------
    text
        TOML.
    source
        Named in messages.

    Raises
    ------
    InputError
        As `read_grid` does.
    """
    try:
        grid = Grid.model_validate(_tuples(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: {error}") from None
    except ValidationError as error:
        raise InputError(f"{source}: {_first_fault(error)}") from None
    for number, block in enumerate(grid.grid, 1):
        _check_block(block, f"{source}: grid {number}")
    return grid


def run_grid(
    cells: Iterable[CellSpec],
    registry_path: Path,
    *,
    workers: int = 1,
    resume: bool = True,
    data_root: Path | None = None,
    cache: Path | None = None,
    on_start: Callable[[int], None] = lambda waiting: None,
    on_record: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Compute cells in worker processes; each record is on disk before the next is waited for.

    This process alone writes to the registry. A cell that fails, or a worker that dies, is recorded, and the others go
    on. After Ctrl-C, or if the machine goes down, the same call computes what is missing.

    Parameters
    ----------
    cells
        Of a grid; those of one detector together, as `Grid.cells` has them.
    registry_path
        The file of records.
    workers
        How many processes, at least 1, each on one thread.
    resume
        Leave out what this code has finished already from the same rows, models and attacks.
    data_root, cache
        As in `tabular_bench.runner.Bench`.
    on_start
        Is told how many cells are to be computed.
    on_record
        Is told of each record.

    Returns
    -------
    list[Record]
        Those that were computed now.

    Raises
    ------
    InputError
        If the registry cannot be read or written to.
    KeyboardInterrupt
        On Ctrl-C, when all workers have ended.
    """
    bench, code = Bench(data_root), code_hash()
    records = []
    with Registry(registry_path) as registry:
        every = list({cell.key: cell for cell in cells}.values())
        waiting = registry.pending(every, code, bench.is_current) if resume else every
        on_start(len(waiting))
        settings = BenchSettings(data_root, cache, code)
        with closing(compute_in_processes(_batches(waiting), settings, workers)) as computed:
            for record in computed:
                registry.append(record)
                records.append(record)
                on_record(record)
    return records


def _batches(cells: Iterable[CellSpec]) -> list[list[CellSpec]]:
    """Group neighbours that share a detector."""
    return [
        list(batch) for _, batch in groupby(cells, lambda cell: (cell.dataset, cell.seed, cell.model, cell.defence))
    ]


def _tuples(value: Any) -> Any:
    """Turn lists into tuples, which is what strict models take."""
    if isinstance(value, dict):
        return {name: _tuples(inner) for name, inner in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    names = [str(part + 1) if isinstance(part, int) else part for part in first["loc"]]
    place = " ".join(names[:2]) + "".join(f": {name}" for name in names[2:]) if names else "the file"
    told = first["msg"].replace("Input should be", "expected").replace("tuple", "list")
    if first["type"] == "extra_forbidden":
        known = Block if len(names) > 1 else Grid
        return f"{place}: {UnknownName('field', names[-1], known.model_fields)}"
    if first["type"] == "missing":
        return f"{place}: expected this field, found none"
    return f"{place}: {told}, found {str(first['input'])[:80]!r}"


def _check_block(block: Block, place: str) -> None:
    """Refuse names that nothing has, one axis after the other, so that the message can say which."""
    axes = {f"{name}s": find for name, find in NAMED.items()}
    size = prod(len(getattr(block, axis)) for axis in (*axes, "protocols", "attacked", "epsilons", "seeds"))
    if size > MAX_CELLS:
        raise InputError(f"{place}: expected at most {MAX_CELLS} cells, found {size}")
    for axis, find in axes.items():
        for number, name in enumerate(getattr(block, axis), 1):
            try:
                find(name)
            except TabularError as error:
                raise InputError(f"{place}: {axis}: {number}: {error}") from None
