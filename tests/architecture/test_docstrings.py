"""What is public says what it is for, and a docstring's list of parameters is that of the signature."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.layers import PACKAGES, read_modules

ROOT = Path(__file__).resolve().parents[2]

Function = ast.FunctionDef | ast.AsyncFunctionDef
HEADING = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)


def problems(tree: ast.Module) -> list[str]:
    """Return what is wrong with the docstrings of a module, each as `line: what`."""
    found = [] if ast.get_docstring(tree) else ["1: the module has no docstring"]
    for node, owner in _public(tree):
        text = ast.get_docstring(node)
        if text:
            found += [f"{node.lineno}: {node.name}: {problem}" for problem in _mismatch(node, owner, text)]
        elif not _is_exempt(node, owner):
            found.append(f"{node.lineno}: {node.name} has no docstring")
    return found


def _public(
    body: ast.Module | ast.ClassDef,
) -> Iterator[tuple[Function | ast.ClassDef, ast.Module | ast.ClassDef]]:
    for node in body.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node, body
            if isinstance(node, ast.ClassDef):
                yield from _public(node)


def _is_exempt(node: Function | ast.ClassDef, owner: ast.Module | ast.ClassDef) -> bool:
    """Spare what another definition describes: an overriding method, a setter, one of several overloads."""
    if not isinstance(node, Function) or not isinstance(owner, ast.ClassDef):
        return any(ast.unparse(mark).endswith("overload") for mark in node.decorator_list)
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    overrides = bool(owner.bases) and not any(ast.unparse(base).startswith("Protocol") for base in owner.bases)
    return overrides or any(mark.endswith(("overload", "override", ".setter")) for mark in marks)


def _mismatch(node: Function | ast.ClassDef, owner: ast.Module | ast.ClassDef, text: str) -> Iterator[str]:
    documented = _names_under(text, "Parameters")
    if documented is not None:
        expected = _fields(node) if isinstance(node, ast.ClassDef) else _parameters(node, owner)
        if documented != expected:
            yield f"documents the parameters {documented}, but takes {expected}"
    attributes = _names_under(text, "Attributes")
    if attributes and isinstance(node, ast.ClassDef):
        unknown = [name for name in attributes if name not in _attributes(node)]
        if unknown:
            yield f"documents attributes that it does not have: {unknown}"


def _names_under(text: str, title: str) -> list[str] | None:
    """Return the names listed in a numpydoc section, or None where there is no such section."""
    headings = list(HEADING.finditer(text))
    for index, heading in enumerate(headings):
        if heading["title"] == title:
            end = headings[index + 1].start() if index + 1 < len(headings) else None
            lines = text[heading.end() : end].splitlines()
            entries = [line.partition(":")[0] for line in lines if line and not line[0].isspace()]
            return [name.strip().lstrip("*") for entry in entries for name in entry.split(",")]
    return None


def _parameters(node: Function, owner: ast.Module | ast.ClassDef) -> list[str]:
    """List the parameters that a docstring describes: not `self`, nor the world that every tool is handed."""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    is_method = isinstance(owner, ast.ClassDef) and "staticmethod" not in marks
    is_tool = any(mark.startswith("tool(") for mark in marks)
    taken = node.args
    leading = [*taken.posonlyargs, *taken.args][is_method or is_tool :]
    listed = [*leading, taken.vararg, *taken.kwonlyargs, taken.kwarg]
    return [argument.arg for argument in listed if argument]


def _fields(node: ast.ClassDef) -> list[str]:
    """List what the constructor takes: the parameters of `__init__`, else the annotated fields."""
    for child in node.body:
        if isinstance(child, Function) and child.name == "__init__":
            return _parameters(child, node)
    return [
        child.target.id
        for child in node.body
        if isinstance(child, ast.AnnAssign)
        and isinstance(child.target, ast.Name)
        and "ClassVar" not in ast.unparse(child.annotation)
    ]


def _attributes(node: ast.ClassDef) -> set[str]:
    names = {child.name for child in node.body if isinstance(child, Function)} | set(_fields(node))
    for child in ast.walk(node):
        if isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            names |= {ast.unparse(target).removeprefix("self.") for target in targets}
    return names


def test_our_docstrings() -> None:
    found = [f"{module.path}:{problem}" for module in read_modules(ROOT).values() for problem in problems(module.tree)]
    assert not found, "\n" + "\n".join(found)


def test_every_package_is_typed() -> None:
    assert [package for package in PACKAGES if not (ROOT / package / "py.typed").is_file()] == []


FAULTS = {
    "module": ("x = 1\n", "1: the module has no docstring"),
    "function": ('"""M."""\ndef f():\n    pass\n', "2: f has no docstring"),
    "class": ('"""M."""\nclass A:\n    pass\n', "2: A has no docstring"),
    "method": ('"""M."""\nclass A:\n    """A."""\n    def f(self):\n        pass\n', "4: f has no docstring"),
    "contract": (
        '"""M."""\nclass A(Protocol):\n    """A."""\n    def f(self):\n        ...\n',
        "4: f has no docstring",
    ),
    "renamed parameter": (
        '"""M."""\ndef f(a, *, b):\n    """F.\n\n    Parameters\n    ----------\n    a, c : int\n        X.\n    """\n',
        "2: f: documents the parameters ['a', 'c'], but takes ['a', 'b']",
    ),
    "left out": (
        '"""M."""\nclass A:\n    """A."""\n    def f(self, a, *b, **c):\n        """F.\n\n        Parameters\n'
        "        ----------\n        a\n            X.\n        *b\n            X.\n\n        Raises\n"
        '        ------\n        KeyError\n            Never.\n        """\n',
        "4: f: documents the parameters ['a', 'b'], but takes ['a', 'b', 'c']",
    ),
    "unknown attribute": (
        '"""M."""\nclass A:\n    """A.\n\n    Attributes\n    ----------\n    y\n        X.\n    """\n    x: int\n',
        "2: A: documents attributes that it does not have: ['y']",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    source, expected = FAULTS[fault]
    assert problems(ast.parse(source)) == [expected]


def test_what_is_described_elsewhere_needs_no_docstring() -> None:
    source = '"""M."""\ndef _f():\n    pass\nclass A(B):\n    """A."""\n    def f(self):\n        pass\n'
    assert problems(ast.parse(source)) == []
