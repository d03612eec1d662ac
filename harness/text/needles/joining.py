"""Values told in pieces over several texts."""

from __future__ import annotations

from collections.abc import Sequence

from harness.text.needles.base import Part, Split
from harness.text.normal import Normal, shorten


def unite(told: Sequence[frozenset[Part]], whole: frozenset[Part], texts: Sequence[Normal]) -> Split | None:
    """Return the texts that tell ``whole`` together while none of them tells it alone."""
    if any(whole <= parts for parts in told) or not whole <= frozenset[Part]().union(*told):
        return None
    indices: list[int] = []
    missing = set(whole)
    for index, parts in enumerate(told):
        if parts & missing:
            indices.append(index)
            missing -= parts
    return Split(whole, tuple(indices), shorten(" ... ".join(texts[index].source for index in indices)))


def find_chain(texts: Sequence[Normal], target: str) -> tuple[int, ...]:
    """Return the texts whose words, in order, spell ``target``; empty if they do not, or if one text does alone.

    Each text gives at most one stretch of whole words; texts in between that give none are skipped.
    """
    reached: dict[int, tuple[int, ...]] = {0: ()}
    for index, text in enumerate(texts):
        steps: dict[int, tuple[int, ...]] = {}
        for first, token in enumerate(text.tokens):
            for at, path in reached.items():
                if not target.startswith(token, at):
                    continue
                end, following = at, first
                while following < len(text.tokens) and target.startswith(text.tokens[following], end):
                    end += len(text.tokens[following])
                    following += 1
                    steps.setdefault(end, (*path, index))
        for end, path in steps.items():
            reached.setdefault(end, path)
    path = reached.get(len(target), ())
    return path if len(path) > 1 else ()


def may_chain(words: frozenset[str], target: str) -> bool:
    """Return whether ``words`` hold each letter, or a first and a last piece, of ``target``."""
    if words.issuperset(target):
        return True
    size = len(target)
    has_first = any(target[:end] in words for end in range(2, size))
    return has_first and any(target[start:] in words for start in range(1, size))
