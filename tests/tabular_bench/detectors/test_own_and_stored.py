from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tabular_bench.detector import DifferentiableDetector
from tabular_bench.detectors.logistic import LogisticDetector, train_logistic
from tabular_bench.detectors.models import find_model
from tabular_bench.detectors.storage import load_detector, save_detector
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.errors import DetectorError, InputError, TableError, UnknownName
from tabular_bench.schema import FloatArray
from tests.tabular_bench.cells import TRAINING_ROWS, held_out, training, tumours

ROWS, LABELS = held_out()


@dataclass
class Own:
    """A bank's own rule, in millimetres."""

    feature_names: tuple[str, ...] = training().feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return (rows[:, 0] > 15.0).astype(float)


def own() -> Own:
    return Own()


def own_with_gradient() -> LogisticDetector:
    return LogisticDetector(training().feature_names, np.arange(30.0), -5.0)


def trainable(training: TrainingSet) -> LogisticDetector:
    return train_logistic(training)


def no_detector() -> int:
    return 3


def other_columns() -> Own:
    return Own(("amount",))


def greedy(training: TrainingSet, more: int) -> None: ...


HERE = __name__
BOOSTER: dict[str, object] = {"max_depth": 2, "nthread": 1, "objective": "binary:logistic"}


def booster(path: Path, *, names: bool = True, rounds: int = 5, **parameters: object) -> Path:
    import xgboost

    rows, labels, schema = tumours()
    table = xgboost.DMatrix(
        rows[:TRAINING_ROWS],
        label=labels[:TRAINING_ROWS],
        feature_names=list(schema.columns) if names else None,
        nthread=1,
    )
    model = xgboost.train(BOOSTER | parameters, table, num_boost_round=rounds)
    model.save_model(path)
    return path


def test_a_detector_that_is_ready_is_given_rows_in_their_own_units() -> None:
    detector = find_model(f"{HERE}:own").train(training())
    rows, _, _ = tumours()
    assert np.array_equal(detector.predict_proba(ROWS), Own().predict_proba(rows[TRAINING_ROWS:]))
    assert not isinstance(detector, DifferentiableDetector)


def test_its_gradient_comes_along_by_the_chain_rule() -> None:
    detector = find_model(f"{HERE}:own_with_gradient").train(training())
    assert isinstance(detector, DifferentiableDetector)
    scaler = training().scaler
    assert scaler is not None
    assert np.allclose(detector.gradient(ROWS[:1], np.array([0], dtype=np.int8)), np.arange(30.0) * scaler.scale)


def test_a_model_that_is_to_be_trained_is_trained_on_scaled_rows() -> None:
    detector = find_model(f"{HERE}:trainable").train(training())
    assert np.array_equal(detector.predict_proba(ROWS), train_logistic(training()).predict_proba(ROWS))


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("nowhere_at_all:factory", "no module 'nowhere_at_all'"),
        (f"{HERE}:absent", "has no 'absent'"),
        (f"{HERE}:LABELS", "expected a factory that can be called"),
        (f"{HERE}:greedy", "this one needs training, more"),
        (":factory", "expected package.module:factory"),
    ],
)
def test_factories_that_cannot_be_found(spec: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        find_model(spec)


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(UnknownName, match=r"logistic, .*package\.module:factory.* did you mean xgboost"):
        find_model("xgbost")


@pytest.mark.parametrize(
    ("factory", "complaint"),
    [("no_detector", "found int without feature_names and predict_proba"), ("other_columns", "the table lacks amount")],
)
def test_factories_that_return_something_else(factory: str, complaint: str) -> None:
    with pytest.raises(DetectorError, match=complaint):
        find_model(f"{HERE}:{factory}").train(training())


@pytest.mark.parametrize("suffix", [".json", ".ubj"])
@pytest.mark.parametrize("names", [True, False])
def test_an_xgboost_file_scores_as_it_did_where_it_was_saved(tmp_path: Path, suffix: str, names: bool) -> None:
    import xgboost

    path = booster(tmp_path / f"model{suffix}", names=names)
    rows, _, schema = tumours()
    reference = xgboost.Booster(model_file=path).predict(
        xgboost.DMatrix(rows[TRAINING_ROWS:], feature_names=list(schema.columns) if names else None)
    )
    scores = find_model(str(path)).train(training()).predict_proba(ROWS)
    # The way through scaled space may put a value on the other side of a split.
    assert np.isclose(scores, reference, atol=1e-6).mean() > 0.97


def test_a_booster_that_was_stopped_early_is_used_up_to_its_best_round(tmp_path: Path) -> None:
    import xgboost

    path = booster(tmp_path / "long.json", rounds=9)
    model = xgboost.Booster(model_file=path)
    model.set_attr(best_iteration="3")
    model.save_model(path)
    short = booster(tmp_path / "short.json", rounds=4)
    scores = [find_model(str(file)).train(training()).predict_proba(ROWS) for file in (path, short)]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)


def test_boosters_that_do_not_fit(tmp_path: Path) -> None:
    shuffled = replace(training(), feature_names=training().feature_names[::-1])
    with pytest.raises(DetectorError, match="another order: column 0 is 'mean radius' there"):
        find_model(str(booster(tmp_path / "a.json"))).train(shuffled)
    fewer = TrainingSet(training().rows[:, :5], training().labels, training().feature_names[:5], 1)
    with pytest.raises(DetectorError, match="the table has 5"):
        find_model(str(booster(tmp_path / "b.json", names=False))).train(fewer)
    regression = booster(tmp_path / "c.json", objective="reg:squarederror")
    with pytest.raises(DetectorError, match="expected the objective binary:logistic"):
        find_model(str(regression)).train(training())
    with pytest.raises(DetectorError, match="no scaler"):
        find_model(str(booster(tmp_path / "d.json"))).train(replace(training(), scaler=None))


def test_files_that_are_no_boosters(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("not a model")
    with pytest.raises(InputError, match=r"expected a model saved by XGBoost: .*Error"):
        find_model(str(path)).train(training())
    # Children that are not there: XGBoost takes the whole process down with it.
    forged = json.loads(booster(path).read_text())
    forged["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"][0] = 10**8
    path.write_text(json.dumps(forged))
    with pytest.raises(InputError, match="XGBoost crashes on this file"):
        find_model(str(path)).train(training())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        find_model(str(tmp_path / "absent.ubj")).train(training())
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_detector(tmp_path / "absent.npz")


def test_stored_files_that_are_damaged_or_hold_pickles(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(b"junk")
    with pytest.raises(InputError, match="expected a stored detector"):
        load_detector(path)
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="expected a stored detector"):
        load_detector(path)
    save_detector(train_logistic(training()), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="expected a stored detector"):
        load_detector(path)
    header = np.frombuffer(json.dumps({"format": 99}).encode(), dtype=np.uint8)
    np.savez(path, header=header)
    with pytest.raises(InputError, match="expected format 1, found 99"):
        load_detector(path)
    with pytest.raises(DetectorError, match="found Own"):
        save_detector(Own(), path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"labels": np.zeros(TRAINING_ROWS, dtype=np.int8)}, r"both labels 0 and 1, found \[0\]"),
        ({"rows": np.full((TRAINING_ROWS, 30), np.nan)}, "finite training rows"),
        ({"feature_names": ("a",)}, r"shape \(380, 1\)"),
    ],
)
def test_training_sets_that_teach_nothing(change: dict[str, object], complaint: str) -> None:
    with pytest.raises(TableError, match=complaint):
        replace(training(), **change)  # type: ignore[arg-type]
