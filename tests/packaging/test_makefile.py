"""The Makefile explains itself, and says what is wrong where Python is missing or too old."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make as from a fresh shell: the gate itself runs under make, which hands its settings on."""
    handed_on = ("MAKE", "MFLAGS", "PYTHON", "VENV", "WORKERS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(handed_on)}
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_help_is_the_index_of_commands() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    lines = make().stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["make", target] for target in phony.split()]
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_a_python_too_old_is_refused_in_plain_words(target: str, tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.8.1"\nexit 1\n')
    old.chmod(0o755)
    refused = make(target, f"PYTHON={old}", f"VENV={tmp_path / 'env'}")
    assert refused.returncode != 0
    assert f"fraudbench needs Python 3.11 or newer; {old} is: Python 3.8.1" in refused.stderr
    assert not (tmp_path / "env").exists()


def test_a_missing_python_is_said_in_plain_words(tmp_path: Path) -> None:
    refused = make("demo", "PYTHON=", f"VENV={tmp_path / 'env'}")
    assert refused.returncode != 0
    assert "found no such python3 on the path" in refused.stderr


def test_the_demo_installs_the_base_alone(tmp_path: Path) -> None:
    installs = {target: make("--dry-run", target, f"VENV={tmp_path / 'env'}").stdout for target in ("demo", "test")}
    assert {"base.lock", "build.lock"} == set(re.findall(r"-r requirements/(\S+)", installs["demo"]))
    assert {"dev.lock", "tabular.lock", "torch.txt"} == set(re.findall(r"-r requirements/(\S+)", installs["test"]))


def test_a_torch_that_cannot_be_imported_is_taken_out_and_said(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(
        f'#!/bin/sh\necho "$*" >> {calls}\n[ "$*" = "-c import torch" ] || exit 0\n'
        'echo "Traceback" >&2\necho "ImportError: libcudnn.so.9: no file" >&2\nexit 1\n'
    )
    python.chmod(0o755)
    refused = make("check", f"PYTHON={sys.executable}", f"VENV={tmp_path}")
    assert refused.returncode != 0
    assert "cannot be imported: ImportError: libcudnn.so.9: no file\nrequirements/torch.txt says" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert calls.read_text().splitlines()[-1] == "-m pip uninstall --quiet --yes torch"
    assert not (tmp_path / ".installed-dev").exists()
