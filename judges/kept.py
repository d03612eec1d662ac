"""What models said of an episode before, kept when it is graded anew without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from harness.episode.events import Event
from harness.scenario.instance import Instance
from harness.verdict import Grade, Stage, Verdict
from judges.grade import DeterministicGrader
from judges.semantic import SemanticJudge


@dataclass(frozen=True, slots=True)
class KeepingGrader:
    """Grades anew, and takes the verdicts of models from the grades that are there.

    The conversations are the same, so what was said of a statement holds as long as the statement is the same.

    Attributes
    ----------
    grader
        Grades everything else.
    kept
        The verdicts of models by episode; episodes without have none.
    """

    grader: DeterministicGrader
    kept: Mapping[str, tuple[Verdict, ...]]

    def grade(self, episode_id: str, instance: Instance, events: Sequence[Event]) -> Grade:
        """Grade one stored episode."""
        found = self.kept.get(episode_id)
        grader = self.grader if found is None else replace(self.grader, semantic=_Kept(found))
        return grader.grade(episode_id, instance, events)


def kept_verdicts(grades: Mapping[str, Grade]) -> dict[str, tuple[Verdict, ...]]:
    """Return the verdicts of models in some grades, by episode."""
    return {
        name: tuple(verdict for verdict in grade.verdicts if verdict.stage is Stage.SEMANTIC)
        for name, grade in grades.items()
        if Stage.SEMANTIC in grade.stages
    }


@dataclass(frozen=True, slots=True)
class _Kept:
    """Answers what was answered before, in the same words."""

    name: ClassVar = SemanticJudge.name

    verdicts: tuple[Verdict, ...]

    def judge(self, instance: Instance, events: Sequence[Event]) -> Sequence[Verdict]:
        """Return what was said of statements that are still the same."""
        asked = {f"assertion/{item.id}": item.text for item in instance.expect.assertions}
        return [verdict for verdict in self.verdicts if asked.get(verdict.check) == verdict.statement]
