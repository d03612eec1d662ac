from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_the_map_shows_every_module() -> None:
    (folder,) = tabular_bench.__path__
    parts = {path.stem for path in Path(folder).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    unnamed = {part for part in parts if f"`{part}`" not in (tabular_bench.__doc__ or "")}
    assert unnamed == {"__init__"}
