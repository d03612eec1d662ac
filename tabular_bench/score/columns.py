"""The columns that a detector expects, found in a table by their names.

Nothing is guessed by position unless the detector names no column at all. The 0/1 column of a category is known as
``feature=category`` or ``feature_category``; a detector that takes whole categories is given their codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.errors import DetectorError
from tabular_bench.schema import Block, FloatArray, IntArray, Schema
from tabular_bench.score.ready import ReadyModel

_SHOWN = 8


@dataclass(frozen=True, eq=False)
class ColumnsFront:
    """A detector of some columns in its own order, made to accept rows of the whole table.

    Attributes
    ----------
    detector
        Expects a matrix with one column for each of `places`.
    feature_names
        The d columns of the table.
    source
        Of the detector, for messages.
    places
        By column of the detector: the column of the table. Of a whole category, its first 0/1 column.
    codes
        By number of a column of the detector that takes a whole category: the block, and the code of each category.
    """

    detector: Detector
    feature_names: tuple[str, ...]
    source: str
    places: IntArray
    codes: dict[int, tuple[Block, FloatArray]]

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows in problem space, shape ``(n, d)``; returns shape ``(n,)``."""
        matrix = rows[:, self.places]
        for number, (block, codes) in self.codes.items():
            matrix[:, number] = codes[rows[:, block.columns].argmax(axis=1)]
        try:
            return self.detector.predict_proba(matrix)
        except DetectorError:
            raise
        except Exception as error:
            raise DetectorError(f"{self.source}: scoring failed: {type(error).__name__}: {error}") from error


class DifferentiableColumnsFront(ColumnsFront):
    """The same for a detector with gradients."""

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        """Return the gradient with respect to the rows, shape ``(n, d)``: 0 where the detector does not look."""
        if not isinstance(self.detector, DifferentiableDetector):
            raise DetectorError(f"{self.source}: expected a detector with gradients, it has none")
        gradients = np.zeros_like(rows)
        found = self.detector.gradient(rows[:, self.places], targets)
        for number, place in enumerate(self.places):
            gradients[:, place] += found[:, number]
        return gradients


def mentioned(model: ReadyModel, columns: Iterable[str]) -> set[str]:
    """Return those columns of a file that a detector seems to read: all of them if it names none.

    Parameters
    ----------
    model
        As it was read.
    columns
        Of the header.
    """
    if model.names is None:
        return set(columns)
    names = set(model.names)
    return {
        column
        for column in columns
        if column in names or any(name.startswith((f"{column}=", f"{column}_")) for name in names)
    }


def bind(model: ReadyModel, schema: Schema) -> tuple[Detector, list[str]]:
    """Find the columns of a detector in a table.

    Parameters
    ----------
    model
        As it was read.
    schema
        Of the table.

    Returns
    -------
    tuple[Detector, list[str]]
        A detector of the table's rows in problem space, and sentences on what was taken for what.

    Raises
    ------
    DetectorError
        If the table lacks a column that the detector expects, or has a category that it does not know.
    """
    names = model.names if model.names is not None else schema.columns
    if model.names is None and model.width not in (None, schema.width):
        raise DetectorError(
            f"{model.source}: expects {model.width} columns and names none, the table has {schema.width}: "
            f"{_some(schema.columns, 40)}; ignore what it was not trained on, or save it with the names of its columns"
        )
    notes = _remarks(model, schema)
    places, codes = _located(model, schema, names)
    notes += _baselines(model, schema, names, codes)
    known = {names[number]: block.feature.categories for number, (block, _) in codes.items()}
    detector = model.make(names, known)
    differentiable = isinstance(detector, DifferentiableDetector) and not codes
    front = DifferentiableColumnsFront if differentiable else ColumnsFront
    return front(detector, schema.columns, model.source, places, codes), notes


def _located(
    model: ReadyModel, schema: Schema, names: tuple[str, ...]
) -> tuple[IntArray, dict[int, tuple[Block, FloatArray]]]:
    by_name = _names_of_columns(schema, names)
    blocks = {block.feature.name: block for block in schema.blocks}
    places, codes, lacking = [], {}, []
    for number, name in enumerate(names):
        if name in model.whole and name in blocks:
            codes[number] = blocks[name], _codes(model, blocks[name])
            places.append(blocks[name].start)
        elif name in by_name and name not in model.whole:
            places.append(by_name[name])
        else:
            lacking.append(name)
    if lacking:
        raise DetectorError(_lacking(model, schema, names, lacking))
    return np.array(places, dtype=np.int64), codes


