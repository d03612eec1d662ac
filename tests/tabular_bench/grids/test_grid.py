"""Grids are read from TOML, unfolded into cells, and every fault says where it is."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from tabular_bench.cell import CellSpec
from tabular_bench.detectors.models import TRIVIAL_MODELS
from tabular_bench.errors import InputError, UnknownName
from tabular_bench.grid import Grid, parse_grid, preset_names, read_grid, read_preset

SMALL = """
[[grid]]
datasets = ["breast_cancer", "lcld"]
models = ["logistic", "xgboost"]
attacks = ["capgd", "square"]
protocols = ["A", "C2"]
seeds = [42, 123]
epsilons = [0.1, 1]
"""


def parsed(text: str) -> Grid:
    return parse_grid(text, "grid.toml")


def detector(cell: CellSpec) -> tuple[str, int, str, str]:
    return cell.dataset, cell.seed, cell.model, cell.defence


def test_a_block_stands_for_every_combination_of_its_axes() -> None:
    cells = parsed(SMALL + "trivial = false").cells()
    assert len(cells) == 2 * 2 * 2 * 2 * 2 * 2
    assert len({cell.key for cell in cells}) == len(cells)
    assert {cell.budget.epsilon for cell in cells} == {0.1, 1.0}


def test_blocks_that_ask_for_the_same_cell_get_it_once() -> None:
    assert parsed(SMALL + SMALL.replace('"lcld"', '"ccfd"')).cells() != parsed(SMALL).cells()
    assert parsed(SMALL + SMALL).cells() == parsed(SMALL).cells()


def test_cells_of_one_detector_stand_together_and_a_before_b() -> None:
    cells = parsed(SMALL.replace('"A", "C2"', '"B", "C2", "A"') + SMALL.replace("0.1", "0.3")).cells()
    detectors = [key for key, _ in groupby(cells, detector)]
    assert len(detectors) == len(set(detectors))
    assert [name for name, _ in groupby(cell.dataset for cell in cells)] == ["breast_cancer", "lcld"]
    of_b = [number for number, cell in enumerate(cells) if cell.protocol == "B"]
    assert of_b
    assert all(cells[number - 1].protocol == "A" for number in of_b)


def test_trivial_detectors_stand_beside_the_models() -> None:
    beside = [cell for cell in parsed(SMALL).cells() if cell.model in TRIVIAL_MODELS]
    assert {cell.model for cell in beside} == set(TRIVIAL_MODELS)
    assert {cell.attack for cell in beside} == {"square"}
    assert len(beside) == 4 * 2 * 2 * 2 * 2
    gradients_only = parsed(SMALL.replace(', "square"', "")).cells()
    beside = [cell for cell in gradients_only if cell.model in TRIVIAL_MODELS]
    assert {(cell.attack, cell.protocol, cell.budget.epsilon) for cell in beside} == {("noise", "A", 0.1)}
    assert len(beside) == 4 * 2 * 2


def test_seeds_and_rows_can_be_changed() -> None:
    changed = parsed(SMALL).changed(seeds=[7], max_rows=5).cells()
    assert {(cell.seed, cell.max_rows) for cell in changed} == {(7, 5)}
    assert parsed(SMALL).changed() == parsed(SMALL)


@pytest.mark.parametrize("name", ["quick", "paper"])
def test_the_grids_of_the_bench_cover_what_they_promise(name: str) -> None:
    grid = read_preset(name)
    cells = grid.cells()
    assert {cell.dataset for cell in cells} == {"ccfd", "ieee_cis", "lcld", "sparkov"}
    for model in ("mlp", "xgboost", "ensemble"):
        for preset, attacked in (("published", "both"), ("strict", "positives")):
            of = {
                (cell.dataset, cell.protocol, cell.seed)
                for cell in cells
                if (cell.model, cell.preset, cell.attacked, cell.budget.epsilon) == (model, preset, attacked, 0.1)
            }
            assert len(of) == 4 * 4 * len({cell.seed for cell in cells})
    assert set(TRIVIAL_MODELS) <= {cell.model for cell in cells}
    assert {"none", "clip"} <= {cell.defence for cell in cells}
    assert any(cell.defence.startswith("adversarial_training") for cell in cells)


def test_the_grid_of_the_paper_has_what_its_tables_need() -> None:
    cells = read_preset("paper").cells()
    assert {cell.seed for cell in cells} == {42, 123, 456}
    assert any(cell.attack.startswith("hopskipjump") and cell.model == "xgboost" for cell in cells)
    assert any(cell.threat == "transfer_mlp" and cell.model == "ensemble" for cell in cells)
    assert len({cell.budget.epsilon for cell in cells if cell.attack == "capgd" and cell.model == "mlp"}) > 4
    assert all(cell.max_rows is None for cell in cells if cell.attack == "published_capgd")


def test_an_unknown_preset_is_met_with_those_there_are() -> None:
    assert preset_names() == ["paper", "quick"]
    with pytest.raises(UnknownName, match="paper, quick"):
        read_preset("quik")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[grid]", "line 1"),
        ("", "grid: expected this field, found none"),
        ("grid = []", "at least 1 item"),
        ("grids = 3\n" + SMALL, "did you mean grid"),
        (SMALL.replace("models", "model"), "grid 1: models: expected this field"),
        (SMALL + "epsilon = 0.1", "did you mean epsilons"),
        (SMALL.replace('["logistic", "xgboost"]', '"logistic"'), "grid 1: models: expected a valid list"),
        (SMALL.replace('["logistic", "xgboost"]', "[]"), "grid 1: models: .*at least 1"),
        (SMALL.replace("xgboost", "xgbost"), "grid 1: models: 2: .*did you mean xgboost"),
        (SMALL.replace('"lcld"', '"lcdl"'), "grid 1: datasets: 2: .*did you mean lcld"),
        (SMALL.replace('"capgd"', '"capgd(x=1)"'), "grid 1: attacks: 1: .*hyper-parameter"),
        (SMALL.replace('"C2"', '"C3"'), "grid 1: protocols: 2: expected 'A', 'B', 'C1' or 'C2', found 'C3'"),
        (SMALL.replace("[0.1, 1]", "[0.1, -1]"), "grid 1: epsilons: 2: expected greater than or equal to 0"),
        (SMALL.replace("[0.1, 1]", '["0.1"]'), "grid 1: epsilons: 1: expected a valid number"),
        (SMALL.replace("[0.1, 1]", "[inf]"), "grid 1: epsilons: 1: expected a finite number"),
        (SMALL.replace("[42, 123]", "[4.2]"), "grid 1: seeds: 1: expected a valid integer"),
        (SMALL + "max_rows = 0", "grid 1: max_rows: expected greater than or equal to 1, found '0'"),
        (SMALL + SMALL + 'presets = ["strickt"]', "grid 2: presets: 1: .*did you mean strict"),
        (SMALL + 'defences = ["none", "clip=pgd"]', "grid 1: defences: 2: "),
        (SMALL.replace("[42, 123]", str(list(range(20_000)))), "at most 100000 cells"),
    ],
)
def test_a_fault_names_file_field_and_what_was_expected(text: str, told: str) -> None:
    with pytest.raises(InputError, match=rf"^grid\.toml: .*{told}"):
        parsed(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_grid(tmp_path / "none.toml")
    path = tmp_path / "latin.toml"
    path.write_bytes(b"# caf\xe9")
    with pytest.raises(InputError, match="expected UTF-8, found byte 0xe9"):
        read_grid(path)
    path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(InputError, match="expected at most"):
        read_grid(path)
