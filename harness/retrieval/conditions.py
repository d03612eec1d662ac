"""The retrieval conditions: how much help an agent has in finding its rules. Results name theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from domains.kit.knowledge import Knowledge, NoKnowledge
from harness.errors import UnknownName
from harness.retrieval.corpus import Corpus
from harness.retrieval.knowledge import KnowledgeBase
from harness.retrieval.retriever import Hit, Retriever


class Condition(Protocol):
    """A way of retrieving, built once for a run and shared by its episodes."""

    def knowledge(self, documents: Sequence[str]) -> Knowledge:
        """Return what an episode can search and read.

        Parameters
        ----------
        documents
            Ids of the documents that state the rules of the scenario; only `oracle` may look at them.
        """
        ...

    def prompt_text(self) -> str | None:
        """Return the text that the prompt of a model agent carries, or None if it carries none."""
        ...


@dataclass(frozen=True, slots=True)
class Searching:
    """The agent searches the whole corpus.

    Attributes
    ----------
    corpus_in_prompt
        Whether a model agent is given every document beforehand as well.
    """

    corpus: Corpus
    retriever: Retriever
    corpus_in_prompt: bool = False

    def knowledge(self, documents: Sequence[str]) -> Knowledge:
        """Return the whole corpus, whatever the scenario rests on."""
        return KnowledgeBase(self.corpus, self.retriever)

    def prompt_text(self) -> str | None:
        """Return every document if the prompt carries them."""
        return self.corpus.full_text() if self.corpus_in_prompt else None


@dataclass(frozen=True, slots=True)
class Oracle:
    """Every search finds the documents of the scenario, and there are no others."""

    corpus: Corpus

    def knowledge(self, documents: Sequence[str]) -> Knowledge:
        """Return the documents of the scenario, in their order.

        Raises
        ------
        UnknownName
            If the corpus has no document of that id.
        """
        known = self.corpus.documents
        for document_id in documents:
            if document_id not in known:
                raise UnknownName("document of the corpus", document_id, known)
        part = {document_id: known[document_id] for document_id in documents}
        return KnowledgeBase(Corpus(part, self.corpus.content_hash), Listed(tuple(part)))

    def prompt_text(self) -> str | None:
        """Return None: the documents are there to be searched and read."""
        return None


@dataclass(frozen=True, slots=True)
class Listed:
    """A retriever that answers every query with the same documents."""

    document_ids: tuple[str, ...]

    def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Return the first `limit` of the documents."""
        return [Hit(document_id, 1 / rank) for rank, document_id in enumerate(self.document_ids[:limit], start=1)]


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no corpus."""

    def knowledge(self, documents: Sequence[str]) -> Knowledge:
        """Return an empty corpus."""
        return NoKnowledge()

    def prompt_text(self) -> str | None:
        """Return None: there is nothing to carry."""
        return None


def _bm25(corpus: Corpus) -> Retriever:
    # NumPy is loaded only where it searches.
    from harness.retrieval.bm25 import Bm25

    return Bm25(corpus)


CONDITIONS: Final[Mapping[str, Callable[[Corpus], Condition]]] = {
    "oracle": Oracle,
    "bm25": lambda corpus: Searching(corpus, _bm25(corpus)),
    "none": lambda corpus: Nothing(),
    "full": lambda corpus: Searching(corpus, _bm25(corpus), corpus_in_prompt=True),
}


def make_condition(name: str, corpus: Corpus) -> Condition:
    """Build a retrieval condition for a corpus.

    Raises
    ------
    UnknownName
        If there is no condition of that name.
    """
    if name not in CONDITIONS:
        raise UnknownName("retrieval condition", name, CONDITIONS)
    return CONDITIONS[name](corpus)
