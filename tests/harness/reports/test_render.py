"""Reports as text: the same numbers in every form, several runs side by side, and nothing that acts on a reader."""

from __future__ import annotations

import json

import pytest

from harness.reports.comparison import Comparison, PairedRate
from harness.reports.render import FORMATS, bracket_table, frontier, render_json, render_markdown, render_text
from harness.reports.summary import Summary
from harness.reports.tables import Table
from tests.harness.reports.test_summary import config_for, grade_for, played, record_for, summary_of

KEYS = {
    "security",
    "utility",
    "harm_free",
    "documented",
    "attempts",
    "planned",
    "not_attempted",
    "graded",
    "ungraded",
    "errored",
    "invalid",
    "pass_hat_k",
    "by_mechanism",
    "by_tier",
    "failure_types",
}
PAIR = PairedRate(
    pairs=2, first=0.5, second=1.0, only_first=0, only_second=1, difference=0.5, interval=(0.0, 1.0), p_value=1.0
)


def named(summary: Summary, agent: str, name: str = "r") -> Summary:
    return summary.model_copy(update={"agent": agent, "name": name})


def test_json_of_one_run_is_its_summary() -> None:
    summary = played(True, False, True, None)
    raw = json.loads(render_json([summary]))
    assert raw.keys() >= KEYS
    assert raw["security"].keys() >= {"rate", "count", "n", "low", "high", "worst", "best"}
    assert Summary.model_validate_json(render_json([summary])) == summary
    assert render_json([summary]) == render_json([played(True, False, True, None)])


def test_json_of_several_runs_lists_them() -> None:
    summary = played(True, False, True, None)
    compared = Comparison(first="a", second="b", security=PAIR, utility=PAIR)
    raw = json.loads(render_json([summary, summary], [compared]))
    assert [run["planned"] for run in raw["runs"]] == [4, 4]
    assert raw["comparisons"][0]["security"]["p_value"] == 1.0


def test_runs_stand_side_by_side() -> None:
    best, middle, worst = (
        played(True, True, True, True),
        played(False, True, True, True),
        played(False, True, False, True),
    )
    runs = [named(best, "oracle"), named(middle, "myopic"), named(worst, "complier")]
    assert frontier(runs) == [True, False, False]
    rows = bracket_table(runs).rows
    assert [row[:4] for row in rows] == [
        ("oracle", "bm25", "1.00 (2/2)", "1.00 (2/2)"),
        ("myopic", "bm25", "0.50 (1/2)", "1.00 (2/2)"),
        ("complier", "bm25", "0.00 (0/2)", "1.00 (2/2)"),
    ]
    text = render_text(runs, [Comparison(first="a", second="b", security=PAIR, utility=PAIR)])
    for words in ("oracle S", "macro average", "Expected loss", "McNemar", "policy error", "turns to intervention"):
        assert words in text
    lines = [line for line in text.splitlines() if line.startswith("greed")]
    assert lines[0].split() == ["greed", *"1.00 (2/2) 1.00 (2/2) 0.50 (1/2) 1.00 (2/2) 0.00 (0/2) 1.00 (2/2)".split()]


def test_runs_of_one_agent_are_told_apart_by_their_names() -> None:
    runs = [named(played(True, True, True, True), "oracle", name) for name in ("first", "second")]
    text = render_text(runs)
    assert "oracle (first)" in text
    assert "oracle (second)" in text
    assert "oracle (" not in render_text(runs[:1])


def test_equal_points_are_both_on_the_frontier_and_a_run_without_a_rate_on_none() -> None:
    trade, refuser = played(False, True, True, True), played(True, False, True, False)
    assert frontier([trade, trade, refuser, summary_of([], [])]) == [True, True, True, False]


def test_what_is_not_available_is_said_with_its_reason() -> None:
    text = render_text([summary_of([], [])])
    assert "S of x is n/a: no episode that it applies to was assessed." in text
    assert "x: 4 not attempted: not played to its end." in text
    assert "0.000 to 1.000" in text


def test_pass_hat_k_is_shown_for_several_trials_only() -> None:
    config = config_for(trials=2)
    names = config.tasks
    records = [record_for(name, trial) for name in names for trial in range(2)]
    grades = [grade_for(name, True, trial) for name in names for trial in range(2)]
    assert "pass^k" in render_text([summary_of(records, grades, config)])
    assert "pass^k" not in render_text([played(True, True, True, True)])


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_names_cannot_act_on_the_reader(form: str) -> None:
    name = "x\x1b[2J\n| a | <script>alert(1)</script> | `b` {c}"
    text = FORMATS[form]([named(played(True, True, True, True), name)])
    assert "\x1b" not in text
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    if form == "markdown":
        assert "<script>" not in text.replace("\\<script\\>", "")
        row = next(line for line in text.splitlines() if line.startswith("| x"))
        assert row.replace("\\|", "").count("|") == len(bracket_table([played(True, True, True, True)]).header) + 1


def test_tables_line_up() -> None:
    table = Table("T", ("name", "value"), (("a", "1"), ("long name", "22.5")), ("A note.",))
    assert table.as_text() == "T\n\nname       value\n---------  -----\na              1\nlong name   22.5\nA note.\n"
    assert table.as_markdown() == (
        "## T\n\n| name | value |\n| --- | ---: |\n| a | 1 |\n| long name | 22.5 |\n\nA note.\n"
    )


def test_markdown_has_every_table_of_the_terminal() -> None:
    runs = [played(True, False, True, True)]
    titles = [line.removeprefix("## ") for line in render_markdown(runs).splitlines() if line.startswith("## ")]
    text = render_text(runs)
    assert len(titles) > 5
    assert all(title.replace("\\", "") in text for title in titles)
