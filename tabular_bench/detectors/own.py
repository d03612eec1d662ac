"""Detectors of one's own.

``package.module:factory`` names a callable. Without parameters it returns a detector that is ready, of rows in their
own units. With one parameter it is a model to be trained: it is given a `TrainingSet` and returns a detector of rows
that are scaled as those are. A file ``.json`` or ``.ubj`` is a booster of XGBoost, of rows in their own units.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.boosting import SUFFIXES, read_xgboost
from tabular_bench.detectors.model import Model
from tabular_bench.detectors.training import TrainingSet, demand_columns
from tabular_bench.errors import DetectorError, InputError
from tabular_bench.factories import find_factory
from tabular_bench.scaling import ScaledFront, Scaler
from tabular_bench.schema import FloatArray


class DifferentiableScaledFront(ScaledFront):
    """A detector of problem-space rows with gradients, made to accept scaled rows."""

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        """Return the gradient with respect to the scaled rows, shape ``(n, d)``, by the chain rule."""
        if not isinstance(self.detector, DifferentiableDetector):
            raise DetectorError(f"expected a detector with gradients, {type(self.detector).__name__} has none")
        return self.detector.gradient(self.scaler.to_problem(rows), targets) * self.scaler.scale


def in_scaled_space(detector: Detector, scaler: Scaler) -> ScaledFront:
    """Make a detector of problem-space rows accept scaled rows; it keeps its gradient if it has one.

    Parameters
    ----------
    detector
        Expects problem-space rows.
    scaler
        The way between the spaces.
    """
    front = DifferentiableScaledFront if isinstance(detector, DifferentiableDetector) else ScaledFront
    return front(detector, scaler)


def own_model(spec: str) -> Model:
    """Return the model that a file or a factory stands for.

    Parameters
    ----------
    spec
        ``package.module:factory``, looked for in the current folder and the environment, or the path of an XGBoost
        file.

    Returns
    -------
    Model
        Its `train` raises `DetectorError` if the detector expects other columns or is none.

    Raises
    ------
    InputError
        If the module or the factory cannot be found, or the factory takes more than one argument.
    """
    if spec.endswith(SUFFIXES):
        return Model(f"XGBoost file {spec}", lambda training: _booster(Path(spec), training))
    factory = find_factory(spec)
    if _wants_training(spec, factory):
        return Model(spec, lambda training: _checked(spec, factory(training), training))
    return Model(spec, lambda training: _ready(spec, _checked(spec, factory(), training), training))


def _booster(path: Path, training: TrainingSet) -> Detector:
    detector = read_xgboost(path, training.feature_names)
    return _ready(str(path), _checked(str(path), detector, training), training)


def _ready(spec: str, detector: Detector, training: TrainingSet) -> Detector:
    if training.scaler is None:
        raise DetectorError(f"{spec}: expects rows in their own units, but the training set has no scaler to go there")
    return in_scaled_space(detector, training.scaler)


def _checked(spec: str, detector: Any, training: TrainingSet) -> Detector:
    lacking = [name for name in ("feature_names", "predict_proba") if not hasattr(detector, name)]
    if lacking:
        raise DetectorError(
            f"{spec}: expected a detector with feature_names and predict_proba(rows), found {type(detector).__name__} "
            f"without {' and '.join(lacking)}"
        )
    found: Detector = detector
    try:
        demand_columns(found, training.feature_names)
    except DetectorError as error:
        raise DetectorError(f"{spec}: {error}") from None
    return found


def _wants_training(spec: str, factory: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    if len(required) > 1 or (required and required[0].kind is inspect.Parameter.KEYWORD_ONLY):
        names = ", ".join(parameter.name for parameter in required)
        raise InputError(f"{spec}: expected a factory that takes nothing or a training set, this one needs {names}")
    return bool(required)
