"""A small sound corpus for tests, and ways to write and change it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import yaml

from harness.retrieval.check import DomainNames
from harness.retrieval.corpus import Corpus
from harness.retrieval.document import Document

PADDING = " ".join(f"Sentence number {number} says that colleagues are friendly." for number in range(10))

NAMES = DomainNames(
    rule_ids=frozenset({"PAY-01", "PAY-02", "ID-01"}),
    discoverable_tools=frozenset({"recall_money", "pick_up", "ask"}),
    known_words=frozenset({"place_hold", "cooling_off", "payments", "created_at", "hold"}),
)

SOUND: dict[str, dict[str, Any]] = {
    "first-payments": {
        "title": "First payments to new payees",
        "category": "payments",
        "audience": "internal",
        "effective_from": date(2025, 1, 1),
        "version": 2,
        "supersedes": "first-payments-2024",
        "rules": ["PAY-02"],
        "tools": ["recall_money"],
        "facts": [{"id": "waiting", "rule": "PAY-02", "value": "24 hours and a minute", "confidential": True}],
        "text": f"Under PAY-02 a first payment waits 24 hours\nand a minute; use `place_hold` with `cooling_off`. "
        f"Money sent in error: unlock `recall_money`. {PADDING}",
    },
    "first-payments-2024": {
        "title": "First payments to new payees (2024)",
        "category": "payments",
        "audience": "internal",
        "effective_from": date(2024, 1, 1),
        "effective_to": date(2024, 12, 31),
        "version": 1,
        "restates": ["PAY-02"],
        "facts": [{"id": "waiting", "rule": "PAY-02", "value": "three days", "confidential": True}],
        "text": f"Under PAY-02 a first payment waits three days. {PADDING}",
    },
    "identity": {
        "title": "Who is calling",
        "category": "identity",
        "audience": "internal",
        "effective_from": date(2025, 1, 1),
        "version": 1,
        "rules": ["ID-01", "PAY-01"],
        "tools": ["ask", "pick_up"],
        "text": f"ID-01: two factors. PAY-01: own accounts only. Grant pick_up(card) or `ask`. {PADDING}",
    },
    "card-prices": {
        "title": "What cards cost",
        "category": "cards",
        "audience": "customer",
        "effective_from": date(2025, 1, 1),
        "version": 1,
        "facts": [{"id": "price", "value": "$25.00"}],
        "text": f"A card costs $25.00 a year. Ask at any branch, which will answer within 24 hours. {PADDING}",
    },
}


def document(document_id: str, **values: Any) -> Document:
    """Build a document from the values given and harmless ones."""
    common = {
        "title": document_id,
        "category": "general",
        "audience": "internal",
        "effective_from": date(2025, 1, 1),
        "version": 1,
        "text": "Text.",
        "file": f"bank/{document_id}.md",
    }
    return Document.model_validate({"id": document_id, **common, **values})


def corpus_of(**texts: str) -> Corpus:
    """Build a corpus of documents with these texts, by id."""
    return Corpus.of(document(document_id, text=text) for document_id, text in texts.items())


def changed(changes: dict[str, dict[str, Any] | None]) -> dict[str, dict[str, Any]]:
    """Return the sound corpus with some values of some documents replaced; None takes a document away."""
    merged = {**SOUND, **{name: change and {**SOUND.get(name, {}), **change} for name, change in changes.items()}}
    return {name: values for name, values in merged.items() if values is not None}


def build(values: dict[str, dict[str, Any]]) -> Corpus:
    """Build a corpus."""
    return Corpus.of(document(document_id, **parts) for document_id, parts in values.items())


def write(folder: Path, document_id: str, **values: Any) -> Path:
    """Write a document as a file and return it."""
    head = {"id": document_id, **values}
    text = head.pop("text")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{document_id}.md"
    file.write_text(f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n{text}\n", encoding="utf-8")
    return file
