"""The contract holds for our own source, and each kind of breach is reported with file and line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.layers import HEAVY, PACKAGES, check, read_modules

ROOT = Path(__file__).resolve().parents[2]


def test_our_packages_keep_the_contract() -> None:
    faults = check(ROOT)
    assert not faults, "\n" + "\n".join(map(str, faults))


def test_every_package_is_read() -> None:
    assert {name.partition(".")[0] for name in read_modules(ROOT)} == set(PACKAGES)


def test_a_missing_package_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no package tabular_bench"):
        check(tmp_path)


def plant(root: Path, files: dict[str, str]) -> Path:
    """Write a tree with the four packages, each folder a package, and the given files in it."""
    for package in PACKAGES:
        files.setdefault(f"{package}/__init__.py", "")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for folder in path.relative_to(root).parents[:-1]:
            (root / folder / "__init__.py").touch()
    return root


CLEAN = {
    "tabular_bench/models.py": "def fit():\n    import torch\n    return torch\n",
    "domains/kit/tools.py": "",
    "domains/banking/bank.py": "from tabular_bench import X\nfrom ..kit import tools\nfrom . import rows\n",
    "domains/banking/rows.py": "import dataclasses\nX = dataclasses.field(default_factory=list)\n",
    "harness/engine.py": """
from typing import TYPE_CHECKING
import domains.kit.tools
if TYPE_CHECKING:
    import torch
def load(path):
    return open(path)
""",
    "judges/leaks.py": "from harness import engine\n",
    "harness/cli/main.py": """
import os
import judges.leaks
import domains.banking.bank
from tabular_bench import models
def main():
    return os.environ["HOME"]
if __name__ == "__main__":
    open("x")
""",
}


def test_a_tree_that_keeps_the_contract_has_no_fault(tmp_path: Path) -> None:
    assert check(plant(tmp_path, dict(CLEAN))) == []


BREACHES = {
    "upwards": ({"harness/a.py": "\nimport judges\n"}, "harness/a.py:2:", "order of layers"),
    "upwards, deferred": (
        {"domains/kit/a.py": "def f():\n    from harness import views\n", "harness/views.py": ""},
        "domains/kit/a.py:2:",
        "imports harness.views",
    ),
    "upwards, for types only": (
        {"tabular_bench/a.py": "import typing\nif typing.TYPE_CHECKING:\n    import domains.kit\n"},
        "tabular_bench/a.py:3:",
        "order of layers",
    ),
    "upwards, by name": (
        {"harness/a.py": "def f():\n    import importlib\n    return importlib.import_module('judges')\n"},
        "harness/a.py:3:",
        "imports judges",
    ),
    "upwards, relative": (
        {"harness/runs/a.py": "from ..cli import main\n"},
        "harness/runs/a.py:1:",
        "harness.cli",
    ),
    "the command line imported": (
        {"judges/a.py": "from harness.cli import main\n", "harness/cli/main.py": ""},
        "judges/a.py:1:",
        "imports harness.cli.main",
    ),
    "past the front door": (
        {"domains/banking/a.py": "import tabular_bench.models\n"},
        "domains/banking/a.py:1:",
        "front door",
    ),
    "core knows a domain": (
        {"harness/a.py": "from domains.banking import bank\n"},
        "harness/a.py:1:",
        "entry point",
    ),
    "a domain knows another": (
        {"domains/parcels/a.py": "import domains.banking\n"},
        "domains/parcels/a.py:1:",
        "entry point",
    ),
    "a language model in the bank": (
        {"domains/kit/a.py": "def f():\n    import litellm\n"},
        "domains/kit/a.py:2:",
        "knows no language model",
    ),
    "tests imported": ({"judges/a.py": "import tests.helpers\n"}, "judges/a.py:1:", "not shipped"),
    "cycle of modules": (
        {"harness/a.py": "import harness.b\n", "harness/b.py": "\ndef f():\n    import harness.a\n"},
        "harness/a.py:1:",
        "harness.a -> harness.b -> harness.a (harness/a.py:1, harness/b.py:3)",
    ),
    "module that imports itself": (
        {"harness/a.py": "from . import a\n"},
        "harness/a.py:1:",
        "harness.a -> harness.a",
    ),
    "cycle through a package's front": (
        {"judges/x/__init__.py": "from judges.x.a import f\n", "judges/x/a.py": "from judges.x import f\n"},
        "judges/x/__init__.py:1:",
        "judges.x -> judges.x.a -> judges.x",
    ),
    "cycle of sub-packages": (
        {
            "harness/runs/a.py": "import harness.views.b\n",
            "harness/views/b.py": "",
            "harness/views/c.py": "import harness.runs.d\n",
            "harness/runs/d.py": "",
        },
        "harness/runs/a.py:1:",
        "parts of harness: harness.runs -> harness.views -> harness.runs",
    ),
    **{
        f"{library} at module level": (
            {"judges/a.py": f"try:\n    import {library}.sub\nexcept ImportError:\n    pass\n"},
            "judges/a.py:2:",
            f"imports {library} at module level",
        )
        for library in sorted(HEAVY)
    },
    "environment read": (
        {"harness/a.py": "import os\nX = os.environ['X']\n"},
        "harness/a.py:2:",
        "os.environ",
    ),
    "environment in a default": (
        {"harness/a.py": "import os\n\ndef f(x=os.getenv('X')):\n    return x\n"},
        "harness/a.py:3:",
        "os.getenv()",
    ),
    "file opened in a class body": (
        {"harness/a.py": "class A:\n    TEXT = open('x').read()\n"},
        "harness/a.py:2:",
        "open()",
    ),
    "file read in a branch": (
        {"harness/a.py": "from pathlib import Path\nif True:\n    X = Path('x').read_text()\n"},
        "harness/a.py:3:",
        "read_text()",
    ),
    "settings loaded": ({"harness/a.py": "load_dotenv()\n"}, "harness/a.py:1:", "load_dotenv()"),
    "registration by decorator": (
        {"harness/a.py": "import r\n\n@r.register('x')\ndef f():\n    pass\n"},
        "harness/a.py:3:",
        "r.register()",
    ),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_reported_with_file_and_line(breach: str, tmp_path: Path) -> None:
    files, place, message = BREACHES[breach]
    faults = [str(fault) for fault in check(plant(tmp_path, dict(files)))]
    assert any(fault.startswith(place) and message in fault for fault in faults), faults


def test_a_folder_that_is_no_package_is_reported(tmp_path: Path) -> None:
    plant(tmp_path, {"harness/runs/a.py": ""})
    (tmp_path / "harness/runs/__init__.py").unlink()
    assert [str(fault) for fault in check(tmp_path)] == ["harness/runs/a.py:1: harness/runs has no __init__.py"]


IMPORT_EVERYTHING = f"""
import importlib, json, pkgutil, sys

asked = set()

class Witness:
    # Sees also the tries that fail because an extra is not installed.
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(HEAVY)}:
            asked.add(name.partition(".")[0])

sys.meta_path.insert(0, Witness())
for package in {PACKAGES}:
    module = importlib.import_module(package)
    for found in pkgutil.walk_packages(module.__path__, package + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
print(json.dumps(sorted(asked)))
"""


def test_importing_every_module_loads_nothing_heavy() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", IMPORT_EVERYTHING], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout) == []
