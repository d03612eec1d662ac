"""The matrix says before training what `run_attack` says after it, for every attack and model."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tabular_bench.attack_run import run_attack
from tabular_bench.attacks.catalogue import ATTACKS
from tabular_bench.budget import Budget
from tabular_bench.capability import matrix
from tabular_bench.detector import Detector
from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS
from tabular_bench.errors import NotApplicable
from tabular_bench.protocol import Protocol
from tabular_bench.threat import DECISION_ONLY, SCORE_ONLY, WHITE_BOX, ThreatModel
from tests.tabular_bench.cells import problem, training, tumours

EVERY_MODEL = MODELS | TRIVIAL_MODELS


@cache
def detector(model: str) -> Detector:
    return EVERY_MODEL[model].train(training())


def applies(attack: str, model: str, threat: ThreatModel) -> bool:
    rows, _, _ = tumours()
    try:
        run_attack(
            ATTACKS[attack].make(),
            detector(model),
            problem(),
            rows[:0],
            np.zeros(0, dtype=np.int64),
            protocol=Protocol("A"),
            threat=threat,
            budget=Budget(),
            threshold=0.5,
            seed=0,
        )
    except NotApplicable:
        return False
    return True


@pytest.mark.parametrize("threat", [WHITE_BOX, SCORE_ONLY, DECISION_ONLY], ids=lambda threat: threat.name)
def test_the_matrix_is_what_happens(threat: ThreatModel) -> None:
    told = matrix(threat)
    assert told == {attack: {model: applies(attack, model, threat) for model in EVERY_MODEL} for attack in ATTACKS}


def test_it_tells_models_and_attacks_apart() -> None:
    told = matrix()
    assert all(told["square"].values())
    assert {model for model, applies in told["capgd"].items() if applies} == {"logistic", "mlp"}
    assert not any(matrix(DECISION_ONLY)["square"].values())
