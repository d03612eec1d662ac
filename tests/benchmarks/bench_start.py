"""What it costs to begin: the command's first answer, and what importing the packages brings along."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks.conftest import Table
from tests.benchmarks.measure import command_cpu_s

HEAVY = ("litellm", "torch", "xgboost", "pandas", "sentence_transformers")
_IMPORT_ALL = f"""
import importlib, pkgutil, sys
for name in ("domains", "harness", "judges"):
    for module in pkgutil.walk_packages(importlib.import_module(name).__path__, name + "."):
        importlib.import_module(module.name)
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""


def test_the_first_answer(table: Table) -> None:
    fraudbench = "import sys; from harness.cli.main import main; sys.argv = ['fraudbench', '--help']; main()"
    table.add("fraudbench --help", command_cpu_s(["-c", fraudbench], rounds=5), "s", 0.35)


def test_importing_every_module(table: Table) -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT_ALL], check=True, capture_output=True, text=True)
    table.add("heavy packages that harness, domains and judges import", len(done.stdout.split()), "", 0)
