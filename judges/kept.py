"""What models said of an episode before, kept when it is graded anew without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.episode.events import Event
from harness.scenario.instance import Instance
from harness.verdict import Grade, Stage, Verdict
from judges.caller_audit import STATEMENTS, CallerAudit
from judges.grade import DeterministicGrader
from judges.semantic import SemanticJudge


@dataclass(frozen=True, slots=True)
class KeepingGrader:
    """Grades anew, and takes what no model is asked about now from the grades that are there.

    The conversations are the same, so what was said of a statement holds as long as the statement is the same.

    Attributes
    ----------
    grader
        Grades everything else.
    kept
        The grades that are there.
    """

    grader: DeterministicGrader
    kept: Mapping[str, Grade]

    def grade(self, episode_id: str, instance: Instance, events: Sequence[Event]) -> Grade:
        """Grade one stored episode."""
        grader, kept = self.grader, self.kept.get(episode_id)
        if kept is not None:
            audit = tuple(verdict for verdict in kept.verdicts if verdict.judge == CallerAudit.name)
            if audit and not any(judge.name == CallerAudit.name for judge in grader.judges):
                grader = replace(grader, judges=(*grader.judges, _Kept(CallerAudit.name, audit)))
            if grader.semantic is None and Stage.SEMANTIC in kept.stages:
                said = tuple(verdict for verdict in kept.verdicts if verdict.stage is Stage.SEMANTIC)
                grader = replace(grader, semantic=_Kept(SemanticJudge.name, said))
        return grader.grade(episode_id, instance, events)


class _Kept(NamedTuple):
    """Answers what was answered before, in the same words."""

    name: str
    verdicts: tuple[Verdict, ...]

    def judge(self, instance: Instance, events: Sequence[Event]) -> Sequence[Verdict]:
        """Return what was said of statements that are still the same."""
        asked = {f"assertion/{item.id}": item.text for item in instance.expect.assertions}
        asked |= {f"{CallerAudit.name}/{key}": statement for key, statement in STATEMENTS.items()}
        return [verdict for verdict in self.verdicts if asked.get(verdict.check) == verdict.statement]
