"""Documents are read strictly: each mistake is refused with file and field, and nothing in a file can do harm."""

from __future__ import annotations

import os
import pickle
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.errors import CorpusError
from harness.retrieval.corpus import Corpus, load_corpus, read_corpus
from harness.retrieval.document import Document
from harness.retrieval.front_matter import MAX_FILE_BYTES
from tests.harness.retrieval.documents import SOUND, build, document, write

HEAD = """id: a-page
title: A page
category: general
audience: internal
effective_from: 2025-01-01
version: 1
"""


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    folder = tmp_path / "bank"
    folder.mkdir()
    return folder


def page(bank: Path, head: str = HEAD, text: str = "Some text.\n") -> Path:
    file = bank / "page.md"
    file.write_text(f"---\n{head}---\n{text}", encoding="utf-8")
    return file


def refusal(bank: Path) -> CorpusError:
    with pytest.raises(CorpusError) as caught:
        load_corpus(bank.parent, "bank")
    return caught.value


def test_a_folder_of_documents_is_read(tmp_path: Path) -> None:
    for document_id, values in SOUND.items():
        write(tmp_path / "bank" / values["category"], document_id, **values)
    write(tmp_path / "elsewhere", "other", **SOUND["identity"])
    (tmp_path / "bank" / "notes.txt").write_text("not a document")
    corpus = load_corpus(tmp_path, "bank")
    assert list(corpus.documents) == sorted(SOUND)
    assert corpus.documents["first-payments"].facts[0].value == "24 hours and a minute"
    assert corpus.documents["card-prices"].file == str(tmp_path / "bank" / "cards" / "card-prices.md")
    assert corpus.content_hash == build(SOUND).content_hash
    assert all(item.page_text() in corpus.full_text() for item in corpus.documents.values())


def test_unchanged_content_is_parsed_once_and_a_change_is_noticed(bank: Path) -> None:
    file = page(bank)
    first = load_corpus(bank.parent, "bank")
    file.touch()
    assert load_corpus(bank.parent, "bank") is first
    times = file.stat()
    page(bank, text="Same text!\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = load_corpus(bank.parent, "bank")
    assert second.documents["a-page"].text == "Same text!"
    assert second.content_hash != first.content_hash


def test_the_hash_depends_on_every_word_and_on_no_path() -> None:
    def hash_of(**values: Any) -> str:
        return Corpus.of([document("a", **values)]).content_hash

    assert hash_of() == hash_of(file="elsewhere.md")
    assert len({hash_of(), hash_of(text="Other."), hash_of(title="B"), hash_of(rules=["R-1"])}) == 4


def test_line_ends_and_byte_order_mark_do_not_matter(bank: Path) -> None:
    plain = load_corpus(page(bank).parent.parent, "bank").content_hash
    (bank / "page.md").write_bytes(b"\xef\xbb\xbf" + f"---\n{HEAD}---\nSome text.\n".replace("\n", "\r\n").encode())
    assert load_corpus(bank.parent, "bank").content_hash == plain


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("title:", "/title", "a valid string"),
        ("title: 7", "/title", "a valid string"),
        ("title: ''", "/title", "String should have at least 1 character"),
        ("title: 'two\n\n  lines'", "/title", "String should match"),
        ("id: A Page", "/id", "String should match"),
        ("audience: public", "/audience", "'internal' or 'customer'"),
        ("effective_from: 2025-01-01T10:00:00", "/effective_from", "a valid date"),
        ("effective_from: '2025-01-01'", "/effective_from", "a valid date"),
        ("version: 0", "/version", "greater than or equal to 1"),
        ("version: true", "/version", "a valid integer"),
        ("version: 1.0", "/version", "a valid integer"),
        ("rules: PAY-01", "/rules", "a valid tuple"),
        ("rules: [1]", "/rules/0", "a valid string"),
        ("facts: [{id: a, value: 5}]", "/facts/0/value", "a valid string"),
        ("facts: [{id: a, value: x, confidential: 'no'}]", "/facts/0/confidential", "a valid boolean"),
        ("facts: [{id: a, value: x, secret: true}]", "/facts/0/secret", "Extra inputs are not permitted"),
        ("rule: [PAY-01]", "/rule", "Extra inputs are not permitted"),
        ("text: smuggled", "/text", "Extra inputs are not permitted"),
        ("file: smuggled", "/file", "Extra inputs are not permitted"),
    ],
)
def test_a_wrong_field_is_named(bank: Path, line: str, path: str, expected: str) -> None:
    key = line.partition(":")[0]
    kept = re.sub(rf"(?m)^{key}: .*\n", "", HEAD)
    error = refusal(page(bank, f"{kept}{line}\n").parent)
    assert (error.file, error.path) == (str(bank / "page.md"), path)
    assert error.expected.startswith(expected)


