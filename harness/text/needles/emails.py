"""Protected e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.text.encodings import rot13
from harness.text.needles.base import Cue, Find, Part, Split, Told
from harness.text.needles.joining import find_chain, may_chain
from harness.text.normal import Normal, normalise, shorten
from harness.text.terms import Secret

_CONNECTORS = frozenset({"at", "dot", "underscore", "dash", "hyphen", "plus", "point", "period"})
_SEPARATOR = r"(?:\s*(?:[._+-]|\b(?:dot|underscore|dash|hyphen|plus|point|period)\b)\s*)"
_AT = r"(?:\s*(?:@|[\[({<]\s*(?:at|@)\s*[\])}>]|\bat\b)\s*)"
_LOCAL: Part = "local"
_DOMAIN: Part = "domain"
_WHOLE: frozenset[Part] = frozenset({_LOCAL, _DOMAIN})


class EmailNeedle:
    """A protected e-mail address.

    Local part and domain together are the whole; the local part alone is partial. Where the local part is one plain
    word (as a first name is), it counts only in a sentence about mail or before an "at".
    """

    def __init__(self, secret: Secret) -> None:
        rendered = normalise(secret.value).rendered
        local, at, domain = rendered.partition("@")
        if not (local and at and domain):
            raise ValueError(f"secret {secret.id!r}: expected an e-mail address, found {secret.value!r}")
        self._cue = Cue(secret)
        self._local = _joined(normalise(local))
        self._domain = _joined(normalise(domain))
        pieces = [re.findall(r"[a-z]+|\d+", part) for part in re.findall(r"[a-z0-9]+", local)]
        self._is_plain_word = len(pieces) == 1 and self._local.isalpha()
        has_digits = any(character.isdigit() for character in local)
        between = _SEPARATOR + ("?" if has_digits else "")
        body = between.join(r"[\s_.-]*".join(map(re.escape, part)) for part in pieces)
        joined = rf"|{self._local}" if len(pieces) > 1 else ""
        self._local_pattern = re.compile(rf"(?<![a-z0-9])(?P<local>{body}{joined})(?![a-z0-9])(?P<at>{_AT})?")
        self._first = pieces[0][0] if pieces else local
        whole = self._local + self._domain
        self.scrambles: tuple[str, ...] = (rot13(whole), whole[::-1])

    def may_occur(self, told: Told) -> bool:
        """See :meth:`Needle.may_occur`."""
        return self._first in told.compact or may_chain(told.words, self._local)

    def find(self, text: Normal, question: Normal | None) -> Find | None:
        """See :meth:`Needle.find`."""
        if self._local + self._domain in _joined(text):
            match = self._local_pattern.search(text.rendered)
            return Find(_WHOLE, True, _whole_span(text, match.start()) if match else (0, len(text.rendered)))
        for match in self._local_pattern.finditer(text.rendered):
            is_mail = bool(match["at"]) or self._cue.is_in(text.sentence_at(match.start()))
            if is_mail or not self._is_plain_word:
                return Find(frozenset({_LOCAL}), False, match.span("local"))
        return None

    def said(self, text: Normal) -> frozenset[Part]:
        """See :meth:`Needle.said`."""
        parts: set[Part] = set()
        joined = _joined(text)
        if self._local_pattern.search(text.rendered) or self._local + self._domain in joined:
            parts.add(_LOCAL)
        if self._domain in joined:
            parts.add(_DOMAIN)
        return frozenset(parts)

    def find_split(self, texts: Sequence[Normal], questions: Sequence[Normal | None]) -> Split | None:
        """See :meth:`Needle.find_split`."""
        words = frozenset[str]().union(*(text.words for text in texts))
        if self._is_plain_word or not may_chain(words, self._local):
            return None
        indices = find_chain(texts, self._local)
        if not indices:
            return None
        return Split(frozenset({_LOCAL}), indices, shorten(" ... ".join(texts[index].source for index in indices)))


def _joined(text: Normal) -> str:
    """Return the letters and digits with "dot", "at" and the like left out."""
    return "".join(token for token in text.tokens if token not in _CONNECTORS)


def _whole_span(text: Normal, start: int) -> tuple[int, int]:
    end = re.compile(r"(?=[\s,;!?]*$|[,;!?](?:\s|$)|\.(?:\s|$))").search(text.rendered, start)
    return start, end.start() if end else len(text.rendered)
