"""The record of every cell that was computed: one JSON line each, appended and never changed.

A run that was cut off loses nothing but the cell it was in: a last line without its end counts as not written. Cells
that failed are in here, too, and are tried again by the next run; the last line of a cell is the one that counts.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from tabular_bench.budget import Budget
from tabular_bench.cell import CellSpec
from tabular_bench.errors import InputError, NotApplicable, TabularError

Status = Literal["done", "failed", "not_applicable"]

FORMAT: Final = 1
MAX_LINE_BYTES: Final = 4 * 2**20
LIBRARIES: Final = ("fraudbench", "numpy", "scipy", "scikit-learn", "torch", "xgboost-cpu", "xgboost")

_log = logging.getLogger(__name__)


class Measured(BaseModel):
    """What a computed cell yields.

    Attributes
    ----------
    provenance
        ``generated``, ``real`` or ``packaged``: where the rows come from.
    hashes
        By what they are of (``dataset``, ``detector``): digests.
    threshold
        The decision threshold that was used.
    threshold_rule
        By which rule it was chosen.
    metrics
        Numbers by name, in groups; None where there is none.
    blanks
        By name, why a number is None.
    failed_constraints
        How many attacked rows fail each family of checks and each relation.
    flags
        What disqualifies the detector, if anything: name and detail.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    provenance: Literal["generated", "real", "packaged"]
    hashes: dict[str, str]
    threshold: float
    threshold_rule: str
    metrics: dict[str, JsonValue]
    blanks: dict[str, str] = Field(default_factory=dict)
    failed_constraints: dict[str, int] = Field(default_factory=dict)
    flags: dict[str, str] = Field(default_factory=dict)

    @field_validator("metrics", "threshold")
    @classmethod
    def _is_finite(cls, value: Any) -> Any:
        for path, number in _numbers(value, "metrics"):
            if not math.isfinite(number):
                raise ValueError(f"{path}: expected a finite number, or None and a reason, found {number}")
        return value


class Record(BaseModel):
    """One line.

    Attributes
    ----------
    format
        Of the line.
    key
        `CellSpec.key`.
    cell
        `CellSpec.to_json`.
    status
        ``done``, ``failed`` or ``not_applicable``: attack, model and threat model do not go together.
    error
        Why it is not done.
    measured
        What was found; only if it is done.
    seed
        Of the cell.
    code
        `code_hash` of the code that computed it.
    versions
        Of Python and the libraries.
    started_at
        Seconds since 1970.
    runtime_s
        Wall time of the whole cell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = FORMAT
    key: str
    cell: dict[str, JsonValue]
    status: Status
    error: str | None = None
    measured: Measured | None = None
    seed: int
    code: str
    versions: dict[str, str]
    started_at: float
    runtime_s: float

    @property
    def spec(self) -> CellSpec:
        """The cell."""
        described: dict[str, Any] = dict(self.cell)
        return CellSpec(**{**described, "budget": Budget(**described["budget"])})


class Registry:
    """A file of records, open for reading and appending; to be used in a ``with`` statement.

    Only one process at a time may have it open. A last line that was not finished is cut away.

    Parameters
    ----------
    path
        The file; it is made if it is not there.

    Raises
    ------
    InputError
        If another process has it open, it cannot be written to, or a line is malformed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InputError(f"{path}: cannot be written to: {error.strerror}") from None
        try:
            self._lock()
            self._latest = {record.key: record for record in read_records(path)}
            self._cut_torn_line()
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def latest(self, cell: CellSpec) -> Record | None:
        """Return the last record of a cell, None if it has none.

        Parameters
        ----------
        cell
            The one that is asked for.
        """
        return self._latest.get(cell.key)

    def pending(
        self, cells: Iterable[CellSpec], code: str, is_current: Callable[[Record], bool] = lambda record: True
    ) -> list[CellSpec]:
        """Return the cells that this code has not finished, each once, in their order.

        What other code computed is another number and has to be computed again.

        Parameters
        ----------
        cells
            Of a grid.
        code
            The `code_hash` of now.
        is_current
            Tells of a finished record whether it was computed from what a cell would be computed from now.
        """
        waiting = {}
        for cell in cells:
            record = self._latest.get(cell.key)
            if record is None or record.status == "failed" or record.code != code or not is_current(record):
                waiting[cell.key] = cell
        return list(waiting.values())

    def append(self, record: Record) -> None:
        """Write a record; it is on disk when this returns.

        Parameters
        ----------
        record
            Of one cell.

        Raises
        ------
        InputError
            If it is too long, or the disk does not take it; what was complete before stays complete.
        """
        line = json.dumps(record.model_dump(mode="json"), allow_nan=False, separators=(",", ":")).encode() + b"\n"
        if len(line) > MAX_LINE_BYTES:
            raise InputError(f"{self.path}: expected a record of at most {MAX_LINE_BYTES} bytes, found {len(line)}")
        before = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise InputError(f"{self.path}: cannot be written to: {error.strerror}") from None
        self._latest[record.key] = record

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{self.path}: another process writes to it; wait for it, or use another file") from None

    def _cut_torn_line(self) -> None:
        intact = sum(len(raw) for raw in _complete_lines(self.path))
        torn = os.fstat(self._file).st_size - intact
        if torn:
            _log.warning("%s: cut away a line that was not finished (%d bytes)", self.path, torn)
            os.ftruncate(self._file, intact)


