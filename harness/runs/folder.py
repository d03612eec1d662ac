"""The folder of a run: who may write to it, and how nothing that is complete gets lost.

::

    run.json          the resolved configuration
    scenarios.json    the scenarios that are played, twins whole
    episodes.jsonl    one line an episode, in the order in which they ended
    grades.jsonl      one line a graded episode
    timings.jsonl     wall and processor time, apart so that everything else repeats byte for byte
    grading-*.jsonl   grades of a grading with models that was cut off, to go on with
    model_calls.jsonl one line an episode that called models: what was sent and what came back, long texts cut
    cassette/         with --record: the same whole, to play the run again without a provider
    lock              held while a process writes

A line counts once its line end is on disk. A line that was cut off is half an episode, which will be played again:
a resumed run cuts it away and keeps no copy.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from itertools import count
from multiprocessing.util import register_after_fork
from pathlib import Path
from typing import Final, NamedTuple, Self

from pydantic import ValidationError

from harness.episode.events import StopReason
from harness.errors import RecordError, RunError
from harness.models import cassette
from harness.models.record import EpisodeCalls
from harness.runs.config import RUN_SCHEMA_VERSION, RunConfig, differences
from harness.runs.record import (
    EpisodeRecord,
    GradeRecord,
    Timing,
    intact_bytes,
    lines_by_end,
    placed_lines,
    read_line,
    read_lines,
)
from harness.runs.scenarios import read_scenarios, write_scenarios
from harness.scenario.files import Library
from harness.scenario.model import Scenario

CONFIG: Final = "run.json"
SCENARIOS: Final = "scenarios.json"
EPISODES: Final = "episodes.jsonl"
GRADES: Final = "grades.jsonl"
TIMINGS: Final = "timings.jsonl"
MODEL_CALLS: Final = "model_calls.jsonl"
CASSETTE: Final = f"{cassette.FOLDER}/{cassette.FILE}"
LOCK: Final = "lock"

_LINES: Final = (EPISODES, GRADES, TIMINGS)
_MODEL_LINES: Final = (MODEL_CALLS, CASSETTE)
_BEFORE_CONFIG: Final = frozenset({LOCK, SCENARIOS, f"{SCENARIOS}.new", f"{CONFIG}.new"})
"""What a start that was cut off may have left. The configuration comes last: where it is, there is a run."""

_MAX_CONFIG_BYTES: Final = 16 * 1024 * 1024

_log = logging.getLogger(__name__)


class Stored(NamedTuple):
    """Where a stored episode lies."""

    episode_id: str
    file: Path
    place: int

    def read(self) -> EpisodeRecord:
        """Read it.

        Raises
        ------
        RecordError
            If it is not there any more.
        """
        return read_line(self.file, EpisodeRecord, self.place)


class RunFolder:
    """A run as it lies on disk, for reading.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    RecordError
        If it is not the folder of a run, or of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = _read_config(path)

    def library(self) -> Library:
        """Return the scenarios as they were played.

        Raises
        ------
        RecordError
            If they cannot be read, or are others.
        """
        return read_scenarios(self.path / SCENARIOS, self.config.scenarios_hash)

    def records(self) -> Iterator[EpisodeRecord]:
        """Read the episodes one by one, in the order in which they ended.

        Raises
        ------
        RecordError
            Naming file and line of the first that cannot be read.
        """
        return read_lines(self.path / EPISODES, EpisodeRecord)

    def stored(self) -> Iterator[tuple[Stored, EpisodeRecord]]:
        """Read the episodes one by one, each with where it lies, so that it need not be kept in memory.

        Raises
        ------
        RecordError
            Naming file and line of the first that cannot be read.
        """
        for place, record in placed_lines(self.path / EPISODES, EpisodeRecord):
            yield Stored(record.episode_id, self.path / EPISODES, place), record

    def record(self, episode: str) -> EpisodeRecord:
        """Return one episode.

        Raises
        ------
        RunError
            If the run has no such episode.
        """
        for record in self.records():
            if record.episode_id == episode:
                return record
        raise RunError(f"{self.path}: expected the id of an episode that was played, found {episode!r}")

    def grades(self) -> dict[str, GradeRecord]:
        """Read the grades, by episode id.

        Raises
        ------
        RecordError
            Naming file and line of the first that cannot be read.
        """
        return {line.episode_id: line for line in read_lines(self.path / GRADES, GradeRecord)}

    def timings(self) -> Iterator[Timing]:
        """Read the timings one by one; what was done again, grading for one, is there again.

        Raises
        ------
        RecordError
            Naming file and line of the first that cannot be read.
        """
        return read_lines(self.path / TIMINGS, Timing, repeats=True)

    def model_calls(self) -> Iterator[EpisodeCalls]:
        """Read the calls of models, one line an episode; what was done again is there again.

        Raises
        ------
        RecordError
            Naming file and line of the first that cannot be read.
        """
        return read_lines(self.path / MODEL_CALLS, EpisodeCalls, repeats=True)


