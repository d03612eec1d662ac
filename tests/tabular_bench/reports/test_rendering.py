"""The report of a small planted registry, as files beside this one; `FRAUDBENCH_GOLDEN=write` writes them anew."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabular_bench.registry import Record
from tabular_bench.reports.document import Column, Report, Value
from tabular_bench.reports.rankings import describe_change
from tabular_bench.reports.render import Format, format_value, render
from tabular_bench.reports.report import make_report
from tests.tabular_bench.reports.planted import SEEDS, cell, measured, over_seeds, record, same

GOLDEN = Path(__file__).with_name("golden")
FILES: dict[Format, str] = {"table": "report.txt", "markdown": "report.md", "csv": "report.csv", "json": "report.json"}
COLUMN = Column(name="x", title="x")


def planted() -> Iterator[Record]:
    for protocol, robust, flips in (("A", 0.026, 3), ("B", 0.3, 3), ("C1", 0.1, 200), ("C2", 0.12, 310)):
        numbers = [{"robust": robust + shift, "feasible_flipped": flips} for shift in (0.0, 0.01, 0.02)]
        yield from over_seeds({"dataset": "lcld", "protocol": protocol}, numbers)
    yield from same({"dataset": "lcld", "protocol": "A", "attacked": "positives"}, robust=0.2)
    yield from over_seeds({"dataset": "lcld", "protocol": "C2", "defence": "clip"}, [{"robust": 0.11}] * 2)
    yield record(cell("lcld", protocol="C2", defence="clip", seed=456), None, error="the model | did not *converge*")
    for model in ("mlp", "xgboost"):
        for protocol, robust in (("A", 0.2), ("B", 0.4)):
            better = robust + (0.1 if (model == "mlp") == (protocol == "A") else 0.0)
            at = {"dataset": "lcld", "model": model, "attack": "square", "protocol": protocol}
            yield from same(at, robust=better)
    flags = {"constant": "every one of 1000 rows has the score 0"}
    for seed in SEEDS:
        yield record(
            cell("lcld", "never", "square", protocol="A", seed=seed),
            measured(clean=0.05, robust=0.05, flags=flags, filtered_success_rate=None),
        )
    shut = cell("lcld", "never")
    yield record(shut, None, status="not_applicable", error="never has no gradients")


@pytest.fixture(scope="module")
def report() -> Report:
    return make_report([list(planted())], ["cells.jsonl"])


@pytest.mark.parametrize("format", FILES)
def test_the_report_is_as_it_was(report: Report, format: Format) -> None:
    text, path = render(report, format), GOLDEN / FILES[format]
    if os.environ.get("FRAUDBENCH_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_json_is_the_document(report: Report) -> None:
    assert Report.model_validate_json(render(report, "json")) == report
    assert json.loads(render(report, "json"))["format"] == 1


def test_csv_holds_every_value(report: Report) -> None:
    lines = list(csv.DictReader(io.StringIO(render(report, "csv"))))
    values = sum(
        column.source != "label" and column.name in row.values
        for table in report.tables
        for row in table.rows
        for column in table.columns
    )
    assert sum(line["table"] != "findings" for line in lines) == values
    (c2,) = [
        line
        for line in lines
        if (line["table"], line["protocol"], line["measure"]) == ("VI", "C2", "feasible_flipped_both")
    ]
    assert (float(c2["mean"]), c2["seeds"], c2["provenance"], c2["source"]) == (310.0, "3", "generated", "ours")


def test_every_text_says_where_rows_come_from_and_what_the_ensemble_column_is(report: Report) -> None:
    for written in (render(report, "table"), render(report, "markdown")):
        text = " ".join(written.split())
        assert "Our rows are generated: LCLD. The published numbers are of the real tables." in text
        assert "0.108±0.001 §" in text
        assert "§ a transfer under Protocol A from the network that is a member of the ensemble" in text


def test_a_table_without_cells_says_so(report: Report) -> None:
    (eight,) = [table for table in report.tables if table.number == "VIII"]
    assert eight.rows == ()
    assert eight.notes == ("The registry has no cell with the attack hopskipjump.",)


def test_nothing_in_a_name_becomes_markup(report: Report) -> None:
    assert r"(a) failed: the model \| did not \*converge\*" in render(report, "markdown").replace("(b)", "(a)")
    own = make_report([[record(cell("<b>|\x1b[2J"), measured())]])
    text = render(own, "markdown")
    assert "<b>" not in text.replace(r"\<b\>", "")
    assert "\x1b" not in text
    assert "\x1b" not in render(own, "table")


def test_one_table_alone_has_no_findings() -> None:
    alone = make_report([list(planted())], only=["X"])
    assert {table.number for table in alone.tables} == {"X"}
    assert alone.findings == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (Value(), "–"),
        (Value(text="A > B"), "A > B"),
        (Value(mean=0.1234, deviation=0.01, seeds=3), "0.123±0.010"),
        (Value(mean=0.1234, seeds=1), "0.123 (n=1)"),
        (Value(mean=0.1, deviation=0.0, seeds=3, marks=("saturated",)), "0.100±0.000 ‡"),
        (Value(mean=0.412, deviation=0.033), "0.412±0.033"),
    ],
)
def test_values_are_written(value: Value | None, expected: str) -> None:
    assert format_value(value, COLUMN, seeds=3) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "abc", "no change"),
        ("abc", "acb", "lower-rank change"),
        ("abc", "cba", "top-bottom reversal"),
        ("abc", "bac", "top change"),
        ("ab", "ba", "top-bottom reversal"),
    ],
)
def test_changes_of_order_have_names(before: str, after: str, expected: str) -> None:
    assert describe_change(list(before), list(after)) == expected
