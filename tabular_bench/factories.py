"""Objects of one's own, named ``package.module:factory``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabular_bench.errors import InputError


def find_factory(spec: str) -> Callable[..., Any]:
    """Return what a name stands for. Its module is looked for in the current folder and the environment.

    Parameters
    ----------
    spec
        ``package.module:factory``.

    Raises
    ------
    InputError
        If the module or the factory cannot be found, or cannot be called.
    """
    module_name, colon, path = spec.partition(":")
    if not (module_name and colon and path):
        raise InputError(f"expected package.module:factory, found {spec!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InputError(f"{spec}: there is no module {error.name!r} here or in the environment") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"{spec}: importing its module failed: {type(error).__name__}: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{spec}: the module {module_name} has no {path!r}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{spec}: expected a factory that can be called, found {type(found).__name__}")
    factory: Callable[..., Any] = found
    return factory
