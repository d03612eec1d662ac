"""The grader of the command line: the deterministic judges, told what the corpus keeps confidential."""

from __future__ import annotations

from harness.retrieval.corpus import Corpus
from harness.verdict import Grader
from judges import deterministic_grader


def grader_for(*corpora: Corpus, retrieval: str = "bm25") -> Grader:
    """Build the grader for episodes over these corpora."""
    facts = [
        fact
        for corpus in corpora
        for document in corpus.documents.values()
        for fact in document.facts
        if fact.confidential
    ]
    return deterministic_grader(facts, retrieval=retrieval)
