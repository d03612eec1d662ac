"""Detectors that are ready: an XGBoost file, an ONNX file, or ``package.module:factory``.

Each is read as a `ReadyModel`, which says what columns it expects, before any table is looked at.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tabular_bench.detector import Detector
from tabular_bench.detectors import boosting
from tabular_bench.errors import DetectorError, InputError, UnknownName
from tabular_bench.factories import find_factory
from tabular_bench.score import onnx_file, xgboost_file

Categories = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class ReadyModel:
    """A detector of rows in their own units, as it was read.

    Attributes
    ----------
    source
        The file or the factory.
    kind
        What it is, for people.
    digest
        SHA-256 of the file, or of the source of the factory's module.
    names
        The columns that it expects, in order; None if it names none and takes those of the table as they come.
    width
        How many it expects; None if it does not say.
    make
        Given the categories of each of `whole` in the order of their codes, returns the detector of a matrix with
        one column for each name.
    whole
        The columns that it takes as a category and not as 0/1 columns: the categories that it knows, in the order of
        their codes, or none if it takes any text.
    picks
        Whether it may read some 0/1 columns of a category and not others, as a rule written by hand does. A file that
        was trained has a column for every category that it knows.
    """

    source: str
    kind: str
    digest: str
    names: tuple[str, ...] | None
    width: int | None
    make: Callable[[tuple[str, ...], Categories], Detector]
    whole: Categories = field(default_factory=lambda: MappingProxyType({}))
    picks: bool = False


def read_model(spec: str) -> ReadyModel:
    """Read a detector of the user's own.

    Parameters
    ----------
    spec
        The path of a ``.json`` or ``.ubj`` file of XGBoost or an ``.onnx`` file, or ``package.module:factory``.

    Raises
    ------
    InputError
        If the file or the factory cannot be found or read.
    DetectorError
        If it is no detector of two classes.
    """
    path = Path(spec)
    if path.suffix == ".onnx":
        file = onnx_file.read_onnx(path)
        return ReadyModel(spec, "ONNX file", _digest(path), file.names, file.width, file.make, file.whole)
    if path.suffix in boosting.SUFFIXES:
        booster = xgboost_file.read_booster(path)
        return ReadyModel(
            spec, "XGBoost file", _digest(path), booster.names, booster.width, booster.make, booster.whole
        )
    if ":" in spec:
        return _from_factory(spec)
    raise UnknownName("detector", spec, ["file.json", "file.ubj", "file.onnx", "package.module:factory"])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _from_factory(spec: str) -> ReadyModel:
    factory = find_factory(spec)
    try:
        detector = factory()
    except TypeError as error:
        raise InputError(f"{spec}: expected a factory that is called without arguments: {error}") from error
    except Exception as error:
        raise InputError(f"{spec}: the factory failed: {type(error).__name__}: {error}") from error
    lacking = [name for name in ("feature_names", "predict_proba") if not hasattr(detector, name)]
    if lacking:
        raise DetectorError(
            f"{spec}: expected a detector with feature_names and predict_proba(rows), found {type(detector).__name__} "
            f"without {' and '.join(lacking)}"
        )
    names = tuple(map(str, detector.feature_names))
    module = inspect.getsourcefile(inspect.unwrap(factory)) if inspect.isroutine(factory) else None
    digest = _digest(Path(module)) if module else ""
    return ReadyModel(spec, "detector of a factory", digest, names, len(names), lambda *_: detector, picks=True)
