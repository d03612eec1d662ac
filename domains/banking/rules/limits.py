"""Boundaries of rules: written once, declared with the rule and applied by it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from domains.kit.rules import Parameter

_SIDES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def limit(name: str, side: str, value: int, unit: str) -> Parameter:
    """Declare a boundary by the side of it that is permitted: ``limit("age", ">=", 30, "days")``.

    Raises
    ------
    ValueError
        If `side` is none of ``<``, ``<=``, ``>``, ``>=``.
    """
    if side not in _SIDES:
        raise ValueError(f"expected one of {', '.join(_SIDES)}, found {side!r}")
    return Parameter(name, value, unit, f"{side} {value}")


def permits_share(boundary: Parameter, part: int, whole: int) -> bool:
    """Tell whether a part of a whole is on the permitted side of a boundary in percent, without rounding."""
    side, _, value = boundary.permitted.partition(" ")
    return _SIDES[side](100 * part, int(value) * whole)


def permits(boundary: Parameter, measured: float) -> bool:
    """Tell whether a measured quantity, in the boundary's unit, is on its permitted side."""
    side, _, value = boundary.permitted.partition(" ")
    return _SIDES[side](measured, int(value))
