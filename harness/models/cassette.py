"""Recorded traffic that stands in for a provider: the same questions get the same answers, and others none.

A call is found by its episode, by the digest of everything asked, and by how often the episode had asked the same
before. What it cost, the tries that failed and the fault that it may have ended with are those of the recording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

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


class Cassette:
    """The recorded calls of a run.

    Parameters
    ----------
    path
        A run folder, its cassette folder, or the file.

    Raises
    ------
    DataError
        Naming file and line: if there is nothing recorded, or a line cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._file = _find(path)
        self._episodes = _read(self._file)

    def find(self, episode_id: str, wanted: ModelCall, messages: Sequence[ChatMessage]) -> ModelCall:
        """Return the recorded call that asked the same.

        Parameters
        ----------
        episode_id
            The episode that asks.
        wanted
            The call, without its outcome.
        messages
            All messages of the call.

        Raises
        ------
        NotRecorded
            If there is none; it shows the nearest and where the two part.
        """
        calls = self._episodes.get(episode_id)
        if calls is None:
            raise NotRecorded(
                f"{self._file}: expected calls of the episode {episode_id}, found none. "
                "Replay with the scenarios, agent and trials of the recorded run."
            )
        for call in calls:
            if (call.key, call.occurrence, call.role, call.index) == (
                wanted.key,
                wanted.occurrence,
                wanted.role,
                wanted.index,
            ):
                return call
        raise NotRecorded(
            f"{self._file}: {episode_id} did not ask this when it was recorded ({wanted.purpose}). "
            + self._nearest(calls, wanted, messages)
        )

    @staticmethod
    def _nearest(calls: Sequence[ModelCall], wanted: ModelCall, messages: Sequence[ChatMessage]) -> str:
        same_role = [call for call in calls if (call.role, call.index) == (wanted.role, wanted.index)]
        if not same_role:
            return f"Nothing is recorded of its {wanted.role.value} {wanted.index}."
        whole = dict(zip((call.purpose for call in same_role), _whole(same_role), strict=True))

        def closeness(call: ModelCall) -> tuple[int, bool, int]:
            recorded = whole[call.purpose]
            return _common(recorded, messages), call.purpose == wanted.purpose, -abs(len(recorded) - len(messages))

        nearest = max(same_role, key=closeness)
        parting = _parting(nearest, whole[nearest.purpose], wanted, messages)
        return f"The nearest recorded call is {nearest.purpose}: {parting}"


def fault_of(recorded: Fault) -> ModelFault:
    """Return the fault that a recorded call ended with."""
    kind = getattr(faults, recorded.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, ModelFault)):
        return ModelFault(recorded.message)
    return kind(recorded.message)


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
        return f"it was asked {call.occurrence + 1} times, and is asked for the {wanted.occurrence + 1}. time now."
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


def _read(file: Path) -> Mapping[str, tuple[ModelCall, ...]]:
    episodes: dict[str, tuple[ModelCall, ...]] = {}
    with file.open("rb") as stream:
        number = 0
        while raw := stream.readline(_MAX_LINE_BYTES + 1):
            number += 1
            if not raw.endswith(b"\n"):
                # Being written when the recording was cut off: half an episode.
                break
            try:
                line = EpisodeCalls.model_validate_json(raw, strict=True)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                place = ".".join(map(str, first["loc"])) or "line"
                raise DataError(str(file), f"line {number}, {place}", first["msg"], f"{first['input']!r:.80}") from None
            # An episode that was cut off after its calls were kept has been played anew: the later line holds.
            episodes[line.episode_id] = line.calls
    return episodes
