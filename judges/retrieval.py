"""Which documents an episode found and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from domains.kit.desk import kb_read, kb_search
from domains.kit.json import JsonValue
from domains.kit.tools import Actor
from harness.retrieval.recall import Recall, document_recall
from harness.scenario.instance import Instance
from judges.happenings import Record

_SEARCH: Final = kb_search.__name__
_READ: Final = kb_read.__name__


def recall(instance: Instance, record: Record) -> Recall:
    """Return how many of the scenario's documents the agent found and read."""
    own = [event for event in record.returned if event.ok and event.actor is Actor.AGENT]
    searches = [list(_ids(event.result)) for event in own if event.tool == _SEARCH]
    read = [found for event in own if event.tool == _READ for found in _ids([event.result])]
    return document_recall(instance.scenario.documents, searches, read)


def saw_none(instance: Instance, record: Record) -> bool:
    """Tell whether the agent neither found nor read any of the scenario's documents."""
    found = recall(instance, record)
    return not found.at_10 and not found.read


def _ids(result: JsonValue) -> Iterator[str]:
    for item in result if isinstance(result, Sequence) else ():
        if isinstance(item, dict) and isinstance(item.get("document_id"), str):
            yield item["document_id"]
