"""The corpus as a world sees it: documents that can be searched and read, however retrieval is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Passage:
    """One search hit: which document, its title, and a short extract."""

    document_id: str
    title: str
    extract: str


@dataclass(frozen=True, slots=True)
class Page:
    """One document in full."""

    document_id: str
    title: str
    text: str


class Knowledge(Protocol):
    """What `kb_search` and `kb_read` stand on."""

    def search(self, query: str, limit: int) -> Sequence[Passage]:
        """Return at most `limit` passages, the best first."""
        ...

    def read(self, document_id: str) -> Page | None:
        """Return one document, or None if there is none of that id."""
        ...


class NoKnowledge:
    """An empty corpus."""

    def search(self, query: str, limit: int) -> Sequence[Passage]:
        """Find nothing."""
        return ()

    def read(self, document_id: str) -> Page | None:
        """Find nothing."""
        return None
