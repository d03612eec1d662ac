"""Detectors in ONNX, in every layout that is read, and those that are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabular_bench.declaration import parse_declaration
from tabular_bench.errors import DetectorError, InputError
from tabular_bench.schema import FloatArray
from tabular_bench.score.columns import bind
from tabular_bench.score.ready import read_model
from tabular_bench.score.run import ScoreOptions, score
from tabular_bench.score.table import TableOptions, UserTable, read_user_table
from tests.tabular_bench.score import onnx_models, strangers
from tests.tabular_bench.score.strangers import CHANNELS, columns, encoded

DECLARED = parse_declaration('ignore = ["reference_no"]', "mine.toml", "fraud")
WIDTH = 24
WEIGHTS = [0.0] * WIDTH
WEIGHTS[10] = 1.5  # risk
WEIGHTS[-5] = 0.7  # channel=web


def written(folder: Path, content: bytes) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(content)
    return path


def scored(path: Path) -> tuple[UserTable, FloatArray, list[str]]:
    ready = read_model(str(path))
    table = read_user_table(strangers.table(path.parent), DECLARED, ready, TableOptions())
    detector, notes = bind(ready, table.problem.schema)
    return table, detector.predict_proba(table.rows), notes


def logistic(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float64)


@pytest.mark.parametrize("content", [onnx_models.logistic(WEIGHTS, -1.0), onnx_models.mapped(WEIGHTS, [0, 1])])
def test_one_input_takes_the_table_as_it_lies(content: bytes, tmp_path: Path) -> None:
    _, scores, notes = scored(written(tmp_path, content))
    bias = -1.0 if b"Add" in content else 0.0
    np.testing.assert_allclose(scores, logistic(encoded()[0] @ np.array(WEIGHTS) + bias), atol=1e-6)
    assert any("in the order of the table" in note for note in notes)


def by_name(known: tuple[str, ...] = CHANNELS) -> bytes:
    effects = {channel: 0.5 * number - 1 for number, channel in enumerate(known)}
    return onnx_models.by_name(["risk", "amount"], [1.5, 0.002], "channel", effects)


def test_an_input_for_each_column_takes_categories_in_words(tmp_path: Path) -> None:
    path = written(tmp_path, by_name())
    table, scores, _ = scored(path)
    values = columns()
    effect = np.array([0.5 * CHANNELS.index(channel) - 1 for channel in values["channel"].tolist()])
    expected = logistic(1.5 * values["risk"].astype(float) + 0.002 * values["amount"].astype(float) + effect)
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    assert {feature.name for feature, _ in table.columns} == {"risk", "amount", "channel"}


def test_it_is_attacked_by_its_scores(tmp_path: Path) -> None:
    ready = read_model(str(written(tmp_path, by_name())))
    table = read_user_table(strangers.table(tmp_path), DECLARED, ready, TableOptions())
    found = score(ready, table, ScoreOptions(protocols=("C2",), max_rows=10))
    assert [(entry.attack, entry.status) for entry in found.attacks] == [("noise", "done"), ("square", "done")]


def test_a_table_of_another_width_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, onnx_models.logistic([1.0, 2.0], 0.0))
    with pytest.raises(DetectorError, match="expects 2 columns and names none, the table has 24"):
        scored(path)


def test_columns_that_the_table_lacks_are_named(tmp_path: Path) -> None:
    content = onnx_models.by_name(["risk", "ammount"], [1.0, 1.0], "channel", dict.fromkeys(CHANNELS, 0.0))
    with pytest.raises(DetectorError, match="the table lacks 1 of them: ammount"):
        scored(written(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "expected a model in ONNX"),
        (b"not a model", "expected a model in ONNX"),
        (onnx_models.logistic(WEIGHTS, 0.0)[:200], "expected a model in ONNX"),
    ],
    ids=["empty", "text", "cut off"],
)
def test_a_damaged_file_is_refused(content: bytes, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=complaint):
        read_model(str(written(tmp_path, content)))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.onnx: cannot be read: No such file"):
        read_model(str(tmp_path / "none.onnx"))


def test_labels_alone_are_no_scores(tmp_path: Path) -> None:
    content = onnx_models.model(
        [onnx_models.node("Cast", ["rows"], ["label"], onnx_models.integer("to", onnx_models.INT64))],
        [onnx_models.value("rows", onnx_models.FLOAT, ["n", 3])],
        [onnx_models.value("label", onnx_models.INT64, ["n", 3])],
    )
    with pytest.raises(DetectorError, match=r"found labels only \(label: tensor\(int64\)\)"):
        read_model(str(written(tmp_path, content)))


def test_a_map_without_the_label_of_fraud_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DetectorError, match=r"expected a probability for the label 1, found labels \[4, 5\]"):
        scored(written(tmp_path, onnx_models.mapped(WEIGHTS, [4, 5])))


def test_images_are_no_rows(tmp_path: Path) -> None:
    content = onnx_models.model(
        [onnx_models.node("Sigmoid", ["image"], ["p"])],
        [onnx_models.value("image", onnx_models.FLOAT, ["n", 3, 8, 8])],
        [onnx_models.value("p", onnx_models.FLOAT, ["n", 3, 8, 8])],
    )
    with pytest.raises(DetectorError, match=r"found the input image of shape \('n', 3, 8, 8\)"):
        read_model(str(written(tmp_path, content)))
