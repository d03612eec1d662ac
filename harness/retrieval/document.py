"""One document of the corpus: front matter and prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.retrieval.words import terms

# A sentence ends before white space and something that can begin one; list items, table rows and headings stand alone.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9$\"'“`(*])")
_BLOCK_START: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+|#>]|\d+[.)])\s?)")
_MARKUP: Final = re.compile(r"^[\s>#*+|-]+|[\s|]+$")

Line = Annotated[str, Field(min_length=1, max_length=160, pattern=r"^\S(?:[^\n]*\S)?$")]
Slug = Annotated[str, Field(max_length=80, pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")]
Names = Annotated[tuple[str, ...], Field(strict=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Fact(_Strict):
    """A value that a document states, word for word as it stands in the text."""

    id: Slug
    rule: str | None = None
    value: Line
    confidential: bool = False


class FrontMatter(_Strict):
    """What a document says of itself, above its text.

    Attributes
    ----------
    effective_from, effective_to
        The first and the last day on which it is in force; it has no end where `effective_to` is None.
    supersedes
        Id of the document that this one replaces.
    rules
        Ids of the rules of which this document is the written form.
    restates
        Ids of the rules that it repeats in other words; their written form is elsewhere.
    tools
        The discoverable tools that its text names.
    """

    id: Slug
    title: Line
    category: Slug
    audience: Literal["internal", "customer"]
    effective_from: date
    effective_to: date | None = None
    version: int = Field(ge=1)
    supersedes: str | None = None
    rules: Names = ()
    restates: Names = ()
    tools: Names = ()
    facts: Annotated[tuple[Fact, ...], Field(strict=False)] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document, free of markup, with its terms."""

    text: str
    terms: frozenset[str]


class Document(FrontMatter):
    """A document of the corpus.

    Attributes
    ----------
    text
        The prose below the front matter, in Markdown.
    file
        Where it was read, for messages.
    """

    text: str = Field(min_length=1)
    file: str

    def is_current(self, on: date) -> bool:
        """Tell whether the document is in force on a day; its first and last day count."""
        return self.effective_from <= on and (self.effective_to is None or on <= self.effective_to)

    def page_text(self) -> str:
        """Return the document as an agent reads it: a line that says what and of when it is, then the text."""
        until = f"to {self.effective_to}" if self.effective_to else "until further notice"
        header = (
            f"{self.title} | {self.id} | version {self.version} | "
            f"in force from {self.effective_from} {until} | {self.audience} document"
        )
        return f"{header}\n\n{self.text}"

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the text in order, headings and list items among them."""
        found = []
        for block in _BLOCK_START.split(self.text):
            for piece in _SENTENCE_END.split(_MARKUP.sub("", block)):
                if words := terms(piece):
                    found.append(Sentence(" ".join(piece.split()), frozenset(words)))
        return tuple(found)
