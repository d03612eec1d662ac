from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from pydantic import ValidationError

from tabular_bench.budget import Budget
from tabular_bench.cell import CellSpec
from tabular_bench.errors import InputError, NotApplicable, TableError
from tabular_bench.registry import Measured, Record, Registry, attempt, code_hash, read_records, run_cells

CELLS = [
    CellSpec("loans", "xgboost", "square", budget=Budget(epsilon), seed=seed)
    for epsilon in (0.1, 0.3)
    for seed in (42, 123)
]


def measured(cell: CellSpec, **changed: object) -> Measured:
    found = {
        "provenance": "generated",
        "hashes": {"dataset": "aa", "detector": "bb"},
        "threshold": 0.5,
        "threshold_rule": "f1",
        "metrics": {"robust": {"average_precision": cell.budget.epsilon, "roc_auc": None}},
        "blanks": {"robust.roc_auc": "every one of the 3 rows has the label 1"},
        "failed_constraints": {"relation:amortisation": 3},
    }
    return Measured.model_validate(found | changed)


def test_a_line_holds_all_that_decided_the_number(tmp_path: Path) -> None:
    with Registry(tmp_path / "runs" / "cells.jsonl") as registry:
        run_cells(CELLS[:1], measured, registry)
        path = registry.path
    (line,) = path.read_text().splitlines()
    written = json.loads(line)
    assert written["seed"] == 42
    assert written["cell"]["budget"]["epsilon"] == 0.1
    assert written["code"] == code_hash()
    assert {"python", "numpy", "scikit-learn", "torch"} <= set(written["versions"])
    assert written["runtime_s"] >= 0
    assert written["measured"]["failed_constraints"] == {"relation:amortisation": 3}
    assert written["measured"]["metrics"]["robust"]["roc_auc"] is None
    (record,) = read_records(path)
    assert record.spec == CELLS[0]
    assert record.spec.key == record.key
    assert record.measured == measured(CELLS[0])


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    asked: list[str] = []

    def count(cell: CellSpec) -> Measured:
        asked.append(cell.key)
        return measured(cell)

    with Registry(path) as registry:
        run_cells(CELLS[:2], count, registry)
    with Registry(path) as registry:
        assert registry.latest(CELLS[3]) is None
        new = run_cells([*CELLS, *CELLS], count, registry)
        assert [record.key for record in new] == [cell.key for cell in CELLS[2:]]
        assert run_cells(CELLS, count, registry) == []
        assert len(run_cells(CELLS, count, registry, resume=False)) == 4
        assert registry.pending(CELLS, "other code") == CELLS
    assert len(asked) == 8
    assert len(list(read_records(path))) == 8


def test_one_cell_that_fails_does_not_stop_the_grid(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    troubles = [ZeroDivisionError("by nothing"), TableError("loans.csv: row 3"), NotApplicable("has no gradients")]
    broken = dict(zip([cell.key for cell in CELLS], troubles, strict=False))

    def compute(cell: CellSpec) -> Measured:
        if cell.key in broken:
            raise broken[cell.key]
        return measured(cell)

    told: list[Record] = []
    path = tmp_path / "cells.jsonl"
    with Registry(path) as registry, caplog.at_level(logging.ERROR):
        run_cells(CELLS, compute, registry, report=told.append)
    assert [(record.status, record.error) for record in told] == [
        ("failed", "ZeroDivisionError: by nothing"),
        ("failed", "loans.csv: row 3"),
        ("not_applicable", "has no gradients"),
        ("done", None),
    ]
    assert [record.measured is None for record in told] == [True, True, True, False]
    broken.clear()
    with Registry(path) as registry:
        again = run_cells(CELLS, compute, registry)
        assert [record.key for record in again] == [cell.key for cell in CELLS[:2]]
        latest = registry.latest(CELLS[0])
        assert latest is not None
        assert latest.status == "done"


def test_an_interrupt_is_no_failure_of_a_cell(tmp_path: Path) -> None:
    def interrupted(cell: CellSpec) -> Measured:
        raise KeyboardInterrupt

    with Registry(tmp_path / "cells.jsonl") as registry, pytest.raises(KeyboardInterrupt):
        run_cells(CELLS, interrupted, registry)
    assert list(read_records(tmp_path / "cells.jsonl")) == []


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_torn_last_line_counts_as_not_written(tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "cells.jsonl"
    with Registry(path) as registry:
        run_cells(CELLS[:2], measured, registry)
    path.write_bytes(path.read_bytes()[:-cut])
    assert [record.key for record in read_records(path)] == [CELLS[0].key]
    with Registry(path) as registry:
        assert "cut away a line" in caplog.text
        assert registry.pending(CELLS[:2], code_hash()) == [CELLS[1]]
        run_cells(CELLS[:2], measured, registry)
    assert [record.key for record in read_records(path)] == [cell.key for cell in CELLS[:2]]


def test_only_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    with Registry(path), pytest.raises(InputError, match="another process writes to it"):
        Registry(path)
    Registry(path).close()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("junk", "line 2: expected a record of a cell: Invalid JSON"),
        ("{}", "line 2: expected a record of a cell: key: Field required"),
        ('{"format": 2}', "line 2: expected a record of a cell: format"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "cells.jsonl"
    with Registry(path) as registry:
        run_cells(CELLS[:1], measured, registry)
    with path.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=complaint):
        Registry(path)
    path.write_text(path.read_text().splitlines()[0] + "\n")
    Registry(path).close()


def test_a_file_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read_records(tmp_path / "absent.jsonl"))
    with pytest.raises(InputError, match="cannot be written to"):
        Registry(tmp_path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_none_do_not_get_in(number: float) -> None:
    with pytest.raises(ValidationError, match=r"metrics.robust\[1\].a: expected a finite number, or None and a reason"):
        measured(CELLS[0], metrics={"robust": [0.1, {"a": number}]})
    record = attempt(CELLS[0], lambda cell: measured(cell, metrics={"a": number}), "code")
    assert record.status == "failed"
    assert record.error is not None
    assert "metrics.a: expected a finite number" in record.error
