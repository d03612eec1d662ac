"""The relations that hold between the features of a data set, and what they mean for its matrix."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabular_bench.constraints.backend import Array, backend_of
from tabular_bench.constraints.evaluation import Evaluator
from tabular_bench.constraints.expression import Comparison, Reference, Statement, Value
from tabular_bench.errors import DeclarationError, TabularError
from tabular_bench.schema import Block, BoolArray, FloatArray, Schema


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of a catalogue.

    Attributes
    ----------
    label
        Short and unique; what reports count.
    statement
        What holds.
    text
        The same for people.
    tolerance
        How far each of its comparisons may be off, in the unit of its sides.
    published_tolerance
        The tolerance of the published check; None if that check does not know this relation.
    """

    label: str
    statement: Statement
    text: str
    tolerance: float = 0.0
    published_tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The relations of one data set.

    Attributes
    ----------
    relations
        May be empty.
    published_blocks
        The categories whose one-hot validity the published check looks at.
    """

    relations: tuple[Relation, ...] = ()
    published_blocks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        twice = [label for label, count in Counter(r.label for r in self.relations).items() if count > 1]
        if twice:
            raise DeclarationError(f"expected every relation under its own label, found {', '.join(twice)} twice")

    def as_published(self) -> Catalogue:
        """Return the selection and the tolerances of the published check."""
        kept = (
            replace(relation, tolerance=relation.published_tolerance)
            for relation in self.relations
            if relation.published_tolerance is not None
        )
        return Catalogue(tuple(kept), self.published_blocks)


@dataclass(frozen=True, slots=True)
class Derivation:
    """A column that follows from others.

    Attributes
    ----------
    column
        The matrix column.
    value
        What it is equal to.
    sources
        The matrix columns that `value` depends on.
    tolerance
        Of the relation.
    """

    column: int
    value: Value
    sources: frozenset[int]
    tolerance: float


@dataclass(frozen=True)
class Constraints:
    """A catalogue bound to the schema of its rows. Rows are in problem space throughout.

    Attributes
    ----------
    schema
        Of the rows.
    catalogue
        Its names are columns or features of the schema.
    scales
        One tuple for each relation, from `scaled_by`; empty until then.

    Raises
    ------
    UnknownName
        If a relation refers to what the schema does not have.
    DeclarationError
        If derived features and their relations do not fit together.
    """

    schema: Schema
    catalogue: Catalogue
    scales: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        # Looks every name up, so that a misspelt one is found before anything runs.
        _ = self.columns, self.derivations

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations, in the order of the columns of `violations`."""
        return self.catalogue.relations

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the relations."""
        return tuple(relation.label for relation in self.relations)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The evaluator for this schema."""
        return Evaluator(self.schema)

    @cached_property
    def columns(self) -> tuple[frozenset[int], ...]:
        """The matrix columns that each relation depends on."""
        found = []
        for relation in self.relations:
            try:
                columns = self.evaluator.columns(relation.statement)
            except TabularError as error:
                raise DeclarationError(f"relation {relation.label} ({relation.text}): {error}") from None
            if not columns:
                raise DeclarationError(f"relation {relation.label} ({relation.text}): expected a feature in it")
            found.append(columns)
        return tuple(found)

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """The derived columns, each after those that it depends on."""
        waiting = self._derivations_by_column()
        ordered: list[Derivation] = []
        while waiting:
            ready = [column for column, derivation in waiting.items() if not derivation.sources & waiting.keys()]
            if not ready:
                names = ", ".join(self.schema.columns[column] for column in waiting)
                raise DeclarationError(f"expected derived features to follow from others, found a circle: {names}")
            ordered += [waiting.pop(column) for column in ready]
        return tuple(ordered)

    def _derivations_by_column(self) -> dict[int, Derivation]:
        found: dict[int, Derivation] = {}
        for relation in self.relations:
            match relation.statement:
                case Comparison("==", Reference(name), value) if name in self.schema:
                    column = self.schema.index(name)
                    if self.schema.derived[column] and column not in found:
                        sources = self.evaluator.columns(value)
                        found[column] = Derivation(column, value, sources, relation.tolerance)
        return found

    def scaled_by(self, rows: FloatArray) -> Constraints:
        """Return the same constraints with the scale of each relation measured on clean training rows.

        Parameters
        ----------
        rows
            Shape ``(n, d)`` with n >= 1.
        """
        scales = tuple(self.evaluator.scales(relation.statement, rows) for relation in self.relations)
        return replace(self, scales=scales)

    def as_published(self) -> Constraints:
        """Return the selection and the tolerances of the published check."""
        kept = [number for number, r in enumerate(self.relations) if r.published_tolerance is not None]
        scales = tuple(self.scales[number] for number in kept) if self.scales else ()
        return Constraints(self.schema, self.catalogue.as_published(), scales)

    def violations(self, rows: Array, *, normalised: bool = False) -> Array:
        """Return by how much each row violates each relation.

        Parameters
        ----------
        rows
            Shape ``(n, d)``, NumPy or torch, float64.
        normalised
            Whether to divide by the scales of clean data, as a loss needs it.

        Returns
        -------
        Array
            Shape ``(n, k)``, at least 0, of the kind of `rows`; exactly 0 where a relation holds.

        Raises
        ------
        ValueError
            If `normalised` and the scales were never measured.
        """
        if normalised and len(self.scales) != len(self.relations):
            raise ValueError("expected scales for every relation; measure them with scaled_by(training rows)")
        if not self.relations:
            return rows[:, :0]
        found = [
            self.evaluator.violation(
                relation.statement, rows, relation.tolerance, self.scales[number] if normalised else ()
            )
            for number, relation in enumerate(self.relations)
        ]
        return backend_of(rows).stack(found)

    def derive(self, rows: Array) -> Array:
        """Return rows whose derived columns are what the others imply.

        Parameters
        ----------
        rows
            Shape ``(n, d)``, NumPy or torch; not changed. Gradients flow through to the sources.

        Returns
        -------
        Array
            Shape ``(n, d)``.
        """
        if not self.derivations:
            return rows
        # Taken apart at once: torch would go back through every column by itself, each time through all of the rows.
        columns = list(rows.T)
        xp = backend_of(rows)
        for derivation in self.derivations:
            columns[derivation.column] = self.evaluator.value(derivation.value, xp.stack(columns))
        return xp.stack(columns)

    @cached_property
    def groups(self) -> tuple[frozenset[int], ...]:
        """The columns that relations tie together, directly or through others; groups share no column."""
        groups: list[frozenset[int]] = []
        for columns in self.columns:
            # A block switches as a whole.
            whole = columns.union(*(range(b.start, b.stop) for b in self.schema.blocks if columns & _span(b)))
            tied = [group for group in groups if group & whole]
            groups = [group for group in groups if not group & whole] + [whole.union(*tied)]
        return tuple(sorted(groups, key=min))

    def holds(self, rows: FloatArray) -> BoolArray:
        """Tell of each row, shape ``(n, d)``, whether every relation holds; shape ``(n,)``."""
        held: BoolArray = np.all(self.violations(rows) == 0, axis=1)
        return held


def _span(block: Block) -> frozenset[int]:
    return frozenset(range(block.start, block.stop))
