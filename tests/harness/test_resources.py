"""Scenarios and corpus are found in an installed package and in a checkout, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import resources
from harness.errors import DataError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harness"
    folder.mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", folder)
    return folder


def test_an_installed_package_carries_them(package: Path) -> None:
    (package / "_data" / "tasks").mkdir(parents=True)
    (package.parent / "tasks").mkdir()
    (package.parent / "pyproject.toml").touch()
    assert resources.data_root("tasks") == package / "_data" / "tasks"


def test_a_checkout_has_them_at_the_top(package: Path) -> None:
    (package.parent / "corpus").mkdir()
    (package.parent / "pyproject.toml").touch()
    assert resources.data_root("corpus") == package.parent / "corpus"


def test_a_folder_that_happens_to_lie_beside_the_package_is_not_taken(package: Path) -> None:
    (package.parent / "tasks").mkdir()
    with pytest.raises(DataError, match="expected the folder tasks/ of an installed fraudbench, or of a checkout"):
        resources.data_root("tasks")