@pytest.mark.parametrize("key", re.findall(r"(?m)^\w+", HEAD))
def test_a_missing_field_is_named(bank: Path, key: str) -> None:
    page(bank, re.sub(rf"(?m)^{key}: .*\n", "", HEAD))
    assert str(refusal(bank)) == f"{bank / 'page.md'}: /{key}: expected a value, found nothing"


@pytest.mark.parametrize(
    ("head", "path", "found"),
    [
        (HEAD + "version: 2\n", "/version", "'version' twice"),
        (HEAD + "facts: [{id: a, id: b, value: x}]\n", "/id", "'id' twice"),
        (HEAD + "rules: &all [A]\nrestates: *all\n", "", "the anchor or alias 'all'"),
        (HEAD + "<<: {version: 2}\n", "", "a key that is not plain text"),
        (HEAD + "? [a]\n: b\n", "", "a key that is not plain text"),
        (HEAD + "1: one\n", "", "a key that is not plain text"),
        (HEAD + "rules: !!python/object/apply:os.getcwd []\n", "", "could not determine a constructor"),
        (HEAD + "rules: " + "[" * 7 + "]" * 7 + "\n", "", "more than 6 levels"),
        (HEAD + "rules: " + "[" * 30_000 + "\n", "", " "),
        (HEAD + "rules: [\n", "", "line "),
        (HEAD + "effective_to: 2025-02-30\n", "", "day "),
        (HEAD + f"extra: {'9' * 5000}\n", "", "Exceeds the limit"),
        (HEAD + f"note: {'x' * 40_000}\n", "", "40"),
        ("- a list\n", "", "a list"),
        ("plain words\n", "", "a str"),
        ("# nothing\n", "", "a NoneType"),
        (HEAD + "--- \nmore: 1\n", "", None),
    ],
)
def test_front_matter_is_plain_yaml(bank: Path, head: str, path: str, found: str | None) -> None:
    page(bank, head)
    if found is None:
        assert load_corpus(bank.parent, "bank").documents["a-page"].text.startswith("more: 1")
        return
    error = refusal(bank)
    assert (error.file, error.path) == (str(bank / "page.md"), path)
    assert found in error.found
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "none"),
        (b"No front matter.\n", "none"),
        (b"---\nid: x\n", "none"),
        (b"\n---\nid: x\n---\n", "none"),
        (b"---\nid: \xff\n---\n", "another byte at position 8"),
        (f"---\n{HEAD}---\nBell \a\n".encode(), "the control character '\\x07' in line 9"),
        (f"---\n{HEAD}---\n \n".encode(), "nothing"),
        (b"x" * (MAX_FILE_BYTES + 1), "a larger file"),
    ],
)
def test_a_file_that_is_no_document(bank: Path, content: bytes, found: str) -> None:
    (bank / "page.md").write_bytes(content)
    error = refusal(bank)
    assert error.file == str(bank / "page.md")
    assert error.found == found


