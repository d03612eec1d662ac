"""What tables look up, and why there is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabular_bench.errors import UnknownName
from tabular_bench.reports.cells import Cells, Missing, Place, Setting, Source, main_settings, number, sorted_models
from tabular_bench.reports.published import ATTACKS, DATASETS, MODELS, find_published, published_values
from tabular_bench.reports.report import NUMBERS, make_report
from tests.tabular_bench.reports.planted import cell, measured, record, same

AVERAGE = "robust.average_precision"


def place(spec_place: dict[str, str] | None = None, provenance: str = "generated") -> Place:
    spec = cell(**(spec_place or {}))  # type: ignore[arg-type]
    return Place(
        Setting.of(spec), Source(spec.dataset, provenance), spec.model, spec.protocol, spec.attacked, spec.defence
    )


def test_the_published_values_are_read() -> None:
    lcld = find_published("VI", "feasible_flipped", dataset="LCLD", model="MLP", protocol="C2", attack="CAPGD")
    assert lcld is not None
    assert (lcld.mean, lcld.deviation) == (2832.3, None)
    dash = find_published("VI", "fsr", dataset="CCFD", model="MLP", protocol="A", attack="CAPGD")
    assert dash is not None
    assert (dash.mean, dash.text) == (None, None)
    change = find_published("IX", "rank_change", dataset="IEEE-CIS", protocol="A->B", attack="Square")
    assert change is not None
    assert change.text == "Top-bottom reversal"
    assert find_published("VI", "fsr", dataset="LCLD") is None


def test_every_published_name_has_one_of_ours() -> None:
    values = published_values()
    assert {value.dataset for value in values} == set(DATASETS.values())
    assert {value.attack for value in values} - {"", "none"} == set(ATTACKS)
    assert {value.model for value in values if value.table in ("V", "VI", "VII", "VIII")} == set(MODELS.values())
    assert {value.table for value in values} == set(NUMBERS) - {"IV"}


def test_the_last_record_of_a_cell_counts() -> None:
    spec = cell()
    old, failed, new = record(spec, measured(robust=0.1)), record(spec, None, error="x"), record(spec, measured())
    assert Cells([[old, failed]]).numbers(place(provenance="unknown"), AVERAGE) == {42: Missing("failed: x")}
    assert Cells([[old, new]]).numbers(place(), AVERAGE) == {42: 0.2}
    # In another registry it may have been finished, wherever that one stands.
    assert Cells([[old], [failed]]).numbers(place(), AVERAGE) == {42: 0.1}
    assert Cells([[failed], [old]]).numbers(place(), AVERAGE) == {42: 0.1}


def test_rows_of_different_origin_are_never_mixed() -> None:
    spec = cell()
    cells = Cells([[record(spec, measured(robust=0.1))], [record(spec, measured(robust=0.9, provenance="real"))]])
    assert cells.numbers(place(), AVERAGE) == {42: 0.1}
    assert cells.numbers(place(provenance="real"), AVERAGE) == {42: 0.9}
    assert [source.provenance for source in cells.sources] == ["generated", "real"]


def test_a_blank_says_why() -> None:
    found = record(cell(), measured(filtered_success_rate=None))
    assert number(found, "attack.filtered_success_rate") == Missing("no row flipped")
    assert number(found, "attack.nothing") == Missing("the record has no number for attack.nothing")
    shut = record(cell(), None, status="not_applicable", error="no gradients")
    assert number(shut, AVERAGE) == Missing("not applicable: no gradients")


def test_a_seed_without_a_cell_is_missing() -> None:
    records = [*same({"protocol": "A"}), record(cell(protocol="B", seed=42), measured())]
    found = Cells([records]).numbers(place({"protocol": "B"}), AVERAGE)
    assert found == {42: 0.2, 123: Missing("no cell in the registry"), 456: Missing("no cell in the registry")}


def test_clean_numbers_come_from_any_cell_of_the_detector() -> None:
    shut = record(cell(model="random"), None, status="not_applicable", error="no gradients")
    other = record(cell(model="random", attack="square"), measured(clean=0.05))
    cells = Cells([[shut, other]])
    assert cells.clean(place({"model": "random"}), "average_precision") == {42: 0.05}


def test_clean_numbers_are_of_the_rows_that_were_drawn() -> None:
    other = record(cell(attacked="positives", max_rows=100), measured(clean=0.9))
    shut = record(cell(max_rows=100), None, error="x")
    spec = cell(max_rows=100)
    wanted = Place(Setting.of(spec), Source("lcld", "generated"), "mlp", "C2", "both")
    assert Cells([[other, shut]]).clean(wanted, "average_precision") == {42: Missing("failed: x")}


@pytest.mark.parametrize(("average", "expected"), [(0.026, True), (0.2, False)])
def test_the_floor_is_seen(average: float, expected: bool) -> None:
    assert Cells([[record(cell(), measured(robust=average))]]).is_saturated(place()) == expected


def test_settings_with_the_published_ball_go_first() -> None:
    settings = [Setting.of(cell(epsilon=epsilon)) for epsilon in (0.05, 0.1, 0.3)]
    assert [setting.epsilon for setting in main_settings(settings)] == [0.1]
    assert main_settings(settings[::2]) == settings[::2]


def test_models_are_sorted() -> None:
    assert sorted_models(["never", "zebra", "xgboost", "mlp", "always"]) == [
        "mlp",
        "xgboost",
        "zebra",
        "never",
        "always",
    ]


def test_an_unknown_table_is_told() -> None:
    with pytest.raises(UnknownName, match=r"expected a table \(II, III, .*found 'I'"):
        make_report([], only=["I"])


def test_published_facts_lie_in_the_package() -> None:
    import tabular_bench.reports.published as module

    assert Path(module.__file__).with_name("published.csv").is_file()


def test_models_of_equal_robustness_are_no_order() -> None:
    at = {"attack": "square", "model": "mlp"}
    records = [
        found
        for protocol in ("A", "B")
        for model in ("mlp", "xgboost")
        for found in same(at | {"model": model, "protocol": protocol}, robust=0.5)
    ]
    (table,) = make_report([records], only=["IX"]).tables
    values = table.rows[0].values
    assert [values[f"{name}_both"].text for name in ("A_order", "change")] == ["mlp = xgboost", "no change"]
    assert values["change_published"].text == "Top change"


def test_the_ensemble_is_shown_as_a_transfer_where_there_are_cells_of_it() -> None:
    given = same({"model": "ensemble", "protocol": "A", "threat": "transfer_mlp"}, robust=0.07)
    tables = make_report([[*same({"protocol": "C2"}), *given]], only=["V", "X"]).tables
    assert [table.number for table in tables] == ["V", "X"]
    (row,) = [row for row in tables[1].rows if row.values["model"].text == "ensemble"]
    assert row.values["protocol"].text == "A (transfer)"
    assert row.values["robust_pr_auc_both"].mean == pytest.approx(0.07)
    assert row.values["robust_pr_auc_published"].marks == ("transfer_under_A",)


def test_defended_trees_stand_beside_the_published_table() -> None:
    at = {"model": "xgboost", "attack": "square", "protocol": "C2"}
    records = [*same(at), *same({**at, "defence": "clip"}), *same({**at, "model": "never"}), *same({"protocol": "C2"})]
    published, other = make_report([records], only=["X"]).tables
    assert [row.values["defence"].text for row in other.rows] == ["none", "clip", "none"]
    assert [row.values["model"].text for row in other.rows] == ["xgboost", "xgboost", "never"]
    assert not any(column.source == "published" for column in other.columns)
    assert any(column.source == "published" for column in published.columns)


def test_a_variant_of_a_published_defence_stands_in_its_place() -> None:
    at = {"protocol": "C2", "defence": "adversarial_training=fgsm"}
    (table,) = make_report([[*same({"protocol": "C2"}), *same(at)]], only=["X"]).tables
    (row,) = [row for row in table.rows if (row.values["defence"].text or "").startswith("adversarial")]
    assert row.values["defence"].text == "adversarial_training=fgsm"
    assert row.values["robust_pr_auc_published"].mean == pytest.approx(0.316)
