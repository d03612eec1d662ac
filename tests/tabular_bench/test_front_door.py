from __future__ import annotations

import subprocess
import sys

import tabular_bench


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, tabular_bench; print(*(name for name in sys.modules if '.' not in name))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "tabular_bench" in loaded
    assert not {"numpy", "pandas", "pydantic", "scipy", "sklearn", "torch", "xgboost"} & set(loaded)


def test_every_name_it_offers_is_there() -> None:
    assert sorted(tabular_bench.__all__) == tabular_bench.__all__
    for name in tabular_bench.__all__:
        assert getattr(tabular_bench, name).__name__ == name
