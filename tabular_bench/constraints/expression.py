"""The language of relations: an expression tree with operators.

Values are built from features and constants with ``+ - * /`` and the functions of `FUNCTIONS`; comparing values gives
statements (``<=``, ``<``, ``==``, ``!=``, and their mirror images), and statements combine with ``&``, ``|``, ``~`` and
`implies`. `tabular_bench.constraints.parsing` reads the same language from text.

Nodes say what is meant and compute nothing: `tabular_bench.constraints.evaluation` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

Operator = Literal["+", "-", "*", "/"]
Relational = Literal["<=", "<", "==", "!="]

# name -> how many arguments; None for one or more
FUNCTIONS: dict[str, int | None] = {"abs": 1, "min": None, "max": None, "log2": 1, "divide": 3, "payment": 3}


class Value:
    """A number for each row. Operators build larger values, comparisons build statements."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __add__(self, other: Value | float) -> Value:
        return Arithmetic("+", self, as_value(other))

    def __radd__(self, other: float) -> Value:
        return Arithmetic("+", as_value(other), self)

    def __sub__(self, other: Value | float) -> Value:
        return Arithmetic("-", self, as_value(other))

    def __rsub__(self, other: float) -> Value:
        return Arithmetic("-", as_value(other), self)

    def __mul__(self, other: Value | float) -> Value:
        return Arithmetic("*", self, as_value(other))

    def __rmul__(self, other: float) -> Value:
        return Arithmetic("*", as_value(other), self)

    def __truediv__(self, other: Value | float) -> Value:
        return Arithmetic("/", self, as_value(other))

    def __rtruediv__(self, other: float) -> Value:
        return Arithmetic("/", as_value(other), self)

    def __neg__(self) -> Value:
        return Arithmetic("-", Constant(0.0), self)

    def __abs__(self) -> Value:
        return Call("abs", (self,))

    def __le__(self, other: Value | float) -> Statement:
        return Comparison("<=", self, as_value(other))

    def __lt__(self, other: Value | float) -> Statement:
        return Comparison("<", self, as_value(other))

    def __ge__(self, other: Value | float) -> Statement:
        return Comparison("<=", as_value(other), self)

    def __gt__(self, other: Value | float) -> Statement:
        return Comparison("<", as_value(other), self)

    def __eq__(self, other: Value | float) -> Statement:  # type: ignore[override]
        return Comparison("==", self, as_value(other))

    def __ne__(self, other: Value | float) -> Statement:  # type: ignore[override]
        return Comparison("!=", self, as_value(other))

    def within(self, values: tuple[float, ...]) -> Statement:
        """State that this is one of a few numbers."""
        return Membership(self, values)


class Statement:
    """What holds or does not hold for each row."""

    __slots__ = ()

    def __and__(self, other: Statement) -> Statement:
        return AllOf((self, other))

    def __or__(self, other: Statement) -> Statement:
        return AnyOf((self, other))

    def __invert__(self) -> Statement:
        return negate(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a statement about rows is neither true nor false by itself; combine statements with & | ~ or implies(), "
            "and write a <= b <= c as (a <= b) & (b <= c)"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Value):
    """A number that is the same for every row."""

    number: float


@dataclass(frozen=True, slots=True, eq=False)
class Reference(Value):
    """A matrix column by its name, or a category whose values are all numbers, as that number."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic(Value):
    """Two values and an operator.

    A denominator nearer to 0 than 1e-12 counts as 1e-12 with its sign, so that a row with a zero in the wrong place
    violates its relation instead of poisoning the computation; `divide` states another wish.
    """

    operator: Operator
    left: Value
    right: Value


@dataclass(frozen=True, slots=True, eq=False)
class Call(Value):
    """A function of `FUNCTIONS` applied to values.

    ``divide(a, b, otherwise)`` is ``a / b``, or `otherwise` where ``b`` is 0. ``payment(principal, rate, periods)`` is
    the instalment that pays off `principal` at `rate` a period in `periods` equal payments, and
    ``principal / periods`` at rate 0. ``log2`` of what is not positive is that of 1e-12.
    """

    function: str
    arguments: tuple[Value, ...]

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise ValueError(f"expected a function ({', '.join(FUNCTIONS)}), found {self.function!r}")
        expected = FUNCTIONS[self.function]
        if not self.arguments or (expected is not None and len(self.arguments) != expected):
            raise ValueError(
                f"{self.function} takes {expected or 'one or more'} arguments, found {len(self.arguments)}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Statement):
    """Two values and how they compare."""

    relational: Relational
    left: Value
    right: Value


@dataclass(frozen=True, slots=True, eq=False)
class Membership(Statement):
    """A value is one of a few numbers; with `negated`, none of them."""

    value: Value
    numbers: tuple[float, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Statement):
    """A value is a whole number."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class InCategories(Statement):
    """A category has one of a few values; with `negated`, none of them."""

    feature: str
    categories: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OneHot(Statement):
    """Exactly one column of a category's block is 1, and the others are 0."""

    feature: str


@dataclass(frozen=True, slots=True, eq=False)
class AllOf(Statement):
    """Every part holds; the violation is the sum of theirs."""

    parts: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf(Statement):
    """At least one part holds; the violation is the smallest of theirs."""

    parts: tuple[Statement, ...]


def as_value(value: Value | float) -> Value:
    """Turn a number into a constant; a value stays what it is."""
    return value if isinstance(value, Value) else Constant(float(value))


def implies(condition: Statement, consequence: Statement) -> Statement:
    """State that where `condition` holds, `consequence` does."""
    return AnyOf((negate(condition), consequence))


def negate(statement: Statement) -> Statement:
    """State the opposite.

    Parameters
    ----------
    statement
        Anything but `Whole` and `OneHot`, whose opposites constrain nothing.

    Raises
    ------
    ValueError
        If the opposite cannot be stated.
    """
    match statement:
        case Comparison("<=", left, right):
            return Comparison("<", right, left)
        case Comparison("<", left, right):
            return Comparison("<=", right, left)
        case Comparison(relational, left, right):
            return Comparison("!=" if relational == "==" else "==", left, right)
        case Membership(value, numbers, negated):
            return Membership(value, numbers, not negated)
        case InCategories(feature, categories, negated):
            return InCategories(feature, categories, not negated)
        case AllOf(parts):
            return AnyOf(tuple(negate(part) for part in parts))
        case AnyOf(parts):
            return AllOf(tuple(negate(part) for part in parts))
    raise ValueError(f"the opposite of {type(statement).__name__} cannot be stated")


def names_in(node: Value | Statement) -> frozenset[str]:
    """Return the names that a value or a statement refers to: of features, or of matrix columns."""
    match node:
        case Reference(name) | InCategories(name) | OneHot(name):
            return frozenset((name,))
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return names_in(left) | names_in(right)
        case Membership(value) | Whole(value):
            return names_in(value)
        case Call(_, parts) | AllOf(parts) | AnyOf(parts):
            return frozenset().union(*map(names_in, parts))
    return frozenset()
