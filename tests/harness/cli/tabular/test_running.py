"""`fraudbench tabular run` and `grid`, as users call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.tabular.running import describe, parse_cell
from tabular_bench.errors import InputError
from tabular_bench.registry import read_records
from tests.acceptance.cli import fraudbench

GRID = """
[[grid]]
datasets = ["breast_cancer"]
models = ["logistic", "xgboost"]
attacks = ["bim", "square(iterations=20)"]
protocols = ["A", "B", "C2"]
epsilons = [0.5]
max_rows = 20
"""


def test_a_grid_from_beginning_to_end(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(GRID)
    listed = fraudbench("tabular", "grid", "tiny.toml", "--dry-run", cwd=tmp_path)
    cells = listed.stdout.splitlines()
    assert len(cells) == 2 * 2 * 3 + 4 * 3
    assert "breast_cancer/logistic/bim/C2  seed 42, linf 0.5, max_rows 20" in cells
    assert not (tmp_path / "runs").exists()
    done = fraudbench("tabular", "grid", "tiny.toml", "--workers", 2, cwd=tmp_path)
    # Gradients of trees, and largest amounts where there are none: bim on xgboost, largest_first under Square.
    assert done.stdout == "18 done, 0 failed, 6 not applicable\n"
    assert "24 cells, 0 of them recorded already" in done.stderr
    assert "24 of 24 cells, 6 not applicable\n" in done.stderr
    registry = tmp_path / "runs" / "tabular" / "registry.jsonl"
    assert done.stderr.splitlines()[-1].endswith("fraudbench tabular report runs/tabular/registry.jsonl")
    found = {describe(record.spec): record for record in read_records(registry)}
    assert sorted(found) == sorted(cells)
    measured = [record.measured for record in found.values() if record.measured]
    assert {one.provenance for one in measured} == {"packaged"}
    assert {one.metrics["rows"]["attacked"] for one in measured} == {20}  # type: ignore[index,call-overload]
    again = fraudbench("tabular", "grid", "tiny.toml", cwd=tmp_path)
    assert again.stdout == "0 done, 0 failed, 0 not applicable\n"
    assert len(list(read_records(registry))) == 24


def test_cells_are_computed_and_shown(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Broken:\n    access = 'score'\n    def perturb(self, context):\n        return context.rows[:0]\n"
    )
    done = fraudbench(
        *("tabular", "run", "breast_cancer/logistic/bim", "breast_cancer/xgboost/bim/A"),
        *("breast_cancer/never/noise/A", "breast_cancer/logistic/mine:Broken/A"),
        *("--epsilon", 0.5, "--seed", 7, "--defence", "clip", "--out", "cells.jsonl"),
        cwd=tmp_path,
        status=1,
    )
    lines = done.stdout.splitlines()
    shown = [line.split()[0] for line in lines if line.startswith("breast_cancer") and ": " not in line]
    assert shown == [
        *(f"breast_cancer/logistic/bim/{protocol}" for protocol in ("A", "B", "C1", "C2")),
        "breast_cancer/xgboost/bim/A",
        "breast_cancer/never/noise/A",
        "breast_cancer/logistic/mine:Broken/A",
    ]
    assert "breast_cancer/xgboost/bim/A: bim against xgboost: it needs gradients, the model has none" in lines
    assert any(line.startswith("breast_cancer/never/noise/A: constant: ") for line in lines)
    assert "mine:Broken/A  seed 7, linf 0.5, defence clip: expected candidate rows of shape" in done.stderr
    records = [json.loads(line) for line in (tmp_path / "cells.jsonl").read_text().splitlines()]
    assert [record["status"] for record in records] == ["done"] * 4 + ["not_applicable", "done", "failed"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "lcld/mlp"), "expected DATASET/MODEL/ATTACK/PROTOCOL, such as lcld/mlp/capgd/C2, found 'lcld/mlp'"),
        (("run", "lcld/mlp/capgd/C3"), "with a protocol of A, B, C1, C2, found 'lcld/mlp/capgd/C3'"),
        (("run", "lcdl/mlp/capgd/C2"), "did you mean lcld?"),
        (("run", "lcld/mpl/capgd/C2"), "did you mean mlp?"),
        (("run", "lcld/mlp/capdg/C2"), "did you mean capgd?"),
        (("run", "lcld/mlp/capgd/C2", "--threat", "whitebox"), "did you mean white_box?"),
        (("run", "lcld/mlp/capgd/C2", "--epsilon", "inf"), "expected a finite epsilon"),
        (("grid", "quik"), "did you mean quick?"),
        (("grid", "none.toml"), "none.toml: cannot be read: No such file"),
        (("grid", "quick", "--seeds", "42;7"), "expected whole numbers of at least 0 with commas"),
    ],
)
def test_a_mistake_is_met_with_what_there_is(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = fraudbench("tabular", *arguments, cwd=tmp_path, status=2)
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_model_may_be_a_file_in_a_folder() -> None:
    (cell,) = parse_cell("lcld/models/mine.ubj/square(iterations=5)/C1", {})
    assert (cell.dataset, cell.model, cell.attack) == ("lcld", "models/mine.ubj", "square(iterations=5)")
    assert len(parse_cell("lcld/a/b.json/square", {})) == 4
    with pytest.raises(InputError):
        parse_cell("lcld//capgd/A", {})
