"""The graders of the command line: deterministic judges told what the corpus keeps confidential, and models."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from harness.models.config import ModelsConfig
from harness.models.contract import Role
from harness.models.session import Session
from harness.retrieval.corpus import Corpus
from harness.verdict import Grader
from judges import DeterministicGrader, deterministic_grader
from judges.semantic import SemanticJudge


def grader_for(*corpora: Corpus, retrieval: str = "bm25") -> DeterministicGrader:
    """Build the grader for episodes over these corpora."""
    facts = [
        fact
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
    """

    grader: DeterministicGrader
    judges: tuple[str, ...]
    one_by_one: bool

    def __call__(self, session: Session) -> Grader:
        """Return the grader that asks the models of a session."""
        clients = [(name, session.client(Role.JUDGE, index)) for index, name in enumerate(self.judges)]
        return replace(self.grader, semantic=SemanticJudge(clients, one_by_one=self.one_by_one))


def judged_grader(grader: DeterministicGrader, models: ModelsConfig, *, one_by_one: bool) -> JudgedGrader | None:
    """Return the grader with the models that judge; None if none does."""
    if not models.judge:
        return None
    return JudgedGrader(grader, judge_names(models), one_by_one)


def judge_names(models: ModelsConfig) -> tuple[str, ...]:
    """Name the models that judge; those of one name are numbered."""
    counts = Counter(judge.model for judge in models.judge)
    seen: Counter[str] = Counter()
    names = []
    for judge in models.judge:
        seen[judge.model] += 1
        names.append(judge.model if counts[judge.model] == 1 else f"{judge.model} ({seen[judge.model]})")
    return tuple(names)
