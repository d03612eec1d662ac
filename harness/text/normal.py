"""Normal forms: the one way in which texts are compared everywhere.

``normalise(text)`` gives a :class:`Normal`: characters folded, numbers in words turned into digits, and from there the
words, the digits in order, the dates, the amounts of money and the decoded passages. Everything beyond the words is
worked out when it is first asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache

from harness.text.characters import clean, origins
from harness.text.dates import MONTH_WORDS, DateMention, find_dates
from harness.text.encodings import decode
from harness.text.money import AmountMention, find_amounts
from harness.text.numbers import NUMBER_WORDS, ORDINAL_WORDS, Replacement, find_spoken_numbers
from harness.text.spelling import Decoding

_WORD = re.compile(r"[a-z0-9]+")
_DIGITS = re.compile(r"\d+")
_POINT = re.compile(r"(?<=\d)\s+point\s+(?=\d)")
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th)(?![a-z])")
_LOOSE_WORDS = r"and|then|dash|hyphen|dot|point|slash|space|comma|plus|followed by|next|area code"
_TIGHT = re.compile(rf"(?:[^a-z0-9]|\b(?:{_LOOSE_WORDS})\b)*")
_LONGEST_TIGHT_GAP = 24
_SENTENCE_END = re.compile(r"[.!?;]+(?=\s|$)|\n+")
_TIME = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)|(?<![\d.])\d{1,2}\s?[ap]\.?m\b")
_CACHED_LENGTH = 20_000
_QUOTE_LENGTH = 120
_GRAM = 4
_SENTENCE_REACH = 300


@dataclass(frozen=True, slots=True)
class Atom:
    """Digits that were written or said as one number.

    Attributes
    ----------
    digits
        The digits.
    start, end
        Where they stand in the rendered text.
    is_joined
        Whether only punctuation or words such as "dash" separate them from the atom before.
    is_spelled
        Whether they were said in words or one by one.
    is_free
        Whether no letter touches them (masks such as ``xxxx1234`` apart).
    """

    digits: str
    start: int
    end: int
    is_joined: bool
    is_spelled: bool
    is_free: bool


class Normal:
    """A text in normal form.

    Attributes
    ----------
    source
        The text as it was said.
    plain
        Its characters folded.
    rendered
        ``plain`` with numbers in words turned into digits; every span refers to it.
    tokens
        The words and numbers of ``rendered``, in order.
    words
        The same as a set.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.plain = clean(source)
        self.tokens = _WORD.findall(self.plain)
        self.words = frozenset(self.tokens)
        self.rendered = self.plain
        self._replaced: tuple[Replacement, ...] = ()
        self._render()

    def _render(self) -> None:
        has_month = "month" in self.words or not MONTH_WORDS.isdisjoint(self.words)
        has_ordinal = has_month and not ORDINAL_WORDS.isdisjoint(self.words)
        is_digit_by_digit = sum(1 for token in self.tokens if len(token) == 1 and token.isdigit()) > 2
        if not (has_ordinal or is_digit_by_digit) and NUMBER_WORDS.isdisjoint(self.words):
            return
        replaced = list(find_spoken_numbers(self.plain, with_ordinals=has_ordinal))
        if "point" in self.words:
            taken = _apply(self.plain, tuple(replaced))
            if _POINT.search(taken):
                replaced += [
                    Replacement(match.start(), match.end(), ".")
                    for match in re.finditer(r"\s+point\s+", self.plain)
                    if not any(other.start < match.end() and match.start() < other.end for other in replaced)
                ]
        self._replaced = tuple(sorted(replaced))
        self.rendered = _apply(self.plain, self._replaced)
        self.tokens = _WORD.findall(self.rendered)
        self.words = self.words | frozenset(self.tokens)

    @cached_property
    def compact(self) -> str:
        """All letters and digits of ``rendered`` without anything between them."""
        return "".join(self.tokens)

    @cached_property
    def token_spans(self) -> list[tuple[int, int]]:
        """Start and end of each token."""
        return [match.span() for match in _WORD.finditer(self.rendered)]

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The numbers in order, ordinals left out."""
        text = self.rendered
        spelled = self._spelled_starts
        atoms: list[Atom] = []
        previous_end = None
        for match in _DIGITS.finditer(text):
            start, end = match.span()
            if _ORDINAL_END.match(text, end):
                continue
            is_joined = False
            if previous_end is not None and start - previous_end <= _LONGEST_TIGHT_GAP:
                is_joined = _TIGHT.fullmatch(text, previous_end, start) is not None
            before, after = text[start - 1 : start], text[end : end + 1]
            is_free = (not before.isalpha() or before == "x") and not after.isalpha()
            atoms.append(Atom(match.group(), start, end, is_joined, start in spelled, is_free))
            previous_end = end
        return tuple(atoms)

    @cached_property
    def stream(self) -> str:
        """The digits of all atoms, one after the other."""
        return "".join(atom.digits for atom in self.atoms)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The digits of neighbouring atoms that nothing but punctuation separates."""
        groups: list[str] = []
        for atom in self.atoms:
            if atom.is_joined:
                groups[-1] += atom.digits
            else:
                groups.append(atom.digits)
        return tuple(groups)

    @cached_property
    def grams(self) -> frozenset[str]:
        """The runs of four digits in ``stream``."""
        return grams_of(self.stream)

    @cached_property
    def dates(self) -> tuple[DateMention, ...]:
        """Dates and parts of dates."""
        return find_dates(self.rendered, self.words)

    @cached_property
    def amounts(self) -> tuple[AmountMention, ...]:
        """Amounts of money and bare integers."""
        return find_amounts(self.rendered) if self.atoms else ()

    @cached_property
    def other_number_spans(self) -> tuple[tuple[int, int], ...]:
        """Spans of numbers that say themselves what they are: marked amounts, named or whole dates, times."""
        return (
            *(amount.span for amount in self.amounts if amount.is_marked),
            *(date.span for date in self.dates if date.is_whole or not (date.months and date.days)),
            *(match.span() for match in _TIME.finditer(self.rendered)),
        )

    @cached_property
    def decodings(self) -> tuple[Decoding, ...]:
        """What the text says once its encoded passages are decoded."""
        return decode(self.source, self.plain, self.rendered, self.tokens)

    @cached_property
    def _spelled_starts(self) -> frozenset[int]:
        starts: list[int] = []
        shift = 0
        for replacement in self._replaced:
            starts.append(replacement.start + shift)
            shift += len(replacement.digits) - (replacement.end - replacement.start)
        return frozenset(starts)

    @cached_property
    def sentence_starts(self) -> list[int]:
        """Where sentences start in ``rendered``."""
        return [0, *(match.end() for match in _SENTENCE_END.finditer(self.rendered))]

    def sentence_at(self, position: int) -> str:
        """Return the sentence of ``rendered`` around ``position``, at most 300 characters to each side."""
        starts = self.sentence_starts
        index = bisect_right(starts, position) - 1
        end = starts[index + 1] if index + 1 < len(starts) else len(self.rendered)
        start = max(starts[index], position - _SENTENCE_REACH)
        return self.rendered[start : min(end, position + _SENTENCE_REACH)]

    def capital_at(self, position: int) -> bool:
        """Return whether the character at ``position`` of ``rendered`` was a capital letter in the source."""
        index = self._source_index(position)
        return index < len(self.source) and self.source[index].isupper()

    def quote(self, start: int, end: int) -> str:
        """Return the words of the source behind a span of ``rendered``, at most 120 characters."""
        if start >= end:
            return ""
        quoted = self.source[self._source_index(start) : self._source_index(end - 1, at_end=True)]
        return shorten(quoted)

    def _plain_index(self, position: int, *, at_end: bool) -> int:
        shift = 0
        for replacement in self._replaced:
            start = replacement.start + shift
            if position < start:
                break
            if position < start + len(replacement.digits):
                return replacement.end - 1 if at_end else replacement.start
            shift += len(replacement.digits) - (replacement.end - replacement.start)
        return position - shift

    def _source_index(self, position: int, *, at_end: bool = False) -> int:
        index = self._plain_index(position, at_end=at_end)
        if len(self.plain) != len(self.source) or not self.source.isascii():
            table = self._origins
            index = table[index] if index < len(table) else len(self.source)
        return index + 1 if at_end else index

    @cached_property
    def _origins(self) -> list[int]:
        return origins(self.source)


def grams_of(digits: str) -> frozenset[str]:
    """Return the runs of four characters."""
    return frozenset(digits[at : at + _GRAM] for at in range(len(digits) - _GRAM + 1))


def shorten(text: str) -> str:
    """Return ``text`` on one line, cut to 120 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _QUOTE_LENGTH else f"{line[: _QUOTE_LENGTH - 3]}..."


def _apply(text: str, replacements: tuple[Replacement, ...]) -> str:
    pieces: list[str] = []
    at = 0
    for replacement in replacements:
        pieces += (text[at : replacement.start], replacement.digits)
        at = replacement.end
    return "".join([*pieces, text[at:]])


_normalise_cached = lru_cache(maxsize=4096)(Normal)


def normalise(text: str) -> Normal:
    """Return the normal form of ``text``; recent texts of ordinary length are remembered."""
    return _normalise_cached(text) if len(text) <= _CACHED_LENGTH else Normal(text)
