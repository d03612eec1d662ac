"""A stranger's table of 20 columns, and detectors of theirs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.schema import FloatArray
from tabular_bench.seeds import generator

CHANNELS = ("app", "branch", "web")
COUNTRIES = ("AT", "DE", "FR", "IT")
NUMBERS = (
    "amount balance age tenure_months logins_24h payments_7d payee_age_days device_age_days distance_km hour risk "
    "mean_amount max_amount failed_pins ratio new_payee night"
).split()
HEADER = [*NUMBERS, "channel", "country", "reference_no", "fraud"]

FIVE_LINES = """\
immutable = ["age", "tenure_months", "country"]
derived = ["ratio"]
relations = ["mean_amount <= max_amount", "ratio == divide(amount, balance, 0)"]
ignore = ["reference_no"]
"""

Column = NDArray[Any]


@cache
def columns(count: int = 400, seed: int = 0) -> dict[str, Column]:
    rng = generator(seed, "stranger")
    amount = np.round(rng.lognormal(4, 1, count), 2)
    balance = np.round(rng.lognormal(6, 1, count) + 10, 2)
    mean_amount = np.round(rng.lognormal(4, 0.5, count), 2)
    table: dict[str, Column] = {
        "amount": amount,
        "balance": balance,
        "age": rng.integers(18, 90, count).astype(float),
        "tenure_months": rng.integers(0, 240, count).astype(float),
        "logins_24h": rng.poisson(2, count).astype(float),
        "payments_7d": rng.poisson(4, count).astype(float),
        "payee_age_days": np.round(rng.exponential(200, count), 1),
        "device_age_days": np.round(rng.exponential(300, count), 1),
        "distance_km": np.round(rng.exponential(30, count), 2),
        "hour": rng.integers(0, 24, count).astype(float),
        "risk": np.round(rng.normal(0, 1, count), 3),
        "mean_amount": mean_amount,
        "max_amount": np.round(mean_amount * rng.uniform(1, 4, count) + 0.01, 2),
        "failed_pins": rng.poisson(0.3, count).astype(float),
        "ratio": amount / balance,
        "new_payee": rng.integers(0, 2, count).astype(float),
        "night": rng.integers(0, 2, count).astype(float),
        "channel": rng.choice(CHANNELS, count),
        "country": rng.choice(COUNTRIES, count),
        "reference_no": np.array([f"P{number:06d}" for number in range(count)]),
    }
    logit = 0.8 * (np.log(amount) - 4) + 1.2 * table["risk"].astype(float) + 0.8 * (table["channel"] == "web") - 1.6
    table["fraud"] = (rng.random(count) < 1 / (1 + np.exp(-logit))).astype(float)
    return table


def text(values: dict[str, Column]) -> str:
    """Write columns as CSV; numbers as Python writes them, whole ones without a point."""
    written = [[_cell(value) for value in column] for column in values.values()]
    return "\n".join([",".join(values), *(",".join(row) for row in zip(*written, strict=True))]) + "\n"


def _cell(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def table(folder: Path, name: str = "payments.csv", **changes: Column) -> Path:
    path = folder / name
    path.write_text(text({**columns(), **changes}), encoding="utf-8")
    return path


def encoded(separator: str = "=", *, first: bool = True) -> tuple[FloatArray, list[str]]:
    """Return the rows as an outside training script would have them, and the names of their columns."""
    values = columns()
    names, matrix = list(NUMBERS), [values[name].astype(float) for name in NUMBERS]
    for feature, categories in (("channel", CHANNELS), ("country", COUNTRIES)):
        for category in categories[0 if first else 1 :]:
            names.append(f"{feature}{separator}{category}")
            matrix.append((values[feature] == category).astype(float))
    return np.column_stack(matrix), names


def booster(path: Path, rows: FloatArray, names: list[str] | None, types: list[str] | None = None) -> Path:
    import xgboost

    labels = columns()["fraud"].astype(float)
    data = xgboost.DMatrix(rows, label=labels, feature_names=names, feature_types=types, nthread=1)
    xgboost.train(
        {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "seed": 1}, data, num_boost_round=15
    ).save_model(path)
    return path


def model(folder: Path, separator: str = "=") -> Path:
    return booster(folder / "model.json", *encoded(separator))
