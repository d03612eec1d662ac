"""Detectors as files: one archive of plain arrays each, read without unpickling anything."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tabular_bench.detector import Detector
from tabular_bench.detectors.boosting import XgboostDetector
from tabular_bench.detectors.ensemble import EnsembleDetector
from tabular_bench.detectors.forest import ForestDetector
from tabular_bench.detectors.logistic import LogisticDetector
from tabular_bench.detectors.network import NetworkDetector
from tabular_bench.detectors.validated import ValidatedDetector, validated
from tabular_bench.errors import DetectorError, InputError

Arrays = dict[str, NDArray[np.generic]]

FORMAT = 1
_MAX_BYTES = 512 * 2**20


@runtime_checkable
class Storable(Detector, Protocol):
    """A detector that is its arrays."""

    def to_arrays(self) -> Arrays:
        """Return everything but the names."""
        ...

    @classmethod
    def from_arrays(cls, feature_names: tuple[str, ...], arrays: Arrays) -> Self:
        """Rebuild from `to_arrays`."""
        ...


KINDS: dict[str, type[Any]] = {
    "logistic": LogisticDetector,
    "forest": ForestDetector,
    "xgboost": XgboostDetector,
    "network": NetworkDetector,
}


def save_detector(detector: Detector, path: Path) -> None:
    """Write a detector to a file.

    Parameters
    ----------
    detector
        Of one of `KINDS`, an ensemble of such, or one of these behind input validation.
    path
        Ending in ``.npz``; overwritten.

    Raises
    ------
    DetectorError
        If it is of another kind.
    """
    header, arrays = _taken_apart(detector)
    text = json.dumps({"format": FORMAT, "detector": header}).encode()
    with path.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, header=np.frombuffer(text, dtype=np.uint8), **_named(arrays))


def load_detector(path: Path) -> Detector:
    """Read what `save_detector` wrote.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it cannot be read, is damaged or of another format.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: expected at most {_MAX_BYTES} bytes, found {path.stat().st_size}")
        # A stream of our own is closed even where NumPy finds that it is no archive.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if sum(entry.file_size for entry in archive.zip.infolist()) > _MAX_BYTES:
                raise InputError(f"{path}: expected arrays of at most {_MAX_BYTES} bytes")
            arrays = {name: archive[name] for name in archive.files}
        described = json.loads(arrays.pop("header").tobytes())
        if described["format"] != FORMAT:
            raise InputError(f"{path}: expected format {FORMAT}, found {described['format']!r}")
        return _put_together(described["detector"], arrays)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: expected a stored detector: {type(error).__name__}: {error}") from None


def detector_hash(detector: Detector) -> str:
    """Return a digest of a detector: the same one if and only if names and arrays are the same.

    Parameters
    ----------
    detector
        As for `save_detector`.

    Raises
    ------
    DetectorError
        If it is of another kind.
    """
    header, arrays = _taken_apart(detector)
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _taken_apart(detector: Detector) -> tuple[dict[str, Any], Arrays]:
    if isinstance(detector, EnsembleDetector):
        members: dict[str, Any] = {}
        arrays: Arrays = {}
        for name, member in detector.members.items():
            members[name], own = _taken_apart(member)
            arrays |= _prefixed(name, own)
        return {"kind": "ensemble", "members": members}, arrays
    if isinstance(detector, ValidatedDetector):
        inner, arrays = _taken_apart(detector.inner)
        limits = {"lower": detector.lower, "upper": detector.upper}
        return {"kind": "validated", "mode": detector.mode, "inner": inner}, _prefixed("inner", arrays) | limits
    for kind, of in KINDS.items():
        if isinstance(detector, of) and isinstance(detector, Storable):
            return {"kind": kind, "feature_names": list(detector.feature_names)}, detector.to_arrays()
    raise DetectorError(f"expected a detector of the kinds {', '.join(KINDS)}, found {type(detector).__name__}")


def _put_together(header: dict[str, Any], arrays: Arrays) -> Detector:
    kind = header["kind"]
    if kind == "ensemble":
        members = header["members"].items()
        return EnsembleDetector({name: _put_together(member, _under(name, arrays)) for name, member in members})
    if kind == "validated":
        inner = _put_together(header["inner"], _under("inner", arrays))
        lower, upper = (arrays[name].astype(np.float64) for name in ("lower", "upper"))
        return validated(inner, lower, upper, header["mode"])
    detector: Detector = KINDS[kind].from_arrays(tuple(header["feature_names"]), arrays)
    return detector


def _prefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _under(prefix: str, arrays: Arrays) -> Arrays:
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _named(arrays: Arrays) -> dict[str, Any]:
    # np.savez has parameters of its own beside the names of arrays.
    return {name: np.asarray(array) for name, array in arrays.items()}
