"""Files of detectors that need not be trusted: bounded, and loaded in another process first.

The libraries that read them take the whole process down on some files that are damaged.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tabular_bench.errors import InputError

_MAX_BYTES = 512 * 2**20
_TIMEOUT_S = 120


def read_model_file(path: Path) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path
        Of a model.

    Raises
    ------
    InputError
        If it cannot be read or is too large.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: expected at most {_MAX_BYTES} bytes, found {path.stat().st_size}")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def demand_loadable(path: Path, library: str, expected: str, code: str) -> None:
    """Let a library load a file in another process.

    Parameters
    ----------
    path
        The file.
    library
        For messages.
    expected
        What it has to be: ``a model saved by XGBoost``.
    code
        Loads the file that is its first argument.

    Raises
    ------
    InputError
        If the library does not load it, does not come to an end, or crashes.
    """
    command = [sys.executable, "-P", "-c", code, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: {library} did not load it within {_TIMEOUT_S} s") from None
    if done.returncode < 0:
        raise InputError(f"{path}: expected {expected}; {library} crashes on this file")
    if done.returncode:
        # What the library says last of an error; a traceback has other lines, too.
        told = [line for line in done.stderr.splitlines() if "Error" in line or "onnxruntime" in line]
        raise InputError(f"{path}: expected {expected}: {(told or ['no reason given'])[-1][-300:]}")
