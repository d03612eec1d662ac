"""What the documents of a domain may name."""

from __future__ import annotations

import re
from typing import Final

from domains.kit.domain import Domain
from domains.kit.rules import Outcome
from domains.kit.store import table_of
from domains.kit.tools import Access
from harness.retrieval.check import DomainNames

_ENUM_WORD: Final = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*\b")


def names_of(domain: Domain) -> DomainNames:
    """Collect the names that a domain's documents may use: its rules, tools, tables, columns and closed words."""
    discoverable = frozenset(name for name, tool in domain.tools.items() if tool.access is Access.DISCOVERABLE)
    words = {name for name in domain.tools if name not in discoverable}
    for tool in domain.tools.values():
        words |= set(tool.arguments.model_fields)
        words |= set(_ENUM_WORD.findall(str(tool.schema())))
    for model in domain.models.values():
        table = table_of(model)
        words |= {table.name} | {column.name for column in table.columns}
    words |= (
        domain.vocabularies.stored_words
        | domain.vocabularies.reason_codes
        | domain.vocabularies.evidence
        | domain.vocabularies.stages
    )
    return DomainNames(
        rule_ids=domain.rule_ids,
        discoverable_tools=discoverable,
        known_words=frozenset(words) | frozenset(Outcome) | {"none"},
    )
