"""Small ONNX files, written message by message: the format is protocol buffers, of which a model needs little."""

from __future__ import annotations

import struct
from collections.abc import Sequence

FLOAT, INT64, STRING = 1, 7, 8
"""Types of elements, as the format numbers them."""

_OPSET, _IR = 13, 8


def model(
    nodes: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    constants: Sequence[bytes] = (),
) -> bytes:
    """Return a whole file."""
    graph = b"".join(_part(1, node) for node in nodes) + _part(2, b"graph")
    graph += b"".join(_part(5, constant) for constant in constants)
    graph += b"".join(_part(11, entry) for entry in inputs) + b"".join(_part(12, entry) for entry in outputs)
    operators = [("", _OPSET), ("ai.onnx.ml", 1)]
    opsets = b"".join(_part(8, _part(1, domain.encode()) + _number(2, version)) for domain, version in operators)
    return _number(1, _IR) + _part(7, graph) + opsets


def node(operator: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes, domain: str = "") -> bytes:
    """Return one operation."""
    named = b"".join(_part(1, name.encode()) for name in inputs) + b"".join(_part(2, name.encode()) for name in outputs)
    return named + _part(4, operator.encode()) + b"".join(_part(5, a) for a in attributes) + _part(7, domain.encode())


def value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    """Return the name, type and shape of an input or output; a text stands for any length."""
    sizes = b"".join(_part(1, _part(2, size.encode()) if isinstance(size, str) else _number(1, size)) for size in shape)
    return _part(1, name.encode()) + _part(2, _part(1, _number(1, kind) + _part(2, sizes)))


def floats(name: str, numbers: Sequence[float], shape: Sequence[int]) -> bytes:
    """Return a constant of floats."""
    sizes = b"".join(_number(1, size) for size in shape)
    packed = struct.pack(f"<{len(numbers)}f", *numbers)
    return sizes + _number(2, FLOAT) + _part(8, name.encode()) + _part(9, packed)


def integer(name: str, number: int) -> bytes:
    """Return an attribute that is a whole number."""
    return _part(1, name.encode()) + _number(3, number) + _number(20, 2)


def texts(name: str, values: Sequence[str]) -> bytes:
    """Return an attribute that is a list of texts."""
    return _part(1, name.encode()) + b"".join(_part(9, text.encode()) for text in values) + _number(20, 8)


def integers(name: str, values: Sequence[int]) -> bytes:
    """Return an attribute that is a list of whole numbers."""
    return _part(1, name.encode()) + b"".join(_number(8, number) for number in values) + _number(20, 7)


def logistic(weights: Sequence[float], bias: float, output: Sequence[int | str] = ("n", 1)) -> bytes:
    """Return a logistic regression of one input of shape ``(n, d)``."""
    return model(
        [node("MatMul", ["rows", "w"], ["m"]), node("Add", ["m", "b"], ["z"]), node("Sigmoid", ["z"], ["p"])],
        [value("rows", FLOAT, ["n", len(weights)])],
        [value("p", FLOAT, output)],
        [floats("w", weights, [len(weights), 1]), floats("b", [bias], [1])],
    )


def by_name(columns: Sequence[str], weights: Sequence[float], category: str, of: dict[str, float]) -> bytes:
    """Return a logistic regression of one input for each column, one of them a category in words."""
    known = list(of)
    return model(
        [
            node("Concat", columns, ["numbers"], integer("axis", 1)),
            node("MatMul", ["numbers", "w"], ["m"]),
            node("LabelEncoder", [category], ["code"], texts("classes_strings", known), domain="ai.onnx.ml"),
            node("Cast", ["code"], ["c"], integer("to", INT64)),
            node("Gather", ["effects", "c"], ["e"], integer("axis", 0)),
            node("Add", ["m", "e"], ["z"]),
            node("Sigmoid", ["z"], ["p"]),
            node("Sub", ["one", "p"], ["q"]),
            node("Concat", ["q", "p"], ["probabilities"], integer("axis", 1)),
            node("Greater", ["p", "half"], ["is_fraud"]),
            node("Cast", ["is_fraud"], ["label"], integer("to", INT64)),
        ],
        [*(value(name, FLOAT, ["n", 1]) for name in columns), value(category, STRING, ["n", 1])],
        [value("label", INT64, ["n", 1]), value("probabilities", FLOAT, ["n", 2])],
        [
            floats("w", weights, [len(weights), 1]),
            floats("effects", [of[name] for name in known], [len(known)]),
            floats("one", [1.0], [1]),
            floats("half", [0.5], [1]),
        ],
    )


def mapped(weights: Sequence[float], labels: Sequence[int]) -> bytes:
    """Return a logistic regression that gives a map from label to probability for each row."""
    to_float = _number(1, INT64) + _part(2, _part(1, _number(1, FLOAT)))
    sequence = _part(1, b"maps") + _part(2, _part(4, _part(1, _part(5, to_float))))
    return model(
        [
            node("MatMul", ["rows", "w"], ["z"]),
            node("Sigmoid", ["z"], ["p"]),
            node("Sub", ["one", "p"], ["q"]),
            node("Concat", ["q", "p"], ["both"], integer("axis", 1)),
            node("ZipMap", ["both"], ["maps"], integers("classlabels_int64s", labels), domain="ai.onnx.ml"),
        ],
        [value("rows", FLOAT, ["n", len(weights)])],
        [sequence],
        [floats("w", weights, [len(weights), 1]), floats("one", [1.0], [1])],
    )


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
