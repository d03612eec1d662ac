"""Detectors in ONNX, scored by onnxruntime on one thread.

Two layouts are read: one input of shape ``(n, d)`` with numbers, whose columns have no names and are taken in the order
of the table; or one input for each column, by its name, of numbers or of text. What counts as the score is the first
output with probabilities: ``(n,)`` or ``(n, 1)``, the last of two columns, or the entry 1 of a map for each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabular_bench.detector import Detector
from tabular_bench.detectors.model_file import demand_loadable, read_model_file
from tabular_bench.errors import DetectorError
from tabular_bench.schema import FloatArray

_PROBE = """
import sys, onnxruntime
onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
"""
_NUMBERS = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
_TEXT = "tensor(string)"
_SEQUENCE_OF_MAPS = "seq(map"
_LABELS = ("tensor(int64)", "tensor(int32)", "tensor(bool)", _TEXT)


@dataclass(frozen=True, eq=False)
class OnnxFile:
    """A file and what it expects; attributes as in `tabular_bench.score.ready.ReadyModel`."""

    path: Path
    session: Any
    names: tuple[str, ...] | None
    width: int | None
    whole: dict[str, tuple[str, ...]]

    def make(self, names: tuple[str, ...], categories: Mapping[str, tuple[str, ...]]) -> Detector:
        """Return the detector of a matrix with these columns."""
        return OnnxDetector(str(self.path), names, self.session, dict(categories), self.names is not None)


@dataclass(frozen=True, eq=False)
class OnnxDetector:
    """Scores a matrix.

    Attributes
    ----------
    source
        For messages.
    feature_names
        The d columns.
    session
        Of onnxruntime.
    categories
        By column, the texts that its codes stand for.
    by_name
        Whether every column is an input of its own.
    """

    source: str
    feature_names: tuple[str, ...]
    session: Any
    categories: dict[str, tuple[str, ...]]
    by_name: bool

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        if not len(rows):
            return np.zeros(0)
        inputs = self.session.get_inputs()
        if self.by_name:
            fed = {entry.name: self._column(entry, rows[:, number]) for number, entry in enumerate(inputs)}
        else:
            fed = {inputs[0].name: rows.astype(_NUMBERS[inputs[0].type])}
        output = next(output for output in self.session.get_outputs() if output.type not in _LABELS)
        try:
            (found,) = self.session.run([output.name], fed)
        except Exception as error:
            # onnxruntime has an exception of its own for each kind of failure, under no common name.
            raise DetectorError(f"{self.source}: onnxruntime cannot score these rows: {_last_line(error)}") from error
        return self._scores(found)

    def _column(self, entry: Any, values: FloatArray) -> Any:
        known = self.categories.get(entry.name)
        column = (
            np.array(known, dtype=object)[values.astype(np.int64)] if known else values.astype(_NUMBERS[entry.type])
        )
        return column[:, None] if len(entry.shape) == 2 else column

    def _scores(self, found: Any) -> FloatArray:
        if isinstance(found, list):
            return np.array([float(_of_fraud(entry, self.source)) for entry in found])
        scores: FloatArray = np.asarray(found, dtype=np.float64)
        if scores.ndim == 2 and scores.shape[1] in (1, 2):
            scores = scores[:, -1]
        if scores.ndim != 1:
            raise DetectorError(f"{self.source}: expected one or two probabilities a row, found shape {scores.shape}")
        return scores


def read_onnx(path: Path) -> OnnxFile:
    """Read a detector in ONNX.

    Parameters
    ----------
    path
        The file; it need not be trusted.

    Raises
    ------
    InputError
        If the file cannot be read, or onnxruntime cannot load it.
    DetectorError
        If its inputs or outputs are none that are read; the message says what is.
    """
    content = read_model_file(path)
    import onnxruntime

    demand_loadable(path, "onnxruntime", "a model in ONNX", _PROBE)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    _demand_scores(path, session)
    inputs = session.get_inputs()
    unread = [entry.type for entry in inputs if entry.type not in _NUMBERS and entry.type != _TEXT]
    if unread:
        raise DetectorError(f"{path}: expected inputs of numbers or text, found {unread[0]}")
    if len(inputs) == 1 and len(inputs[0].shape) == 2 and inputs[0].shape[1] != 1 and inputs[0].type != _TEXT:
        width = inputs[0].shape[1]
        return OnnxFile(path, session, None, width if isinstance(width, int) else None, {})
    wide = [
        entry for entry in inputs if len(entry.shape) == 0 or len(entry.shape) > 2 or entry.shape[1:] not in ([], [1])
    ]
    if wide:
        raise DetectorError(
            f"{path}: expected one input of shape (n, d) or one of shape (n, 1) for each column, found the input "
            f"{wide[0].name} of shape {tuple(wide[0].shape)}"
        )
    names = tuple(entry.name for entry in inputs)
    return OnnxFile(path, session, names, len(names), {entry.name: () for entry in inputs if entry.type == _TEXT})


def _demand_scores(path: Path, session: Any) -> None:
    outputs = session.get_outputs()
    scored = [output for output in outputs if output.type not in _LABELS]
    kinds = ", ".join(f"{output.name}: {output.type}" for output in outputs)
    if not scored:
        raise DetectorError(f"{path}: expected an output with probabilities, found labels only ({kinds})")
    if scored[0].type not in _NUMBERS and not scored[0].type.startswith(_SEQUENCE_OF_MAPS):
        raise DetectorError(f"{path}: expected an output with probabilities, found {kinds}")


def _of_fraud(entry: Mapping[Any, float], source: str) -> float:
    for label in (1, "1", True):
        if label in entry:
            return entry[label]
    raise DetectorError(f"{source}: expected a probability for the label 1, found labels {list(entry)[:5]}")


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1][-300:] if str(error).strip() else type(error).__name__
