"""Relations from text: ``installment == payment(loan_amnt, int_rate / 1200, term)``.

The text is read as an expression in Python's grammar and translated node by node; nothing is ever evaluated, and what
is not in the language is refused with its place. Beyond what Python writes anyway:

* ``a <= b <= c`` means both; ``x in (36, 60)`` and ``grade in ("A", "B")`` are membership; ``not``, ``and``, ``or``;
* ``implies(a, b)``, ``whole(x)``, ``one_hot(feature)`` make statements;
* ``abs min max log2 divide payment`` make values; ``column("late fee")`` names what is no identifier;
* ``min(C1, ..., C14)`` stands for all of C1 to C14.
"""

from __future__ import annotations

import ast
import re
from functools import reduce

from tabular_bench.constraints.expression import (
    FUNCTIONS,
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Comparison,
    Constant,
    InCategories,
    Membership,
    OneHot,
    Operator,
    Reference,
    Relational,
    Statement,
    Value,
    Whole,
    implies,
    negate,
)
from tabular_bench.errors import DeclarationError

_MAX_CHARACTERS = 10_000
_MAX_DEPTH = 60
_MAX_RANGE = 10_000

_OPERATORS: dict[type[ast.operator], Operator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_RELATIONALS: dict[type[ast.cmpop], Relational] = {
    ast.LtE: "<=",
    ast.Lt: "<",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.GtE: "<=",
    ast.Gt: "<",
}
_NUMBERED = re.compile(r"^(.*?)(\d+)$")


def parse_statement(text: str) -> Statement:
    """Read one relation.

    Parameters
    ----------
    text
        At most 10,000 characters.

    Returns
    -------
    Statement
        Names are not looked up: that happens when it meets a schema.

    Raises
    ------
    DeclarationError
        If the text is not a statement of the language; the message says what was found and where.
    """
    if len(text) > _MAX_CHARACTERS:
        raise DeclarationError(f"expected a relation of at most {_MAX_CHARACTERS} characters, found {len(text)}")
    try:
        tree = ast.parse(text.strip().replace("\n", " "), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or type(error).__name__
        raise DeclarationError(f"expected a relation such as open_acc <= total_acc, found {text!r}: {reason}") from None
    return _statement(tree.body, _MAX_DEPTH)


def expand_range(first: str, last: str) -> list[str]:
    """Return the names from `first` to `last`, which differ in the number at their end only.

    Raises
    ------
    DeclarationError
        If they are not such a pair.
    """
    ends = [_NUMBERED.match(name) for name in (first, last)]
    if ends[0] and ends[1] and ends[0][1] == ends[1][1]:
        low, high = int(ends[0][2]), int(ends[1][2])
        if low <= high < low + _MAX_RANGE:
            return [f"{ends[0][1]}{number}" for number in range(low, high + 1)]
    raise DeclarationError(f"expected names such as C1, ..., C14 around '...', found {first} and {last}")


def _refuse(node: ast.AST, expected: str) -> DeclarationError:
    column = getattr(node, "col_offset", 0) + 1
    return DeclarationError(f"expected {expected}, found {ast.unparse(node)[:80]!r} at character {column}")


def _deeper(node: ast.AST, depth: int) -> int:
    if depth == 0:
        raise _refuse(node, f"at most {_MAX_DEPTH} levels of nesting")
    return depth - 1


def _statement(node: ast.expr, depth: int) -> Statement:
    depth = _deeper(node, depth)
    match node:
        case ast.BoolOp(ast.And(), parts):
            return AllOf(tuple(_statement(part, depth) for part in parts))
        case ast.BoolOp(ast.Or(), parts):
            return AnyOf(tuple(_statement(part, depth) for part in parts))
        case ast.UnaryOp(ast.Not(), operand):
            return _negated(node, _statement(operand, depth))
        case ast.Compare(left, operators, others):
            pairs = zip([left, *others], operators, others, strict=False)
            compared = tuple(_comparison(node, a, operator, b, depth) for a, operator, b in pairs)
            return compared[0] if len(compared) == 1 else AllOf(compared)
        case ast.Call(ast.Name("implies"), [condition, consequence], []):
            _negated(condition, _statement(condition, depth))
            return implies(_statement(condition, depth), _statement(consequence, depth))
        case ast.Call(ast.Name("whole"), [value], []):
            return Whole(_value(value, depth))
        case ast.Call(ast.Name("one_hot"), [feature], []):
            return OneHot(_name(feature))
    raise _refuse(node, "a comparison, or comparisons joined by and, or, not, implies()")


def _negated(node: ast.AST, statement: Statement) -> Statement:
    try:
        return negate(statement)
    except ValueError:
        raise _refuse(node, "something whose opposite can be stated") from None


def _comparison(whole: ast.AST, left: ast.expr, operator: ast.cmpop, right: ast.expr, depth: int) -> Statement:
    if isinstance(operator, ast.In | ast.NotIn):
        return _membership(whole, left, right, depth, negated=isinstance(operator, ast.NotIn))
    if type(operator) not in _RELATIONALS:
        raise _refuse(whole, "one of <= < == != > >= in")
    for category, feature in ((right, left), (left, right)):
        if isinstance(category, ast.Constant) and isinstance(category.value, str):
            if not isinstance(operator, ast.Eq | ast.NotEq):
                raise _refuse(whole, "== or != between a category and one of its values")
            return InCategories(_name(feature), (category.value,), isinstance(operator, ast.NotEq))
    a, b = _value(left, depth), _value(right, depth)
    if isinstance(operator, ast.Gt | ast.GtE):
        a, b = b, a
    return Comparison(_RELATIONALS[type(operator)], a, b)


def _membership(whole: ast.AST, left: ast.expr, right: ast.expr, depth: int, *, negated: bool) -> Statement:
    if not isinstance(right, ast.Tuple | ast.List) or not right.elts:
        raise _refuse(right, "a list of values after in")
    values = [entry.value if isinstance(entry, ast.Constant) else None for entry in right.elts]
    if all(isinstance(value, str) for value in values):
        return InCategories(_name(left), tuple(str(value) for value in values), negated)
    numbers = [_value(entry, depth) for entry in right.elts]
    if not all(isinstance(number, Constant) for number in numbers):
        raise _refuse(whole, "numbers only, or texts only, after in")
    return Membership(_value(left, depth), tuple(n.number for n in numbers if isinstance(n, Constant)), negated)


def _value(node: ast.expr, depth: int) -> Value:
    depth = _deeper(node, depth)
    match node:
        case ast.Constant(int() | float() as number) if not isinstance(number, bool):
            return Constant(_finite(node, number))
        case ast.UnaryOp(ast.USub(), operand):
            inner = _value(operand, depth)
            return Constant(-inner.number) if isinstance(inner, Constant) else -inner
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            return Arithmetic(_OPERATORS[type(operator)], _value(left, depth), _value(right, depth))
        case ast.Name() | ast.Call(ast.Name("column")):
            return Reference(_name(node))
        case ast.Call(ast.Name("sum"), arguments, []) if arguments:
            return reduce(lambda a, b: a + b, _arguments(arguments, depth))
        case ast.Call(ast.Name(function), arguments, []) if function in FUNCTIONS:
            try:
                return Call(function, tuple(_arguments(arguments, depth)))
            except ValueError as error:
                raise _refuse(node, str(error)) from None
    raise _refuse(node, f"a feature, a number, + - * / or one of sum, {', '.join(FUNCTIONS)}")


def _finite(node: ast.AST, number: float) -> float:
    try:
        if abs(float(number)) <= 1e15:
            return float(number)
    except OverflowError:
        pass
    raise _refuse(node, "a number of at most 1e15")


def _arguments(nodes: list[ast.expr], depth: int) -> list[Value]:
    """Read arguments; ``...`` between two numbered names stands for the names between."""
    values: list[Value] = []
    for position, node in enumerate(nodes):
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            if position in (0, len(nodes) - 1):
                raise _refuse(node, "a name on either side of ...")
            between = expand_range(_name(nodes[position - 1]), _name(nodes[position + 1]))[1:-1]
            values += [Reference(name) for name in between]
        else:
            values.append(_value(node, depth))
    return values


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Call(ast.Name("column"), [ast.Constant(str() as name)], []):
            return name
    raise _refuse(node, "the name of a feature")
