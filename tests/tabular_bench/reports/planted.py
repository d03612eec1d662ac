"""Registries made by hand: valid records whose numbers a test chooses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tabular_bench.budget import Budget
from tabular_bench.cell import CellSpec
from tabular_bench.registry import Measured, Record, Status

SEEDS = (42, 123, 456)
ROWS, POSITIVES = 1000, 50


def cell(dataset: str = "lcld", model: str = "mlp", attack: str = "published_capgd", **changed: Any) -> CellSpec:
    """A cell of the published reading, unless changed; `epsilon` may be given."""
    budget = Budget(epsilon=changed.pop("epsilon", 0.1))
    described = {"preset": "published", "attacked": "both", "budget": budget} | changed
    return CellSpec(dataset, model, attack, **described)


def ranking(average: float | None, rows: int = ROWS, positives: int = POSITIVES) -> dict[str, Any]:
    return {
        "rows": rows,
        "positives": positives,
        "average_precision": average,
        "roc_auc": 0.8,
        "recall_at": {"0.01": 0.3, "0.001": 0.1},
    }


def measured(
    clean: float = 0.5,
    robust: float | None = 0.2,
    provenance: str = "generated",
    flags: Mapping[str, str] | None = None,
    **attack: float | None,
) -> Measured:
    """What a cell found; keywords are numbers of the attack, and one that is None is blank with a reason."""
    counted = {
        "attacked": 1000,
        "clean_errors": 100,
        "flipped": 40,
        "feasible_flipped": 10,
        "feasibility": 0.5,
        "filtered_success_rate": 0.25,
        "success_rate": 0.4,
        "runtime_s": 1.5,
    } | attack
    blanks = {f"attack.{name}": "no row flipped" for name, value in counted.items() if value is None}
    if robust is None:
        blanks["robust.average_precision"] = "there is no row"
    return Measured.model_validate(
        {
            "provenance": provenance,
            "hashes": {"dataset": "aa", "detector": "bb"},
            "threshold": 0.5,
            "threshold_rule": "f1",
            "metrics": {
                "clean": ranking(clean),
                "robust": {**ranking(robust), "reading": "as_attacked"},
                "readings": {},
                "attack": counted,
                "rows": {"test": 5000, "evaluated": ROWS, "attacked": 1000, "positives": POSITIVES},
            },
            "blanks": blanks,
            "flags": dict(flags or {}),
        }
    )


def record(
    spec: CellSpec, found: Measured | None, *, error: str | None = None, status: Status = "done", code: str = "c0de"
) -> Record:
    if found is None and status == "done":
        status = "failed"
    return Record(
        key=spec.key,
        cell=spec.to_json(),
        status=status,
        error=error,
        measured=found,
        seed=spec.seed,
        code=code,
        versions={"python": "3.11"},
        started_at=0.0,
        runtime_s=2.0,
    )


def over_seeds(spec: Mapping[str, Any], numbers: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """Records of one place, one for each seed."""
    for seed, found in zip(SEEDS, numbers, strict=False):
        yield record(cell(**spec, seed=seed), measured(**found))


def same(spec: Mapping[str, Any], **numbers: Any) -> list[Record]:
    """Records of one place with the same numbers on every seed."""
    return list(over_seeds(spec, [numbers] * len(SEEDS)))
