"""The deciding documents can be found by what an agent has heard and seen by the time it must decide."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from domains.kit.tools import Actor
from harness.checks.case import Case
from harness.episode.events import Event, Returned, Said
from harness.problem import Problem

TOP: Final = 10
_KNOWLEDGE_TOOLS: Final = frozenset({"kb_search", "kb_read"})


def check_retrievable(case: Case) -> Iterator[Problem]:
    """Each document that states a rule of the scenario is among the first ten of a full-sized corpus for some query.

    A query may hold nothing but words of a caller turn, or of what look-ups returned beside it, up to the decision
    point: what an agent without foreknowledge could search for.
    """
    queries = list(_queries(case.rehearsal.events("oracle")))
    knowledge = case.house.padded.knowledge(case.scenario.documents)
    found = {hit.document_id for query in queries for hit in knowledge.search(query, TOP)}
    documents = case.house.corpus.documents
    for place, document_id in enumerate(case.scenario.documents):
        if document_id not in documents or not set(documents[document_id].rules) & set(case.scenario.rules):
            continue
        if document_id not in found:
            yield case.problem(
                f"/documents/{place}",
                f"{document_id} among the first {TOP} of a corpus of 700 documents",
                f"not found by any of {len(queries)} queries from the conversation",
                "Let the caller or the document use each other's words.",
            )


def _queries(events: Sequence[Event]) -> Iterator[str]:
    """Yield each caller turn up to the decision point, alone and with the words of the look-ups that follow it."""
    said = ""
    decided = False
    for event in events:
        if isinstance(event, Said) and event.speaker is Actor.CALLER:
            if decided:
                return
            said = event.text
            decided = event.note is not None and event.note.decision_point
            yield said
        elif isinstance(event, Returned) and _is_look_up(event):
            yield f"{said} {_words(event.result)}"
            yield _words(event.result)


def _is_look_up(event: Returned) -> bool:
    by_agent = event.actor is Actor.AGENT and event.tool not in _KNOWLEDGE_TOOLS
    return by_agent and event.ok and not event.changes


def _words(result: object) -> str:
    return json.dumps(result, ensure_ascii=False).replace("_", " ")[:1500]
