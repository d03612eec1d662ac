"""What the columns of a table mean.

A `Feature` is a column of the raw table; a `Schema` lays features out as the columns of a numeric matrix. A category
becomes a *block* of neighbouring 0/1 columns named ``feature=category``; every other feature is one column under its
own name. Every mask and bound is given per matrix column, so that no other module ever parses a name.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tabular_bench.errors import DeclarationError, UnknownName

Kind = Literal["numeric", "integer", "binary", "category"]
Mutability = Literal["mutable", "immutable", "derived"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of the raw table.

    Attributes
    ----------
    name
        As in the header of the table.
    kind
        ``numeric`` real, ``integer`` whole, ``binary`` 0 or 1, ``category`` one of `categories`.
    lower, upper
        Bounds in `unit`, both allowed values; infinite where there is none. Not used by a category.
    mutability
        ``mutable`` if the person whose row it is can choose the value, ``immutable`` if not, ``derived`` if it
        follows from other features by a relation ``name == ...`` and moves only as they imply.
    unit
        Of the value, for people: ``"USD"``, ``"months"``.
    categories
        The allowed values of a category, in the order of their matrix columns.
    """

    name: str
    kind: Kind = "numeric"
    lower: float = -math.inf
    upper: float = math.inf
    mutability: Mutability = "mutable"
    unit: str = ""
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind == "category" and (len(self.categories) < 2 or len(set(self.categories)) < len(self.categories)):
            raise DeclarationError(
                f"feature {self.name}: expected two or more different categories, found {self.categories}"
            )
        if self.kind != "category" and self.categories:
            raise DeclarationError(f"feature {self.name}: only a category has categories, this one is {self.kind}")
        if self.kind == "category" and self.mutability == "derived":
            raise DeclarationError(f"feature {self.name}: a category cannot be derived")
        if self.kind == "integer" and any(math.isfinite(b) and b != round(b) for b in (self.lower, self.upper)):
            raise DeclarationError(
                f"feature {self.name}: an integer needs whole bounds, found {self.lower}, {self.upper}"
            )
        if not self.lower <= self.upper:
            raise DeclarationError(f"feature {self.name}: expected lower <= upper, found {self.lower} and {self.upper}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its matrix columns."""
        if self.kind == "category":
            return tuple(f"{self.name}={category}" for category in self.categories)
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Block:
    """The 0/1 columns of one category.

    Attributes
    ----------
    feature
        The category.
    start, stop
        Its matrix columns are ``start .. stop - 1``.
    """

    feature: Feature
    start: int
    stop: int

    @property
    def columns(self) -> slice:
        """The matrix columns, to index with."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class Schema:
    """Features laid out as d matrix columns. Vectors have shape ``(d,)`` and cannot be written to.

    Attributes
    ----------
    features
        In the order of their columns.
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise DeclarationError(f"expected every column once, found {', '.join(twice)} more than once")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the matrix columns."""
        return tuple(column for feature in self.features for column in feature.columns)

    @property
    def width(self) -> int:
        """The number d of matrix columns."""
        return len(self.columns)

    @cached_property
    def owners(self) -> tuple[Feature, ...]:
        """The feature that each matrix column belongs to."""
        return tuple(feature for feature in self.features for _ in feature.columns)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The one-hot blocks, in the order of their columns."""
        blocks, start = [], 0
        for feature in self.features:
            stop = start + len(feature.columns)
            if feature.kind == "category":
                blocks.append(Block(feature, start, stop))
            start = stop
        return tuple(blocks)

    @cached_property
    def lower(self) -> FloatArray:
        """The smallest allowed value of each column, in problem space."""
        return _sealed([0.0 if f.kind in ("category", "binary") else f.lower for f in self.owners], np.float64)

    @cached_property
    def upper(self) -> FloatArray:
        """The largest allowed value of each column, in problem space."""
        return _sealed([1.0 if f.kind in ("category", "binary") else f.upper for f in self.owners], np.float64)

    @cached_property
    def mutable(self) -> BoolArray:
        """The columns whose value the attacker can choose; derived columns are not among them."""
        return _sealed([f.mutability == "mutable" for f in self.owners], np.bool_)

    @cached_property
    def derived(self) -> BoolArray:
        """The columns that follow from others."""
        return _sealed([f.mutability == "derived" for f in self.owners], np.bool_)

    @cached_property
    def integer(self) -> BoolArray:
        """The columns outside one-hot blocks that hold whole numbers only, binary ones included."""
        return _sealed([f.kind in ("integer", "binary") for f in self.owners], np.bool_)

    @cached_property
    def one_hot(self) -> BoolArray:
        """The columns of one-hot blocks."""
        return _sealed([f.kind == "category" for f in self.owners], np.bool_)

    @cached_property
    def discrete(self) -> BoolArray:
        """The columns that switch rather than move: one-hot blocks and binary columns."""
        return _sealed([f.kind in ("category", "binary") for f in self.owners], np.bool_)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {column: number for number, column in enumerate(self.columns)}

    @cached_property
    def _by_name(self) -> dict[str, Feature]:
        return {feature.name: feature for feature in self.features}

    @cached_property
    def _block_of(self) -> dict[str, Block]:
        return {block.feature.name: block for block in self.blocks}

    def __contains__(self, column: str) -> bool:
        return column in self._index

    def index(self, column: str) -> int:
        """Return the number of a matrix column.

        Raises
        ------
        UnknownName
            If there is no such column.
        """
        try:
            return self._index[column]
        except KeyError:
            raise UnknownName("column", column, self.columns) from None

    def feature(self, name: str) -> Feature:
        """Return a feature by name.

        Raises
        ------
        UnknownName
            If there is no such feature.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownName("feature", name, self._by_name) from None

    def columns_of(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the matrix columns of a feature.

        Raises
        ------
        UnknownName
            If there is no such feature.
        """
        if name in self._block_of:
            block = self._block_of[name]
            return tuple(range(block.start, block.stop))
        return (self.index(self.feature(name).name),)

    def to_json(self) -> list[dict[str, Any]]:
        """Return a description that `from_json` reads back, for the cache and for hashing."""
        return [asdict(feature) for feature in self.features]

    @classmethod
    def from_json(cls, described: list[dict[str, Any]]) -> Schema:
        """Rebuild a schema from `to_json`.

        Parameters
        ----------
        described
            One mapping for each feature.
        """
        return cls(tuple(Feature(**{**item, "categories": tuple(item["categories"])}) for item in described))


def _sealed(values: list[Any], dtype: Any) -> NDArray[Any]:
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array
