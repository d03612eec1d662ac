"""A data set ready for use: encoded rows in problem space, labels, split, and where it all came from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tabular_bench.constraints.catalogue import Catalogue, Constraints
from tabular_bench.problem import Problem
from tabular_bench.scaling import Scaler
from tabular_bench.schema import FloatArray, IntArray, Schema

Provenance = Literal["generated", "real", "packaged"]
Part = Literal["train", "validation", "test"]


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of the three parts; disjoint, and together every row.

    Attributes
    ----------
    train, validation, test
        Row numbers.
    """

    train: IntArray
    validation: IntArray
    test: IntArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, their meaning, and their split.

    Attributes
    ----------
    name
        As in tables.
    rows
        Shape ``(n, d)``, float64, finite, in problem space: imputed, categories as 0/1 blocks, nothing scaled.
    labels
        Shape ``(n,)``, int8: 1 is fraud (or default).
    schema
        Of the d columns.
    catalogue
        The relations.
    split
        The three parts.
    seed
        Of the split.
    provenance
        ``generated`` to the schema of the real one, ``real`` from the user's files, ``packaged`` with a library.
        Every record and table says which.
    notes
        What was done to the rows, and what the loader saw: files, checksums, counts of what was filled in.
    amount_column
        Of the money at stake, the largest of which a bank would look at first; None where a table has none.
    """

    name: str
    rows: FloatArray
    labels: NDArray[np.int8]
    schema: Schema
    catalogue: Catalogue
    split: Split
    seed: int
    provenance: Provenance
    notes: dict[str, str] = field(default_factory=dict)
    amount_column: str | None = None

    def part(self, name: Part) -> tuple[FloatArray, NDArray[np.int8]]:
        """Return rows and labels of one part.

        Parameters
        ----------
        name
            ``train``, ``validation`` or ``test``.
        """
        chosen: IntArray = getattr(self.split, name)
        return self.rows[chosen], self.labels[chosen]

    @cached_property
    def problem(self) -> Problem:
        """Relations and scaler, measured on the training rows."""
        train, _ = self.part("train")
        return Problem(
            Constraints(self.schema, self.catalogue).scaled_by(train),
            Scaler.fit(train, self.schema),
        )

    @cached_property
    def content_hash(self) -> str:
        """A digest of rows, labels, schema, relations, split and provenance."""
        digest = hashlib.sha256()
        described = [
            self.name,
            self.provenance,
            self.schema.to_json(),
            [[r.label, r.text, r.tolerance, r.published_tolerance] for r in self.catalogue.relations],
            list(self.catalogue.published_blocks),
        ]
        digest.update(json.dumps(described, sort_keys=True).encode())
        for array in (self.rows, self.labels, self.split.train, self.split.validation, self.split.test):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()
