from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tabular_bench.check import check_dataset
from tabular_bench.dataset import Dataset
from tabular_bench.datasets.raw import RawTable, is_missing
from tabular_bench.datasets.registry import DATASETS, load_dataset
from tabular_bench.errors import TableError, UnknownName
from tabular_bench.scaling import Scaler

ROWS = 3000
GENERATED = [name for name, spec in DATASETS.items() if spec.generate is not None]
ENCODED = {"ccfd": 30, "ieee_cis": 542, "lcld": 187, "sparkov": 75, "breast_cancer": 30}


@pytest.fixture(scope="module", params=DATASETS)
def dataset(request: pytest.FixtureRequest) -> Dataset:
    return load_dataset(request.param, rows=ROWS)


def raw(name: str, rows: int = ROWS) -> RawTable:
    generate = DATASETS[name].generate
    assert generate is not None
    return generate(rows, 42)


def write_csv(folder: Path, name: str, table: RawTable, replacements: dict[str, str] | None = None) -> Path:
    """Write a raw table the way the real file holds it, with a column that nobody asked for."""
    spec = DATASETS[name]
    declared = spec.declared
    label = {1: declared.positive[0], 0: (declared.negative or ("0",))[0]}
    path = folder / str(spec.csv)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", *(replacements or {}).get("header", ",".join(table.columns)).split(","), declared.target])
        for row in range(len(table.labels)):
            values = [
                ""
                if (value := column[row]) is None or value != value
                else f" {value} months"
                if column_name == "term"
                else value
                for column_name, column in table.columns.items()
            ]
            writer.writerow([row, *values, label[int(table.labels[row])]])
    return path


def test_a_data_set_has_its_published_shape(dataset: Dataset) -> None:
    spec = DATASETS[dataset.name]
    assert dataset.rows.shape[1] == ENCODED[dataset.name]
    assert dataset.rows.dtype == np.float64
    assert np.isfinite(dataset.rows).all()
    assert dataset.labels.mean() == pytest.approx(spec.prevalence, rel=0.15, abs=1e-3)
    assert dataset.provenance == ("packaged" if spec.generate is None else "generated")
    assert len(np.unique(dataset.rows, axis=0)) > 0.95 * len(dataset.rows)


def test_the_split_is_stratified_and_complete(dataset: Dataset) -> None:
    parts = [dataset.split.train, dataset.split.validation, dataset.split.test]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(dataset.rows)))
    for part, share in zip(parts, (0.6, 0.2, 0.2), strict=True):
        for label in (0, 1):
            expected = share * (dataset.labels == label).sum()
            assert abs((dataset.labels[part] == label).sum() - expected) <= 2


def test_clean_rows_satisfy_the_catalogue_and_every_relation_can_be_violated(dataset: Dataset) -> None:
    found = check_dataset(dataset)
    assert found.passed, (found.failures, [r.label for r in found.relations if not r.can_be_violated])
    assert len(found.relations) == len(dataset.catalogue.relations)
    assert (dataset.name == "ccfd") == (not found.relations)


def test_the_check_finds_relations_that_are_broken_or_say_nothing() -> None:
    from dataclasses import replace

    from tabular_bench.constraints.catalogue import Catalogue
    from tests.tabular_bench.loans import relation

    dataset = load_dataset("sparkov", rows=500)
    catalogue = Catalogue((relation("wrong", "amt <= 20"), relation("empty", "amt <= 20 or amt > 19")))
    found = check_dataset(replace(dataset, catalogue=catalogue))
    wrong, empty = found.relations
    assert wrong.clean_violations > 0
    assert wrong.can_be_violated
    assert set(wrong.witness) == {"amt"}
    assert not empty.can_be_violated
    assert not found.passed
    assert found.failures["relation:wrong"] == wrong.clean_violations


def test_the_scaler_has_seen_training_rows_only(dataset: Dataset) -> None:
    train, _ = dataset.part("train")
    expected = Scaler.fit(train, dataset.schema)
    assert np.array_equal(dataset.problem.scaler.shift, expected.shift)
    assert np.array_equal(dataset.problem.scaler.scale, expected.scale)
    scaled = dataset.problem.scaler.to_scaled(train)
    numeric = ~dataset.schema.discrete & (train.std(axis=0) > 1e-9)
    np.testing.assert_allclose(scaled[:, numeric].mean(axis=0), 0, atol=1e-7)
    np.testing.assert_allclose(scaled[:, numeric].std(axis=0), 1, atol=1e-7)
    assert np.array_equal(scaled[:, dataset.schema.one_hot], train[:, dataset.schema.one_hot])


