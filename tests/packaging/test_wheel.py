"""The wheel holds the packages and their data and nothing else, and works far from any checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.architecture.layers import PACKAGES
from tests.architecture.test_text import files

ROOT = Path(__file__).resolve().parents[2]
DATA = ("tasks", "corpus")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command away from this process's environment of paths and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    finished = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert finished.returncode == 0, f"{command}:\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the installed backend: no network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_packages_and_data_and_nothing_else(wheel: Path) -> None:
    expected = set()
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        top = name.partition("/")[0]
        if "/" in name and top in (*PACKAGES, *DATA):
            expected.add(f"harness/_data/{name}" if top in DATA else name)
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert {f"{package}/py.typed" for package in PACKAGES} < packed
    assert any(name.startswith("harness/_data/tasks/") and name.endswith(".json") for name in packed)
    assert any(name.startswith("harness/_data/corpus/") and name.endswith(".md") for name in packed)


def test_the_wheel_carries_licence_and_commands(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = {Path(name).name: name for name in archive.namelist() if ".dist-info/" in name}
        licence = archive.read(metadata["LICENSE"]).decode()
        entry_points = archive.read(metadata["entry_points.txt"]).decode()
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "fraudbench = harness.cli.main:main" in entry_points
    assert "[fraudbench.domains]" in entry_points


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, which borrows the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet"),
        *("--no-index", "--no-deps", "--disable-pip-version-check", wheel),
        cwd=folder.parent,
    )
    # A path file is not read recursively: the editable install of the checkout stays out of sight.
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_the_installed_command_works_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    place = run(installed / "bin" / "python", "-c", "import harness; print(harness.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(installed)
    fraudbench = installed / "bin" / "fraudbench"
    assert run(fraudbench, "tasks", "list", cwd=tmp_path).strip()
    run(fraudbench, "run", "--agent", "oracle", "--out", "runs/first", cwd=tmp_path)
    assert (tmp_path / "runs/first/run.json").is_file()
