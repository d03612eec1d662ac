"""Protected dates."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import permutations

from harness.text.dates import MONTH_WORDS, DateMention, is_same_year
from harness.text.needles.base import SHORTEST_RUN, Cue, Find, Part, Split, Told
from harness.text.needles.joining import unite
from harness.text.normal import Normal
from harness.text.terms import Secret

_WHOLE: frozenset[Part] = frozenset({"year", "month", "day"})


class DateNeedle:
    """A protected date.

    The whole date counts wherever it is told. The year alone, day and month, or month and year count when the
    sentence is about this date (see :meth:`Cue.ties`); the other parts of a whole date that is not this one never do.
    """

    def __init__(self, secret: Secret) -> None:
        try:
            date = datetime.date.fromisoformat(secret.value)
        except ValueError as error:
            raise ValueError(f"secret {secret.id!r}: expected an ISO date, found {secret.value!r}") from error
        self._year, self._month, self._day = date.year, date.month, date.day
        self._ordinals = frozenset(f"{date.day}{end}" for end in ("st", "nd", "rd", "th"))
        self._cue = Cue(secret)
        written = {
            "".join(order)
            for year in (f"{date.year:04d}", f"{date.year % 100:02d}")
            for day, month in (
                (f"{date.day:02d}", f"{date.month:02d}"),
                (str(date.day), str(date.month)),
                (f"{date.day:02d}", str(date.month)),
                (str(date.day), f"{date.month:02d}"),
            )
            for order in permutations((year, month, day))
        }
        self._compact = frozenset(digits for digits in written if len(digits) >= 6)
        self._short_year = f"{date.year % 100:02d}"
        self._years = {str(date.year), self._short_year}
        self.scrambles: tuple[str, ...] = (secret.value.replace("-", "")[::-1],)

    def may_occur(self, told: Told) -> bool:
        """See :meth:`Needle.may_occur`."""
        return bool(told.stream) or not MONTH_WORDS.isdisjoint(told.words)

    def find(self, text: Normal, question: Normal | None) -> Find | None:
        """See :meth:`Needle.find`."""
        if not text.dates and self._short_year not in text.stream:
            return None
        for mention in text.dates:
            if self._is_whole(mention):
                return Find(_WHOLE, True, mention.span)
        return self._find_compact(text) or self._find_parts(text, question)

    def said(self, text: Normal) -> frozenset[Part]:
        """See :meth:`Needle.said`."""
        parts: set[Part] = set()
        for mention in text.dates:
            numbers = mention.numbers
            if any(is_same_year(year, self._year) for year in (*mention.years, *numbers)):
                parts.add("year")
            if self._month in (*mention.months, *numbers):
                parts.add("month")
            if self._day in (*mention.days, *numbers):
                parts.add("day")
        if any(atom.digits == str(self._year) for atom in text.atoms):
            parts.add("year")
        if any(token in self._ordinals for token in text.tokens):
            parts.add("day")
        if self._find_compact(text):
            return _WHOLE
        return frozenset(parts)

    def find_split(self, texts: Sequence[Normal], questions: Sequence[Normal | None]) -> Split | None:
        """See :meth:`Needle.find_split`."""
        tied = [
            self.said(text) if self._is_about(text, question) else frozenset[Part]()
            for text, question in zip(texts, questions, strict=True)
        ]
        return unite(tied, _WHOLE, texts)

    def _is_about(self, text: Normal, question: Normal | None) -> bool:
        return self._cue.is_in(text.rendered) or self._cue.is_asked(question)

    def _is_whole(self, mention: DateMention) -> bool:
        if mention.numbers:
            return any(
                is_same_year(year, self._year) and (month, day) == (self._month, self._day)
                for year, month, day in permutations(mention.numbers)
            )
        return (
            any(is_same_year(year, self._year) for year in mention.years)
            and self._month in mention.months
            and self._day in mention.days
            and len(mention.months) == 1
        )

    def _find_compact(self, text: Normal) -> Find | None:
        """Find the date as one number, or as numbers said one after the other."""
        atoms = text.atoms
        for first, atom in enumerate(atoms):
            joined = ""
            for last in range(first, min(first + 8, len(atoms))):
                if last > first and not atoms[last].is_joined:
                    break
                joined += atoms[last].digits
                if len(joined) > 8:
                    break
                if joined in self._compact:
                    return Find(_WHOLE, True, (atom.start, atoms[last].end))
        return None

    def _find_parts(self, text: Normal, question: Normal | None) -> Find | None:
        is_asked = question is not None and (self._cue.is_asked(question) or bool(self.said(question)))
        parts: set[Part] = set()
        spans: list[tuple[int, int]] = []
        taken = [mention.span for mention in text.dates if mention.is_whole]
        for mention in text.dates:
            told = self._parts_of(mention)
            if told and self._cue.ties(text, mention.span[0], is_asked):
                parts |= told
                spans.append(mention.span)
        for atom in text.atoms:
            if atom.digits not in self._years or any(start <= atom.start < end for start, end in taken):
                continue
            is_long = len(atom.digits) == SHORTEST_RUN
            if is_long and self._cue.ties(text, atom.start, is_asked):
                is_told = True
            else:
                sentence = text.sentence_at(atom.start)
                is_told = not is_long and atom.is_free and self._cue.is_in(sentence) and _names_year(text, atom.start)
            if is_told:
                parts.add("year")
                spans.append((atom.start, atom.end))
        if parts and any(token in self._ordinals for token in text.tokens):
            parts.add("day")
        if not ("year" in parts or {"month", "day"} <= parts):
            return None
        return Find(frozenset(parts), parts >= _WHOLE, (min(spans)[0], max(end for _, end in spans)))

    def _parts_of(self, mention: DateMention) -> frozenset[Part]:
        """Return the parts told by a partial date; nothing where one of its parts is not that of this date."""
        if mention.numbers or mention.is_whole:
            return frozenset()
        if len(mention.days) == 2 and (mention.months[0], mention.days[1]) == (self._month, self._year % 100):
            return frozenset({"year", "month"})
        parts: set[Part] = set()
        if mention.years:
            if not any(is_same_year(year, self._year) for year in mention.years):
                return frozenset()
            parts.add("year")
        if mention.months:
            if self._month not in mention.months:
                return frozenset()
            parts.add("month")
        if mention.days:
            if self._day not in mention.days:
                return frozenset()
            parts.add("day")
        return frozenset(parts)


def _names_year(text: Normal, position: int) -> bool:
    before = text.rendered[max(0, position - 14) : position]
    return before.rstrip().endswith(("'", " in", "year", "year is", "of")) or before.endswith("'")
