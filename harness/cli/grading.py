"""The graders of the command line: deterministic judges told what the corpus keeps confidential, and models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.errors import RunError
from harness.models.config import ModelsConfig
from harness.models.contract import Role
from harness.models.session import Session
from harness.retrieval.corpus import Corpus
from harness.verdict import Grade, Grader
from judges import ConfidentialFact, DeterministicGrader, deterministic_grader
from judges.caller_audit import CallerAudit
from judges.kept import KeepingGrader
from judges.panel import Panel
from judges.semantic import SemanticJudge


def grader_for(*corpora: Corpus, retrieval: str = "bm25") -> DeterministicGrader:
    """Build the grader for episodes over these corpora."""
    facts = [
        ConfidentialFact.of(fact, document)
        for corpus in corpora
        for document in corpus.documents.values()
        for fact in document.facts
        if fact.confidential
    ]
    return deterministic_grader(facts, retrieval=retrieval)


@dataclass(frozen=True, slots=True)
class JudgedGrader:
    """Builds the grader of one episode: the deterministic one, and the models that judge what is left.

    Attributes
    ----------
    judges
        The names of the models, as they stand in verdicts.
    one_by_one
        Whether each assertion is asked in a call of its own.
    audits_callers
        Whether the models are asked about the caller, too.
    kept
        Grades that are there, for what the models are not asked about now.
    """

    grader: DeterministicGrader
    judges: tuple[str, ...]
    one_by_one: bool
    audits_callers: bool
    kept: Mapping[str, Grade]

    def __call__(self, session: Session) -> Grader:
        """Return the grader that asks the models of a session."""
        panel = Panel(tuple((name, session.client(Role.JUDGE, index)) for index, name in enumerate(self.judges)))
        grader = replace(self.grader, semantic=SemanticJudge(panel, one_by_one=self.one_by_one))
        if self.audits_callers:
            grader = replace(grader, judges=(*grader.judges, CallerAudit(panel)))
        return KeepingGrader(grader, self.kept)


def judged_grader(
    grader: DeterministicGrader,
    models: ModelsConfig,
    *,
    one_by_one: bool = False,
    audits_callers: bool = False,
    kept: Mapping[str, Grade] | None = None,
) -> JudgedGrader | None:
    """Return the grader with the models that judge; None if none does.

    Raises
    ------
    RunError
        If something is asked of models that judge, and none does.
    """
    if not models.judge:
        if audits_callers or one_by_one:
            option = "--audit-callers" if audits_callers else "--one-by-one"
            raise RunError(f"{option} is for models that judge, and there is none: name one with --judge")
        return None
    return JudgedGrader(grader, judge_names(models), one_by_one, audits_callers, kept or {})


def judge_names(models: ModelsConfig) -> tuple[str, ...]:
    """Name the models that judge; those of one name are numbered."""
    counts = Counter(judge.model for judge in models.judge)
    seen: Counter[str] = Counter()
    names = []
    for judge in models.judge:
        seen[judge.model] += 1
        names.append(judge.model if counts[judge.model] == 1 else f"{judge.model} ({seen[judge.model]})")
    return tuple(names)
