"""A cell is computed to the last number, and what a number was computed from is on record."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tabular_bench.budget import Budget
from tabular_bench.cell import CellSpec
from tabular_bench.errors import InputError, NotApplicable, TabularError, UnknownName
from tabular_bench.registry import Measured, attempt
from tabular_bench.runner import Bench, check_names, evaluated_rows

HARD = Budget(epsilon=0.8)


@cache
def bench() -> Bench:
    return Bench()


def cell(model: str = "logistic", attack: str = "bim", **changed: object) -> CellSpec:
    return CellSpec("breast_cancer", model, attack, **{"budget": HARD, **changed})  # type: ignore[arg-type]


def without_times(measured: Measured) -> Measured:
    attack = dict(measured.metrics["attack"]) | {"runtime_s": 0.0}  # type: ignore[arg-type]
    return measured.model_copy(update={"metrics": measured.metrics | {"attack": attack}})


def test_a_cell_has_every_number_or_a_reason() -> None:
    found = bench().compute(cell())
    assert found.provenance == "packaged"
    assert set(found.hashes) == {"dataset", "detector", "source"}
    assert found.threshold_rule == "f1"
    groups = found.metrics
    assert set(groups) == {"clean", "robust", "readings", "attack", "rows"}
    assert set(groups["readings"]) == {"as_attacked", "reverted", "feasible_only"}  # type: ignore[arg-type]
    assert groups["robust"]["reading"] == "reverted"  # type: ignore[index,call-overload]
    assert groups["rows"] == {"test": 113, "evaluated": 113, "attacked": 42, "positives": 42}
    assert groups["robust"]["average_precision"] < groups["clean"]["average_precision"]  # type: ignore[index,call-overload,operator]
    assert groups["attack"]["successes"] > 0  # type: ignore[index,call-overload,operator]
    for name, value in groups["attack"].items():  # type: ignore[union-attr]
        assert value is not None or f"attack.{name}" in found.blanks


def test_what_does_not_exist_is_blank_with_its_reason() -> None:
    found = bench().compute(cell(model="never", attack="noise"))
    assert found.metrics["attack"]["success_rate"] is None  # type: ignore[index,call-overload]
    assert "no row was classified rightly" in found.blanks["attack.success_rate"]
    assert {"constant", "stops_none"} <= set(found.flags)


def test_the_same_cell_gives_the_same_numbers_and_the_order_of_cells_does_not_matter() -> None:
    cells = [cell(protocol=protocol) for protocol in ("A", "B", "C2")]
    forwards = [without_times(bench().compute(one)) for one in cells]
    other = Bench()
    backwards = [without_times(other.compute(one)) for one in reversed(cells)]
    assert forwards == backwards[::-1]


def test_b_judges_the_rows_of_a() -> None:
    a, b = (bench().compute(cell(protocol=protocol)).metrics for protocol in ("A", "B"))
    assert a["attack"]["runtime_s"] == b["attack"]["runtime_s"]  # type: ignore[index,call-overload]
    assert a["readings"]["as_attacked"] == b["readings"]["as_attacked"]  # type: ignore[index,call-overload]
    assert b["robust"]["reading"] == "feasible_only"  # type: ignore[index,call-overload]


def test_the_published_preset_decides_at_one_half() -> None:
    found = bench().compute(cell(preset="published", attacked="both"))
    assert (found.threshold, found.threshold_rule) == (0.5, "fixed=0.5")
    assert found.metrics["rows"]["attacked"] == 113  # type: ignore[index,call-overload]


@pytest.mark.parametrize(("attacked", "candidates"), [("positives", 300), ("both", 3000)])
def test_a_draw_keeps_the_prevalence(attacked: str, candidates: int) -> None:
    labels = np.zeros(3000, dtype=np.int8)
    labels[:300] = 1
    chosen = evaluated_rows(labels, cell(attacked=attacked, max_rows=100))
    assert labels[chosen].mean() == pytest.approx(0.1, abs=1e-12)
    assert math.isclose(len(chosen), 3000 * 100 / candidates, abs_tol=1)
    assert len(evaluated_rows(labels, cell(attacked=attacked, max_rows=candidates))) == 3000
    again = evaluated_rows(labels, cell(model="xgboost", attack="noise", attacked=attacked, max_rows=100))
    assert np.array_equal(chosen, again)


def test_a_detector_on_disk_is_the_one_that_was_trained(tmp_path: Path) -> None:
    spec = cell(defence="clip")
    first = Bench(cache=tmp_path).compute(spec)
    (kept,) = (tmp_path / "detectors").iterdir()
    before = kept.stat().st_mtime_ns
    assert without_times(Bench(cache=tmp_path).compute(spec)) == without_times(first)
    assert kept.stat().st_mtime_ns == before
    kept.write_bytes(b"no archive")
    assert without_times(Bench(cache=tmp_path).compute(spec)) == without_times(first)
    assert kept.stat().st_size > 100
    Bench(cache=tmp_path).compute(replace(spec, seed=7))
    assert len(list((tmp_path / "detectors").iterdir())) == 2


def test_an_attack_on_a_surrogate_asks_the_target_nothing() -> None:
    spec = cell(model="xgboost", attack="bim", threat="transfer_logistic")
    attack = bench().compute(spec).metrics["attack"]
    assert attack["gradient_calls_per_row"] > 0  # type: ignore[index,call-overload,operator]
    assert attack["queries_per_success"] in (0.0, None)  # type: ignore[index,call-overload,operator]
    own = bench().compute(cell(threat="transfer_logistic")).hashes["detector"]
    assert own == bench().compute(cell()).hashes["detector"]


def test_what_does_not_go_together_is_said_before_anything_is_trained() -> None:
    empty = Bench()
    for spec, reason in (
        (cell(model="xgboost", attack="capgd"), "needs gradients, the model has none"),
        (cell(threat="decision_only", attack="noise"), "needs scores"),
        (cell(model="largest_first", attack="noise"), "expected a table with a column of amounts"),
    ):
        record = attempt(spec, empty.compute, "code")
        assert record.status == "not_applicable"
        assert reason in (record.error or "")


def test_the_largest_amounts_are_known_by_the_declaration() -> None:
    spec = CellSpec("ccfd", "largest_first", "noise(draws=1)", "A")
    found = Bench().compute(spec)
    assert found.provenance == "generated"
    assert found.metrics["clean"]["average_precision"] is not None  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dataset": "lcdl"}, "did you mean lcld"),
        ({"model": "mpl"}, "did you mean mlp"),
        ({"attack": "capdg"}, "did you mean capgd"),
        ({"defence": "clap"}, "did you mean clip"),
        ({"preset": "strikt"}, "did you mean strict"),
        ({"threat": "whitebox"}, "did you mean white_box"),
        ({"attack": "bim(step=3)"}, "did you mean steps"),
    ],
)
def test_a_name_that_nothing_has_is_met_with_those_there_are(changed: dict[str, str], told: str) -> None:
    with pytest.raises(UnknownName, match=told):
        check_names(replace(cell(), **changed))  # type: ignore[arg-type]


OWN_MODEL = """
import numpy as np

