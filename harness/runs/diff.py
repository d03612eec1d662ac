"""The differences between two runs, episode by episode. How long things took is no difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from pydantic import BaseModel

from domains.kit.json import canonical
from harness.runs.config import differences
from harness.runs.folder import RunFolder
from harness.runs.record import EpisodeRecord, GradeRecord

_WIDTH: Final = 160

_MISSING: Final = "nothing"


@dataclass(frozen=True, slots=True)
class RunDiff:
    """What two runs differ in.

    Attributes
    ----------
    config
        Differing conditions, with both values.
    only_first, only_second
        Ids of episodes that one run has and the other has not.
    episodes, grades
        By episode id: the first place in which the trajectories, or the grades, differ, with both values.
    """

    config: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    episodes: Mapping[str, str]
    grades: Mapping[str, str]

    @property
    def is_empty(self) -> bool:
        """Whether there is no difference."""
        return not (self.config or self.only_first or self.only_second or self.episodes or self.grades)

    def lines(self) -> list[str]:
        """Return the differences as text, one a line."""
        return [
            *(f"configuration: {line}" for line in self.config),
            *(f"{episode}: only in the first run" for episode in self.only_first),
            *(f"{episode}: only in the second run" for episode in self.only_second),
            *(f"{episode}: {place}" for episode, place in self.episodes.items()),
            *(f"{episode}: grade: {place}" for episode, place in self.grades.items()),
        ]


def diff_runs(first: RunFolder, second: RunFolder) -> RunDiff:
    """Compare two runs.

    Raises
    ------
    RecordError
        If a file of one of them cannot be read.
    """
    ours = {record.episode_id: record for record in first.records()}
    theirs = {record.episode_id: record for record in second.records()}
    both = sorted(ours.keys() & theirs.keys())
    our_grades, their_grades = first.grades(), second.grades()
    episodes = {name: _episode_difference(ours[name], theirs[name]) for name in both}
    grades = {name: _grade_difference(our_grades.get(name), their_grades.get(name)) for name in both}
    return RunDiff(
        config=tuple(differences(first.config, second.config)),
        only_first=tuple(sorted(ours.keys() - theirs.keys())),
        only_second=tuple(sorted(theirs.keys() - ours.keys())),
        episodes={name: place for name, place in episodes.items() if place is not None},
        grades={name: place for name, place in grades.items() if place is not None},
    )


def _episode_difference(ours: EpisodeRecord, theirs: EpisodeRecord) -> str | None:
    """Return the first differing event and the field in it; the rest of a record only where all events agree."""
    for place, (left, right) in enumerate(zip_longest(ours.events, theirs.events)):
        if left != right:
            return _first_difference(_plain(left), _plain(right), f"event {place}")
    return _first_difference(ours.model_dump(mode="json"), theirs.model_dump(mode="json"), "record")


def _grade_difference(ours: GradeRecord | None, theirs: GradeRecord | None) -> str | None:
    return _first_difference(_plain(ours), _plain(theirs), "")


def _plain(model: BaseModel | None) -> Any:
    return None if model is None else model.model_dump(mode="json")


def _first_difference(ours: Any, theirs: Any, path: str) -> str | None:
    if canonical(ours) == canonical(theirs):
        return None
    if isinstance(ours, dict) and isinstance(theirs, dict):
        pairs = [(name, ours.get(name), theirs.get(name)) for name in dict.fromkeys([*ours, *theirs])]
    elif _are_lists(ours, theirs):
        pairs = [(str(place), left, right) for place, (left, right) in enumerate(zip_longest(ours, theirs))]
    else:
        return f"{path}: {_shown(ours)} and {_shown(theirs)}".removeprefix(": ")
    found = (_first_difference(left, right, f"{path}/{name}") for name, left, right in pairs)
    # A key that one side lacks where the other has null differs, although no value does.
    return next((place for place in found if place is not None), f"{path}: {_shown(ours)} and {_shown(theirs)}")


def _are_lists(ours: Any, theirs: Any) -> bool:
    return (
        isinstance(ours, Sequence)
        and isinstance(theirs, Sequence)
        and not isinstance(ours, str)
        and type(ours) is type(theirs)
    )


def _shown(value: Any) -> str:
    if value is None:
        return _MISSING
    text = canonical(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
