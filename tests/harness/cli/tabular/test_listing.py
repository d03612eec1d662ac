"""What there is, as a newcomer asks for it; run in this process, since nothing here depends on another."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from tabular_bench.attacks.catalogue import ATTACKS
from tabular_bench.datasets.registry import DATASETS
from tabular_bench.defences.catalogue import DEFENCES
from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS
from tabular_bench.errors import TabularError
from tabular_bench.protocol import PRESETS
from tests.tabular_bench.score import strangers


def asked(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["tabular", *map(str, arguments)])
    if isinstance(result.exception, TabularError):
        raise result.exception
    assert result.exit_code == status, result.output
    return result.stdout


def test_every_data_set_is_listed_with_what_it_is_made_of() -> None:
    shown = asked("datasets")
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert set(DATASETS) <= set(lines)
    assert "generated" in lines["lcld"]
    assert "accepted_2007_to_2018Q4.csv" in lines["lcld"]
    assert "packaged" in lines["breast_cancer"]


def test_the_features_of_a_data_set_have_kind_bounds_mutability_group_and_unit() -> None:
    shown = asked("datasets", "lcld")
    lines = {line.split()[0].rstrip(":"): " ".join(line.split()) for line in shown.splitlines() if line.strip()}
    assert lines["loan_amnt"] == "loan_amnt integer 500 40000 mutable - USD"
    assert lines["term"] == "term category - - mutable 2 one-hot columns months"
    assert lines["installment"].startswith("installment numeric 0 - derived")
    assert lines["g1_instalment"].endswith("(tolerance 0.01)")


def test_a_data_root_is_looked_at(tmp_path: Path) -> None:
    with pytest.raises(TabularError, match=r"expected the file creditcard\.csv"):
        asked("datasets", "ccfd", "--data-root", tmp_path)


def test_an_unknown_data_set_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(TabularError, match="did you mean sparkov"):
        asked("datasets", "sparkow")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("models", [*MODELS, *TRIVIAL_MODELS]),
        ("attacks", [*ATTACKS, "hyper-parameters", "square(", "xgboost"]),
        ("defences", list(DEFENCES)),
        ("protocols", ["C1", "C2", *PRESETS, "checks ball"]),
    ],
)
def test_everything_with_a_name_is_listed(command: str, names: list[str]) -> None:
    shown = asked(command).lower()
    assert [name for name in names if name.lower() not in shown] == []


def test_check_proves_a_catalogue() -> None:
    shown = asked("check", "breast_cancer")
    assert shown.count(" yes ") == 10
    assert "Everything is in order." in shown


def test_check_of_a_table_says_what_clean_rows_break(tmp_path: Path) -> None:
    table = strangers.table(tmp_path)
    file = tmp_path / "mine.toml"
    file.write_text('target = "fraud"\nignore = ["reference_no"]\nrelations = ["mean_amount <= max_amount"]\n')
    assert "Everything is in order." in asked("check", file, table)
    file.write_text(
        'target = "fraud"\nignore = ["reference_no"]\nrelations = ["max_amount <= mean_amount", "hour >= -1"]\n'
    )
    shown = asked("check", file, table, status=1)
    assert "400 clean rows fail: relation:r1" in shown
    assert "Something is wrong" in shown


def test_check_of_a_constraint_file_needs_a_table(tmp_path: Path) -> None:
    with pytest.raises(TabularError, match=r"expected a table to check it on"):
        asked("check", tmp_path / "mine.toml")
    with pytest.raises(TabularError, match="expected a constraint file with the table"):
        asked("check", "lcld", tmp_path / "mine.csv")
