"""What a run stores of its episodes: one JSON line each, and the strict reader of such lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.episode.events import FAULTS, Event, Stopped, StopReason
from harness.errors import RecordError
from harness.models.record import CallTiming, EpisodeCalls
from harness.orchestrator import state_digest
from harness.runs.secrets import redact
from harness.verdict import Grade

RECORD_SCHEMA_VERSION: Final = 1

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Far above what the default limits of an episode allow; a longer line is not one of ours."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = RECORD_SCHEMA_VERSION
    episode_id: str


class EpisodeRecord(_Line):
    """One finished episode.

    Attributes
    ----------
    agent_seed
        The seed that the agent was given.
    resample
        The seed of the instance.
    stop_reason, fault_detail
        As the last event has them.
    state_digest
        A digest of every touched row, as it ended.
    """

    scenario_id: str
    trial: int
    agent_seed: int
    resample: int
    stop_reason: StopReason
    fault_detail: str
    state_digest: str
    events: Annotated[tuple[Event, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ends(self) -> Self:
        last = self.events[-1]
        if not isinstance(last, Stopped) or (last.reason, last.detail) != (self.stop_reason, self.fault_detail):
            raise ValueError("expected the last event to be the stop that the record names")
        if any(event.id != place for place, event in enumerate(self.events)):
            raise ValueError("expected events numbered from 0 without a gap")
        return self

    @property
    def is_errored(self) -> bool:
        """Whether the episode says nothing about the agent's conduct."""
        return self.stop_reason in FAULTS


class GradeRecord(_Line):
    """The grade of one episode, or why grading failed; exactly one of both."""

    grade: Grade | None
    fault: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.grade is None) == (self.fault is None):
            raise ValueError("expected either a grade or a fault")
        if self.grade is not None:
            if self.grade.episode_id != self.episode_id:
                raise ValueError(f"expected the grade of {self.episode_id}, found that of {self.grade.episode_id}")
            if any(value is not None and not math.isfinite(value) for value in self.grade.facts.values()):
                raise ValueError("expected finite facts")
        return self


class Timing(_Line):
    """How long one episode took: on the clock, of its process' processor time, and in calls of models."""

    wall_s: float
    cpu_s: float
    model_calls: tuple[CallTiming, ...] = ()


ReadT = TypeVar("ReadT", EpisodeRecord, GradeRecord, Timing, EpisodeCalls)


class Identified(Protocol):
    """Whatever belongs to one episode."""

    @property
    def episode_id(self) -> str:
        """The episode's id."""
        ...


def episode_id(scenario_id: str, agent_name: str, trial: int) -> str:
    """Return the id of an episode; runs are compared by it. Trials count from 0."""
    return f"{scenario_id}/{agent_name}/{trial}"


def to_line(line: _Line, secrets: tuple[bytes, ...] = ()) -> bytes:
    """Write a record as one line, the line end included.

    Raises
    ------
    ValueError
        If it holds something that JSON cannot carry there and back (a lone surrogate, nesting without end), or is
        longer than a line may be.
    """
    raw = redact(line.model_dump_json().encode("utf-8"), secrets)
    if len(raw) >= MAX_LINE_BYTES:
        raise ValueError(f"expected a record of less than {MAX_LINE_BYTES} bytes, found {len(raw)}")
    # Reading nests less deeply than writing: a line that cannot be read back must not come into the file.
    type(line).model_validate_json(raw, strict=True)
    return raw + b"\n"


def unwritable(record: EpisodeRecord, problem: Exception) -> EpisodeRecord:
    """Return what is stored of an episode whose trajectory cannot be written: that it failed, and why."""
    detail = f"what the agent did cannot be written down: {type(problem).__name__}: {problem}"[:500]
    detail = detail.encode("utf-8", "replace").decode("utf-8")
    events = (Stopped(id=0, turn=0, reason=StopReason.AGENT_FAULT, detail=detail),)
    return record.model_copy(
        update={
            "stop_reason": StopReason.AGENT_FAULT,
            "fault_detail": detail,
            "state_digest": state_digest(events),
            "events": events,
        }
    )


def read_lines(path: Path, kind: type[ReadT], *, repeats: bool = False) -> Iterator[ReadT]:
    """Read a file of records one by one; a file that is not there holds none.

    A last line without its end was being written when the run was cut off. It counts as not written.

    Raises
    ------
    RecordError
        Naming file and line: if a line is too long, malformed, of another version, or, unless it `repeats`, of an
        episode that has one.
    """
    return (line for _, line in placed_lines(path, kind, repeats=repeats))


def placed_lines(path: Path, kind: type[ReadT], *, repeats: bool = False) -> Iterator[tuple[int, ReadT]]:
    """Read as `read_lines` does, and say at which byte each line begins."""
    seen: set[str] = set()
    place = 0
    for number, raw in _raw_lines(path):
        try:
            line = kind.model_validate_json(raw, strict=True)
        except ValidationError as error:
            raise _unreadable(path, f"line {number}", raw, error) from None
        if line.episode_id in seen and not repeats:
            raise RecordError(str(path), f"line {number}", "each episode once", f"{line.episode_id} again")
        seen.add(line.episode_id)
        yield place, line
        place += len(raw)


def read_line(path: Path, kind: type[ReadT], place: int) -> ReadT:
    """Read the one record that begins at a place of a file.

    Raises
    ------
    RecordError
        Naming the file: if there is none.
    """
    try:
        with path.open("rb") as stream:
            stream.seek(place)
            raw = stream.readline(MAX_LINE_BYTES + 1)
    except OSError as error:
        raise RecordError(str(path), "", "a readable file", error.strerror or str(error)) from None
    try:
        return kind.model_validate_json(raw, strict=True)
    except ValidationError as error:
        raise _unreadable(path, f"byte {place}", raw, error) from None


def lines_by_end(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file of episodes as they are, each with the reason for which the episode ended.

    Raises
    ------
    RecordError
        If a line is too long, or is no episode.
    """
    for number, raw in _raw_lines(path):
        try:
            yield str(json.loads(raw)["stop_reason"]), raw
        except (ValueError, LookupError, TypeError, RecursionError):
            raise RecordError(str(path), f"line {number}", "an episode", "something else") from None


def intact_bytes(path: Path) -> int:
    """Return the length of a file of lines without a torn last line.

    Raises
    ------
    RecordError
        If a line is too long.
    """
    return sum(len(raw) for _, raw in _raw_lines(path))


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordError(str(path), "", "a readable file", error.strerror or str(error)) from None
    with stream:
        number = 0
        while raw := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(raw) > MAX_LINE_BYTES:
                raise RecordError(str(path), f"line {number}", f"at most {MAX_LINE_BYTES} bytes", "more")
            if raw.endswith(b"\n"):
                yield number, raw


def _unreadable(path: Path, place: str, raw: bytes, error: ValidationError) -> RecordError:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return RecordError(str(path), place, "one JSON object", "something else", "The file was changed or damaged.")
    written = found.get("schema_version") if isinstance(found, dict) else None
    if written != RECORD_SCHEMA_VERSION:
        return RecordError(
            str(path),
            place,
            f"a record of version {RECORD_SCHEMA_VERSION}",
            f"version {written!r:.40}",
            "Read it with the fraudbench that wrote it.",
        )
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"])) or "record"
    expected = first["msg"].removeprefix("Value error, ").removeprefix("expected ")
    return RecordError(str(path), f"{place}, {field}", expected, f"{first['input']!r:.80}")
