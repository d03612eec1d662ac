"""Gradient-boosted trees by XGBoost, trained here or read from a file of one's own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detectors.model_file import demand_loadable, read_model_file
from tabular_bench.detectors.training import TrainingSet, demand_rows
from tabular_bench.errors import DetectorError, InputError
from tabular_bench.schema import FloatArray
from tabular_bench.seeds import derive_seed

TREES = 100
MAX_DEPTH = 6
LEARNING_RATE = 0.1
OBJECTIVES = ("binary:logistic", "reg:logistic")
SUFFIXES = (".json", ".ubj")
# Without its two optional companions XGBoost is imported four times as fast.
_PROBE = """
import sys
sys.modules["pandas"] = sys.modules["sklearn"] = None
import numpy, xgboost
booster = xgboost.Booster({"nthread": 1})
booster.load_model(sys.argv[1])
booster.inplace_predict(numpy.zeros((1, booster.num_features())))
"""


@dataclass(frozen=True, eq=False)
class XgboostDetector:
    """A booster whose margin becomes a probability by the logistic function.

    Attributes
    ----------
    feature_names
        The d columns.
    model
        The booster as XGBoost writes it, in UBJSON.
    """

    feature_names: tuple[str, ...]
    model: bytes

    @cached_property
    def booster(self) -> Any:
        """The loaded booster, on one thread."""
        return _loaded(bytearray(self.model))

    @cached_property
    def _rounds(self) -> tuple[int, int]:
        # A booster that was stopped early is meant to be used up to its best round; (0, 0) is every round.
        best = self.booster.attr("best_iteration")
        return (0, int(best) + 1) if best is not None else (0, 0)

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape ``(n, d)``; returns shape ``(n,)``."""
        demand_rows(rows, self.feature_names)
        if not len(rows):
            return np.zeros(0)
        scores = self.booster.inplace_predict(rows, iteration_range=self._rounds)
        return np.asarray(scores, dtype=np.float64)

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything but the names."""
        return {"model": np.frombuffer(self.model, dtype=np.uint8)}

    @classmethod
    def from_arrays(cls, feature_names: tuple[str, ...], arrays: dict[str, NDArray[np.generic]]) -> XgboostDetector:
        """Rebuild from `to_arrays`."""
        return cls(feature_names, arrays["model"].astype(np.uint8).tobytes())


def train_xgboost(training: TrainingSet) -> XgboostDetector:
    """Boost trees, both classes weighted the same. That inflates probabilities; thresholds are set on scores.

    Parameters
    ----------
    training
        Scaled rows.
    """
    import xgboost

    parameters = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": MAX_DEPTH,
        "learning_rate": LEARNING_RATE,
        "scale_pos_weight": training.imbalance,
        "nthread": 1,
        "seed": derive_seed(training.seed, "xgboost") % 2**31,
    }
    # Names stay outside the booster, which does not take every character.
    table = xgboost.DMatrix(training.rows, label=training.labels, nthread=1)
    booster = xgboost.train(parameters, table, num_boost_round=TREES)
    return XgboostDetector(training.feature_names, bytes(booster.save_raw("ubj")))


def read_xgboost(path: Path, columns: tuple[str, ...]) -> XgboostDetector:
    """Read a booster of one's own.

    Parameters
    ----------
    path
        A file that XGBoost's ``save_model`` wrote, ``.json`` or ``.ubj``.
    columns
        Of the table. A booster that was trained without names is taken to expect these, if they are as many.

    Raises
    ------
    InputError
        If the file cannot be read or is no booster.
    DetectorError
        If the booster is not one of two classes, or wants raw categories or another number of columns.
    """
    booster = open_booster(path)
    if any(kind == "c" for kind in booster.feature_types or ()):
        raise DetectorError(f"{path}: expected numbers only, found categories; train on 0/1 columns feature=category")
    names = tuple(booster.feature_names or columns)
    if len(names) != booster.num_features():
        raise DetectorError(
            f"{path}: the booster expects {booster.num_features()} columns and names none, the table has {len(columns)}"
        )
    return XgboostDetector(names, bytes(booster.save_raw("ubj")))


def open_booster(path: Path) -> Any:
    """Load a booster of two classes from a file that need not be trusted.

    Parameters
    ----------
    path
        As for `read_xgboost`.

    Raises
    ------
    InputError
        If the file cannot be read or is no booster.
    DetectorError
        If the booster is not one of two classes.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: expected a model saved by XGBoost as .json or .ubj; pickles are not read")
    content = read_model_file(path)
    demand_loadable(path, "XGBoost", "a model saved by XGBoost", _PROBE)
    booster = _loaded(bytearray(content))
    objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    if objective not in OBJECTIVES:
        raise DetectorError(f"{path}: expected the objective {' or '.join(OBJECTIVES)}, found {objective}")
    return booster


def _loaded(content: bytearray) -> Any:
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(content)
    # Loading brings the number of threads of the file along.
    booster.set_param({"nthread": 1})
    return booster
