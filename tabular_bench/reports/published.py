"""The values in print, read from ``published.csv``, and how their names map to ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("published.csv")

CITATION: Final = (
    "X. Zeng, Z. Bi, Y. Yang, H. Chen, Q. Z. Sheng: FraudBench: Protocol-Sensitive Benchmarking of Adversarial "
    "Robustness for Financial Risk Assessment, 2026, arXiv 2608.24551"
)
EPSILON: Final = 0.1
"""The radius of every published attack that has one, in the maximum norm."""

DATASETS: Final[Mapping[str, str]] = {"ccfd": "CCFD", "ieee_cis": "IEEE-CIS", "lcld": "LCLD", "sparkov": "Sparkov"}
"""Our names of the published data sets and theirs, in their order."""

MODELS: Final[Mapping[str, str]] = {"mlp": "MLP", "xgboost": "XGBoost", "ensemble": "Ensemble"}
"""Our names of the published models and theirs, in their order."""

ATTACKS: Final[Mapping[str, tuple[str, ...]]] = {
    "CAPGD": ("published_capgd", "capgd"),
    "Square": ("square",),
    "HopSkipJump": ("hopskipjump",),
}
"""The published attacks, and which of ours stand in their tables."""

DEFENDED: Final[Mapping[tuple[str, str], str]] = {
    ("mlp", "none"): "MLP+none",
    ("mlp", "adversarial_training"): "MLP+adversarial_training",
    ("mlp", "clip"): "MLP+z_input_validation",
    ("ensemble", "none"): "Ensemble",
}
"""Our model and defence, and what Table X's rows of ``published.csv`` call them."""


@dataclass(frozen=True, slots=True)
class Published:
    """One value in print.

    Attributes
    ----------
    table
        A Roman number.
    dataset, model, protocol, attack
        By their names; empty where the table has none.
    metric
        ``robust_pr_auc``, ``feasible_flipped`` and so on; the file says in what unit.
    mean
        A number over seeds; None where a dash is printed, or words are.
    deviation
        Over seeds; None where none is printed.
    text
        The words, where it is no number.
    """

    table: str
    dataset: str
    model: str
    protocol: str
    attack: str
    metric: str
    mean: float | None
    deviation: float | None
    text: str | None


@cache
def published_values() -> tuple[Published, ...]:
    """Return every value in print, in the order of the tables.

    Raises
    ------
    ValueError
        If the file is not what it must be, which a test rules out.
    """
    with _FILE.open(encoding="utf-8", newline="") as stream:
        lines = [line for line in stream if not line.startswith("#")]
    return tuple(_value(row) for row in csv.DictReader(lines, strict=True))


def find_published(
    table: str, metric: str, *, dataset: str, model: str = "", protocol: str = "", attack: str = ""
) -> Published | None:
    """Return one value in print, None if that table does not have it.

    Parameters
    ----------
    table
        A Roman number.
    metric
        As in the file.
    dataset, model, protocol, attack
        As in the file, by their published names.
    """
    return _by_place().get((table, dataset, model, protocol, attack, metric))


@cache
def _by_place() -> dict[tuple[str, ...], Published]:
    found: dict[tuple[str, ...], Published] = {
        (value.table, value.dataset, value.model, value.protocol, value.attack, value.metric): value
        for value in published_values()
    }
    if len(found) != len(published_values()):
        raise ValueError(f"{_FILE}: expected each value once")
    return found


def _value(row: dict[str, str]) -> Published:
    number, text = _number(row["mean"])
    return Published(
        table=row["table"],
        dataset=row["dataset"],
        model=row["model"],
        protocol=row["protocol"],
        attack=row["attack"],
        metric=row["metric"],
        mean=number,
        deviation=float(row["std"]) if row["std"] else None,
        text=text,
    )


def _number(text: str) -> tuple[float | None, str | None]:
    if text == "NA":
        return None, None
    try:
        return float(text), None
    except ValueError:
        return None, text
