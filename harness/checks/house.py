"""Where scenarios are tried: a domain with its corpus and everything that is built once for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domains.kit.domain import Domain, load_domain
from harness.retrieval.conditions import Condition, make_condition
from harness.retrieval.corpus import Corpus, load_corpus
from harness.retrieval.padding import pad_corpus
from harness.verdict import Grader

CORPUS_SIZE: Final = 700
"""Documents in a full bank's corpus; the search for the deciding document is tried at this size."""

GraderFactory = Callable[[Corpus], Grader]
"""Builds the grader for a house; it is handed the corpus, whose confidential facts must not be told."""


@dataclass(frozen=True)
class House:
    """A domain with its corpus, ready to play scenarios.

    Attributes
    ----------
    condition
        Retrieval by BM25 over the corpus as it is.
    padded
        The same over the corpus filled up to the size of a full bank's.
    """

    domain: Domain
    corpus: Corpus
    condition: Condition
    padded: Condition
    grader: Grader


def furnish(domain_name: str, corpus_root: Path, make_grader: GraderFactory) -> House:
    """Load a domain with its corpus and build both indexes.

    Raises
    ------
    UnknownDomain
        If the domain is not installed.
    CorpusError
        If its corpus cannot be read.
    """
    domain = load_domain(domain_name)
    corpus = load_corpus(corpus_root, domain_name)
    padded = pad_corpus(corpus, max(CORPUS_SIZE, len(corpus.documents)))
    return House(
        domain=domain,
        corpus=corpus,
        condition=make_condition("bm25", corpus),
        padded=make_condition("bm25", padded),
        grader=make_grader(corpus),
    )
