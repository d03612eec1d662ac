"""Protected codes and free texts."""

from __future__ import annotations

from collections.abc import Sequence

from harness.text.encodings import rot13
from harness.text.needles.base import (
    SHORTEST_RUN,
    SURE_RUN,
    Cue,
    Find,
    Part,
    Split,
    Told,
    common_runs,
    compact_span,
    find_tokens,
)
from harness.text.needles.joining import find_chain, may_chain
from harness.text.normal import Normal, normalise, shorten
from harness.text.terms import Secret


class CodeNeedle:
    """A protected code of letters and digits.

    Separators do not count. A run of four or more characters with a digit among them is partial when it stands as
    words of its own, a run of six anywhere. Runs of letters alone are not told apart from words and do not count.
    """

    def __init__(self, secret: Secret) -> None:
        normal = normalise(secret.value)
        self._code = normal.compact
        if not self._code:
            raise ValueError(f"secret {secret.id!r}: expected a code, found {secret.value!r}")
        self._tokens = normal.tokens
        self._allowed = secret.allowed_digits
        self._cue = Cue(secret)
        self._grams = tuple(
            gram
            for at in range(len(self._code) - SURE_RUN + 1)
            if not (gram := self._code[at : at + SURE_RUN]).isalpha()
        )
        size = len(self._code)
        self._pieces = frozenset(
            piece
            for i in range(size)
            for j in range(i + SHORTEST_RUN, size + 1)
            if not (piece := self._code[i:j]).isalpha()
        )
        is_long = size >= SURE_RUN
        self.scrambles: tuple[str, ...] = (
            (self._code[::-1], *(() if self._code.isdigit() else (rot13(self._code),))) if is_long else ()
        )

    def may_occur(self, told: Told) -> bool:
        """See :meth:`Needle.may_occur`."""
        if self._code in told.compact or not self._pieces.isdisjoint(told.words):
            return True
        return any(gram in told.compact for gram in self._grams) or may_chain(told.words, self._code)

    def find(self, text: Normal, question: Normal | None) -> Find | None:
        """See :meth:`Needle.find`."""
        whole = self._find_whole(text, question)
        if whole is not None:
            return whole
        parts: set[Part] = set()
        spans: list[tuple[int, int]] = []
        ends = len(self._code) - self._allowed
        for token, span in zip(text.tokens, text.token_spans, strict=True):
            if token in self._pieces and (not token.isdigit() or token in text.groups):
                place = self._code.index(token)
                if place < ends:
                    parts.update(range(place, place + len(token)))
                    spans.append(span)
        if any(gram in text.compact for gram in self._grams):
            for start, size, places in common_runs(text.compact, self._code, SURE_RUN):
                if places[0] < ends and not self._code[places[0] : places[0] + size].isalpha():
                    parts.update(range(places[0], places[0] + size))
                    spans.append(compact_span(text, start, start + size))
        if not parts:
            return None
        return Find(frozenset(parts), len(parts) == len(self._code), (min(spans)[0], max(end for _, end in spans)))

    def said(self, text: Normal) -> frozenset[Part]:
        """See :meth:`Needle.said`."""
        parts: set[Part] = set()
        for _, size, places in common_runs(text.compact, self._code, min(3, len(self._code))):
            for place in places:
                parts.update(range(place, place + size))
        for token in text.words:
            if len(token) == 2 and token in self._code:
                place = self._code.index(token)
                parts.update((place, place + 1))
        return frozenset(parts)

    def find_split(self, texts: Sequence[Normal], questions: Sequence[Normal | None]) -> Split | None:
        """See :meth:`Needle.find_split`."""
        return split_chain(texts, self._code, frozenset(range(len(self._code))))

    def _find_whole(self, text: Normal, question: Normal | None) -> Find | None:
        all_parts: frozenset[Part] = frozenset(range(len(self._code)))
        if len(self._code) >= SURE_RUN:
            at = text.compact.find(self._code)
            return Find(all_parts, True, compact_span(text, at, at + len(self._code))) if at >= 0 else None
        for wanted in (self._tokens, [self._code]):
            at = find_tokens(text.tokens, wanted)
            if at >= 0:
                span = text.token_spans[at][0], text.token_spans[at + len(wanted) - 1][1]
                if not self._code.isalpha() or self._cue.ties(text, span[0], self._cue.is_asked(question)):
                    return Find(all_parts, True, span)
        return None


class TextNeedle:
    """A protected text, compared word by word; only the whole counts."""

    def __init__(self, secret: Secret) -> None:
        normal = normalise(secret.value)
        self._tokens = normal.tokens
        if not self._tokens:
            raise ValueError(f"secret {secret.id!r}: expected letters or digits, found {secret.value!r}")
        self._compact = normal.compact
        self._is_long = len(self._compact) >= SURE_RUN * 2
        is_scrambled = len(self._compact) > SURE_RUN
        self.scrambles: tuple[str, ...] = (rot13(self._compact), self._compact[::-1]) if is_scrambled else ()

    def may_occur(self, told: Told) -> bool:
        """See :meth:`Needle.may_occur`."""
        return self._compact in told.compact or may_chain(told.words, self._compact)

    def find(self, text: Normal, question: Normal | None) -> Find | None:
        """See :meth:`Needle.find`."""
        parts: frozenset[Part] = frozenset(range(len(self._tokens)))
        if self._is_long:
            at = text.compact.find(self._compact)
            return Find(parts, True, compact_span(text, at, at + len(self._compact))) if at >= 0 else None
        for wanted in (self._tokens, [self._compact]):
            at = find_tokens(text.tokens, wanted)
            if at >= 0:
                return Find(parts, True, (text.token_spans[at][0], text.token_spans[at + len(wanted) - 1][1]))
        return None

    def said(self, text: Normal) -> frozenset[Part]:
        """See :meth:`Needle.said`."""
        if self._compact in text.compact:
            return frozenset(range(len(self._tokens)))
        return frozenset(index for index, token in enumerate(self._tokens) if token in text.words)

    def find_split(self, texts: Sequence[Normal], questions: Sequence[Normal | None]) -> Split | None:
        """See :meth:`Needle.find_split`."""
        return split_chain(texts, self._compact, frozenset(range(len(self._tokens))))


def split_chain(texts: Sequence[Normal], target: str, parts: frozenset[Part]) -> Split | None:
    """Return the texts that spell ``target`` one after the other."""
    if not may_chain(frozenset[str]().union(*(text.words for text in texts)), target):
        return None
    indices = find_chain(texts, target)
    return Split(parts, indices, shorten(" ... ".join(texts[index].source for index in indices))) if indices else None
