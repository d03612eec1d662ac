"""Fills a corpus up to a size, so that search can be tried at the size it is meant for.

A filler is a page of ordinary house prose: sentence frames with noun phrases of the corpus itself, and a line of
related subjects with words of it. About half of these come from two documents whose neighbour the page plays, so that
it competes for their words. A filler states no rule and no fact, names no tool, and depends on the seed and its id
alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count, islice
from random import Random
from typing import Final, Literal, TypeVar

from domains.kit.draw import Draw
from harness.retrieval.corpus import Corpus
from harness.retrieval.document import Document
from harness.retrieval.words import FUNCTION_WORDS

_T = TypeVar("_T")

_PARAGRAPHS: Final = 4
_SENTENCES_A_PARAGRAPH: Final = 4
_SUBJECTS: Final = 16
_NEAR_SHARE: Final = 0.5

# One or two words after an article and before something that ends a noun phrase.
_PHRASE: Final = re.compile(
    r"\b(?:the|an?|each|every|any|another|this)\s+((?:[a-z][a-z-]+\s+){0,1}[a-z][a-z-]{2,})"
    r"(?=[.,;:)]|\s+(?:of|in|on|at|for|to|by|with|from|is|are|was|has|must|may|can|that|which|who|when|before|after"
    r"|and|or)\b)"
)

_NO_NOUNS: Final = FUNCTION_WORDS | {"first", "last", "one", "other", "rest", "same", "second"}
_WORD: Final = re.compile(r"(?<![\w`'’-])[a-z]{4,}(?![\w`'’-])")

# For a corpus too small to have phrases of its own.
_HOUSE_PHRASES: Final = (
    "request", "record", "form", "customer", "opening hours", "branch", "letter", "fee", "appointment", "signature",
    "monthly statement", "service desk", "reply", "address", "contract", "notice period", "reference number", "receipt",
)  # fmt: skip

_AUDIENCES: Final[tuple[Literal["internal"], Literal["customer"]]] = ("internal", "customer")

_TITLES: Final = (
    "{A} and {b}: an overview",
    "Questions about the {a}",
    "Working with the {a} and the {b}",
    "The {a}: notes for colleagues",
    "How we handle the {a}",
    "From {a} to {b}",
    "Guide to the {a}",
    "{A} and {b} explained",
)

_FRAMES: Final = (
    "Most questions about the {a} come up when the {b} is opened for the first time.",
    "The {a} is kept together with the {b}, and both can be seen on the same screen.",
    "Ask for the {a} first and for the {b} only where it is needed.",
    "A customer who writes about the {a} hears from us within a few days.",
    "The team that looks after the {a} also answers questions about the {b}.",
    "Where the {a} is missing, the {b} is sent back with a short note.",
    "Nothing about the {a} changes when the {b} is renewed.",
    "In a branch the {a} is printed on request; in the app it stands below the {b}.",
    "The {a} was brought in because the {b} alone had led to misunderstandings.",
    "Keep the {a} short, and write down how the {b} was settled.",
    "Fees for the {a} are listed in the price list, next to those for the {b}.",
    "If the {a} and the {b} do not agree, the more recent one is the one to use.",
    "Colleagues who are new to the {a} find an example in the training folder.",
    "The {a} can be ordered, changed and ended without any effect on the {b}.",
    "Every quarter the {a} is compared with the {b} and the result is filed.",
    "Some customers confuse the {a} with the {b}; a friendly word of explanation helps.",
    "The wording of the {a} has been made simpler, the meaning is the same.",
    "Do not promise a date for the {a} before the {b} has arrived.",
    "For the {a} no appointment is needed, while the {b} takes about half an hour.",
    "A copy of the {a} goes into the archive as soon as the {b} is complete.",
    "What is said here about the {a} applies to the {b} in the same way.",
    "Suggestions about the {a} are welcome and are collected once a month.",
)


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """What pages are made of; what is frequent stands more than once and is drawn more often."""

    phrases: tuple[str, ...]
    words: tuple[str, ...]


def pad_corpus(corpus: Corpus, size: int, seed: int = 0) -> Corpus:
    """Return a corpus of `size` documents: those given and fillers.

    Parameters
    ----------
    corpus
        Any corpus; one that has `size` documents or more is returned as it is.
    size
        How many documents there shall be.
    seed
        Another seed gives other fillers.
    """
    if len(corpus) >= size:
        return corpus
    near, everywhere = _vocabularies(corpus)
    categories = sorted({document.category for document in corpus.documents.values()}) or ["general"]
    ids = (f"house-page-{number:04d}" for number in count(1))
    free = (filler_id for filler_id in ids if filler_id not in corpus.documents)
    fillers = [
        _filler(filler_id, near, everywhere, categories, Draw((seed, "padding", filler_id)))
        for filler_id in islice(free, size - len(corpus))
    ]
    return Corpus.of([*corpus.documents.values(), *fillers])


def _vocabularies(corpus: Corpus) -> tuple[list[_Vocabulary], _Vocabulary]:
    """Return the vocabulary of each document, and that of all together."""
    texts = [" ".join(document.text.split()) for document in corpus.documents.values()]
    phrases = [[match[1] for match in _PHRASE.finditer(text)] for text in texts]
    # What stands only once is often no noun phrase but the beginning of a clause.
    times = Counter(phrase for found in phrases for phrase in found)
    near = [
        _Vocabulary(
            tuple(phrase for phrase in found if times[phrase] > 1 and not _NO_NOUNS.intersection(phrase.split())),
            tuple(sorted(set(_WORD.findall(text)) - FUNCTION_WORDS)),
        )
        for found, text in zip(phrases, texts, strict=True)
    ]
    everywhere = _Vocabulary(
        tuple(phrase for vocabulary in near for phrase in vocabulary.phrases) + _HOUSE_PHRASES,
        tuple(word for vocabulary in near for word in vocabulary.words) + _HOUSE_PHRASES,
    )
    return near, everywhere


def _filler(
    filler_id: str, near: Sequence[_Vocabulary], everywhere: _Vocabulary, categories: Sequence[str], draw: Draw
) -> Document:
    # Of a seeded generator only `random` gives the same numbers in every version of Python.
    uniform = Random(draw.bits()).random

    def pick(options: Sequence[_T]) -> _T:
        return options[int(uniform() * len(options))]

    neighbours = [pick(near), pick(near)] if near else [everywhere]

    def phrase() -> str:
        source = pick(neighbours) if uniform() < _NEAR_SHARE else everywhere
        return pick(source.phrases or everywhere.phrases)

    def word() -> str:
        source = pick(neighbours) if uniform() < _NEAR_SHARE else everywhere
        return pick(source.words or everywhere.words)

    def fill(frame: str) -> str:
        a, b = phrase(), phrase()
        return frame.format(a=a, b=b, A=a[0].upper() + a[1:])

    frames = sorted(_FRAMES, key=lambda frame: uniform())
    paragraphs = [
        " ".join(fill(frame) for frame in frames[start : start + _SENTENCES_A_PARAGRAPH])
        for start in range(0, _PARAGRAPHS * _SENTENCES_A_PARAGRAPH, _SENTENCES_A_PARAGRAPH)
    ]
    subjects = ", ".join(sorted({word() for _ in range(_SUBJECTS)}))
    return Document(
        id=filler_id,
        title=fill(pick(_TITLES)),
        category=pick(categories),
        audience=pick(_AUDIENCES),
        effective_from=date(2022, 1, 1) + timedelta(days=int(uniform() * 1000)),
        version=1,
        text="\n\n".join([*paragraphs, f"Related subjects: {subjects}."]),
        file=f"{filler_id}.md",
    )