@pytest.mark.parametrize("name", GENERATED)
def test_rows_are_the_same_for_every_split_and_every_time(name: str) -> None:
    one, again, other = (load_dataset(name, rows=400, seed=seed) for seed in (42, 42, 123))
    assert one.content_hash == again.content_hash != other.content_hash
    assert np.array_equal(one.labels, other.labels)
    assert not np.array_equal(one.split.test, other.split.test)


def test_instalments_are_amortised_to_the_cent() -> None:
    table = raw("lcld")
    rate = table.columns["int_rate"] / 1200
    months = table.columns["term"].astype(float)
    factor = (1 + rate) ** months
    expected = table.columns["loan_amnt"] * rate * factor / (factor - 1)
    assert (np.abs(table.columns["installment"] - expected) <= 0.005 + 1e-9).all()
    assert np.array_equal(table.columns["installment"], np.round(table.columns["installment"], 2))


def test_values_are_missing_as_they_are_in_life() -> None:
    ieee, loans = raw("ieee_cis"), raw("lcld")
    assert is_missing(ieee.columns["dist2"]).mean() > 0.5
    assert is_missing(ieee.columns["D1"]).mean() == 0
    # Blocks of V are missing together.
    assert np.array_equal(is_missing(ieee.columns["V12"]), is_missing(ieee.columns["V34"]))
    assert not np.array_equal(is_missing(ieee.columns["V11"]), is_missing(ieee.columns["V12"]))
    assert 0.4 < is_missing(loans.columns["mths_since_last_delinq"]).mean() < 0.9
    assert 0.02 < is_missing(loans.columns["emp_length"]).mean() < 0.1
    for name in ("ccfd", "sparkov"):
        assert not any(is_missing(values).any() for values in raw(name).columns.values())


def test_people_of_sparkov_live_somewhere_and_their_cards_are_stolen_for_days() -> None:
    table = raw("sparkov", 20_000)
    homes: dict[tuple[float, float], set[object]] = {}
    for lat, long, state in zip(table.columns["lat"], table.columns["long"], table.columns["state"], strict=True):
        homes.setdefault((lat, long), set()).add(state)
    assert all(len(states) == 1 for states in homes.values())
    stolen = table.labels == 1
    times = table.columns["unix_time"]
    spans = [
        np.ptp(times[stolen & (table.columns["lat"] == lat)]) / 86_400 for lat in set(table.columns["lat"][stolen])
    ]
    assert max(spans) < 5


@pytest.mark.parametrize("name", GENERATED)
def test_a_real_file_gives_what_the_generator_gave(name: str, tmp_path: Path) -> None:
    table = raw(name, 300)
    write_csv(tmp_path, name, table)
    real, made = load_dataset(name, rows=300, data_root=tmp_path), load_dataset(name, rows=300)
    np.testing.assert_allclose(real.rows, made.rows, rtol=1e-12)
    assert real.schema == made.schema
    assert real.provenance == "real"
    assert real.content_hash != made.content_hash
    assert len(real.notes["sha256"]) == 64
    assert real.notes["rows used"] == "300"


def test_a_tenth_of_a_real_file_is_drawn_by_label(tmp_path: Path) -> None:
    write_csv(tmp_path, "sparkov", raw("sparkov", 4000))
    table = load_dataset("sparkov", data_root=tmp_path, rows=2000)
    assert len(table.rows) == 2000
    assert table.labels.sum() == 12  # of 23
    with pytest.raises(TableError, match="at least 5 rows of each label, found 2 positive"):
        load_dataset("sparkov", data_root=tmp_path)


def test_a_missing_file_and_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"expected the file creditcard\.csv"):
        load_dataset("ccfd", data_root=tmp_path)
    with pytest.raises(UnknownName, match="did you mean sparkov"):
        load_dataset("sparkow")


def test_the_cache_gives_back_what_was_stored_and_distrusts_what_was_changed(tmp_path: Path) -> None:
    first = load_dataset("lcld", rows=300, cache_dir=tmp_path)
    (stored,) = tmp_path.glob("*.npz")
    before = stored.stat().st_mtime_ns
    again = load_dataset("lcld", rows=300, cache_dir=tmp_path)
    assert again.content_hash == first.content_hash
    assert again.schema == first.schema
    assert again.notes == first.notes
    assert stored.stat().st_mtime_ns == before
    load_dataset("lcld", rows=300, seed=7, cache_dir=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 2
    for damage in (b"", b"PK\x03\x04 no archive", stored.read_bytes()[:-200]):
        stored.write_bytes(damage)
        assert load_dataset("lcld", rows=300, cache_dir=tmp_path).content_hash == first.content_hash
    description = stored.with_suffix(".json")
    for change in (("generated", "real"), ("loan_amnt", "loan_amount"), ("{", "[")):
        description.write_text(description.read_text().replace(*change))
        assert load_dataset("lcld", rows=300, cache_dir=tmp_path).content_hash == first.content_hash
