"""One way for every test of an attack to run it."""

from __future__ import annotations

import numpy as np

from tabular_bench.attack import Attack
from tabular_bench.attack_run import AttackOutcome, run_attack
from tabular_bench.attacks.catalogue import find_attack
from tabular_bench.budget import Budget
from tabular_bench.detector import Detector
from tabular_bench.problem import Problem
from tabular_bench.protocol import STRICT, Preset, Protocol, ProtocolName
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.threat import DECISION_ONLY, SCORE_ONLY, WHITE_BOX

NEVER = 1e-12
"""A threshold that no score here falls below, so that attacks on fraud go on to the end."""

_GIVING = {"gradient": WHITE_BOX, "score": SCORE_ONLY, "decision": DECISION_ONLY}


def run(
    attack: Attack | str,
    ground: Problem,
    rows: FloatArray,
    detector: Detector,
    budget: Budget | None = None,
    *,
    protocol: ProtocolName = "C2",
    preset: Preset = STRICT,
    threshold: float = NEVER,
    seed: int = 1,
    targets: IntArray | int = 1,
) -> AttackOutcome:
    """Run an attack, or the one of that name, given no more than it needs; `targets` may be one label for all rows."""
    found = find_attack(attack) if isinstance(attack, str) else attack
    return run_attack(
        found,
        detector,
        ground,
        rows,
        np.broadcast_to(np.asarray(targets, dtype=np.int64), len(rows)).copy(),
        protocol=Protocol(protocol, preset),
        threat=_GIVING[found.access],
        budget=budget or Budget(),
        threshold=threshold,
        seed=seed,
    )
