"""The contract of search over a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; scores of one retriever compare, those of two do not."""

    document_id: str
    score: float


class Retriever(Protocol):
    """Finds documents. It is built once for a corpus, never changes, and is shared by all episodes of a run."""

    def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Return at most `limit` documents, the best first; the same query always gives the same answer."""
        ...
