"""Recorded traffic that stands in for a provider: the same questions get the same answers, and others none.

A call is found by its episode, by the digest of everything asked, and by how often the episode had asked the same
before. What it cost, the tries that failed and the fault that it may have ended with are those of the recording.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from domains.kit.json import canonical
from harness.errors import DataError
from harness.models import faults
from harness.models.contract import ChatMessage
from harness.models.faults import ModelFault, NotRecorded
from harness.models.record import EpisodeCalls, Fault, ModelCall

FOLDER: Final = "cassette"
FILE: Final = "calls.jsonl"

_MAX_LINE_BYTES: Final = 256 * 1024 * 1024
_SHOWN: Final = 160

_START: Final = re.compile(rb'\{"schema_version":1,"episode_id":("(?:[^"\\]|\\.)*")')
"""How a line begins that `EpisodeCalls` has written."""


class Cassette:
    """The recorded calls of a run. Only where each episode lies is kept in memory.

    Parameters
    ----------
    path
        A run folder, its cassette folder, or the file.

    Raises
    ------
    DataError
        Naming file and line: if there is nothing recorded, or a line belongs to no episode.
    """

    def __init__(self, path: Path) -> None:
        self._file = _find(path)
        self._places = _places(self._file)

    def episode(self, episode_id: str) -> RecordedEpisode:
        """Read the calls of one episode.

        Raises
        ------
        NotRecorded
            If there are none.
        DataError
            Naming file, line and key: if they cannot be read.
        """
        place = self._places.get(episode_id)
        if place is None:
            raise NotRecorded(
                f"{self._file}: expected calls of the episode {episode_id}, found none. "
                "Replay with the scenarios, agent and trials of the recorded run."
            )
        with self._file.open("rb") as stream:
            stream.seek(place.offset)
            raw = stream.readline()
        try:
            return RecordedEpisode(self._file, EpisodeCalls.model_validate_json(raw, strict=True))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "line"
            found = f"{first['input']!r:.80}"
            raise DataError(str(self._file), f"line {place.number}, {where}", first["msg"], found) from None


class RecordedEpisode:
    """The recorded calls of one episode.

    Parameters
    ----------
    file
        Where they come from, for messages.
    recorded
        The calls.
    """

    def __init__(self, file: Path, recorded: EpisodeCalls) -> None:
        self._file = file
        self._episode_id = recorded.episode_id
        self._calls = recorded.calls

    def find(self, wanted: ModelCall, messages: Sequence[ChatMessage]) -> ModelCall:
        """Return the recorded call that asked the same.

        Parameters
        ----------
        wanted
            The call, without its outcome.
        messages
            All messages of the call.

        Raises
        ------
        NotRecorded
            If there is none; it shows the nearest and where the two part.
        """
        same = [call for call in self._calls if (call.role, call.index) == (wanted.role, wanted.index)]
        for call in same:
            if (call.key, call.occurrence) == (wanted.key, wanted.occurrence):
                return call
        raise NotRecorded(
            f"{self._file}: {self._episode_id} did not ask this when it was recorded ({wanted.purpose}). "
            + _nearest(same, wanted, messages)
        )


def fault_of(recorded: Fault) -> ModelFault:
    """Return the fault that a recorded call ended with."""
    kind = getattr(faults, recorded.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, ModelFault)):
        return ModelFault(recorded.message)
    return kind(recorded.message)


def _nearest(calls: Sequence[ModelCall], wanted: ModelCall, messages: Sequence[ChatMessage]) -> str:
    """Name the recorded call that is most like another, and say where the two part."""
    if not calls:
        return f"Nothing is recorded of its {wanted.role.value} {wanted.index}."

    def closeness(pair: tuple[ModelCall, tuple[ChatMessage, ...]]) -> tuple[int, bool, int, int]:
        call, recorded = pair
        is_same = call.purpose == wanted.purpose
        return _common(recorded, messages), is_same, -abs(len(recorded) - len(messages)), call.occurrence

    nearest, recorded = max(zip(calls, _whole(calls), strict=True), key=closeness)
    return f"The nearest recorded call is {nearest.purpose}: {_parting(nearest, recorded, wanted, messages)}"


def _whole(calls: Sequence[ModelCall]) -> list[tuple[ChatMessage, ...]]:
    """Put the messages of each call together again."""
    whole: list[tuple[ChatMessage, ...]] = []
    for call in calls:
        before = whole[-1] if whole else ()
        whole.append((*before[: call.sent.known_messages], *call.sent.messages))
    return whole


def _common(ours: Sequence[ChatMessage], theirs: Sequence[ChatMessage]) -> int:
    count = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        count += 1
    return count


def _parting(
    call: ModelCall, recorded: Sequence[ChatMessage], wanted: ModelCall, messages: Sequence[ChatMessage]
) -> str:
    """Say where a recorded call and another part."""
    if call.sent.model != wanted.sent.model:
        return f"it was made of {call.sent.model}, this one of {wanted.sent.model}."
    place = _common(recorded, messages)
    if place < len(recorded) and place < len(messages):
        then, now = _differing(_shown(recorded[place]), _shown(messages[place]))
        return f"message {place + 1} was {then} and is {now}."
    if len(recorded) != len(messages):
        return f"it had {len(recorded)} messages, this one has {len(messages)}; the first {place} are the same."
    if call.key == wanted.key:
        return f"it was asked {call.occurrence + 1} times, and is asked once more now."
    return "its messages are the same; its tools, its parameters or the schema of its answer differ."


def _shown(message: ChatMessage) -> str:
    calls = [[call.name, call.arguments] for call in message.tool_requests]
    beside = f" {canonical(calls)}" if calls else ""
    return f"{message.speaker.value}: {message.text}{beside}"


def _differing(then: str, now: str) -> tuple[str, str]:
    """Cut two texts to where they part."""
    part = next(
        (place for place, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), min(len(then), len(now))
    )
    start = max(0, part - _SHOWN // 4)
    lead = "..." if start else ""
    return tuple(f"{lead + text[start : start + _SHOWN]!r}" for text in (then, now))  # type: ignore[return-value]


def _find(path: Path) -> Path:
    for file in (path, path / FILE, path / FOLDER / FILE):
        if file.is_file():
            return file
    raise DataError(str(path), "", f"a recorded run (with {FOLDER}/{FILE})", "none", "Record one with --record.")


class _Place(NamedTuple):
    """Where a line begins."""

    offset: int
    number: int


def _places(file: Path) -> Mapping[str, _Place]:
    places: dict[str, _Place] = {}
    offset = number = 0
    with file.open("rb") as stream:
        # A last line without an end was being written when the recording was cut off.
        while (raw := stream.readline(_MAX_LINE_BYTES + 1)).endswith(b"\n"):
            number += 1
            try:
                episode_id: str | None = json.loads(start[1]) if (start := _START.match(raw)) else None
            except ValueError:
                episode_id = None
            if episode_id is None:
                raise DataError(str(file), f"line {number}", "the calls of an episode", f"{raw[:60]!r}")
            # An episode that was cut off after its calls were kept has been played anew: the later line holds.
            places[episode_id] = _Place(offset, number)
            offset += len(raw)
    if len(raw) > _MAX_LINE_BYTES:
        raise DataError(str(file), f"line {number + 1}", f"at most {_MAX_LINE_BYTES} bytes", "more")
    return places