class RunWriter:
    """The one writer of a run folder. Use it in a ``with`` block; it holds the folder's lock.

    Parameters
    ----------
    path
        The folder. It must exist.

    Raises
    ------
    RunError
        If another process writes to the folder, or it cannot be written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, int] = {}
        self._lock = _acquire(path)
        # A forked worker must not keep the folder locked when this process is killed.
        register_after_fork(self, RunWriter.close)

    def open_lines(self) -> None:
        """Open the files of lines, torn last lines cut away.

        Raises
        ------
        RecordError
            If a file holds a line that is too long.
        RunError
            If a file cannot be opened or repaired.
        """
        present = [name for name in _MODEL_LINES if (self.path / name).exists()]
        for name in (*_LINES, *present):
            self._open(name)
        _sync_folder(self.path)

    def _open(self, name: str) -> None:
        path = self.path / name
        intact = intact_bytes(path)
        try:
            self._files[name] = file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            torn = os.fstat(file).st_size - intact
            if torn:
                _log.warning("%s: cut away a line that was not finished (%d bytes)", path, torn)
                os.ftruncate(file, intact)
        except OSError as error:
            raise _cannot_write(path, error) from error

    def drop_broken_off(self) -> None:
        """Take out the episodes that a provider broke off, to be played again; all others stay as they are.

        Raises
        ------
        RecordError
            If a line is no record.
        RunError
            If the file cannot be written anew.
        """
        path = self.path / EPISODES
        lines = [(stop_reason, raw) for stop_reason, raw in lines_by_end(path)]
        kept = [raw for stop_reason, raw in lines if stop_reason != StopReason.PROVIDER_FAULT]
        if len(kept) < len(lines):
            os.close(self._files.pop(EPISODES))
            _replace(path, b"".join(kept))
            self._open(EPISODES)

    def append_episode(self, line: bytes) -> None:
        """Write one line of the episodes; it is on disk when this returns.

        Raises
        ------
        RunError
            If the disk does not take it; what was complete before stays complete.
        """
        self._append(EPISODES, line, durable=True)

    def append_grade(self, line: bytes) -> None:
        """Write one line of the grades.

        Raises
        ------
        RunError
            If the disk does not take it; what was complete before stays complete.
        """
        self._append(GRADES, line, durable=False)

    def append_timing(self, line: bytes) -> None:
        """Write one line of the timings.

        Raises
        ------
        RunError
            If the disk does not take it; what was complete before stays complete.
        """
        self._append(TIMINGS, line, durable=False)

    def append_calls(self, line: bytes, whole: bytes | None) -> None:
        """Write the calls of an episode's models: shortened, and whole where they are recorded.

        Raises
        ------
        RunError
            If the disk does not take it; what was complete before stays complete.
        """
        for name, text in ((MODEL_CALLS, line), (CASSETTE, whole)):
            if text is None:
                continue
            if name not in self._files:
                try:
                    (self.path / name).parent.mkdir(exist_ok=True)
                except OSError as error:
                    raise _cannot_write(self.path / name, error) from error
                self._open(name)
            self._append(name, text, durable=False)

    def append_part(self, part: str, line: bytes) -> None:
        """Write one grade of a grading that is under way.

        Parameters
        ----------
        part
            Its file in the folder.
        line
            The grade.

        Raises
        ------
        RunError
            If the disk does not take it; what was complete before stays complete.
        """
        if part not in self._files:
            self._open(part)
        self._append(part, line, durable=False)

    def end_part(self, part: str) -> None:
        """Remove the file of a grading that is complete."""
        if file := self._files.pop(part, None):
            os.close(file)
        (self.path / part).unlink(missing_ok=True)

    def replace_grades(self, lines: Iterable[bytes]) -> None:
        """Put new grades in the place of all old ones, or leave them as they are if that fails.

        Raises
        ------
        RunError
            If they cannot be written.
        """
        if file := self._files.pop(GRADES, None):
            os.close(file)
        _replace(self.path / GRADES, b"".join(lines))

    def close(self) -> None:
        """Close the files and give the lock back."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _append(self, name: str, line: bytes, *, durable: bool) -> None:
        file, rest = self._files[name], memoryview(line)
        before = os.fstat(file).st_size
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
            if durable:
                os.fsync(file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file, before)
            raise _cannot_write(self.path / name, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def create_run(path: Path, config: RunConfig, scenarios: Mapping[str, Scenario]) -> RunWriter:
    """Start a run in a new folder.

    Parameters
    ----------
    path
        The folder; it is made if it is not there.
    config
        What the run was asked to do.
    scenarios
        The scenarios that it plays, by id.

    Raises
    ------
    RunError
        If there is something in the folder already, or it cannot be written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        found = sorted(entry.name for entry in path.iterdir() if entry.name not in _BEFORE_CONFIG)
    except OSError as error:
        raise _cannot_write(path, error) from error
    if found:
        hint = "Continue that run with --resume, or choose another folder." if CONFIG in found else "Choose another."
        raise RunError(f"{path}: expected a new or empty folder, found {', '.join(found[:3])} in it. {hint}")
    writer = RunWriter(path)
    try:
        # Between the look above and the lock another process may have been faster.
        if (path / CONFIG).exists():
            raise RunError(f"{path}: expected a new or empty folder; another process has just begun a run in it")
        _replace(path / SCENARIOS, write_scenarios(scenarios))
        _replace(path / CONFIG, config.model_dump_json(indent=2).encode() + b"\n")
        writer.open_lines()
    except BaseException:
        writer.close()
        raise
    return writer


def resume_run(path: Path, config: RunConfig) -> RunWriter:
    """Go on with a run that was cut off.

    Raises
    ------
    RecordError
        If the folder holds no run, or one of another version.
    RunError
        If the run was started under another configuration (each difference is named), another process writes to
        it, or it cannot be written to.
    """
    found = differences(_read_config(path), config)
    if found:
        raise RunError(
            f"{path}: expected the configuration that the run was started with; it differs (then, and now):\n  "
            + "\n  ".join(found)
            + "\nResume with the old settings, or start a new run."
        )
    writer = RunWriter(path)
    try:
        writer.open_lines()
    except BaseException:
        writer.close()
        raise
    return writer


def default_folder(root: Path, agent: str, today: date) -> Path:
    """Return ``<root>/<date>-<agent>-<n>`` with the first number that is free."""
    name = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-")[:60] or "agent"
    return next(path for n in count(1) if not (path := root / f"{today.isoformat()}-{name}-{n}").exists())


def _read_config(path: Path) -> RunConfig:
    file = path / CONFIG
    try:
        with file.open("rb") as stream:
            raw = stream.read(_MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise RecordError(
            str(path), "", f"the folder of a run (with a {CONFIG})", error.strerror or str(error), "Check the path."
        ) from None
    if len(raw) > _MAX_CONFIG_BYTES:
        raise RecordError(str(file), "", f"at most {_MAX_CONFIG_BYTES} bytes", "more")
    try:
        return RunConfig.model_validate_json(raw, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/" + "/".join(map(str, first["loc"])) if first["loc"] else ""
        hint = "Read it with the fraudbench that wrote it." if place == "/schema_version" else ""
        expected = f"version {RUN_SCHEMA_VERSION}" if hint else first["msg"].removeprefix("Value error, ")
        raise RecordError(str(file), place, expected, f"{first['input']!r:.80}", hint) from None


def _acquire(path: Path) -> int | None:
    try:
        lock = os.open(path / LOCK, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _cannot_write(path / LOCK, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise RunError(f"{path}: another process is writing to this run. Wait for it to end, or end it.") from None
        raise _cannot_write(path / LOCK, error) from error
    return lock


def _replace(path: Path, content: bytes) -> None:
    """Write a whole file so that a reader finds the old or the new one, never a part."""
    draft = path.with_name(path.name + ".new")
    try:
        with draft.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise _cannot_write(path, error) from error


def _sync_folder(path: Path) -> None:
    """Bring new names in a folder to disk."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _cannot_write(path: Path, error: OSError) -> RunError:
    return RunError(
        f"{path}: cannot be written: {error.strerror or error}. Everything complete is kept; "
        "when there is room and permission, go on with --resume."
    )
