"""Matching of stored values against the patterns in which expectations are written.

A pattern is a literal, a list of patterns (any of them), or an object with one of four operators: ``at_least`` and
``at_most`` order numbers, and texts such as dates and moments; ``not`` turns a pattern around; ``contains`` looks
for a part of a text or for an element of a list. Comparison is typed as JSON is: 1 is neither true nor "1".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

OPERATORS: Final = ("at_least", "at_most", "not", "contains")


class Kind(StrEnum):
    """What a JSON value is."""

    NOTHING = "null"
    TRUTH = "true or false"
    NUMBER = "a number"
    TEXT = "a text"
    LIST = "a list"
    OBJECT = "an object"


ORDERED: Final = frozenset({Kind.NUMBER, Kind.TEXT})


def kind_of(value: Any) -> Kind:
    """Return what a JSON value is; integers and fractions are both numbers."""
    if value is None:
        return Kind.NOTHING
    if isinstance(value, bool):
        return Kind.TRUTH
    if isinstance(value, int | float):
        return Kind.NUMBER
    if isinstance(value, str):
        return Kind.TEXT
    return Kind.OBJECT if isinstance(value, Mapping) else Kind.LIST


def matches(pattern: Any, value: Any) -> bool:
    """Tell whether a value is what a pattern describes; a malformed pattern describes nothing."""
    if isinstance(pattern, list | tuple):
        return any(matches(option, value) for option in pattern)
    if isinstance(pattern, Mapping):
        return _obeys(pattern, value)
    return kind_of(pattern) is kind_of(value) and bool(pattern == value)


def matches_all(patterns: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Tell whether every named value is there and matches its pattern."""
    return all(name in values and matches(pattern, values[name]) for name, pattern in patterns.items())


def _obeys(pattern: Mapping[str, Any], value: Any) -> bool:
    if pattern_fault(pattern) is not None:
        return False
    ((operator, operand),) = pattern.items()
    if operator == "not":
        return not matches(operand, value)
    if operator == "contains":
        if isinstance(value, list | tuple):
            return any(matches(operand, item) for item in value)
        return isinstance(value, str) and isinstance(operand, str) and operand in value
    if kind_of(value) is not kind_of(operand):
        return False
    return bool(value >= operand) if operator == "at_least" else bool(value <= operand)


def pattern_fault(pattern: Any, possible: frozenset[Kind] | None = None) -> str | None:
    """Return why a pattern cannot match anything, or None if it can.

    Parameters
    ----------
    pattern
        The pattern.
    possible
        What the values to be matched can be; None if that is not known.
    """
    if isinstance(pattern, list | tuple):
        faults = [pattern_fault(option, possible) for option in pattern]
        return "a list of no values" if not faults else next((fault for fault in faults if fault), None)
    if isinstance(pattern, Mapping):
        return _operator_fault(pattern, possible)
    if possible is not None and kind_of(pattern) not in possible:
        return f"{kind_of(pattern)} where only {' or '.join(sorted(possible))} can stand"
    return None


def _operator_fault(pattern: Mapping[str, Any], possible: frozenset[Kind] | None) -> str | None:
    if len(pattern) != 1 or next(iter(pattern)) not in OPERATORS:
        return f"an object without exactly one of {', '.join(OPERATORS)}"
    ((operator, operand),) = pattern.items()
    if operator == "not":
        return pattern_fault(operand, possible)
    if operator == "contains":
        needs_text = possible is not None and Kind.LIST not in possible
        return "`contains` without a text" if needs_text and kind_of(operand) is not Kind.TEXT else None
    if kind_of(operand) not in ORDERED:
        return f"`{operator}` without a number or a text"
    return pattern_fault(operand, possible)


def literals(pattern: Any) -> Iterator[Any]:
    """Yield the literals that a pattern accepts by name; operators accept none by name."""
    if isinstance(pattern, list | tuple):
        for option in pattern:
            yield from literals(option)
    elif not isinstance(pattern, Mapping):
        yield pattern
