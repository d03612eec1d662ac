"""What the bank's documents say: every rule once, with its code; secrets kept; findable among many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

import pytest
import yaml

from domains.kit.domain import load_domain
from domains.kit.rules import Outcome
from harness.cli.names import names_of
from harness.retrieval.bm25 import Bm25
from harness.retrieval.check import check_folder, names_in
from harness.retrieval.corpus import Corpus, load_corpus
from harness.retrieval.document import Document
from harness.retrieval.padding import pad_corpus
from tests.corpus.written_rules import RULES

ROOT: Final = Path(__file__).resolve().parents[2] / "corpus"
CODES: Final = frozenset(code for code, _ in RULES.values() if code)
WORDS_ALLOWED: Final = range(150, 501)
PADDED_SIZE: Final = 700
RANKS: Final = 10


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(ROOT, "banking")


def current(corpus: Corpus) -> Iterator[Document]:
    return (document for document in corpus.documents.values() if document.effective_to is None)


def stating(corpus: Corpus, rule_id: str) -> Document:
    (document,) = (document for document in current(corpus) if rule_id in document.rules)
    return document


def test_the_corpus_is_sound() -> None:
    problems = check_folder(ROOT, "banking", names_of(load_domain("banking")))
    assert not problems, "\n" + "\n".join(map(str, problems))


def test_files_lie_where_their_front_matter_says() -> None:
    for file in sorted(ROOT.glob("banking/*/*.md")):
        front = yaml.safe_load(file.read_text(encoding="utf-8").split("---\n")[1])
        assert (front["category"], front["id"]) == (file.parent.name, file.stem)


def test_documents_are_of_a_readable_length(corpus: Corpus) -> None:
    lengths = {document.id: len(document.text.split()) for document in corpus.documents.values()}
    assert {key: count for key, count in lengths.items() if count not in WORDS_ALLOWED} == {}


def test_the_domain_decides_by_the_same_rules_and_codes() -> None:
    domain = load_domain("banking")
    assert domain.rule_ids == RULES.keys()
    assert {key: rule.reason_code for key, rule in domain.rules.items()} == {
        key: RULES[key][0] or "none" for key in domain.rules
    }
    assert domain.vocabularies.reason_codes == CODES


@pytest.mark.parametrize("rule_id", RULES)
def test_a_rule_is_written_with_its_code(corpus: Corpus, rule_id: str) -> None:
    code, _ = RULES[rule_id]
    document = stating(corpus, rule_id)
    assert document.audience == "internal"
    assert code is None or f"`{code}`" in document.text


def test_one_document_lists_every_decision_word_and_code(corpus: Corpus) -> None:
    listed = names_in(corpus.documents["decision-words-and-reason-codes"].text)
    assert {*map(str, Outcome), *CODES, "none"} <= listed


def test_older_editions_ended_before_this_year_and_were_replaced(corpus: Corpus) -> None:
    older = {document.id for document in corpus.documents.values() if document.effective_to is not None}
    assert len(older) >= 8
    assert older == {document.supersedes for document in corpus.documents.values() if document.supersedes}
    for document in map(corpus.documents.__getitem__, older):
        assert document.effective_to is not None
        assert document.effective_to < date(2026, 1, 1)
        assert not document.rules


def test_an_older_edition_draws_other_boundaries(corpus: Corpus) -> None:
    for document in current(corpus):
        if document.supersedes and document.facts:
            earlier = corpus.documents[document.supersedes]
            assert not {fact.value for fact in earlier.facts} & {fact.value for fact in document.facts}


def test_fact_ids_are_unique(corpus: Corpus) -> None:
    ids = [fact.id for document in corpus.documents.values() for fact in document.facts]
    assert len(ids) == len(set(ids))


def test_pages_for_customers_speak_plainly(corpus: Corpus) -> None:
    rule_id = re.compile(r"\b[A-Z]{2,4}-\d\d\b")
    for document in corpus.documents.values():
        if document.audience == "customer":
            assert not names_in(document.text), document.id
            assert not rule_id.search(document.text), document.id
            assert not {*document.rules, *document.restates, *document.tools}, document.id


@pytest.fixture(scope="module")
def search() -> Bm25:
    return Bm25(pad_corpus(load_corpus(ROOT, "banking"), PADDED_SIZE))


@pytest.mark.parametrize("rule_id", RULES)
def test_a_rule_is_found_by_the_words_of_a_conversation(corpus: Corpus, search: Bm25, rule_id: str) -> None:
    _, query = RULES[rule_id]
    assert stating(corpus, rule_id).id in [hit.document_id for hit in search.search(query, RANKS)]
