"""Did the agent find the documents that state its rules? Required-document recall of one episode."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

NOTHING_REQUIRED: Final = "the scenario names no document"


@dataclass(frozen=True, slots=True)
class Recall:
    """Shares of the required documents, 0 to 1; all of them None, with a reason, where nothing is required.

    Attributes
    ----------
    at_1, at_5, at_10
        Found among the first 1, 5 or 10 results of at least one search of the episode.
    read
        Read in full.
    """

    at_1: float | None
    at_5: float | None
    at_10: float | None
    read: float | None
    reason: str | None = None


def document_recall(required: Collection[str], searches: Sequence[Sequence[str]], read: Collection[str]) -> Recall:
    """Measure the recall of one episode.

    Parameters
    ----------
    required
        Ids of the documents that state the scenario's rules.
    searches
        For each search of the episode the ids that it returned, the best first. A search that asked for fewer than
        ten results can only find among those.
    read
        Ids of the documents that were read in full.
    """
    wanted = frozenset(required)
    if not wanted:
        return Recall(None, None, None, None, NOTHING_REQUIRED)

    def share(found: Collection[str]) -> float:
        return len(wanted.intersection(found)) / len(wanted)

    def share_at(depth: int) -> float:
        return share({document_id for results in searches for document_id in results[:depth]})

    return Recall(share_at(1), share_at(5), share_at(10), share(read))
