"""Which documents an episode found and read."""

from __future__ import annotations

from typing import Final

from domains.kit.desk import kb_read, kb_search
from harness.retrieval.recall import Recall, document_recall
from harness.scenario.instance import Instance
from judges.happenings import Record

_SEARCH: Final = kb_search.__name__
_READ: Final = kb_read.__name__


def recall(instance: Instance, record: Record) -> Recall:
    """Return how many of the scenario's documents the agent found and read."""
    searches = [event.result for event in record.returned if event.ok and event.tool == _SEARCH]
    read = [event.result["document_id"] for event in record.returned if event.ok and event.tool == _READ]
    return document_recall(
        instance.scenario.documents, [[hit["document_id"] for hit in hits] for hits in searches], read
    )


def saw_none(instance: Instance, record: Record) -> bool:
    """Tell whether the agent neither found nor read any of the scenario's documents."""
    found = recall(instance, record)
    return not found.at_10 and not found.read
