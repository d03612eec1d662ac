"""Detectors and tables as strangers bring them: each kind of detector, each way columns may be laid out, each fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tabular_bench.declaration import Declaration, parse_declaration
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.logistic import LogisticDetector
from tabular_bench.detectors.threshold import ThresholdRule
from tabular_bench.errors import DeclarationError, DetectorError, InputError, TableError, UnknownName
from tabular_bench.schema import FloatArray
from tabular_bench.score.columns import bind
from tabular_bench.score.ready import read_model
from tabular_bench.score.run import Score, ScoreOptions, as_json, score
from tabular_bench.score.table import TableOptions, UserTable, bare_declaration, read_user_table
from tests.tabular_bench.score import strangers
from tests.tabular_bench.score.strangers import CHANNELS, FIVE_LINES, NUMBERS, columns, encoded

QUICK = ScoreOptions(attacks=("noise(draws=3)",), max_rows=20)


ready_model = cache(read_model)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return strangers.model(tmp_path_factory.mktemp("model"))


def declared(text: str = FIVE_LINES) -> Declaration:
    return parse_declaration(text, "mine.toml", "fraud")


def read(
    model: Path | str, table: Path, declaration: Declaration | None = None, **options: Any
) -> tuple[UserTable, Detector, list[str]]:
    ready = ready_model(str(model))
    rows = read_user_table(table, declaration or declared(), ready, TableOptions(**options))
    detector, notes = bind(ready, rows.problem.schema)
    return rows, detector, notes


def measured(
    model: Path | str, table: Path, options: ScoreOptions = QUICK, declaration: Declaration | None = None, **how: Any
) -> Score:
    ready = ready_model(str(model))
    return score(ready, read_user_table(table, declaration or declared(), ready, TableOptions(**how)), options)


def expected_scores(path: Path, rows: FloatArray, names: list[str]) -> FloatArray:
    """Return what XGBoost itself says."""
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(path)
    data = xgboost.DMatrix(rows, feature_names=names, nthread=1)
    return np.asarray(booster.predict(data), dtype=np.float64)


# --- detectors, and how they find their columns


@pytest.mark.parametrize("separator", ["=", "_"])
@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_a_booster_finds_its_columns_by_name(separator: str, suffix: str, tmp_path: Path) -> None:
    rows, names = encoded(separator)
    path = strangers.booster(tmp_path / f"model.{suffix}", rows, names)
    table, detector, _ = read(path, strangers.table(tmp_path))
    np.testing.assert_allclose(detector.predict_proba(table.rows), expected_scores(path, rows, names), rtol=1e-6)


def test_columns_in_another_order_are_found_and_that_is_said(tmp_path: Path) -> None:
    rows, names = encoded()
    order = np.random.default_rng(0).permutation(len(names))
    shuffled = [names[number] for number in order]
    path = strangers.booster(tmp_path / "model.json", rows[:, order], shuffled)
    table, detector, notes = read(path, strangers.table(tmp_path))
    np.testing.assert_allclose(
        detector.predict_proba(table.rows), expected_scores(path, rows[:, order], shuffled), rtol=1e-6
    )
    assert any("another order" in note for note in notes)


def test_columns_that_nobody_names_are_left_out_and_the_others_that_it_does_not_read_are_told(tmp_path: Path) -> None:
    rows, names = encoded()
    path = strangers.booster(tmp_path / "model.json", rows[:, :5], names[:5])
    table, _, notes = read(path, strangers.table(tmp_path))
    features = {feature.name for feature, _ in table.columns}
    # Relations and the immutable columns name the rest.
    assert features == {*names[:5], "tenure_months", "country", "ratio", "mean_amount", "max_amount", "age"}
    assert any("Left out" in note and "channel" in note for note in table.notes)
    assert any("Not read by the detector" in note and "country" in note for note in notes)


def test_the_first_category_may_have_no_column_of_its_own(tmp_path: Path) -> None:
    rows, names = encoded("_", first=False)
    path = strangers.booster(tmp_path / "model.json", rows, names)
    table, detector, notes = read(path, strangers.table(tmp_path))
    np.testing.assert_allclose(detector.predict_proba(table.rows), expected_scores(path, rows, names), rtol=1e-6)
    assert any("no 0/1 column for app" in note for note in notes)


def test_a_booster_without_names_takes_the_table_as_it_lies(tmp_path: Path) -> None:
    rows, names = encoded()
    path = strangers.booster(tmp_path / "model.json", rows, None)
    table, detector, notes = read(path, strangers.table(tmp_path))
    assert table.problem.schema.columns == tuple(names)
    np.testing.assert_allclose(
        detector.predict_proba(table.rows),
        expected_scores(strangers.booster(tmp_path / "named.json", rows, names), rows, names),
        rtol=1e-6,
    )
    assert any("in the order of the table" in note for note in notes)


def test_a_booster_without_names_of_another_width_is_refused(tmp_path: Path) -> None:
    path = strangers.booster(tmp_path / "model.json", encoded()[0][:, :4], None)
    with pytest.raises(DetectorError, match=r"expects 4 columns and names none, the table has 24: amount, balance"):
        read(path, strangers.table(tmp_path))


def native(path: Path, categories: tuple[str, ...] = CHANNELS) -> tuple[Path, FloatArray]:
    """Train on a category as such, with codes in an order of its own; returns the scores, too."""
    import pandas as pd
    import xgboost

    values = columns()
    frame = pd.DataFrame({name: values[name].astype(float) for name in NUMBERS})
    known = [channel if channel in categories else None for channel in values["channel"].tolist()]
    frame["channel"] = pd.Categorical(known, categories=categories)
    data = xgboost.DMatrix(frame, label=values["fraud"].astype(float), enable_categorical=True, nthread=1)
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1, "max_depth": 4}, data, num_boost_round=10)
    booster.save_model(path)
    return path, np.asarray(booster.predict(data), dtype=np.float64)


def test_a_booster_that_takes_categories_is_given_its_own_codes(tmp_path: Path) -> None:
    path, scores = native(tmp_path / "model.json", ("web", "app", "branch"))
    table, detector, _ = read(path, strangers.table(tmp_path))
    np.testing.assert_allclose(detector.predict_proba(table.rows), scores, rtol=1e-6)
    assert not isinstance(detector, DifferentiableDetector)
    found = measured(path, strangers.table(tmp_path), replace(QUICK, protocols=("C2",)))
    assert found.attacks[0].status == "done"


def test_a_category_that_a_booster_does_not_know_is_named(tmp_path: Path) -> None:
    path, _ = native(tmp_path / "model.json", ("web", "app"))
    with pytest.raises(DetectorError, match=r"column channel: the detector does not know branch; .* web, app"):
        read(path, strangers.table(tmp_path))


def fixed() -> Detector:
    """Return a logistic regression of two columns, in their own units."""
    return LogisticDetector(("risk", "amount"), np.array([1.5, 0.001]), -1.0)


def broken() -> Detector:
    raise RuntimeError("no such database")


class Rule:
    feature_names = ("channel=web", "amount")

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return rows[:, 0] * (rows[:, 1] > 100)


def rule() -> Rule:
    return Rule()


def test_a_rule_may_look_at_one_category_only(tmp_path: Path) -> None:
    table, detector, notes = read(f"{HERE}:rule", strangers.table(tmp_path))
    values = columns()
    expected = (values["channel"] == "web") & (values["amount"].astype(float) > 100)
    np.testing.assert_array_equal(detector.predict_proba(table.rows), expected.astype(float))
    assert any("does not tell app, branch apart" in note for note in notes)


class Failing:
    feature_names = ("risk",)

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        raise KeyError("risk")


def failing() -> Failing:
    return Failing()


def nothing() -> int:
    return 3


def greedy(path: str) -> None: ...


HERE = __name__


def test_a_factory_with_gradients_is_attacked_by_them(tmp_path: Path) -> None:
    table, detector, _ = read(f"{HERE}:fixed", strangers.table(tmp_path))
    assert isinstance(detector, DifferentiableDetector)
    gradient = detector.gradient(table.rows[:3], np.ones(3, dtype=np.int8))
    read_columns = {table.problem.schema.columns[column] for column in np.flatnonzero(gradient.any(axis=0))}
    assert read_columns == {"risk", "amount"}
    found = measured(f"{HERE}:fixed", strangers.table(tmp_path), ScoreOptions(max_rows=10))
    assert {entry.attack for entry in found.attacks} == {"noise", "capgd"}
    assert all(entry.status == "done" for entry in found.attacks)


@pytest.mark.parametrize(
    ("factory", "kind", "complaint"),
    [
        ("broken", InputError, "the factory failed: RuntimeError: no such database"),
        ("nothing", DetectorError, "found int without feature_names and predict_proba"),
        ("greedy", InputError, "expected a factory that is called without arguments"),
        ("absent", InputError, "has no 'absent'"),
    ],
)
def test_a_factory_that_gives_no_detector_is_refused(factory: str, kind: type[Exception], complaint: str) -> None:
    with pytest.raises(kind, match=complaint):
        read_model(f"{HERE}:{factory}")


def test_a_detector_that_fails_while_scoring_is_named(tmp_path: Path) -> None:
    with pytest.raises(DetectorError, match=r":failing: scoring failed: KeyError: 'risk'"):
        measured(f"{HERE}:failing", strangers.table(tmp_path))


def test_what_is_no_detector_is_answered_with_what_would_be() -> None:
    with pytest.raises(UnknownName, match=r"file\.json, file\.ubj, file\.onnx, package\.module:factory"):
        read_model("model.pkl")


def test_columns_that_the_table_lacks_are_named_with_what_they_may_be(tmp_path: Path) -> None:
    rows, names = encoded()
    wanted = ["ammount" if name == "amount" else name for name in names]
    path = strangers.booster(tmp_path / "model.json", rows, wanted)
    with pytest.raises(DetectorError, match=r"expects 24 columns, the table lacks 1 of them: ammount \(renamed to amo"):
        read(path, strangers.table(tmp_path))


def test_a_numeric_category_is_recognised_by_what_the_detector_expects(tmp_path: Path) -> None:
    path = strangers.booster(tmp_path / "model.json", encoded()[0][:, :2], ["hour_1", "hour_2"])
    with pytest.raises(DetectorError, match=r'hour_1 \(a category of hour\? then declare it: kind = "category"\)'):
        read(path, strangers.table(tmp_path))


def test_categories_without_columns_are_unknown_ones(tmp_path: Path) -> None:
    rows, names = encoded()
    kept = [number for number, name in enumerate(names) if name not in ("country=FR", "country=IT")]
    path = strangers.booster(tmp_path / "model.json", rows[:, kept], [names[number] for number in kept])
    with pytest.raises(DetectorError, match=r"column country: .* no 0/1 column for the categories FR, IT"):
        read(path, strangers.table(tmp_path))


# --- the table: what is inferred, what is wrong


def test_what_is_not_declared_is_inferred_and_said(model: Path, tmp_path: Path) -> None:
    table, _, _ = read(model, strangers.table(tmp_path))
    known = {feature.name: (feature, how) for feature, how in table.columns}
    assert {how for _, how in known.values()} == {"inferred"}
    assert known["hour"][0].kind == "integer"
    assert (known["hour"][0].lower, known["hour"][0].upper) == (0, 23)
    assert known["night"][0].kind == "binary"
    assert known["risk"][0].kind == "numeric"
    assert known["channel"][0].categories == CHANNELS
    assert known["country"][0].mutability == "immutable"
    assert known["ratio"][0].mutability == "derived"
    assert "reference_no" not in known


def test_no_constraint_file_is_needed(model: Path, tmp_path: Path) -> None:
    table, _, _ = read(model, strangers.table(tmp_path), bare_declaration("fraud"))
    assert table.rows.shape == (400, 24)
    assert table.problem.constraints.relations == ()


def test_deviations_are_those_of_the_reference(model: Path, tmp_path: Path) -> None:
    table = strangers.table(tmp_path)
    wider = strangers.table(tmp_path, "wider.csv", risk=columns()["risk"].astype(float) * 3)
    alone, _, _ = read(model, table)
    beside, _, _ = read(model, table, reference=wider)
    risk = alone.problem.schema.index("risk")
    assert beside.problem.scaler.scale[risk] == pytest.approx(3 * alone.problem.scaler.scale[risk])
    np.testing.assert_array_equal(alone.rows, beside.rows)
    assert beside.reference is not None
    found = measured(model, table, replace(QUICK, threshold=ThresholdRule("f1")), reference=wider)
    assert any("set on the reference rows" in note for note in found.notes)
    found = measured(model, table, replace(QUICK, threshold=ThresholdRule("f1")))
    assert any("flatters the detector" in note for note in found.notes)


def test_a_reference_has_the_columns_of_the_table(model: Path, tmp_path: Path) -> None:
    table = strangers.table(tmp_path)
    wider = strangers.table(tmp_path, "wider.csv", more=columns()["risk"])
    assert read(model, table, reference=wider)[0].reference is not None
    values = {name: column for name, column in columns().items() if name != "risk"}
    (tmp_path / "narrower.csv").write_text(strangers.text(values), encoding="utf-8")
    with pytest.raises(TableError, match=r"narrower\.csv: expected the columns of .*payments\.csv, it lacks risk"):
        read(model, table, reference=tmp_path / "narrower.csv")
    with pytest.raises(TableError, match="column hour: expected values of one kind in both tables"):
        read(model, table, reference=strangers.table(tmp_path, "texts.csv", hour=np.full(400, "noon")))


def test_truth_in_words_is_binary(model: Path, tmp_path: Path) -> None:
    values = columns()
    words = {name: np.where(values[name].astype(float) == 1, "True", "False") for name in ("night", "fraud")}
    spoken, _, _ = read(model, strangers.table(tmp_path, "spoken.csv", **words))
    written, _, _ = read(model, strangers.table(tmp_path))
    np.testing.assert_array_equal(spoken.rows, written.rows)
    np.testing.assert_array_equal(spoken.labels, written.labels)


def altered(name: str, *values: object, start: int = 0) -> NDArray[np.object_]:
    column = columns()[name].astype(object)
    for row, value in enumerate(values, start):
        column[row] = value
    return column


Change = Callable[[], dict[str, Any]]
FAULTS: list[tuple[Change, str]] = [
    (
        lambda: {"risk": altered("risk", "", "")},
        r"column risk: .* found none in 2 of 400 rows \(rows 2, 3\); .*--impute",
    ),
    (lambda: {"risk": altered("risk", "nan")}, r"column risk: .* found none in 1 of 400 rows \(row 2\)"),
    (lambda: {"channel": altered("channel", "")}, r"column channel: expected a value in every row"),
    (
        lambda: {"risk": altered("risk", "high", start=5)},
        r"column risk: expected numbers, found 'high' in 1 of .*row 7",
    ),
    (lambda: {"risk": altered("risk", "inf")}, r"column risk: expected finite numbers, found 'inf' in 1 of 400 rows"),
    (lambda: {"hour": np.full(400, 7.0)}, r"column hour: .* 7\.0 in every row: it is constant; the detector reads it"),
    (lambda: {"channel": np.full(400, "web")}, r"column channel: .* 'web' in every row: it is constant"),
    (lambda: {"fraud": np.zeros(400)}, r"column fraud: expected labels of both kinds, found 0 positive \(1\) and 400"),
    (lambda: {"fraud": altered("fraud", "2")}, r"column fraud: expected two different labels, found 3"),
    (lambda: {"fraud": altered("fraud", "")}, r"column fraud, row 2: expected a label"),
    (lambda: {"max_amount": np.zeros(400)}, r"column max_amount: .* constant"),
    (
        lambda: {"mean_amount": altered("mean_amount", 9e9)},
        r"relation r1 \(mean_amount <= max_amount\): broken in 1 of",
    ),
]


@pytest.mark.parametrize(("change", "complaint"), FAULTS, ids=[complaint[:45] for _, complaint in FAULTS])
def test_a_fault_in_the_table_is_named_with_column_and_rows(
    change: Change, complaint: str, model: Path, tmp_path: Path
) -> None:
    with pytest.raises(TableError, match=complaint):
        read(model, strangers.table(tmp_path, **change()))


def test_every_fault_is_named_at_once(model: Path, tmp_path: Path) -> None:
    table = strangers.table(tmp_path, risk=altered("risk", ""), hour=np.full(400, 7.0), age=altered("age", "inf"))
    with pytest.raises(TableError) as caught:
        read(model, table)
    assert str(caught.value).startswith("the table has several faults:")
    assert all(name in str(caught.value) for name in ("column risk", "column hour", "column age"))


RAW: list[tuple[bytes, str]] = [
    (b"", "found an empty file"),
    (b"risk,amount,fraud\n", r"expected labels of both kinds, found 0 positive \(1\) and 0 negative rows of 0"),
    (b"risk,risk,fraud\n1,2,1\n", "expected every column once, found 'risk' more than once"),
    (b"risk,amount,frud\n1,2,1\n", "found 'fraud'; did you mean frud"),
    (b"risk;amount;fraud\n1;2;1\n", "expected columns separated by commas, found one column with ';'"),
    ("risk,größe,fraud\n1,2,1\n".encode("latin-1"), "found the byte 0xf6, .*save it as UTF-8"),
    ("risk,amount,fraud\n1,2,1\n".encode("utf-16"), "expected a CSV file in UTF-8, found UTF-16; save it as UTF-8"),
    (b"risk,amount,fraud\n1,2\n", "row 2: expected 3 fields, found 2"),
]


@pytest.mark.parametrize(("content", "complaint"), RAW, ids=[complaint[:40] for _, complaint in RAW])
def test_a_file_that_is_no_table_is_refused(content: bytes, complaint: str, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_bytes(content)
    with pytest.raises(TableError, match=complaint):
        read(f"{HERE}:fixed", table, bare_declaration("fraud"))


def test_gaps_are_filled_when_asked_and_that_is_said(model: Path, tmp_path: Path) -> None:
    gaps: dict[str, Any] = {
        "risk": altered("risk", "", ""),
        "hour": altered("hour", ""),
        "channel": altered("channel", ""),
    }
    table, _, _ = read(model, strangers.table(tmp_path, **gaps), impute=True)
    values = columns()
    schema = table.problem.schema
    middle = float(np.median(values["risk"][2:].astype(float)))
    assert table.rows[:2, schema.index("risk")].tolist() == [middle, middle]
    assert table.rows[0, schema.index("hour")].is_integer()
    commonest = max(CHANNELS, key=lambda channel: int((values["channel"][1:] == channel).sum()))
    assert table.rows[0, schema.index(f"channel={commonest}")] == 1
    assert sum("rows without a value" in note for note in table.notes) == 3


def test_rows_that_break_a_relation_are_left_out_when_asked(model: Path, tmp_path: Path) -> None:
    changed = strangers.table(tmp_path, mean_amount=altered("mean_amount", 9e9, 9e9))
    table, _, _ = read(model, changed, drop_infeasible=True)
    assert len(table.rows) == 398
    assert table.lines[0] == 4
    assert any("2 of 400 rows break" in note for note in table.notes)
    assert table.problem.scaler.scale[table.problem.schema.index("mean_amount")] < 1e4


def test_a_category_that_the_reference_does_not_have_is_unknown(model: Path, tmp_path: Path) -> None:
    table = strangers.table(tmp_path, channel=altered("channel", "fax"))
    with pytest.raises(TableError, match=r"column channel, row 2: expected a known category \(app, branch, web\)"):
        read(model, table, reference=strangers.table(tmp_path, "reference.csv"))
    with pytest.raises(DetectorError, match=r"column channel: .* no 0/1 column for the categories fax"):
        read(model, table)


DECLARATIONS: list[tuple[str, str]] = [
    ('relations = ["amonut <= 3"]', r"relation r1 \(amonut <= 3\): .*did you mean amount"),
    ('immutable = ["agee"]', "immutable: expected a column .*, found 'agee'; did you mean age"),
    ('ignore = ["reference"]', "ignore: expected a column .*did you mean reference_no"),
    ('derived = ["amount"]', "derived feature amount: expected a relation amount == "),
]


@pytest.mark.parametrize(("text", "complaint"), DECLARATIONS, ids=[text for text, _ in DECLARATIONS])
def test_a_constraint_file_that_does_not_fit_is_refused(text: str, complaint: str, model: Path, tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=complaint):
        read(model, strangers.table(tmp_path), declared(text))


def test_the_target_is_named_once() -> None:
    assert parse_declaration("", "mine.toml", "fraud").target == "fraud"
    with pytest.raises(DeclarationError, match="target: expected 'fraud', as was asked for, found 'label'"):
        parse_declaration('target = "label"', "mine.toml", "fraud")


# --- what is measured


def test_numbers_are_those_of_the_rows(model: Path, tmp_path: Path) -> None:
    file = strangers.table(tmp_path)
    found = measured(model, file, replace(QUICK, max_rows=30, amount_column="amount"))
    assert [entry.detector for entry in found.clean] == [str(model), "never", "always", "random", "largest_first"]
    own = found.clean[0].ranking
    assert own is not None
    assert own.average_precision == pytest.approx(average_precision(model), abs=1e-9)
    assert found.attacked == 30
    rows, positives = found.evaluated
    assert positives == 30
    # The share of fraud stays what it is in the table.
    assert rows == pytest.approx(30 / columns()["fraud"].astype(float).mean(), abs=1)
    assert [entry.protocol for entry in found.attacks] == ["A", "B", "C1", "C2"]
    for entry in found.attacks:
        assert entry.metrics is not None
        assert entry.robust is not None
        assert entry.reading is not None
        assert entry.metrics.attacked == 30
        assert entry.readings[entry.reading] == entry.robust


def average_precision(model: Path) -> float:
    from sklearn.metrics import average_precision_score

    rows, names = encoded()
    return float(average_precision_score(columns()["fraud"].astype(float), expected_scores(model, rows, names)))


def test_a_and_b_share_their_rows_as_if_each_had_run(model: Path, tmp_path: Path) -> None:
    file = strangers.table(tmp_path)
    both = measured(model, file, replace(QUICK, protocols=("A", "B"))).attacks[1]
    alone = measured(model, file, replace(QUICK, protocols=("B",))).attacks[0]
    assert timeless(both) == timeless(alone)


def timeless(found: Any) -> Any:
    described = as_json(found)
    described["metrics"]["runtime_s"] = 0
    return described


def test_the_same_seed_gives_the_same_numbers(model: Path, tmp_path: Path) -> None:
    file = strangers.table(tmp_path)
    options = replace(QUICK, attacks=("square(iterations=20)",), protocols=("C2",))
    first, second = (measured(model, file, options).attacks[0] for _ in range(2))
    assert timeless(first) == timeless(second)
    assert timeless(measured(model, file, replace(options, seed=1)).attacks[0]) != timeless(first)


def test_an_attack_that_does_not_apply_is_blank_with_a_reason(model: Path, tmp_path: Path) -> None:
    found = measured(model, strangers.table(tmp_path), replace(QUICK, attacks=("pgd",)))
    assert {entry.status for entry in found.attacks} == {"not_applicable"}
    assert all(entry.metrics is None and "gradients" in (entry.reason or "") for entry in found.attacks)


def test_a_detector_that_stops_nothing_leaves_blanks_and_advice(model: Path, tmp_path: Path) -> None:
    options = replace(QUICK, threshold=ThresholdRule("fixed", 1.0), protocols=("C2",))
    found = measured(model, strangers.table(tmp_path), options)
    metrics = found.attacks[0].metrics
    assert metrics is not None
    assert metrics.success_rate is None
    assert "success_rate" in metrics.blanks
    assert any("give --threshold a lower number" in note for note in found.notes)


def test_an_amount_column_that_is_none_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the column of amounts among amount, balance"):
        measured(model, strangers.table(tmp_path), replace(QUICK, amount_column="sum"))


def test_everything_found_can_be_written_as_json(model: Path, tmp_path: Path) -> None:
    found = measured(model, strangers.table(tmp_path))
    described = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert described["attacks"][0]["robust"]["saturated"] in (True, False)
    assert described["clean"][0]["ranking"]["recall_at"].keys() == {"0.01", "0.001"}


class TwoColumns:
    """Says what scikit-learn says: one column for each class."""

    feature_names = ("risk",)

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return np.zeros((len(rows), 2))


def two_columns() -> TwoColumns:
    return TwoColumns()


def test_scores_outside_the_contract_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DetectorError, match="return the probability of fraud only, one number a row"):
        measured(f"{HERE}:two_columns", strangers.table(tmp_path))


# --- tables whose categories are 0/1 columns already


def one_hot_table(folder: Path, prefix: str = "channel_", **changes: NDArray[Any]) -> Path:
    values = {name: column for name, column in columns().items() if name not in ("channel", "country")}
    channels = {prefix + channel: (columns()["channel"] == channel).astype(float) for channel in CHANNELS}
    path = folder / "encoded.csv"
    path.write_text(strangers.text({**channels, **values, **changes}), encoding="utf-8")
    return path


@pytest.mark.parametrize("prefix", ["channel_", "by "])
def test_one_hot_columns_of_the_table_are_one_category(prefix: str, tmp_path: Path) -> None:
    rows, names = encoded()
    names = [name.replace("channel=", prefix) for name in names[:20]]
    path = strangers.booster(tmp_path / "model.json", rows[:, :20], names)
    members = ", ".join(prefix + channel for channel in CHANNELS)
    declaration = declared(f'ignore = ["reference_no"]\n[one_hot]\nchannel = "{members}"')
    table, detector, _ = read(path, one_hot_table(tmp_path, prefix), declaration)
    assert len(table.problem.schema.blocks) == 1
    np.testing.assert_allclose(
        detector.predict_proba(table.rows), expected_scores(path, rows[:, :20], names), rtol=1e-6
    )
    found = measured(path, one_hot_table(tmp_path, prefix), replace(QUICK, protocols=("C2",)), declaration)
    assert found.attacks[0].metrics is not None
    assert "one_hot" not in found.attacks[0].metrics.failures


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ((1.0, 1.0), r"one-hot columns channel_app, .*: expected one 1 and zeros in every row, found 1, .* in row 2"),
        ((0.5,), r"found 0\.5, .*in row 2 \("),
        (("x",), "expected 0 or 1, found texts in channel_app"),
    ],
)
def test_rows_without_exactly_one_category_are_named(values: tuple[Any, ...], complaint: str, tmp_path: Path) -> None:
    changed = (columns()["channel"] == "app").astype(float).astype(object)
    changed[: len(values)] = values
    table = one_hot_table(tmp_path, channel_app=np.array(changed), channel_web=np.ones(400))
    with pytest.raises(TableError, match=complaint):
        read(f"{HERE}:fixed", table, declared('[one_hot]\nchannel = "channel_app, channel_branch, channel_web"'))


def test_a_one_hot_column_belongs_to_one_group() -> None:
    with pytest.raises(DeclarationError, match="expected a one-hot column in one group and nowhere else, found b"):
        declared('[one_hot]\nfirst = "a, b"\nsecond = "b, c"')