class Mean:
    def __init__(self, names):
        self.feature_names = names
    def predict_proba(self, rows):
        return 1 / (1 + np.exp(-{factor} * rows.mean(axis=1)))

def train(training):
    return Mean(training.feature_names)
"""


def test_a_record_is_out_of_date_when_a_model_of_ones_own_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module = tmp_path / "mean_of_mine.py"
    module.write_text(OWN_MODEL.format(factor=1))
    spec = cell(model="mean_of_mine:train", attack="noise")
    first = Bench()
    record = attempt(spec, first.compute, "code")
    assert record.measured is not None
    assert "model_source" in record.measured.hashes
    assert first.is_current(record)
    module.write_text(OWN_MODEL.format(factor=2))
    assert not Bench().is_current(record)
    module.unlink()
    assert not Bench().is_current(record)


def test_generated_rows_never_stand_in_for_real_ones(tmp_path: Path) -> None:
    spec = CellSpec("ccfd", "never", "noise(draws=1)", "A")
    record = attempt(spec, Bench().compute, "code")
    assert Bench().is_current(record)
    assert not Bench(data_root=tmp_path).is_current(record)  # There is no file.
    (tmp_path / "creditcard.csv").write_text("Time,Amount,Class\n")
    assert not Bench(data_root=tmp_path).is_current(record)
    with pytest.raises(InputError, match=r"creditcard\.csv"):
        Bench(data_root=tmp_path).compute(spec)


def test_errors_of_a_cell_are_the_bench_s_own() -> None:
    with pytest.raises(TabularError):
        Bench().compute(cell(attack="tests.tabular_bench.grids.own_attacks:Nobody"))
    with pytest.raises(NotApplicable):
        Bench().compute(cell(model="forest", attack="pgd"))
