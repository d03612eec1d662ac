from __future__ import annotations

import numpy as np
import pytest

from tabular_bench.attack_run import AttackOutcome
from tabular_bench.constraints.feasibility import FeasibilityReport
from tabular_bench.metrics.ranking import average_precision
from tabular_bench.metrics.robustness import attack_metrics, robust_rankings
from tabular_bench.protocol import PUBLISHED, STRICT, Preset, Protocol, ProtocolName


def outcome(
    clean_scores: list[float],
    scores: list[float],
    feasible: list[bool],
    *,
    targets: list[int] | None = None,
    ball: list[bool] | None = None,
    protocol: ProtocolName = "C2",
    preset: Preset = STRICT,
) -> AttackOutcome:
    count = len(scores)
    labels = np.array(targets or [1] * count, dtype=np.int64)
    before, after, valid = np.array(clean_scores), np.array(scores), np.array(feasible, dtype=np.bool_)
    error = (before >= 0.5) != (labels == 1)
    yes = np.ones(count, dtype=np.bool_)
    report = FeasibilityReport(
        bounds=yes,
        integers=yes,
        one_hot=yes,
        relations=valid,
        ball=yes if ball is None else np.array(ball),
        capability=yes,
        violations=np.where(valid, 0.0, 1.0)[:, None],
        labels=("amortisation",),
        feasible=valid,
    )
    return AttackOutcome(
        clean=np.zeros((count, 1)),
        rows=np.zeros((count, 1)),
        targets=labels,
        clean_scores=before,
        scores=after,
        clean_error=error,
        flipped=~error & ((after >= 0.5) != (labels == 1)),
        report=report,
        queries=np.full(count, 10),
        gradient_calls=np.full(count, 2),
        target_queries=np.full(count, 12),
        runtime_s=0.5,
        protocol=Protocol(protocol, preset),
    )


FIVE = {"clean_scores": [0.9, 0.8, 0.7, 0.6, 0.2], "scores": [0.1, 0.2, 0.3, 0.55, 0.6]}


def test_every_rate_has_its_own_denominator() -> None:
    found = attack_metrics(outcome(**FIVE, feasible=[True, True, False, True, True]), 0.5)
    assert (found.attacked, found.clean_errors, found.flipped, found.feasible_flipped) == (5, 1, 3, 2)
    assert found.successes == 2
    assert found.feasibility == 0.8
    assert found.filtered_success_rate == pytest.approx(2 / 3)
    assert found.label_flip_rate == 0.8  # the row that was wrong before is called right now
    assert found.any_success_rate == 0.75
    assert found.feasible_success_rate == found.success_rate == 0.5
    assert found.queries_per_success == 30
    assert (found.queries_per_row, found.gradient_calls_per_row) == (10, 2)
    assert found.failures == {"relations": 1, "relation:amortisation": 1}
    assert found.blanks == {}


def test_the_ball_has_a_rate_of_its_own() -> None:
    found = attack_metrics(outcome(**FIVE, feasible=[True] * 5, ball=[True, False, True, True, True]), 0.5)
    assert (found.any_success_rate, found.ball_success_rate, found.success_rate) == (0.75, 0.5, 0.5)


def test_without_flips_the_filtered_rate_is_blank_and_not_0() -> None:
    found = attack_metrics(outcome([0.9, 0.9], [0.9, 0.8], [True, True]), 0.5)
    assert found.filtered_success_rate is None
    assert found.queries_per_success is None
    assert found.success_rate == 0.0
    assert found.blanks == {"filtered_success_rate": "no row flipped", "queries_per_success": "no attack succeeded"}


def test_the_filtered_rate_of_print_from_counts() -> None:
    # Published as a mean of three ratios, .732; the counts themselves give .728.
    flipped, feasible = 2845, 2071
    valid = [True] * feasible + [False] * (flipped - feasible)
    found = attack_metrics(outcome([0.9] * flipped, [0.1] * flipped, valid, protocol="C1"), 0.5)
    assert found.filtered_success_rate == pytest.approx(0.728, abs=5e-4)


def test_no_row_and_no_right_row() -> None:
    nothing = attack_metrics(outcome([], [], []), 0.5)
    assert nothing.feasibility is None
    assert nothing.blanks["feasibility"] == "no row was attacked"
    wrong = attack_metrics(outcome([0.1], [0.1], [True]), 0.5)
    assert wrong.success_rate is None
    assert wrong.blanks["success_rate"] == "no row was classified rightly before the attack"
    assert wrong.feasibility == 1.0


def test_the_published_threshold_is_used_where_the_run_used_it() -> None:
    attacked = outcome([0.4], [0.45], [True], preset=PUBLISHED)
    assert attack_metrics(attacked, 0.42).label_flip_rate == 0.0
    assert attack_metrics(outcome([0.4], [0.45], [True]), 0.42).label_flip_rate == 1.0


LABELS = np.array([1, 0, 1, 0, 1, 0])
CLEAN = np.array([0.9, 0.4, 0.8, 0.3, 0.7, 0.2])
ATTACKED = np.array([4, 0, 2])  # not in the order of the table
MOVED = {"clean_scores": [0.7, 0.9, 0.8], "scores": [0.1, 0.25, 0.35], "feasible": [True, False, True]}


@pytest.mark.parametrize(
    ("protocol", "preset", "reading"),
    [
        ("A", STRICT, "as_attacked"),
        ("A", PUBLISHED, "as_attacked"),
        ("B", STRICT, "feasible_only"),
        ("B", PUBLISHED, "reverted"),
        ("C1", STRICT, "reverted"),
        ("C2", STRICT, "reverted"),
        ("C2", PUBLISHED, "as_attacked"),
    ],
)
def test_each_protocol_has_its_reading(protocol: ProtocolName, preset: Preset, reading: str) -> None:
    own, every = robust_rankings(LABELS, CLEAN, ATTACKED, outcome(**MOVED, protocol=protocol, preset=preset))
    assert own is every[reading]  # type: ignore[index]


def test_the_three_readings() -> None:
    _, found = robust_rankings(LABELS, CLEAN, ATTACKED, outcome(**MOVED, protocol="B"))
    attacked = [0.25, 0.4, 0.35, 0.3, 0.1, 0.2]
    assert found["as_attacked"].average_precision == average_precision(LABELS, attacked)
    reverted = [0.9, 0.4, 0.35, 0.3, 0.1, 0.2]
    assert found["reverted"].average_precision == average_precision(LABELS, reverted)
    assert found["feasible_only"].average_precision == average_precision(LABELS[1:], reverted[1:])
    assert found["feasible_only"].rows == 5


def test_if_nothing_is_feasible_the_subset_is_blank_with_a_reason() -> None:
    moved = MOVED | {"feasible": [False] * 3}
    own, every = robust_rankings(LABELS, CLEAN, ATTACKED, outcome(**moved, protocol="B"))
    assert own.average_precision is None
    assert own.blanks["average_precision"] == "every one of the 3 rows has the label 0"
    assert every["reverted"].average_precision == average_precision(LABELS, CLEAN)


@pytest.mark.parametrize("attacked", [[0, 1], [0, 0, 1]])
def test_rows_that_do_not_fit_the_outcome(attacked: list[int]) -> None:
    with pytest.raises(ValueError, match="3 different row numbers"):
        robust_rankings(LABELS, CLEAN, np.array(attacked), outcome(**MOVED))
