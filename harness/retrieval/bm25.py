"""BM25 over titles and texts.

rank_bm25 supplies the counting, the lengths and the parameters (Okapi, k1 = 1.5, b = 0.75). Two things are ours:

* **Inverse document frequency.** Okapi's logarithm is zero for a term that stands in half of the documents and negative
  beyond; rank_bm25 then puts in a quarter of the average, which is itself negative in a small corpus, so that a
  document is punished for holding the word that was asked for. Here it is ``log(1 + (N - n + 0.5) / (n + 0.5))``:
  positive always, and falling in n always.
* **Search.** rank_bm25 visits every document for every query term in Python. The index here holds what each term adds
  to each document that has it, so a search adds a few short arrays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from harness.retrieval.corpus import Corpus
from harness.retrieval.document import Document
from harness.retrieval.retriever import Hit
from harness.retrieval.words import terms

TITLE_WEIGHT: Final = 3
"""A term in the title counts like this many in the text."""

# Scores are sums of logarithms: digits beyond these may differ from machine to machine and would decide ties.
_DECIMALS: Final = 9


class PositiveOkapi(BM25Okapi):  # type: ignore[misc]  # rank_bm25 ships no annotations
    """BM25 whose inverse document frequency is never zero or negative."""

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        for term, count in nd.items():
            self.idf[term] = math.log1p((self.corpus_size - count + 0.5) / (count + 0.5))


class Bm25:
    """A BM25 index of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._ids = tuple(corpus.documents)
        bags = [terms_of(document) for document in corpus.documents.values()]
        self._postings = _postings(PositiveOkapi(bags)) if any(bags) else {}

    def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Return the documents that share a term with the query, the best first, equal ones by id.

        Parameters
        ----------
        query
            Plain words. A term that is repeated counts as often.
        limit
            How many documents at most, 1 or more.

        Raises
        ------
        ValueError
            If `limit` is less than 1.
        """
        if limit < 1:
            raise ValueError(f"expected a limit of 1 or more, found {limit}")
        scores = np.zeros(len(self._ids))
        for term, times in Counter(terms(query)).items():
            if (posting := self._postings.get(term)) is not None:
                documents, weights = posting
                scores[documents] += times * weights
        scores = scores.round(_DECIMALS)
        # Documents lie in the order of their ids, and a stable sort keeps it among equals.
        best = np.argsort(-scores, kind="stable")[:limit]
        return [Hit(self._ids[place], float(scores[place])) for place in best if scores[place] > 0]


def terms_of(document: Document) -> list[str]:
    """Return the terms under which a document is indexed, those of its title `TITLE_WEIGHT` times."""
    return terms(document.title) * TITLE_WEIGHT + terms(document.text)


Posting = tuple[NDArray[np.intp], NDArray[np.float64]]


def _postings(model: Any) -> dict[str, Posting]:
    """Return, for each term, the documents that hold it and what it adds to the score of each."""
    lengths = np.asarray(model.doc_len, dtype=np.float64)
    damping = model.k1 * (1 - model.b + model.b * lengths / model.avgdl)
    holders: dict[str, list[int]] = {term: [] for term in model.idf}
    counts: dict[str, list[int]] = {term: [] for term in model.idf}
    for place, frequencies in enumerate(model.doc_freqs):
        for term, count in frequencies.items():
            holders[term].append(place)
            counts[term].append(count)
    postings = {}
    for term, idf in model.idf.items():
        documents = np.asarray(holders[term], dtype=np.intp)
        frequency = np.asarray(counts[term], dtype=np.float64)
        postings[term] = documents, idf * frequency * (model.k1 + 1) / (frequency + damping[documents])
    return postings
