"""The documents of one domain, read from a folder and checked for their form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from domains.kit.json import digest
from harness.errors import CorpusError
from harness.retrieval.document import Document, FrontMatter
from harness.retrieval.front_matter import MAX_FILE_BYTES, split

MAX_DOCUMENTS: Final = 10_000

_PAGE_BREAK: Final = "\n\n---\n\n"


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents by id, in the order of their ids.

    Attributes
    ----------
    content_hash
        Depends on what the documents say, not on the folder they were read from.
    """

    documents: Mapping[str, Document]
    content_hash: str

    @staticmethod
    def of(documents: Iterable[Document]) -> Corpus:
        """Build a corpus.

        Raises
        ------
        CorpusError
            If two documents share an id.
        """
        found: dict[str, Document] = {}
        for document in sorted(documents, key=lambda document: (document.id, document.file)):
            if (other := found.get(document.id)) is not None:
                raise _same_id(document, other)
            found[document.id] = document
        content = [document.model_dump(mode="json", exclude={"file"}) for document in found.values()]
        return Corpus(found, digest(content))

    def __len__(self) -> int:
        return len(self.documents)

    def full_text(self) -> str:
        """Return every document as an agent reads it, one after the other."""
        return _PAGE_BREAK.join(document.page_text() for document in self.documents.values())


def load_corpus(root: Path, domain: str) -> Corpus:
    """Read ``<root>/<domain>/**/*.md``.

    A process parses the same content once; a changed file is noticed.

    Raises
    ------
    CorpusError
        If there is no such folder, or a document cannot be read; the first of several is raised.
    """
    corpus, errors = read_corpus(root, domain)
    if errors:
        raise errors[0]
    return corpus


def read_corpus(root: Path, domain: str) -> tuple[Corpus, tuple[CorpusError, ...]]:
    """Read every document that can be read, and say what is wrong with the others.

    Raises
    ------
    CorpusError
        If there is no such folder, it holds no document, or too many.
    """
    folder = root / domain
    if not folder.is_dir():
        raise CorpusError(str(folder), "", f"the folder with the documents of {domain}", "none")
    files = sorted(folder.rglob("*.md"))
    if not 1 <= len(files) <= MAX_DOCUMENTS:
        raise CorpusError(str(folder), "", f"1 to {MAX_DOCUMENTS} documents (*.md)", str(len(files)))
    contents, errors = [], []
    for file in files:
        try:
            contents.append((str(file), _read(file, folder)))
        except CorpusError as error:
            errors.append(error)
    corpus, unreadable = _parse_all(tuple(contents))
    return corpus, (*errors, *unreadable)


def _read(file: Path, folder: Path) -> bytes:
    if not file.is_file() or folder.resolve() not in file.resolve().parents:
        raise CorpusError(str(file), "", "a regular file inside the corpus", "something else or elsewhere")
    try:
        with file.open("rb") as stream:
            # One byte more than allowed, so that a file that is too large is seen to be.
            return stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CorpusError(str(file), "", "a readable file", os.strerror(error.errno or 0)) from None


@lru_cache(maxsize=4)
def _parse_all(contents: tuple[tuple[str, bytes], ...]) -> tuple[Corpus, tuple[CorpusError, ...]]:
    documents: dict[str, Document] = {}
    errors: list[CorpusError] = []
    for file, data in contents:
        try:
            document = _parse(file, data)
        except CorpusError as error:
            errors.append(error)
        except ValidationError as error:
            errors += _errors(file, error)
        else:
            if document.id in documents:
                errors.append(_same_id(document, documents[document.id]))
            documents.setdefault(document.id, document)
    return Corpus.of(documents.values()), tuple(errors)


def _parse(file: str, data: bytes) -> Document:
    head, text = split(file, data)
    front = FrontMatter.model_validate(head)
    if not text:
        raise CorpusError(file, "text", "the text of the document below the front matter", "nothing")
    return Document(**dict(front), text=text, file=file)


def _errors(file: str, error: ValidationError) -> Iterator[CorpusError]:
    for item in error.errors():
        path = "".join(f"/{part}" for part in item["loc"])
        missing = item["type"] == "missing"
        expected = "a value" if missing else item["msg"].removeprefix("Input should be ")
        hint = "Put it in quotes." if item["type"] == "string_type" else ""
        yield CorpusError(file, path, expected, "nothing" if missing else repr(item["input"])[:80], hint)


def _same_id(document: Document, other: Document) -> CorpusError:
    return CorpusError(document.file, "/id", "an id of its own", f"{document.id!r}, which is that of {other.file}")
