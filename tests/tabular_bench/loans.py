"""A small table of loans with every kind of column, and relations of several kinds."""

from __future__ import annotations

import numpy as np

from tabular_bench.constraints.catalogue import Catalogue, Constraints, Relation
from tabular_bench.constraints.parsing import parse_statement
from tabular_bench.problem import Problem
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Feature, FloatArray, Schema
from tabular_bench.seeds import generator

SCHEMA = Schema(
    (
        Feature("amount", lower=500, upper=40_000, unit="USD"),
        Feature("rate", lower=0, upper=31, mutability="immutable", unit="percent a year"),
        Feature("term", "category", categories=("36", "60")),
        Feature("instalment", lower=0, mutability="derived", unit="USD"),
        Feature("open_accounts", "integer", lower=0, upper=90),
        Feature("all_accounts", "integer", lower=0, upper=150),
        Feature("purpose", "category", categories=("car", "home", "other")),
        Feature("insured", "binary"),
        Feature("income", lower=0, unit="USD"),
    )
)


def relation(label: str, text: str, tolerance: float = 0.0, published: float | None = None) -> Relation:
    return Relation(label, parse_statement(text), text, tolerance, published)


CATALOGUE = Catalogue(
    (
        relation("instalment", "instalment == payment(amount, rate / 1200, term)", 0.01, 0.10),
        relation("accounts", "open_accounts <= all_accounts", 0, 1e-6),
        relation("car_is_small", 'implies(purpose == "car", amount <= 30_000)'),
    ),
    published_blocks=("term",),
)


def clean_rows(count: int = 200, seed: int = 0) -> FloatArray:
    rng = generator(seed, "loans")
    rows = np.zeros((count, SCHEMA.width))
    column = SCHEMA.index
    rows[:, column("amount")] = np.round(rng.uniform(1_000, 30_000, count))
    rows[:, column("rate")] = np.round(rng.uniform(5, 30, count), 2)
    for block in SCHEMA.blocks:
        rows[np.arange(count), block.start + rng.integers(0, block.stop - block.start, count)] = 1.0
    rows[:, column("all_accounts")] = rng.integers(1, 60, count)
    rows[:, column("open_accounts")] = np.floor(rows[:, column("all_accounts")] * rng.uniform(0, 1, count))
    rows[:, column("insured")] = rng.integers(0, 2, count)
    rows[:, column("income")] = np.round(rng.lognormal(11, 0.5, count), 2)
    exact = Constraints(SCHEMA, CATALOGUE).derive(rows)
    rows[:, column("instalment")] = np.round(exact[:, column("instalment")], 2)
    return rows


def problem(rows: FloatArray | None = None) -> Problem:
    rows = clean_rows() if rows is None else rows
    return Problem(Constraints(SCHEMA, CATALOGUE).scaled_by(rows), Scaler.fit(rows, SCHEMA))
