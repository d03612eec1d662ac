"""`check_dataset`: clean rows satisfy their catalogue, and every relation can be violated.

A relation that clean rows break is wrong or too tight; one that nothing breaks says nothing, and would make every
attack look feasible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabular_bench.budget import Budget
from tabular_bench.constraints.feasibility import Checker
from tabular_bench.dataset import Dataset
from tabular_bench.protocol import STRICT, Protocol
from tabular_bench.schema import FloatArray
from tabular_bench.seeds import generator

_PROBES = 200
_DRAWS = 30


@dataclass(frozen=True, slots=True)
class RelationCheck:
    """What was found about one relation.

    Attributes
    ----------
    label, text
        Of the relation.
    clean_violations
        How many clean rows break it.
    can_be_violated
        Whether a row was found that does.
    witness
        The columns of the smallest such change, with clean and changed value; empty if none was found.
    """

    label: str
    text: str
    clean_violations: int
    can_be_violated: bool
    witness: dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class DatasetCheck:
    """What was found about a data set.

    Attributes
    ----------
    name, provenance
        Of the data set.
    rows
        How many were checked: all of them.
    failures
        How many clean rows fail each family of feasibility.
    relations
        One entry for each relation.
    """

    name: str
    provenance: str
    rows: int
    failures: dict[str, int]
    relations: tuple[RelationCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether every clean row is feasible and every relation can be violated."""
        return not self.failures and all(relation.can_be_violated for relation in self.relations)


def check_dataset(dataset: Dataset, *, seed: int = 0) -> DatasetCheck:
    """Check clean rows against their catalogue, and the catalogue against disturbed rows.

    Parameters
    ----------
    dataset
        All parts are checked.
    seed
        Of the disturbances.

    Returns
    -------
    DatasetCheck
        Says what failed and how often.
    """
    problem = dataset.problem
    protocol = Protocol("C2", STRICT)
    checker = Checker(
        problem.constraints,
        problem.scaler,
        protocol.ball(dataset.schema, Budget()),
        protocol.mask(dataset.schema),
        STRICT,
    )
    report = checker.check(dataset.rows, dataset.rows)
    broken = (report.violations > 0).sum(axis=0)
    relations = tuple(
        RelationCheck(relation.label, relation.text, int(broken[number]), witness is not None, witness or {})
        for number, relation in enumerate(problem.constraints.relations)
        for witness in [_witness(dataset, number, seed)]
    )
    return DatasetCheck(dataset.name, dataset.provenance, len(dataset.rows), report.failures(), relations)


def _witness(dataset: Dataset, number: int, seed: int) -> dict[str, tuple[float, float]] | None:
    """Change the columns of one relation, a little at first, until a clean row breaks it."""
    constraints, scaler = dataset.problem.constraints, dataset.problem.scaler
    relation = constraints.relations[number]
    rng = generator(seed, "check", relation.label)
    columns = sorted(constraints.columns[number])
    rows = dataset.rows[rng.permutation(len(dataset.rows))[:_PROBES]]
    whole = rows[constraints.evaluator.violation(relation.statement, rows, relation.tolerance) == 0]
    for draw in range(_DRAWS if len(whole) else 0):
        changed = whole.copy()
        # From a hundredth of a deviation to thousands.
        strength = 0.01 * 1.6**draw
        for column in columns:
            changed[:, column] = _moved(dataset, changed, column, strength * scaler.scale[column], rng)
        broken = constraints.evaluator.violation(relation.statement, changed, relation.tolerance) > 0
        if broken.any():
            first = int(np.flatnonzero(broken)[0])
            differing = [column for column in columns if changed[first, column] != whole[first, column]]
            return {
                dataset.schema.columns[column]: (float(whole[first, column]), float(changed[first, column]))
                for column in differing
            }
    return None


def _moved(dataset: Dataset, rows: FloatArray, column: int, distance: float, rng: np.random.Generator) -> FloatArray:
    values = rows[:, column]
    if dataset.schema.discrete[column]:
        return np.where(rng.random(len(values)) < 0.5, 1 - values, values)
    moved: FloatArray = values + rng.normal(0, distance, len(values))
    return np.round(moved) if dataset.schema.integer[column] else moved