def read_records(path: Path) -> Iterator[Record]:
    """Read the records of a file one by one, in the order in which they were written.

    Parameters
    ----------
    path
        The file. A last line without its end is passed over.

    Raises
    ------
    InputError
        Naming file and line: if the file cannot be read, or a line is too long, malformed or of another format.
    """
    for number, raw in enumerate(_complete_lines(path), 1):
        try:
            yield Record.model_validate_json(raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            told = f"{place}: {first['msg']}" if place else first["msg"]
            raise InputError(f"{path}: line {number}: expected a record of a cell: {told}") from None


def attempt(cell: CellSpec, compute: Callable[[CellSpec], Measured], code: str) -> Record:
    """Compute a cell; whatever goes wrong in it becomes its record and goes no further.

    Parameters
    ----------
    cell
        What to compute.
    compute
        Does so.
    code
        The `code_hash` of now.

    Returns
    -------
    Record
        Not yet written. Where cells run in processes of their own, this is what they return.
    """
    started_at, started = time.time(), time.perf_counter()
    status, error, measured = _outcome(cell, compute)
    return Record(
        key=cell.key,
        cell=cell.to_json(),
        status=status,
        error=error,
        measured=measured,
        seed=cell.seed,
        code=code,
        versions=library_versions(),
        started_at=started_at,
        runtime_s=time.perf_counter() - started,
    )


def run_cells(
    cells: Iterable[CellSpec],
    compute: Callable[[CellSpec], Measured],
    registry: Registry,
    *,
    resume: bool = True,
    report: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Compute cells one after the other and record each as soon as it is there.

    Parameters
    ----------
    cells
        Of a grid.
    compute
        Computes one.
    registry
        Takes the records.
    resume
        Leave out what this code has finished already.
    report
        Is told of each record.

    Returns
    -------
    list[Record]
        Those that were computed now.

    Raises
    ------
    InputError
        If the registry cannot be written to. What happens inside a cell is recorded and not raised.
    """
    code = code_hash()
    waiting = registry.pending(cells, code) if resume else list({cell.key: cell for cell in cells}.values())
    records = []
    for cell in waiting:
        record = attempt(cell, compute, code)
        registry.append(record)
        report(record)
        records.append(record)
    return records


def code_hash() -> str:
    """Return a digest of the code and declarations of this package as they lie on disk, but for reports and presets.

    Reports read numbers and presets ask for them; neither has a part in them: a cell is not computed again because a
    table looks different, or because a grid was given another block.
    """
    root = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    files = (path for path in root.rglob("*") if path.suffix in (".py", ".toml"))
    for file in sorted(path for path in files if not {root / "reports", root / "presets"} & {*path.parents}):
        digest.update(f"{file.relative_to(root).as_posix()}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that results depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _outcome(cell: CellSpec, compute: Callable[[CellSpec], Measured]) -> tuple[Status, str | None, Measured | None]:
    try:
        return "done", None, compute(cell)
    except NotApplicable as error:
        return "not_applicable", str(error), None
    except TabularError as error:
        return "failed", str(error), None
    except Exception as error:  # noqa: BLE001 - the boundary of a cell: recorded, logged, and the grid goes on
        _log.exception("cell %s failed", cell.key)
        return "failed", f"{type(error).__name__}: {error}", None


def _complete_lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            number = 0
            while raw := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(raw) > MAX_LINE_BYTES:
                    raise InputError(f"{path}: line {number}: expected at most {MAX_LINE_BYTES} bytes")
                if raw.endswith(b"\n"):
                    yield raw
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _numbers(inner, f"{path}[{number}]")
