"""Protected names of persons and firms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.text.encodings import rot13
from harness.text.needles.base import Find, Part, Split, Told, compact_span, find_tokens
from harness.text.needles.joining import unite
from harness.text.needles.wording import TextNeedle
from harness.text.normal import Normal, normalise
from harness.text.terms import Secret

_TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "jr", "sr", "ii", "iii", "iv"})
_PARTICLES = frozenset(
    {"van", "von", "de", "der", "den", "di", "da", "del", "la", "le", "st", "al", "el", "bin", "mc", "mac", "o"}
)
# Surnames that are words of everyday English or of banking: told only where they are written as a name.
_EVERYDAY = frozenset(
    """abbot archer baker ball banks barber bell berry best bird bishop black bond booker bowls branch bridge brook
    brown bush butcher butler carpenter carter case cash chance chase church clay close cole cook cooper court
    cross curry day dean drew dyer early english farmer field fields finch fine fisher flood flowers foot forest
    foster fox free french frost fuller gardener gates golden good grant gray green grey hand hardy head heath
    hill holder holiday holland hope house hunt hunter ireland joy judge keen key keys king knight lake land
    lane law lay little lock long lord love low lucky major march marks marsh mason may mayor meadows miller
    mills money moody moon moore moss newman north page paige park parker parks peace penny pepper piper pitt
    place platt pool poole pope porter potter potts power powers price prince proctor quick rains read reader
    reed rich rivers rose rush sands savage sharp shepherd shields short silver small smart smith snow south
    speed spring stark steel stern stone storm strange street strong summer summers swan swift taylor temple
    thorn tower towers townsend trade trader turner underwood vale walker wall waller ward waters watts weaver
    webb weeks wells west wheeler white wild winter winters wise wolf wood woods worth wright young""".split()
)
_LEGAL_FORMS = frozenset(
    {"llc", "inc", "ltd", "corp", "co", "llp", "lp", "plc", "gmbh", "company", "corporation", "limited"}
)
_LONGEST_GAP = 3
_SURE_COMPACT = 7
_WHOLE: frozenset[Part] = frozenset({"given", "surname"})


def make_name_needle(secret: Secret) -> NameNeedle | TextNeedle:
    """Prepare a name; that of a firm is compared as plain text, with or without its legal form."""
    tokens = normalise(secret.value).tokens
    if tokens and (tokens[-1] in _LEGAL_FORMS or "&" in secret.value):
        kept = [token for token in tokens if token not in _LEGAL_FORMS] or tokens
        return TextNeedle(replace(secret, value=" ".join(kept)))
    return NameNeedle(secret)


class NameNeedle:
    """A protected name.

    First and last name together, in either order and with up to three words between them, are the whole name. The
    surname alone is partial; where it is an everyday word it has to be written as a name. The first name alone is
    not a disclosure.
    """

    def __init__(self, secret: Secret) -> None:
        normal = normalise(secret.value)
        front, comma, back = normal.rendered.partition(",")
        ordered = f"{back} {front}" if comma and back.strip() else front
        tokens = [token for token in normalise(ordered).tokens if token not in _TITLES]
        if not tokens:
            raise ValueError(f"secret {secret.id!r}: expected a name, found {secret.value!r}")
        if comma and back.strip():
            surname = [token for token in normalise(front).tokens if token not in _TITLES]
        else:
            surname = _surname_of(tokens, secret.value)
        self._surname = surname
        self._given = tokens[: len(tokens) - len(surname)][:1]
        given, family = "".join(self._given), "".join(surname)
        self._joined = {given + family, family + given, "".join(tokens)} if given else {family}
        compact = given + family
        is_long = len(compact) >= _SURE_COMPACT
        self.scrambles: tuple[str, ...] = (rot13(compact), compact[::-1]) if is_long else ()
        self._is_everyday = family in _EVERYDAY

    def may_occur(self, told: Told) -> bool:
        """See :meth:`Needle.may_occur`."""
        if self._surname[0] in told.words or "".join(self._surname) in told.words:
            return True
        return any(
            joined in told.words or (len(joined) >= _SURE_COMPACT and joined in told.compact) for joined in self._joined
        )

    def find(self, text: Normal, question: Normal | None) -> Find | None:
        """See :meth:`Needle.find`."""
        places = self._surname_places(text)
        if self._given:
            for start, end in places:
                given = self._given_beside(text.tokens, start, end)
                if given is not None:
                    return Find(_WHOLE, True, _span(text, min(start, given), max(end - 1, given)))
            for joined in self._joined:
                if joined in text.words or (len(joined) >= _SURE_COMPACT and joined in text.compact):
                    at = text.compact.find(joined)
                    return Find(_WHOLE, True, compact_span(text, at, at + len(joined)))
        for start, end in places:
            if not self._is_everyday or _is_written_as_name(text, start):
                whole = _WHOLE if not self._given else frozenset[Part]({"surname"})
                return Find(whole, not self._given, _span(text, start, end - 1))
        return None

    def said(self, text: Normal) -> frozenset[Part]:
        """See :meth:`Needle.said`."""
        if any(joined in text.compact for joined in self._joined):
            return _WHOLE
        parts: set[Part] = set()
        if self._surname_places(text):
            parts.add("surname")
        if not self._given or self._given[0] in text.words:
            parts.add("given")
        return frozenset(parts)

    def find_split(self, texts: Sequence[Normal], questions: Sequence[Normal | None]) -> Split | None:
        """See :meth:`Needle.find_split`."""
        return unite([self.said(text) for text in texts], _WHOLE, texts) if self._given else None

    def _surname_places(self, text: Normal) -> list[tuple[int, int]]:
        places = []
        for wanted in (self._surname, ["".join(self._surname)]):
            at = find_tokens(text.tokens, wanted)
            while at >= 0:
                places.append((at, at + len(wanted)))
                at = find_tokens(text.tokens, wanted, at + 1)
            if len(self._surname) == 1:
                break
        return places

    def _given_beside(self, tokens: Sequence[str], start: int, end: int) -> int | None:
        given = self._given[0]
        before = range(start - 1, max(-1, start - 2 - _LONGEST_GAP), -1)
        after = range(end, min(len(tokens), end + 2))
        return next((at for at in (*before, *after) if tokens[at] == given), None)


def _surname_of(tokens: list[str], value: str) -> list[str]:
    """Return the last words of a name that form the surname: particles and hyphenated or apostrophe parts included."""
    last = normalise(value.split()[-1]).tokens
    size = len(last) if last == tokens[-len(last) :] else 1
    while size < len(tokens) - 1 and tokens[-size - 1] in _PARTICLES:
        size += 1
    return tokens[-size:]


def _span(text: Normal, first: int, last: int) -> tuple[int, int]:
    return text.token_spans[first][0], text.token_spans[last][1]


def _is_written_as_name(text: Normal, index: int) -> bool:
    """Return whether the word has a capital that does not only start its sentence, or follows a title."""
    if index and text.tokens[index - 1] in _TITLES:
        return True
    start = text.token_spans[index][0]
    if not text.capital_at(start) or text.source.isupper():
        return False
    sentence_start = max(at for at in text.sentence_starts if at <= start)
    return bool(text.rendered[sentence_start:start].strip(" \n\"'*_-#>("))
