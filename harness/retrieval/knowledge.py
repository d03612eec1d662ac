"""What the tools of a world search and read, for one episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from domains.kit.knowledge import Page, Passage
from harness.retrieval.corpus import Corpus
from harness.retrieval.document import Document
from harness.retrieval.retriever import Retriever
from harness.retrieval.words import terms

EXTRACT_CHARACTERS: Final = 240


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A corpus that is searched by a retriever; satisfies the `Knowledge` of the domain kit."""

    corpus: Corpus
    retriever: Retriever

    def search(self, query: str, limit: int) -> Sequence[Passage]:
        """Return at most `limit` passages, the best first."""
        wanted = frozenset(terms(query))
        found = [self.corpus.documents[hit.document_id] for hit in self.retriever.search(query, limit)]
        return [Passage(document.id, document.title, extract(document, wanted)) for document in found]

    def read(self, document_id: str) -> Page | None:
        """Return one document with the line that says its version and dates, or None if there is none of that id."""
        document = self.corpus.documents.get(document_id)
        return None if document is None else Page(document.id, document.title, document.page_text())


def extract(document: Document, wanted: frozenset[str]) -> str:
    """Return the sentence with the most of the wanted terms, the first of several, cut to `EXTRACT_CHARACTERS`."""
    sentences = document.sentences
    if not sentences:
        return ""
    text = max(sentences, key=lambda sentence: len(sentence.terms & wanted)).text
    if len(text) <= EXTRACT_CHARACTERS:
        return text
    return text[: EXTRACT_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
