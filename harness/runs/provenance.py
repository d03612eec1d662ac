"""Where results come from: the code, the agent's file and the commit, as digests."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

_PACKAGES: Final = ("tabular_bench", "domains", "harness", "judges")
_ROOT: Final = Path(__file__).resolve().parents[2]
_GIT_TIMEOUT_S: Final = 10


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit of the checkout that the code runs from; `unknown` says why there is none."""

    id: str | None
    unknown: str | None


def package_version() -> str:
    """Return the installed version of this package; a checkout that is on the path only has none."""
    try:
        return version("fraudbench")
    except PackageNotFoundError:
        return "not installed"


@cache
def source_hash() -> str:
    """Return a digest of all code of this package as it lies on disk."""
    return _digest(_ROOT, (file for package in _PACKAGES for file in (_ROOT / package).rglob("*.py")))


def agent_hash(spec: str) -> str | None:
    """Return a digest of the file of an agent named ``package.module:factory``, once it is imported.

    Other names stand for agents of this package, whose code is in `source_hash`: None. So is the answer for a
    module without a file.
    """
    module_name, colon, _ = spec.partition(":")
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    if not colon or file is None or not Path(file).is_file():
        return None
    return _digest(Path(file).parent, [Path(file)])


def commit() -> Commit:
    """Return the commit of the checkout."""
    if not (_ROOT / ".git").exists():
        return Commit(None, "the code does not run from a checkout")
    try:
        asked = subprocess.run(
            ["git", "-C", str(_ROOT), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Commit(None, f"git cannot be asked: {type(error).__name__}")
    if asked.returncode != 0:
        return Commit(None, f"git does not tell: {asked.stderr.strip()[:200]}")
    return Commit(asked.stdout.strip(), None)


def _digest(root: Path, files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(f"{file.relative_to(root).as_posix()}\0{file.stat().st_size}\0".encode())
        total.update(file.read_bytes())
    return total.hexdigest()[:16]