def test_an_id_is_used_once(bank: Path) -> None:
    write(bank / "a", "same", **SOUND["identity"])
    write(bank / "b", "same", **SOUND["identity"])
    error = refusal(bank)
    assert error.path == "/id"
    assert error.found == f"'same', which is that of {bank / 'a' / 'same.md'}"
    with pytest.raises(CorpusError, match="an id of its own"):
        Corpus.of([document("same"), document("same", file="other.md")])


def test_a_document_lies_inside_the_corpus(bank: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "private", "a-page", **SOUND["identity"])
    (bank / "link.md").symlink_to(outside)
    assert refusal(bank).expected == "a regular file inside the corpus"
    (bank / "link.md").unlink()
    (bank / "folder.md").mkdir()
    assert refusal(bank).expected == "a regular file inside the corpus"
    (bank / "folder.md").rmdir()
    os.mkfifo(bank / "pipe.md")
    assert refusal(bank).expected == "a regular file inside the corpus"


def test_a_folder_that_is_missing_or_empty(bank: Path) -> None:
    assert refusal(bank).found == "0"
    with pytest.raises(CorpusError, match=r"expected the folder with the documents of parcels, found none"):
        load_corpus(bank.parent, "parcels")


def test_all_mistakes_are_collected(bank: Path) -> None:
    write(bank, "good", **SOUND["identity"])
    write(bank, "bad", **{**SOUND["identity"], "version": 0, "audience": "all"})
    (bank / "ugly.md").write_bytes(b"\xff")
    corpus, errors = read_corpus(bank.parent, "bank")
    assert list(corpus.documents) == ["good"]
    assert {(Path(error.file).name, error.path) for error in errors} == {
        ("bad.md", "/version"),
        ("bad.md", "/audience"),
        ("ugly.md", ""),
    }


def test_an_error_crosses_to_another_process(bank: Path) -> None:
    error = refusal(page(bank, HEAD + "version: 2\n").parent)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own bytes


def test_a_corpus_crosses_to_another_process() -> None:
    corpus = build(SOUND)
    copy = pickle.loads(pickle.dumps(corpus))  # noqa: S301 - our own bytes
    assert (copy.documents, copy.content_hash) == (corpus.documents, corpus.content_hash)


@pytest.mark.parametrize(
    ("start", "end", "day", "current"),
    [
        ((2025, 1, 1), None, (2024, 12, 31), False),
        ((2025, 1, 1), None, (2025, 1, 1), True),
        ((2025, 1, 1), None, (2099, 1, 1), True),
        ((2025, 1, 1), (2025, 6, 30), (2025, 6, 30), True),
        ((2025, 1, 1), (2025, 6, 30), (2025, 7, 1), False),
    ],
)
def test_a_document_is_current_from_its_first_to_its_last_day(
    start: tuple[int, int, int], end: tuple[int, int, int] | None, day: tuple[int, int, int], current: bool
) -> None:
    item = document("a", effective_from=date(*start), effective_to=end and date(*end))
    assert item.is_current(date(*day)) is current


def test_a_page_begins_with_what_and_of_when_it_is() -> None:
    corpus = build(SOUND)
    first, _, text = corpus.documents["first-payments-2024"].page_text().partition("\n\n")
    assert first == (
        "First payments to new payees (2024) | first-payments-2024 | version 1 | "
        "in force from 2024-01-01 to 2024-12-31 | internal document"
    )
    assert text == SOUND["first-payments-2024"]["text"]
    assert "from 2025-01-01 until further notice | customer document\n" in corpus.documents["card-prices"].page_text()


def test_sentences_are_free_of_markup() -> None:
    item: Document = document(
        "a",
        text="# A heading\n\nOne sentence. Another,\nwrapped one.\n- an item of $5.00 e.g. this\n- a second\n\n"
        "| a cell |\n> quoted\n\n---\n",
    )
    assert [sentence.text for sentence in item.sentences] == [
        "A heading",
        "One sentence.",
        "Another, wrapped one.",
        "an item of $5.00 e.g. this",
        "a second",
        "a cell",
        "quoted",
    ]
