"""Patterns made of lists of phrases."""

from __future__ import annotations

import re


def any_of(*phrases: str) -> str:
    """Return a pattern that matches any of ``phrases``, themselves patterns."""
    return "(?:" + "|".join(phrases) + ")"


def phrase_pattern(*phrases: str) -> re.Pattern[str]:
    """Return the compiled pattern of any of ``phrases`` as whole words of a folded text."""
    return re.compile(rf"(?<![a-z]){any_of(*phrases)}(?![a-z])")
