"""The miniature domain is installed for every test of runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.runs.mini import install


@pytest.fixture(scope="session", autouse=True)
def mini_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Announce the domain; the folder is what another process needs on its path."""
    folder = install(tmp_path_factory.mktemp("installed"))
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
