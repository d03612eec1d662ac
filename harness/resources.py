"""Where the scenarios and the corpus lie: inside the installed package, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from harness.errors import DataError

_PACKAGE: Final = Path(__file__).resolve().parent


def data_root(name: Literal["tasks", "corpus"]) -> Path:
    """Return the folder of the scenarios or of the corpus that came with this installation.

    Raises
    ------
    DataError
        If the installation carries no such folder.
    """
    installed, checkout = _PACKAGE / "_data" / name, _PACKAGE.parent / name
    if installed.is_dir():
        return installed
    # Beside an installed package lie other people's packages: only a checkout has the project file there.
    if checkout.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return checkout
    raise DataError(
        str(installed),
        "",
        f"the folder {name}/ of an installed fraudbench, or of a checkout",
        "neither",
        "Install fraudbench again, or name a folder of your own.",
    )