def _names_of_columns(schema: Schema, wanted: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    known = set(wanted)
    for block in schema.blocks:
        categories = block.feature.categories
        # One-hot columns of the table itself may have any names; they are then the names of the categories.
        if known.issuperset(categories):
            found |= {category: number for number, category in enumerate(categories, block.start)}
        for number, category in enumerate(categories, block.start):
            found[f"{block.feature.name}_{category}"] = number
    # A column of the table goes before a composed name that happens to be the same.
    return found | {name: number for number, name in enumerate(schema.columns)}


def _codes(model: ReadyModel, block: Block) -> FloatArray:
    known = model.whole[block.feature.name]
    if not known:
        return np.arange(len(block.feature.categories), dtype=np.float64)
    unknown = [category for category in block.feature.categories if category not in known]
    if unknown:
        raise DetectorError(
            f"{model.source}: column {block.feature.name}: the detector does not know {_some(unknown)}; it was trained "
            f"on {_some(known)}; leave such rows out"
        )
    return np.array([known.index(category) for category in block.feature.categories], dtype=np.float64)


def _lacking(model: ReadyModel, schema: Schema, names: tuple[str, ...], lacking: list[str]) -> str:
    texts = [name for name in lacking if any(block.feature.name == name for block in schema.blocks)]
    if texts:
        block = next(block for block in schema.blocks if block.feature.name == texts[0])
        return (
            f"{model.source}: column {texts[0]}: the detector takes a number, the table has texts "
            f"({_some(block.feature.categories)}); rows are handed over with 0/1 columns {texts[0]}=category, so train "
            "on those, or save the categories with the detector (XGBoost 3.1 or newer)"
        )
    hints = []
    for name in lacking[:_SHOWN]:
        near = get_close_matches(name, schema.columns, n=1, cutoff=0.7)
        owner = next((f for f in schema.features if name.startswith((f"{f.name}_", f"{f.name}="))), None)
        if name in model.whole:
            hints.append(f'{name} (declare it as a category: kind = "category")')
        elif owner is not None and owner.kind != "category":
            hints.append(f'{name} (a category of {owner.name}? then declare it: kind = "category")')
        elif near and near[0] not in names:
            hints.append(f"{name} (renamed to {near[0]}?)")
        else:
            hints.append(name)
    more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
    surplus = [column for column in schema.columns if column not in names]
    told = f"; the table has {_some(surplus)}, which the detector does not expect" if surplus else ""
    return (
        f"{model.source}: the detector expects {len(names)} columns, the table lacks {len(lacking)} of them: "
        f"{', '.join(hints)}{more}{told}"
    )


def _baselines(
    model: ReadyModel, schema: Schema, names: tuple[str, ...], codes: dict[int, tuple[Block, FloatArray]]
) -> list[str]:
    """Hold categories against the 0/1 columns that a detector has; one, the first, may go without."""
    notes, taken = [], {block.feature.name for block, _ in codes.values()}
    for block in schema.blocks:
        feature = block.feature
        if feature.name in taken:
            continue
        without = [
            category
            for category in feature.categories
            if f"{feature.name}={category}" not in names and f"{feature.name}_{category}" not in names
        ]
        if len(without) in (0, len(feature.categories)):
            continue
        if model.picks:
            notes.append(f"{feature.name}: the detector does not tell {_some(without)} apart.")
            continue
        if without != [min(feature.categories)]:
            raise DetectorError(
                f"{model.source}: column {feature.name}: the detector has no 0/1 column for the categories "
                f"{_some(without)}; leave such rows out, or use a detector that was trained on them"
            )
        notes.append(
            f"{feature.name}: the detector has no 0/1 column for {without[0]}, the first category; it is taken for the "
            "one that stands for all of them at 0"
        )
    return notes


def _remarks(model: ReadyModel, schema: Schema) -> list[str]:
    if model.names is None:
        return [
            "The detector names no columns: they are taken in the order of the table. Check that this is its order."
        ]
    by_name = _names_of_columns(schema, model.names)
    used = {by_name[name] for name in model.names if name in by_name}
    owners = {schema.owners[number].name for number in used} | set(model.whole)
    unread = [feature.name for feature in schema.features if feature.name not in owners]
    notes = [f"Not read by the detector: {_some(unread, 40)}."] if unread else []
    order = [by_name[name] for name in model.names if name in by_name]
    if order != sorted(order):
        notes.append("The detector expects its columns in another order than the table has; they are found by name.")
    return notes


def _some(names: Iterable[str], shown: int = _SHOWN) -> str:
    listed = list(names)
    return ", ".join(listed[:shown]) + (f" and {len(listed) - shown} more" if len(listed) > shown else "")
