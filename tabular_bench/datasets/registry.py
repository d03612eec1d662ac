"""The data sets that the bench knows, and the one function that makes any of them ready."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabular_bench.dataset import Dataset
from tabular_bench.datasets import cache
from tabular_bench.datasets.csv_file import describe_file, read_csv_table
from tabular_bench.datasets.generators import ccfd, ieee_cis, lcld, sparkov
from tabular_bench.datasets.preparation import prepare
from tabular_bench.datasets.raw import RawTable
from tabular_bench.declaration import Declaration, read_declaration
from tabular_bench.errors import TableError, UnknownName

SAMPLE_SHARE = 0.1
SAMPLE_SEED = 42  # of the draw of rows; the split has the seed of the cell

_DECLARATIONS = Path(__file__).parent / "declarations"


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """One data set that the bench knows.

    Attributes
    ----------
    name
        As users write it.
    declaration
        The file in ``declarations/``.
    generate
        Makes raw rows to its schema from a number of rows and a seed; None where a package carries the real ones.
    csv
        What the real file is called; None where there is none to bring.
    rows
        Of the real table.
    prevalence
        The real share of positives.
    about
        One line for people.
    """

    name: str
    declaration: str
    generate: Callable[[int, int], RawTable] | None
    csv: str | None
    rows: int
    prevalence: float
    about: str

    @property
    def declared(self) -> Declaration:
        """The features and relations."""
        return read_declaration(_DECLARATIONS / self.declaration)


DATASETS = {
    spec.name: spec
    for spec in (
        DatasetSpec("ccfd", "ccfd.toml", ccfd.generate, "creditcard.csv", 284_807, 0.0017, "card payments, PCA"),
        DatasetSpec(
            "ieee_cis", "ieee_cis.toml", ieee_cis.generate, "train_transaction.csv", 590_540, 0.035, "online payments"
        ),
        DatasetSpec(
            "lcld",
            "lcld.toml",
            lcld.generate,
            "accepted_2007_to_2018Q4.csv",
            1_340_968,
            0.200,
            "personal loans, paid back or not",
        ),
        DatasetSpec(
            "sparkov",
            "sparkov.toml",
            sparkov.generate,
            "fraudTrain.csv",
            1_296_675,
            0.0058,
            "card payments of simulated people",
        ),
        DatasetSpec(
            "breast_cancer", "breast_cancer.toml", None, None, 569, 0.373, "cell nuclei, carried by scikit-learn"
        ),
    )
}


def load_dataset(
    name: str, *, seed: int = 42, rows: int | None = None, data_root: Path | None = None, cache_dir: Path | None = None
) -> Dataset:
    """Make a data set ready for use.

    Parameters
    ----------
    name
        One of `DATASETS`.
    seed
        Of the split. The rows are the same for every seed.
    rows
        About how many rows to use; None for a tenth of the real table, as published.
    data_root
        A folder with the real files. Without it the rows are generated, unless a package carries real ones.
    cache_dir
        Where prepared data sets are kept; None keeps none.

    Returns
    -------
    Dataset
        Its provenance says whether the rows are real.

    Raises
    ------
    UnknownName
        If there is no such data set.
    TableError
        If the real file is missing or not as expected.
    """
    if name not in DATASETS:
        raise UnknownName("data set", name, DATASETS)
    spec = DATASETS[name]
    source = _real_file(spec, data_root) if data_root is not None and spec.csv else None
    notes = describe_file(source) if source else {}
    if cache_dir is None:
        return _make(spec, seed, rows, source, notes)
    key = _key(spec, seed, rows, notes)
    found = cache.load(cache_dir, key, spec.declared.catalogue)
    if found is None:
        found = _make(spec, seed, rows, source, notes)
        cache.save(cache_dir, key, found)
    return found


def source_digest(name: str, data_root: Path | None = None) -> str:
    """Return a digest of what the rows of a data set come from: a real file's content, or the generator.

    Rows of different origin have different digests. It is much cheaper than to make the rows.

    Parameters
    ----------
    name, data_root
        As for `load_dataset`.

    Raises
    ------
    UnknownName
        If there is no such data set.
    TableError
        If the real file is missing.
    """
    if name not in DATASETS:
        raise UnknownName("data set", name, DATASETS)
    spec = DATASETS[name]
    source = _real_file(spec, data_root) if data_root is not None and spec.csv else None
    # Neither seed nor number of rows: those are the caller's choice and not the origin.
    return _key(spec, 0, None, describe_file(source) if source else {})


def load_table(path: Path, declaration: Declaration, *, seed: int = 42) -> Dataset:
    """Make a table of the user's ready for use.

    Parameters
    ----------
    path
        A CSV file.
    declaration
        Of its target, features and relations.
    seed
        Of the split.

    Returns
    -------
    Dataset
        Of every row, named after the file.

    Raises
    ------
    TableError
        If the file is not as expected.
    DeclarationError
        If the declaration does not fit it.
    """
    table = read_csv_table(path, declaration)
    return prepare(table, declaration, name=path.stem, seed=seed, provenance="real", notes=describe_file(path))


def _make(spec: DatasetSpec, seed: int, rows: int | None, source: Path | None, notes: dict[str, str]) -> Dataset:
    declaration = spec.declared
    if source is not None:
        table = read_csv_table(source, declaration, share=SAMPLE_SHARE, rows=rows, seed=SAMPLE_SEED)
        notes = notes | {"rows used": str(len(table.labels)), "rows of the published table": str(spec.rows)}
        return prepare(table, declaration, name=spec.name, seed=seed, provenance="real", notes=notes)
    if spec.generate is None:
        return prepare(_packaged(), declaration, name=spec.name, seed=seed, provenance="packaged")
    table = spec.generate(rows if rows is not None else round(SAMPLE_SHARE * spec.rows), SAMPLE_SEED)
    return prepare(table, declaration, name=spec.name, seed=seed, provenance="generated")


def _real_file(spec: DatasetSpec, data_root: Path) -> Path:
    assert spec.csv is not None
    for candidate in (data_root / spec.csv, data_root / spec.name / spec.csv):
        if candidate.is_file():
            return candidate
    raise TableError(
        f"{data_root}: expected the file {spec.csv} (or {spec.name}/{spec.csv}) with the rows of {spec.name}, "
        "found none; put it there, or leave the data root out to use generated rows"
    )


def _packaged() -> RawTable:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    columns = {str(name): bunch.data[:, number] for number, name in enumerate(bunch.feature_names)}
    # There 0 is malignant.
    labels = (bunch.target == 0).astype(np.int8)
    return RawTable(columns, labels, "scikit-learn's breast cancer data", np.arange(len(labels)) + 2)


def _key(spec: DatasetSpec, seed: int, rows: int | None, notes: dict[str, str]) -> str:
    """Digest all that a prepared data set is made from, the code that makes it included."""
    code = Path(__file__).parent
    sources = sorted([*code.rglob("*.py"), code / "declarations" / spec.declaration])
    digest = hashlib.sha256(json.dumps([spec.name, seed, rows, notes, np.__version__]).encode())
    for file in sources:
        digest.update(file.read_bytes())
    return f"{spec.name}-{digest.hexdigest()[:20]}"
