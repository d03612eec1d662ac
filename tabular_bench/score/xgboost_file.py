"""Boosters from files, those with categories of their own among them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tabular_bench.detector import Detector
from tabular_bench.detectors.boosting import XgboostDetector, open_booster
from tabular_bench.errors import DetectorError


@dataclass(frozen=True, eq=False)
class BoosterFile:
    """A booster and what it expects; attributes as in `tabular_bench.score.ready.ReadyModel`."""

    detector: XgboostDetector
    names: tuple[str, ...] | None
    width: int
    whole: dict[str, tuple[str, ...]]

    def make(self, names: tuple[str, ...], categories: object) -> Detector:
        """Return the detector of a matrix with these columns; categories are written as the booster's own codes."""
        return replace(self.detector, feature_names=names)


def read_booster(path: Path) -> BoosterFile:
    """Read a booster; unlike `tabular_bench.detectors.boosting.read_xgboost` it may take categories.

    Parameters
    ----------
    path
        A file that XGBoost's ``save_model`` wrote, ``.json`` or ``.ubj``.

    Raises
    ------
    InputError
        If the file cannot be read or is no booster.
    DetectorError
        If the booster is not one of two classes, or takes categories and does not say which.
    """
    booster = open_booster(path)
    names = tuple(booster.feature_names) if booster.feature_names else None
    types = booster.feature_types or []
    whole: dict[str, tuple[str, ...]] = {}
    if "c" in types:
        if names is None:
            raise DetectorError(f"{path}: takes categories but names no column; train it on a table with names")
        stored = _stored_categories(booster)
        for number, kind in enumerate(types):
            if kind == "c":
                known = stored[number] if number < len(stored) else ()
                if not known:
                    raise DetectorError(
                        f"{path}: column {names[number]}: takes categories, and the file does not say which code each "
                        "has; save it with XGBoost 3.1 or newer, trained on a table with text categories"
                    )
                whole[names[number]] = known
    detector = XgboostDetector(names or (), bytes(booster.save_raw("ubj")))
    return BoosterFile(detector, names, int(booster.num_features()), whole)


def _stored_categories(booster: Any) -> list[tuple[str, ...]]:
    """Return the texts of each column's categories in the order of their codes; none where there are no texts."""
    model = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    # A booster that drops trees keeps the trees one level deeper.
    encoded = (model.get("model") or model.get("gbtree", {}).get("model") or {}).get("cats", {}).get("enc", [])
    return [_texts(column) for column in encoded]


def _texts(column: dict[str, Any]) -> tuple[str, ...]:
    values = column.get("values", [])
    if "offsets" not in column:
        return tuple(map(str, values))
    offsets = column["offsets"]
    # The file holds signed bytes.
    raw = bytes(value % 256 for value in values)
    return tuple(raw[start:stop].decode("utf-8", "replace") for start, stop in pairwise(offsets))
