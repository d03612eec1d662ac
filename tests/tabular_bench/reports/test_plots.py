"""Pictures: they are there, say what they show, and are the same for the same records."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tabular_bench.errors import InputError
from tabular_bench.registry import Record
from tabular_bench.reports.plots import Drawn, draw
from tests.tabular_bench.reports.planted import same
from tests.tabular_bench.reports.test_rendering import planted

PNG = b"\x89PNG\r\n\x1a\n"


def records() -> list[Record]:
    larger = [
        found
        for protocol in ("A", "B")
        for found in same(
            {"dataset": "lcld", "attack": "square", "protocol": protocol, "epsilon": 0.3},
            robust=0.05,
            feasible_success_rate=0.9,
        )
    ]
    return [*planted(), *larger]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return draw([records()], tmp_path_factory.mktemp("pictures"), origin="cells.jsonl")


def words(path: Path) -> str:
    return " ".join("".join(ElementTree.parse(path).getroot().itertext()).split())


def svg(drawn: Drawn, name: str) -> str:
    (path,) = [path for path in drawn.files if path.name == f"{name}.svg"]
    return words(path)


def test_every_kind_is_drawn_in_both_formats(drawn: Drawn) -> None:
    stems = {path.stem for path in drawn.files}
    assert stems == {
        "bars_published_capgd_published_both",
        "bars_published_capgd_published_positives",
        "bars_square_published_both",
        "epsilon_square_published_both",
        "ranking_square_published_both",
    }
    assert sorted(path.suffix for path in drawn.files) == [".png"] * 5 + [".svg"] * 5
    assert all(path.read_bytes().startswith(PNG) for path in drawn.files if path.suffix == ".png")
    assert drawn.notes == ()


def test_bars_are_labelled(drawn: Drawn) -> None:
    text = svg(drawn, "bars_square_published_both")
    for label in ("LCLD (generated)", "PR-AUC", "clean", "C1", "C2", "mlp", "xgboost", "never", "n/a"):
        assert label in text
    assert "preset published" in text
    assert "both classes attacked, n = 3 seeds" in text
    assert "Rows generated; cells from cells.jsonl" in text


def test_curves_and_rankings_are_labelled(drawn: Drawn) -> None:
    curve = svg(drawn, "epsilon_square_published_both")
    assert "feasible success rate" in curve
    assert "robust PR-AUC" in curve
    assert "xgboost" not in curve  # it has one epsilon only
    ranking = svg(drawn, "ranking_square_published_both")
    assert "rank" in ranking
    assert "0.300" in ranking
    assert "never" not in ranking


def test_the_same_records_give_the_same_files(drawn: Drawn, tmp_path: Path) -> None:
    again = draw([records()], tmp_path, kinds=["ranking"], origin="cells.jsonl")
    assert len(again.files) == 2
    before = {path.name: path.read_bytes() for path in drawn.files}
    assert all(path.read_bytes() == before[path.name] for path in again.files)


def test_settings_of_the_process_are_left_alone(drawn: Drawn) -> None:
    import matplotlib as mpl

    assert drawn.files
    assert mpl.rcParams["svg.hashsalt"] != "fraudbench"


def test_what_is_not_drawn_is_told(tmp_path: Path) -> None:
    alone = draw([same({"dataset": "lcld"})], tmp_path, formats=["svg"])
    assert [path.name for path in alone.files] == ["bars_published_capgd_published_both.svg"]
    assert alone.notes == (
        "epsilon: no setting has cells at two epsilons or more",
        "ranking: no setting has two models under two protocols",
    )


def test_settings_of_one_name_have_files_of_their_own(tmp_path: Path) -> None:
    both = [*same({"dataset": "lcld"}), *same({"dataset": "lcld", "max_rows": 100})]
    drawn = draw([both], tmp_path, kinds=["bars"], formats=["svg"])
    assert len({path.name for path in drawn.files}) == 2


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the picture cannot be written"):
        draw([same({"dataset": "lcld"})], tmp_path / "file", kinds=["bars"], formats=["svg"])
