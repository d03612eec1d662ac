"""Each check of a corpus accepts a sound one and finds the fault it is there for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.retrieval.check import MAX_WORDS, DomainNames, check_corpus, check_folder, names_in
from harness.retrieval.corpus import Corpus
from tests.harness.retrieval.documents import NAMES, PADDING, SOUND, build, changed, write

Changes = dict[str, dict[str, Any] | None]

# What is changed in the sound corpus, and every problem that must be reported: file, path, found.
FAULTS: Mapping[str, tuple[Changes, set[tuple[str, str, str]]]] = {
    "a rule is stated nowhere": (
        {"identity": {"rules": ["ID-01"]}},
        {("bank", "", "none")},
    ),
    "a rule is stated twice at a time": (
        {"card-prices": {"rules": ["PAY-01"], "text": f"PAY-01 costs $25.00. {PADDING}"}},
        {("bank/identity.md", "/rules", "also stated by card-prices (bank/card-prices.md) on 2025-01-01")},
    ),
    "a rule is stated twice, once from later on": (
        {
            "card-prices": {
                "rules": ["PAY-01"],
                "effective_from": date(2026, 1, 1),
                "text": f"PAY-01 costs $25.00. {PADDING}",
            }
        },
        {("bank/card-prices.md", "/rules", "also stated by identity (bank/identity.md) on 2026-01-01")},
    ),
    "a rule ended, and so did the one document that names a tool": (
        {"first-payments": {"effective_to": date(2030, 1, 1)}},
        {
            ("bank/first-payments.md", "/effective_to", "the last one, first-payments, ended on 2030-01-01"),
            ("bank", "", "none"),
        },
    ),
    "a rule pauses between two documents": (
        {"first-payments-2024": {"rules": ["PAY-02"], "restates": [], "effective_to": date(2024, 12, 30)}},
        {("bank/first-payments.md", "/effective_from", "no document between 2024-12-30 and 2025-01-01")},
    ),
    "a rule is not named in its text": (
        {"identity": {"text": f"ID-01: two factors. Grant `pick_up` or `ask`, PAY-011. {PADDING}"}},
        {("bank/identity.md", "/rules/1", "no mention of it"), ("bank/identity.md", "text", "PAY-011")},
    ),
    "a rule is both stated and restated": (
        {"identity": {"restates": ["ID-01"]}},
        {("bank/identity.md", "/rules/0", "both")},
    ),
    "an unknown rule is stated": (
        {"identity": {"rules": ["ID-01", "PAY-01", "CARD-01"], "text": f"{SOUND['identity']['text']} CARD-01"}},
        {("bank/identity.md", "/rules/2", "CARD-01")},
    ),
    "an unknown rule is restated": (
        {"identity": {"restates": ["CARD-01"]}},
        {("bank/identity.md", "/restates/0", "CARD-01")},
    ),
    "an unknown rule is mentioned": (
        {"card-prices": {"text": f"{SOUND['card-prices']['text']} See PAY-99."}},
        {("bank/card-prices.md", "text", "PAY-99")},
    ),
    "a fact reads otherwise": (
        {"card-prices": {"text": f"A card costs $25.001 or $125.00 or 25.00 a year. {PADDING}"}},
        {("bank/card-prices.md", "/facts/0/value", "other words")},
    ),
    "a fact belongs to a rule of another document": (
        {"card-prices": {"facts": [{"id": "price", "value": "$25.00", "rule": "ID-01"}]}},
        {("bank/card-prices.md", "/facts/0/rule", "ID-01")},
    ),
    "a secret is told to customers": (
        {"card-prices": {"text": f"It takes 24 hours  and\na Minute. $25.00. {PADDING}"}},
        {("bank/card-prices.md", "text", "'24 hours and a minute'")},
    ),
    "an old secret is told in a title": (
        {"card-prices": {"title": "Why Three Days?"}},
        {("bank/card-prices.md", "text", "'three days'")},
    ),
    "the document superseded does not exist": (
        {"identity": {"supersedes": "identity-2024"}},
        {("bank/identity.md", "/supersedes", "identity-2024")},
    ),
    "a document supersedes itself": (
        {"identity": {"supersedes": "identity"}},
        {("bank/identity.md", "/supersedes", "identity")},
    ),
    "documents supersede each other": (
        {"first-payments-2024": {"supersedes": "first-payments"}},
        {
            ("bank/first-payments.md", "/supersedes", "first-payments-2024"),
            ("bank/first-payments-2024.md", "/supersedes", "first-payments"),
        },
    ),
    "a document is superseded twice": (
        {"first-payments-2025": {**SOUND["first-payments"], "rules": [], "restates": ["PAY-02"]}},
        {("bank/first-payments-2025.md", "/supersedes", "first-payments-2024")},
    ),
    "the superseded document ends too late": (
        {"first-payments-2024": {"effective_to": date(2025, 1, 1)}},
        {("bank/first-payments.md", "/supersedes", "2025-01-01")},
    ),
    "the superseded document does not end": (
        {"first-payments-2024": {"effective_to": None}},
        {("bank/first-payments.md", "/supersedes", "no end")},
    ),
    "the category changes with the version": (
        {"first-payments": {"category": "identity"}},
        {("bank/first-payments.md", "/category", "identity")},
    ),
    "the version does not grow": (
        {"first-payments": {"version": 1}},
        {("bank/first-payments.md", "/version", "1")},
    ),
    "a document ends before it begins": (
        {"first-payments-2024": {"effective_to": date(2023, 12, 31)}},
        {("bank/first-payments-2024.md", "/effective_to", "2023-12-31")},
    ),
    "a tool is named and not declared": (
        {"card-prices": {"text": f"{SOUND['card-prices']['text']} Try recall_money."}},
        {("bank/card-prices.md", "/tools", "none")},
    ),
    "a tool is declared and not named": (
        {"card-prices": {"tools": ["ask"]}},
        {("bank/card-prices.md", "/tools", "ask")},
    ),
    "a tool is named in superseded documents only": (
        {
            "first-payments": {"tools": [], "text": SOUND["first-payments"]["text"].replace("recall_money", "hold")},
            "first-payments-2024": {"tools": ["recall_money"], "text": f"`recall_money`, three days. {PADDING}"},
        },
        {("bank", "", "none")},
    ),
    "a name in code marks leads nowhere": (
        {"card-prices": {"text": f"{SOUND['card-prices']['text']} Use `place_holds` or `holds`."}},
        {("bank/card-prices.md", "text", "place_holds"), ("bank/card-prices.md", "text", "holds")},
    ),
    "a name without code marks leads nowhere": (
        {"card-prices": {"text": f"{SOUND['card-prices']['text']} Use place_holds."}},
        {("bank/card-prices.md", "text", "place_holds")},
    ),
    "a list names something twice": (
        {"identity": {"tools": ["ask", "pick_up", "ask"]}},
        {("bank/identity.md", "/tools", "2 times")},
    ),
    "two facts share an id": (
        {"card-prices": {"facts": [{"id": "price", "value": "$25.00"}, {"id": "price", "value": "a year"}]}},
        {("bank/card-prices.md", "/facts", "2 times")},
    ),
    "a document is too short": (
        {"card-prices": {"text": "A card costs $25.00 a year."}},
        {("bank/card-prices.md", "text", "6")},
    ),
    "a document is too long": (
        {"card-prices": {"text": "$25.00 " + "long " * MAX_WORDS}},
        {("bank/card-prices.md", "text", str(MAX_WORDS + 1))},
    ),
}


def test_a_sound_corpus_has_no_problem() -> None:
    assert check_corpus(build(SOUND), NAMES) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_nothing_else(fault: str) -> None:
    changes, expected = FAULTS[fault]
    problems = check_corpus(build(changed(changes)), NAMES)
    assert {(problem.file, problem.path, problem.found) for problem in problems} == expected
    assert len(problems) == len(expected)
    assert all(problem.expected and problem.message.endswith(".") for problem in problems)


def test_rules_of_any_shape_can_be_checked() -> None:
    names = replace(NAMES, rule_ids=NAMES.rule_ids | {"fair play"})
    (problem,) = check_corpus(build(SOUND), names)
    assert problem.expected == "a document that states fair play"
    stated = {"rules": ["ID-01", "PAY-01", "fair play"], "text": f"{SOUND['identity']['text']} On fair play."}
    assert check_corpus(build(changed({"identity": stated})), names) == []


def test_a_corpus_without_documents_lacks_every_rule_and_tool() -> None:
    found = check_corpus(Corpus.of([]), NAMES)
    assert len(found) == len(NAMES.rule_ids) + len(NAMES.discoverable_tools)


def test_a_domain_without_rules_or_tools() -> None:
    nothing = DomainNames(frozenset(), frozenset(), frozenset())
    assert check_corpus(build({"card-prices": SOUND["card-prices"]}), nothing) == []


def test_a_folder_is_checked_with_the_documents_that_cannot_be_read(tmp_path: Path) -> None:
    for document_id, values in changed({"card-prices": {"tools": ["ask"]}}).items():
        write(tmp_path / "bank", document_id, **values)
    broken = write(tmp_path / "bank", "broken", title="Broken", text="Text.")
    problems = check_folder(tmp_path, "bank", NAMES)
    assert problems == sorted(problems)
    assert {(problem.file, problem.path) for problem in problems} == {
        (str(tmp_path / "bank" / "card-prices.md"), "/tools"),
        *((str(broken), path) for path in ("/category", "/audience", "/effective_from", "/version")),
    }
    assert any(str(problem).startswith(f"{broken}: /version: expected a value, found nothing.") for problem in problems)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Call `place_hold(payment_id)`, then `hold`.", {"place_hold", "payment_id", "hold"}),
        ("Use place_hold/release_hold on payments.created_at.", {"place_hold", "release_hold", "created_at"}),
        ("The `Hold` and the word hold are prose; so is a `whole phrase`.", set()),
        ("Write to first_last@bank.example, call-back_later, PAY_06 or __x__.", set()),
    ],
)
def test_names_are_told_from_prose(text: str, names: set[str]) -> None:
    assert names_in(text) == names
