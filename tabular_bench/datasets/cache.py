"""Prepared data sets on disk: arrays as ``.npz`` without pickle, everything else as JSON, checked on the way in.

An entry is named by a digest of all that it was made from, so that nothing has to be invalidated: what changes gets
another name. An entry that cannot be read, or whose content is not what it says, is made anew.
"""

from __future__ import annotations

import json
import logging
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tabular_bench.constraints.catalogue import Catalogue
from tabular_bench.dataset import Dataset, Split
from tabular_bench.errors import TabularError
from tabular_bench.schema import Schema

_log = logging.getLogger(__name__)

_ARRAYS = ("rows", "labels", "train", "validation", "test")


def load(folder: Path, key: str, catalogue: Catalogue) -> Dataset | None:
    """Return a cached data set, or None if there is none that is whole.

    Parameters
    ----------
    folder
        Of the cache; need not exist.
    key
        Of the entry.
    catalogue
        The relations, which are declared and not cached.
    """
    try:
        described = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        # Opened here, because NumPy leaves the file open when what is in it is no archive.
        with (folder / f"{key}.npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in _ARRAYS}
        dataset = Dataset(
            name=described["name"],
            rows=arrays["rows"],
            labels=arrays["labels"],
            schema=Schema.from_json(described["schema"]),
            catalogue=catalogue,
            split=Split(arrays["train"], arrays["validation"], arrays["test"]),
            seed=described["seed"],
            provenance=described["provenance"],
            notes=described["notes"],
            amount_column=described["amount_column"],
        )
        if dataset.content_hash == described["content_hash"]:
            return dataset
        _log.warning("cache entry %s in %s is not what it says and is made anew", key, folder)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, TabularError) as error:
        _log.warning("cache entry %s in %s cannot be read and is made anew: %s", key, folder, error)
    return None


def save(folder: Path, key: str, dataset: Dataset) -> None:
    """Write an entry; a reader never sees half of one.

    Parameters
    ----------
    folder
        Of the cache; made if it is not there.
    key
        Of the entry.
    dataset
        What to store.
    """
    folder.mkdir(parents=True, exist_ok=True)
    described: dict[str, Any] = {
        "name": dataset.name,
        "schema": dataset.schema.to_json(),
        "seed": dataset.seed,
        "provenance": dataset.provenance,
        "notes": dataset.notes,
        "amount_column": dataset.amount_column,
        "content_hash": dataset.content_hash,
    }
    split = dataset.split
    with tempfile.TemporaryDirectory(dir=folder) as made:
        arrays, description = Path(made) / "arrays.npz", Path(made) / "description.json"
        np.savez_compressed(
            arrays,
            rows=dataset.rows,
            labels=dataset.labels,
            train=split.train,
            validation=split.validation,
            test=split.test,
        )
        description.write_text(json.dumps(described), encoding="utf-8")
        arrays.replace(folder / f"{key}.npz")
        description.replace(folder / f"{key}.json")
