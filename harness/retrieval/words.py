"""Text as terms: what a query and a document must share to meet.

Normalisation is light. Case, width and accents of typography fold (NFKC); a plural loses its s; ``call-back`` gives
`call`, `back` and `callback`; ``place_hold`` gives `place`, `hold` and itself; ``$2,500.00`` and ``2500`` are one
number. Function words are left out: callers are full of "I" and "my", which are rare in policy documents, so that
inverse document frequency alone would take them for the heart of a question.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:-\w+)*")
_APOSTROPHE: Final = re.compile(r"['’](?:s\b)?")

FUNCTION_WORDS: Final = frozenset(
    """
    a about again all also am an and any are as at be because been before but by can cannot cant could did do does
    doing dont for from get go got had has have he her here hers him his how i id if ill im in into is isnt it its
    ive just let like me more most my no not now of on once only or our ours out over own please say she should so
    some such than thank that the their theirs them then there these they thing this those to too under until up us
    very was we well were what when where which while who whom why will with would yes you your yours
    """.split()
)


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, function words left out."""
    plain = _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold())
    return [term for word in _WORD.findall(plain) for term in _terms_of_word(word)]


# Words repeat: the cache makes tokenising several times faster and lets equal terms share one string.
@lru_cache(maxsize=1 << 16)
def _terms_of_word(word: str) -> tuple[str, ...]:
    if word[0].isdigit() and ("," in word or "." in word):
        return (word.replace(",", "").removesuffix(".00"),)
    parts = [part for part in re.split(r"[-_]+", word) if part]
    found = [_singular(part) for part in parts if part not in FUNCTION_WORDS]
    if len(parts) > 1:
        found.append(word.replace("-", ""))
    return tuple(found)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]
