"""Terms, BM25, and what an agent gets under each retrieval condition."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.knowledge import Knowledge
from harness.errors import UnknownName
from harness.retrieval.bm25 import TITLE_WEIGHT, Bm25, PositiveOkapi, terms_of
from harness.retrieval.conditions import CONDITIONS, make_condition
from harness.retrieval.corpus import Corpus
from harness.retrieval.document import Document
from harness.retrieval.knowledge import EXTRACT_CHARACTERS, extract
from harness.retrieval.padding import pad_corpus
from harness.retrieval.words import terms
from tests.harness.retrieval.documents import SOUND, build, corpus_of, document


def found(corpus: Corpus, query: str, limit: int = 10) -> list[str]:
    return [hit.document_id for hit in Bm25(corpus).search(query, limit)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Payees", "payee"),
        ("policies", "policy"),
        ("branches boxes addresses", "branch box address"),
        ("the director's PIN", "director pin"),
        ("the director’s don't", "director dont"),
        ("$25,000.00", "25000"),
        ("ﬁrst", "first"),
    ],
)
def test_spellings_that_meet(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call-back", ["call", "back", "callback"]),
        ("place_hold", ["place", "hold", "place_hold"]),
        ("PAY-06", ["pay", "06", "pay06"]),
        ("status bonus basis access", ["status", "bonus", "basis", "access"]),
        ("gas bus yes", ["gas", "bus"]),
        ("1,234.56 and 7.00", ["1234.56", "7"]),
        ("Should I have it, please?", []),
        ("--- *** ' _ __", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_any_text_has_terms_that_are_folded(text: str) -> None:
    found = terms(text)
    assert all(term and term == term.casefold() and not term.isspace() for term in found)
    assert terms(text.upper().lower()) == terms(text.lower().upper().lower())


WORDS = st.lists(st.sampled_from("payee card limit fee hold branch".split()), max_size=12)


@given(st.lists(WORDS, max_size=8), WORDS)
def test_the_index_scores_like_rank_bm25_with_our_frequency(texts: list[list[str]], query: list[str]) -> None:
    corpus = Corpus.of([document(f"d{n}", title="x", text=" ".join(["y", *words])) for n, words in enumerate(texts)])
    hits = Bm25(corpus).search(" ".join(query), 10)
    if not texts:
        assert hits == []
        return
    model = PositiveOkapi([terms_of(item) for item in corpus.documents.values()])
    expected = np.asarray(model.get_scores(query)).round(9)
    assert {hit.document_id: hit.score for hit in hits} == pytest.approx(
        {f"d{n}": score for n, score in enumerate(expected) if score > 0}
    )
    assert [(-hit.score, hit.document_id) for hit in hits] == sorted((-hit.score, hit.document_id) for hit in hits)


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS, st.integers(1, 10))
def test_a_document_is_found_exactly_if_it_shares_a_term(texts: list[list[str]], query: list[str], limit: int) -> None:
    corpus = corpus_of(**{f"d{n}": " ".join(["y", *words]) for n, words in enumerate(texts)})
    sharing = [f"d{n}" for n, words in enumerate(texts) if set(words) & set(query)]
    assert set(found(corpus, " ".join(query), 10)) == set(sharing)
    assert found(corpus, " ".join(query), limit) == found(corpus, " ".join(query), 10)[:limit]


@pytest.mark.parametrize("holders", range(1, 5))
def test_a_term_in_half_of_the_documents_or_more_still_counts(holders: int) -> None:
    texts = {f"d{n}": "Fees apply." if n < holders else "Nothing applies." for n in range(4)}
    assert found(corpus_of(**texts), "fees") == [f"d{n}" for n in range(holders)]


def test_a_rare_term_counts_more_than_a_common_one() -> None:
    corpus = corpus_of(a="fee card", b="fee card", c="fee dispute", d="fee card")
    assert found(corpus, "card dispute")[0] == "c"


def test_a_title_weighs_more_than_the_text() -> None:
    corpus = Corpus.of([document("text", title="x", text="cheque y"), document("title", title="cheque", text="x y")])
    assert found(corpus, "cheques") == ["title", "text"]
    assert terms_of(corpus.documents["title"]).count("cheque") == TITLE_WEIGHT


def test_equal_documents_come_in_the_order_of_their_ids() -> None:
    corpus = corpus_of(b="the same words", a10="the same words", a9="the same words", c="the same words")
    assert found(corpus, "same word") == ["a10", "a9", "b", "c"]


@pytest.mark.parametrize("query", ["", "I, you and the", "zebra", "\0\ud800'\"{}"])
def test_a_query_that_meets_nothing_finds_nothing(query: str) -> None:
    assert found(build(SOUND), query) == []


def test_an_empty_corpus_and_one_without_terms() -> None:
    assert found(Corpus.of([]), "card") == []
    assert found(Corpus.of([document("a", title="The", text="and")]), "and the") == []


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="limit of 1 or more, found 0"):
        Bm25(build(SOUND)).search("card", 0)


def test_the_extract_is_the_first_sentence_with_the_most_terms() -> None:
    item = document("a", text="Cards are free. A payee and a card meet. Card and payee, again. The end.")
    assert extract(item, frozenset(terms("payees with cards"))) == "A payee and a card meet."
    assert extract(item, frozenset({"zebra"})) == "Cards are free."
    assert extract(document("a", text="***"), frozenset({"card"})) == ""


def test_a_long_extract_is_cut_between_words() -> None:
    text = extract(document("a", text="word " * 200), frozenset({"word"}))
    assert len(text) <= EXTRACT_CHARACTERS
    assert text.endswith("word…")
    assert len(extract(document("a", text="w" * 999), frozenset({"x"}))) == EXTRACT_CHARACTERS


def test_superseded_documents_are_found_and_show_their_dates() -> None:
    knowledge = make_condition("bm25", build(SOUND)).knowledge(())
    assert "first-payments-2024" in [passage.document_id for passage in knowledge.search("first payments", 10)]
    page = knowledge.read("first-payments-2024")
    assert page is not None
    assert "to 2024-12-31" in page.text.partition("\n")[0]


def ids(knowledge: Knowledge, query: str, limit: int = 10) -> list[str]:
    return [passage.document_id for passage in knowledge.search(query, limit)]


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_condition_answers_and_repeats_itself(name: str) -> None:
    condition = make_condition(name, build(SOUND))
    required = ("identity", "first-payments")
    knowledge = condition.knowledge(required)
    for query in ("first payments", "zebra", ""):
        for limit in (1, 10):
            passages = knowledge.search(query, limit)
            assert len(passages) <= limit
            assert passages == condition.knowledge(required).search(query, limit)
    for passage in knowledge.search("first payments", 10):
        page = knowledge.read(passage.document_id)
        assert page is not None
        assert (page.document_id, page.title) == (passage.document_id, passage.title)
        assert passage.extract
    assert knowledge.read("no-such-document") is None


def test_bm25_does_not_depend_on_the_documents_of_the_scenario() -> None:
    condition = make_condition("bm25", build(SOUND))
    assert ids(condition.knowledge(()), "card cost") == ids(condition.knowledge(("identity",)), "card cost")
    assert condition.prompt_text() is None


def test_oracle_has_the_documents_of_the_scenario_and_no_other() -> None:
    condition = make_condition("oracle", build(SOUND))
    knowledge = condition.knowledge(("identity", "first-payments"))
    assert ids(knowledge, "what does a card cost?") == ["identity", "first-payments"]
    assert ids(knowledge, "", 1) == ["identity"]
    assert knowledge.read("identity") is not None
    assert knowledge.read("card-prices") is None
    assert condition.prompt_text() is None
    with pytest.raises(UnknownName, match="'identitty'; did you mean identity") as caught:
        condition.knowledge(("identitty",))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own bytes


def test_none_has_nothing() -> None:
    condition = make_condition("none", build(SOUND))
    knowledge = condition.knowledge(("identity",))
    assert ids(knowledge, "first payments") == []
    assert knowledge.read("identity") is None
    assert condition.prompt_text() is None


def test_full_carries_the_corpus_in_the_prompt_and_searches() -> None:
    corpus = build(SOUND)
    full, bm25 = make_condition("full", corpus), make_condition("bm25", corpus)
    assert full.prompt_text() == corpus.full_text()
    assert ids(full.knowledge(()), "first payments") == ids(bm25.knowledge(()), "first payments")


def test_an_unknown_condition_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"retrieval condition \(bm25, full, none, oracle\), found 'bm52'; did you"):
        make_condition("bm52", build(SOUND))


def test_conditions_are_loaded_without_numpy() -> None:
    code = "import harness.retrieval.conditions, sys; print('numpy' in sys.modules, 'rank_bm25' in sys.modules)"
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert run.stdout.split() == ["False", "False"]


class TestPadding:
    corpus = build(SOUND)
    padded = pad_corpus(corpus, 60)

    def test_it_keeps_the_documents_and_reaches_the_size(self) -> None:
        assert len(self.padded) == 60
        assert self.corpus.documents.items() <= self.padded.documents.items()
        assert pad_corpus(self.corpus, 4) is self.corpus
        assert pad_corpus(self.corpus, 0) is self.corpus

    def test_it_repeats_itself_and_another_seed_differs(self) -> None:
        assert pad_corpus(self.corpus, 60).content_hash == self.padded.content_hash
        assert pad_corpus(self.corpus, 60, seed=1).content_hash != self.padded.content_hash
        # Pinned: the same fillers on every machine and with every version of Python.
        first = self.padded.documents["house-page-0001"].text
        assert first.startswith("Keep the address short, and write down how the notice period was settled. A customer")

    def test_a_filler_does_not_depend_on_the_size(self) -> None:
        assert pad_corpus(self.corpus, 10).documents.items() <= self.padded.documents.items()

    def test_fillers_state_nothing(self) -> None:
        for filler in self.fillers():
            assert (*filler.rules, *filler.restates, *filler.facts, *filler.tools) == ()
            assert filler.supersedes is None
            assert not any(character in filler.text for character in "0123456789_`{}")
            assert 100 < len(filler.text.split()) < 400

    def test_no_two_fillers_are_equal(self) -> None:
        assert len({filler.text for filler in self.fillers()}) == 56

    def test_fillers_share_words_with_the_corpus(self) -> None:
        words = set(terms(" ".join(item.text for item in self.corpus.documents.values())))
        own = {word for word in words if word.isalpha() and len(word) > 3}
        shared = set().union(*(own.intersection(terms(filler.text)) for filler in self.fillers()))
        assert len(shared) > len(own) / 2

    def test_ids_that_are_taken_are_passed_over(self) -> None:
        corpus = corpus_of(**{"house-page-0001": "Taken."})
        assert sorted(pad_corpus(corpus, 3).documents) == ["house-page-0001", "house-page-0002", "house-page-0003"]
        assert pad_corpus(corpus, 3).documents["house-page-0001"].text == "Taken."

    def test_an_empty_corpus_is_padded_too(self) -> None:
        assert len(pad_corpus(Corpus.of([]), 3)) == 3

    def test_a_document_is_still_found_by_its_own_words(self) -> None:
        for document_id, query in {"identity": "two factors, own accounts", "card-prices": "cost of a card"}.items():
            assert document_id in found(self.padded, query)

    def fillers(self) -> list[Document]:
        return [item for item in self.padded.documents.values() if item.id not in self.corpus.documents]
