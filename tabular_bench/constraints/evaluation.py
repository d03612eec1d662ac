"""The one evaluator of the language, over NumPy arrays and torch tensors alike.

A statement's *violation* is 0 where it holds and says by how much it does not where it fails, in the units of its
sides:

==============  =====================================================
``a <= b``      ``max(0, a - b - tolerance)``
``a < b``       ``max(0, a - b + 1e-6 - tolerance)``
``a == b``      ``max(0, abs(a - b) - tolerance)``
``a != b``      ``max(0, tolerance + 1e-6 - abs(a - b))``
``a in N``      the distance to the nearest number, less the tolerance
``whole(a)``    the distance to the nearest whole number, less the tolerance
and, or         the sum, the smallest
==============  =====================================================

To each tolerance comes 1e-12 of the larger side for rounding. Gradients are finite everywhere: both branches of every
choice are computed on arguments for which they are defined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabular_bench.constraints.backend import Array, Backend, backend_of
from tabular_bench.constraints.expression import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Comparison,
    Constant,
    InCategories,
    Membership,
    OneHot,
    Reference,
    Statement,
    Value,
    Whole,
)
from tabular_bench.errors import DeclarationError
from tabular_bench.schema import FloatArray, Schema

STRICTNESS = 1e-6  # by how much `a < b` wants b to be larger
ROUNDING = 1e-12  # of the larger side
TINY = 1e-12  # a denominator, or the argument of a logarithm, is at least this far from 0
_MAX_EXPONENT = 500.0  # keeps `payment` finite for absurd rates and terms

Atom = Comparison | Membership | Whole | InCategories | OneHot


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates values and statements over rows of one schema, in problem space.

    Attributes
    ----------
    schema
        Of the rows.
    """

    schema: Schema

    def value(self, value: Value, rows: Array) -> Array:
        """Return a value for each row.

        Parameters
        ----------
        value
            Refers to columns of the schema only.
        rows
            Shape ``(n, d)``, NumPy or torch, float64.

        Returns
        -------
        Array
            Shape ``(n,)``.
        """
        return self._value(value, rows, backend_of(rows))

    def violation(
        self, statement: Statement, rows: Array, tolerance: float = 0.0, scales: Sequence[float] = ()
    ) -> Array:
        """Return by how much each row violates a statement.

        Parameters
        ----------
        statement
            Refers to columns of the schema only.
        rows
            Shape ``(n, d)``, NumPy or torch, float64.
        tolerance
            In the unit of the statement's sides, at least 0; the same for each of its comparisons.
        scales
            What the violation of each comparison is divided by, in the order of `atoms`; empty for raw units.

        Returns
        -------
        Array
            Shape ``(n,)``, at least 0; exactly 0 where the statement holds.
        """
        remaining = iter(scales) if scales else None
        return self._violation(statement, rows, backend_of(rows), tolerance, remaining)

    def scales(self, statement: Statement, rows: FloatArray) -> tuple[float, ...]:
        """Measure how large a violation of each comparison is large, on clean rows.

        Parameters
        ----------
        statement
            Refers to columns of the schema only.
        rows
            Shape ``(n, d)`` with n >= 1, clean training rows in problem space.

        Returns
        -------
        tuple[float, ...]
            Positive, in the order of `atoms`: the larger standard deviation of the two sides; where both are
            constant, the larger mean magnitude; and 1 where that is 0, too.
        """
        return tuple(self._scale(atom, rows) for atom in atoms(statement))

    def columns(self, node: Value | Statement) -> frozenset[int]:
        """Return the matrix columns that a value or statement depends on.

        Raises
        ------
        UnknownName
            If it refers to what the schema does not have.
        """
        match node:
            case Constant():
                return frozenset()
            case Reference(name):
                return frozenset(self._reference(name)[0])
            case Arithmetic(_, left, right) | Comparison(_, left, right):
                return self.columns(left) | self.columns(right)
            case Call(_, arguments):
                return frozenset().union(*(self.columns(argument) for argument in arguments))
            case Membership(value) | Whole(value):
                return self.columns(value)
            case InCategories(feature, categories):
                self._category_columns(feature, categories)
                return frozenset(self.schema.columns_of(feature))
            case OneHot(feature):
                return frozenset(self.schema.columns_of(feature))
            case AllOf(parts) | AnyOf(parts):
                return frozenset().union(*(self.columns(part) for part in parts))
        raise TypeError(f"expected a value or a statement, found {type(node).__name__}")

    def _reference(self, name: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the columns behind a name and the weights of their sum."""
        if name in self.schema:
            return (self.schema.index(name),), (1.0,)
        feature = self.schema.feature(name)
        try:
            weights = tuple(float(category) for category in feature.categories)
        except ValueError:
            raise DeclarationError(
                f"{name} is a category with values that are no numbers ({', '.join(feature.categories[:5])}); "
                f'compare it with them: {name} == "{feature.categories[0]}"'
            ) from None
        return self.schema.columns_of(name), weights

    def _category_columns(self, feature: str, categories: tuple[str, ...]) -> list[int]:
        if self.schema.feature(feature).kind != "category":
            raise DeclarationError(f"{feature} is no category; compare it with numbers, not with {categories[0]!r}")
        return [self.schema.index(f"{feature}={category}") for category in categories]

    def _value(self, value: Value, rows: Array, xp: Backend) -> Array:
        match value:
            case Constant(number):
                return xp.full(rows[:, 0], number)
            case Reference(name):
                columns, weights = self._reference(name)
                return sum(rows[:, column] * weight for column, weight in zip(columns, weights, strict=True))
            case Arithmetic(operator, left, right):
                return _arithmetic(operator, self._value(left, rows, xp), self._value(right, rows, xp), xp)
            case Call(function, arguments):
                return _call(function, [self._value(argument, rows, xp) for argument in arguments], xp)
        raise TypeError(f"expected a value, found {type(value).__name__}")

    def _violation(
        self, statement: Statement, rows: Array, xp: Backend, tolerance: float, scales: Iterator[float] | None
    ) -> Array:
        match statement:
            case AllOf(parts):
                return sum(self._violation(part, rows, xp, tolerance, scales) for part in parts)
            case AnyOf(parts):
                found = [self._violation(part, rows, xp, tolerance, scales) for part in parts]
                smallest = found[0]
                for other in found[1:]:
                    smallest = xp.minimum(smallest, other)
                return smallest
        raw = self._atom(statement, rows, xp, tolerance)
        zero = xp.full(raw, 0.0)
        return xp.maximum(raw, zero) / (next(scales) if scales is not None else 1.0)

    def _atom(self, statement: Statement, rows: Array, xp: Backend, tolerance: float) -> Array:
        """Return the violation of a comparison before what is negative becomes 0."""
        match statement:
            case Comparison(relational, left, right):
                a, b = self._value(left, rows, xp), self._value(right, rows, xp)
                allowed = tolerance + ROUNDING * xp.maximum(xp.absolute(a), xp.absolute(b))
                if relational == "==":
                    return xp.absolute(a - b) - allowed
                if relational == "!=":
                    return allowed + STRICTNESS - xp.absolute(a - b)
                return a - b - allowed + (STRICTNESS if relational == "<" else 0.0)
            case Membership(value, numbers, negated):
                a = self._value(value, rows, xp)
                nearest = xp.absolute(a - numbers[0])
                for number in numbers[1:]:
                    nearest = xp.minimum(nearest, xp.absolute(a - number))
                allowed = tolerance + ROUNDING * xp.absolute(a)
                return allowed + STRICTNESS - nearest if negated else nearest - allowed
            case Whole(value):
                a = self._value(value, rows, xp)
                return xp.absolute(a - xp.round_half_even(a)) - tolerance - ROUNDING * xp.absolute(a)
            case InCategories(feature, categories, negated):
                held = sum(rows[:, column] for column in self._category_columns(feature, categories))
                return (held if negated else 1.0 - held) - tolerance - ROUNDING
            case OneHot(feature):
                block = [rows[:, column] for column in self.schema.columns_of(feature)]
                uneven = sum(xp.minimum(xp.absolute(entry), xp.absolute(entry - 1.0)) for entry in block)
                return uneven + xp.absolute(sum(block) - 1.0) - tolerance - ROUNDING
        raise TypeError(f"expected a comparison, found {type(statement).__name__}")

    def _scale(self, atom: Atom, rows: FloatArray) -> float:
        match atom:
            case Comparison(_, left, right):
                sides = [self.value(left, rows), self.value(right, rows)]
            case Membership(value) | Whole(value):
                sides = [self.value(value, rows)]
            case _:
                return 1.0
        deviation = max(float(np.std(side)) for side in sides)
        magnitude = max(float(np.abs(side).mean()) for side in sides)
        if deviation > ROUNDING * max(magnitude, 1.0):
            return deviation
        return magnitude if magnitude > 0 else 1.0


def atoms(statement: Statement) -> list[Atom]:
    """Return the comparisons of a statement from left to right."""
    match statement:
        case AllOf(parts) | AnyOf(parts):
            return [atom for part in parts for atom in atoms(part)]
        case Comparison() | Membership() | Whole() | InCategories() | OneHot():
            return [statement]
    raise TypeError(f"expected a statement, found {type(statement).__name__}")


def _arithmetic(operator: str, a: Array, b: Array, xp: Backend) -> Array:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    return a / _away_from_zero(b, xp)


def _away_from_zero(b: Array, xp: Backend) -> Array:
    floor = xp.where(b < 0, xp.full(b, -TINY), xp.full(b, TINY))
    return xp.where(xp.absolute(b) < TINY, floor, b)


def _call(function: str, arguments: list[Array], xp: Backend) -> Array:
    first = arguments[0]
    match function:
        case "abs":
            return xp.absolute(first)
        case "log2":
            return xp.log2(xp.maximum(first, xp.full(first, TINY)))
        case "divide":
            numerator, denominator, otherwise = arguments
            is_zero = xp.absolute(denominator) < TINY
            return xp.where(is_zero, otherwise, numerator / xp.where(is_zero, xp.full(first, 1.0), denominator))
        case "payment":
            principal, rate, periods = arguments
            return _payment(principal, rate, periods, xp)
    for other in arguments[1:]:
        first = xp.minimum(first, other) if function == "min" else xp.maximum(first, other)
    return first


def _payment(principal: Array, rate: Array, periods: Array, xp: Backend) -> Array:
    """Amortise without cancellation: the textbook formula loses all digits at small rates."""
    small = xp.absolute(rate) < 1e-8
    # An interest rate of -100 % and below has no meaning, and no logarithm.
    large_rate = xp.where(small, xp.full(rate, 1e-8), xp.maximum(rate, xp.full(rate, -1.0 + 1e-6)))
    exponent = -periods * xp.log1p(large_rate)
    exponent = xp.minimum(xp.maximum(exponent, xp.full(exponent, -_MAX_EXPONENT)), xp.full(exponent, _MAX_EXPONENT))
    periods = _away_from_zero(periods, xp)
    exact = large_rate / -_away_from_zero(xp.expm1(exponent), xp)
    series = (1.0 + (periods + 1.0) * rate / 2.0) / periods
    return principal * xp.where(small, series, exact)
