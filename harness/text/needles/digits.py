"""Phone numbers and other numbers that are identified by their digits."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.text.needles.base import (
    SHORTEST_RUN,
    SURE_RUN,
    Cue,
    Find,
    Part,
    Split,
    Told,
    atom_offsets,
    common_runs,
    pieces_of,
)
from harness.text.normal import Normal, grams_of, normalise
from harness.text.terms import Secret, SecretKind

_DIGIT_TALK = re.compile(r"\b(?:ending|ends?|last|final|digits?|start\w*|begin\w*|first|pin|number)\b")
_COUNTRY_DIGITS = 3
_LONGEST_LOOSE_ATOM = 6
_NATIONAL_DIGITS = 10


class DigitsNeedle:
    """A protected number.

    A run of six digits counts wherever it stands: by chance it turns up once in about 200,000 places. A run of four
    or five counts only as a number of its own (whole numbers as written or said), because such a run inside an
    unrelated case number is chance, and not where amounts, dates, times or years are meant.
    """

    def __init__(self, secret: Secret) -> None:
        self.digits = normalise(secret.value).stream
        if not self.digits:
            raise ValueError(f"secret {secret.id!r} of kind {secret.kind.value} has no digits: {secret.value!r}")
        self._allowed = secret.allowed_digits
        self._cue = Cue(secret)
        size = len(self.digits)
        self._is_phone = secret.kind is SecretKind.PHONE
        has_country = self._is_phone and secret.value.strip().startswith("+")
        if has_country or (self._is_phone and size == 11 and self.digits[0] == "1"):
            self._prefix = 1 if self.digits[0] == "1" else min(_COUNTRY_DIGITS, max(0, size - 7))
        else:
            self._prefix = 0
        self._grams = grams_of(self.digits)
        self._pieces = pieces_of(self.digits, 3)
        national = self._national = self.digits[self._prefix if self._prefix == 1 else 0 :]
        self.scrambles: tuple[str, ...] = (national[::-1],) if len(national) >= SURE_RUN else ()

    def may_occur(self, told: Told) -> bool:
        """See :meth:`Needle.may_occur`."""
        if len(self.digits) < SHORTEST_RUN:
            return self.digits in told.stream
        return not self._grams.isdisjoint(told.grams) or len(self._pieces & told.groups) > 1

    def find(self, text: Normal, question: Normal | None) -> Find | None:
        """See :meth:`Needle.find`."""
        if len(self.digits) < SHORTEST_RUN:
            return self._find_short(text, question)
        parts: set[Part] = set()
        is_full = False
        span: tuple[int, int] | None = None
        for start, end, places in self._runs(text):
            if any(place >= len(self.digits) - self._allowed for place in places):
                continue
            if self._is_other_phone(text, start, end, places):
                continue
            size = end - start
            for place in places:
                parts.update(range(place, place + size))
                is_full = is_full or (place <= self._prefix and place + size == len(self.digits))
            span = span or self._span(text, start, end)
        return Find(frozenset(parts), is_full, span) if span else None

    def said(self, text: Normal) -> frozenset[Part]:
        """See :meth:`Needle.said`."""
        parts: set[Part] = set()
        for _, size, places in common_runs(text.stream, self.digits, min(3, len(self.digits))):
            for place in places:
                parts.update(range(place, place + size))
        for atom in text.atoms:
            if len(atom.digits) == 2:
                for match in re.finditer(f"(?={atom.digits})", self.digits):
                    parts.update((match.start(), match.start() + 1))
        return frozenset(parts)

    def find_split(self, texts: Sequence[Normal], questions: Sequence[Normal | None]) -> Split | None:
        """See :meth:`Needle.find_split`."""
        return self._in_order(texts) or self._in_pieces(texts)

    def _find_short(self, text: Normal, question: Normal | None) -> Find | None:
        for start, end in self._short_spans(text):
            if self._cue.ties(text, start, self._cue.is_asked(question)):
                return Find(frozenset(range(len(self.digits))), True, (start, end))
        return None

    def _short_spans(self, text: Normal) -> Iterator[tuple[int, int]]:
        """Yield where a value of a few digits stands as one number, or digit by digit ("9-2-6")."""
        atoms = text.atoms
        for index, atom in enumerate(atoms):
            if atom.digits == self.digits and atom.is_free and not self._is_other_number(text, atom.start):
                yield atom.start, atom.end
            run = atoms[index : index + len(self.digits)]
            is_run = all(len(one.digits) == 1 and one.is_free for one in run) and all(one.is_joined for one in run[1:])
            is_alone = not (run[0].is_joined or any(one.is_joined for one in atoms[index + len(run) :][:1]))
            if is_run and is_alone and len(run) > 1 and "".join(one.digits for one in run) == self.digits:
                yield run[0].start, run[-1].end

    def _runs(self, text: Normal) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield (start, end, places in the value) of the runs of the stream that count."""
        if self._grams.isdisjoint(text.grams):
            return
        atoms = text.atoms
        offsets = atom_offsets(atoms)
        breaks = [offsets[index] for index, atom in enumerate(atoms) if index and not atom.is_joined]
        edges = self._edges(text, offsets)
        for start, size, places in common_runs(text.stream, self.digits, SHORTEST_RUN):
            end = start + size
            cuts = [start, *breaks[bisect_right(breaks, start) : bisect_left(breaks, end)], end]
            low, high = _trim(edges, start, end)
            if len(cuts) > 2 and high - low >= SURE_RUN and self._stands_alone(text, offsets, low, high):
                # the digits are interleaved with words: "555, then comes 010 and at last 4477"
                yield low, high, tuple(place + low - start for place in places)
                continue
            for left, right in pairwise(cuts):
                if right - left >= SURE_RUN:
                    yield left, right, tuple(place + left - start for place in places)
                    continue
                low, high = _trim(edges, left, right)
                if high - low >= SHORTEST_RUN and self._stands_alone(text, offsets, low, high):
                    yield low, high, tuple(place + low - start for place in places)

    def _edges(self, text: Normal, offsets: list[int]) -> list[int]:
        """Return the places of the stream at which a number, as written or said, starts or ends."""
        edges: set[int] = set()
        for atom, offset in zip(text.atoms, offsets, strict=False):
            if not atom.is_free:
                continue
            size = len(atom.digits)
            inner = range(size + 1) if atom.is_spelled and size <= _LONGEST_LOOSE_ATOM else (0, size)
            edges.update(offset + step for step in inner)
        return sorted(edges)

    def _stands_alone(self, text: Normal, offsets: list[int], start: int, end: int) -> bool:
        first = bisect_right(offsets, start) - 1
        last = bisect_left(offsets, end) - 1
        atoms = text.atoms[first : last + 1]
        if all(self._is_other_number(text, atom.start) for atom in atoms):
            return False
        run = text.stream[start:end]
        is_year = len(run) == 4 and run[:2] in ("19", "20")
        return not is_year or _DIGIT_TALK.search(text.sentence_at(atoms[0].start)) is not None

    def _is_other_number(self, text: Normal, position: int) -> bool:
        return any(start <= position < end for start, end in text.other_number_spans)

    def _is_other_phone(self, text: Normal, start: int, end: int, places: tuple[int, ...]) -> bool:
        """Return whether the run only begins a whole phone number that is another one: area codes are shared."""
        if not self._is_phone:
            return False
        offset = 0
        for group in text.groups:
            if offset <= start and end <= offset + len(group):
                skipped = 1 if len(group) == _NATIONAL_DIGITS + 1 and group[0] == "1" else 0
                national = group[skipped:]
                is_aligned = any(start - offset - skipped == place - self._prefix for place in places)
                return len(national) == _NATIONAL_DIGITS and national != self._national and is_aligned
            offset += len(group)
        return False

    def _span(self, text: Normal, start: int, end: int) -> tuple[int, int]:
        offsets = atom_offsets(text.atoms)
        first = bisect_right(offsets, start) - 1
        last = bisect_left(offsets, end) - 1
        return text.atoms[first].start, text.atoms[last].end

    def _new(self, start: int, end: int) -> frozenset[Part]:
        return frozenset(range(start, min(end, len(self.digits) - self._allowed)))

    def _in_order(self, texts: Sequence[Normal]) -> Split | None:
        """Find a run of six digits (a short value: all of it) said over several texts, one piece after the other."""
        wanted = min(SURE_RUN, len(self.digits))
        stream, edges, owners = "", [0], []
        for index, text in enumerate(texts):
            if wanted < SURE_RUN and len(text.stream) >= wanted:
                # a short value is searched among texts that say a piece of it and no other number
                continue
            for atom in text.atoms:
                stream += atom.digits
                owners += [index] * len(atom.digits)
                edges.append(len(stream))
        for start, size, places in common_runs(stream, self.digits, min(SHORTEST_RUN, wanted)):
            low, high = _trim(edges, start, start + size)
            indices = sorted(set(owners[low:high]))
            if high - low < wanted or len(indices) < 2:
                continue
            parts = frozenset[Part]().union(*(self._new(p + low - start, p + high - start) for p in places))
            if len(parts) >= min(SHORTEST_RUN, wanted):
                return Split(parts, tuple(indices), " ... ".join(texts[index].stream for index in indices))
        return None

    def _in_pieces(self, texts: Sequence[Normal]) -> Split | None:
        """Find pieces of three digits or more, in any order and among other numbers, that together make a long run."""
        told: dict[int, int] = {}
        for index, text in enumerate(texts):
            for group in self._pieces.intersection(text.groups):
                place = self.digits.index(group)
                told |= {at: index for at in range(place, place + len(group)) if at not in told}
        at = 0
        while at < len(self.digits):
            end = at
            while end in told:
                end += 1
            indices = sorted({told[place] for place in range(at, end)})
            parts = self._new(at, end)
            if end - at >= SURE_RUN and len(indices) > 1 and len(parts) >= SHORTEST_RUN:
                return Split(parts, tuple(indices), " ... ".join(texts[index].stream for index in indices))
            at = end + 1
        return None


def _trim(edges: list[int], start: int, end: int) -> tuple[int, int]:
    """Return the widest stretch inside ``start:end`` that begins and ends at an edge."""
    low = bisect_left(edges, start)
    high = bisect_right(edges, end) - 1
    return (edges[low], edges[high]) if low < len(edges) and high >= low else (start, start)
