"""What an attack did to a detector: counts and rates of rows, and the ranking that is left.

======================  ==========================================  ====================================
number                  is                                          blank if
======================  ==========================================  ====================================
feasibility             feasible / attacked                         nothing was attacked
flipped                 rows right before and wrong after           never
feasible flipped        those of them that are feasible             never
filtered success rate   feasible flipped / flipped                  nothing flipped
label flip rate         rows whose predicted label is another,      nothing was attacked
                        whichever was right / attacked
any success rate        flipped / rows right before                 no row was right before
ball success rate       flipped in the ball / rows right before     no row was right before
feasible success rate   feasible flipped / rows right before        no row was right before
success rate            successes of the protocol / right before    no row was right before
queries a success       questions to the target / successes         nothing succeeded
======================  ==========================================  ====================================

Rows that the detector misjudges without an attack are counted apart and are nobody's success.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tabular_bench.attack_run import PUBLISHED_THRESHOLD, AttackOutcome
from tabular_bench.metrics.ranking import Ranking, rank
from tabular_bench.schema import BoolArray, FloatArray, IntArray

Reading = Literal["as_attacked", "reverted", "feasible_only"]


@dataclass(frozen=True, slots=True)
class AttackMetrics:
    """What became of the attacked rows; the module's table defines every number.

    Attributes
    ----------
    attacked, clean_errors, flipped, feasible_flipped, successes
        Counts of rows.
    feasibility, filtered_success_rate, label_flip_rate, any_success_rate, ball_success_rate, feasible_success_rate
        Rates in 0..1, or None.
    success_rate
        In 0..1, or None.
    queries_per_success
        Questions to the target over all rows for each success, or None.
    queries_per_row, gradient_calls_per_row
        Asked by the attack on average, or None.
    runtime_s
        Wall time of the attack.
    failures
        How many rows fail each family of checks and each relation.
    blanks
        By name, why a number is None.
    """

    attacked: int
    clean_errors: int
    flipped: int
    feasible_flipped: int
    successes: int
    feasibility: float | None
    filtered_success_rate: float | None
    label_flip_rate: float | None
    any_success_rate: float | None
    ball_success_rate: float | None
    feasible_success_rate: float | None
    success_rate: float | None
    queries_per_success: float | None
    queries_per_row: float | None
    gradient_calls_per_row: float | None
    runtime_s: float
    failures: dict[str, int] = field(default_factory=dict)
    blanks: dict[str, str] = field(default_factory=dict)


def attack_metrics(outcome: AttackOutcome, threshold: float) -> AttackMetrics:
    """Count what became of the attacked rows.

    Parameters
    ----------
    outcome
        Of the attack.
    threshold
        The one that `run_attack` was given. The published preset uses one half instead, here as there.
    """
    if outcome.protocol.preset.only_caught_fraud:
        threshold = PUBLISHED_THRESHOLD
    attacked, clean_errors = len(outcome.rows), int(outcome.clean_error.sum())
    right = attacked - clean_errors
    flipped, feasible = int(outcome.flipped.sum()), int(outcome.feasible_flipped.sum())
    successes = int(outcome.success.sum())
    in_ball = int((outcome.flipped & outcome.report.ball).sum())
    relabelled = int(((outcome.clean_scores >= threshold) != (outcome.scores >= threshold)).sum())
    blanks: dict[str, str] = {}

    def rate(name: str, part: int, whole: int, why: str) -> float | None:
        if whole:
            return part / whole
        blanks[name] = why
        return None

    no_row, none_right = "no row was attacked", "no row was classified rightly before the attack"
    return AttackMetrics(
        attacked=attacked,
        clean_errors=clean_errors,
        flipped=flipped,
        feasible_flipped=feasible,
        successes=successes,
        feasibility=rate("feasibility", int(outcome.report.feasible.sum()), attacked, no_row),
        filtered_success_rate=rate("filtered_success_rate", feasible, flipped, "no row flipped"),
        label_flip_rate=rate("label_flip_rate", relabelled, attacked, no_row),
        any_success_rate=rate("any_success_rate", flipped, right, none_right),
        ball_success_rate=rate("ball_success_rate", in_ball, right, none_right),
        feasible_success_rate=rate("feasible_success_rate", feasible, right, none_right),
        success_rate=rate("success_rate", successes, right, none_right),
        queries_per_success=rate(
            "queries_per_success", int(outcome.target_queries.sum()), successes, "no attack succeeded"
        ),
        queries_per_row=rate("queries_per_row", int(outcome.queries.sum()), attacked, no_row),
        gradient_calls_per_row=rate("gradient_calls_per_row", int(outcome.gradient_calls.sum()), attacked, no_row),
        runtime_s=outcome.runtime_s,
        failures=outcome.report.failures(),
        blanks=blanks,
    )


def robust_rankings(
    labels: ArrayLike, clean_scores: FloatArray, attacked: IntArray, outcome: AttackOutcome
) -> tuple[Ranking, dict[Reading, Ranking]]:
    """Rank the evaluated rows after the attack, in the reading of the protocol and in every other.

    * ``as_attacked``: every attacked row in its attacked form. The number of Protocol A, and of C1 and C2 in print.
    * ``reverted``: rows that the protocol does not accept in their clean form, as a row that is turned away was not
      sent. The number of C1 and C2 under the strict preset, and of B in print.
    * ``feasible_only``: rows that are not accepted are left out. The number of B under the strict preset.

    Parameters
    ----------
    labels
        Shape ``(n,)``: of all evaluated rows, attacked or not.
    clean_scores
        Shape ``(n,)``: their scores before the attack.
    attacked
        Shape ``(m,)``: which of them were attacked, each once, in the order of the outcome.
    outcome
        Of the attack on these m rows.

    Returns
    -------
    tuple[Ranking, dict[Reading, Ranking]]
        That of the protocol's own reading, and all three by name.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a row is attacked twice.
    """
    labels = np.asarray(labels)
    if len(attacked) != len(outcome.rows) or len(np.unique(attacked)) != len(attacked):
        raise ValueError(f"expected {len(outcome.rows)} different row numbers, found {len(attacked)} or repeated ones")
    accepted = _accepted(outcome)
    after, reverted = clean_scores.copy(), clean_scores.copy()
    after[attacked] = outcome.scores
    reverted[attacked] = np.where(accepted, outcome.scores, outcome.clean_scores)
    kept = np.ones(len(labels), dtype=np.bool_)
    kept[attacked] = accepted
    rankings: dict[Reading, Ranking] = {
        "as_attacked": rank(labels, after),
        "reverted": rank(labels, reverted),
        "feasible_only": rank(labels[kept], reverted[kept]),
    }
    return rankings[_own_reading(outcome)], rankings


def _own_reading(outcome: AttackOutcome) -> Reading:
    protocol = outcome.protocol
    if protocol.filters:
        return "reverted" if protocol.preset.reverts_infeasible else "feasible_only"
    return "reverted" if protocol.projects and protocol.preset.checks_ball else "as_attacked"


def _accepted(outcome: AttackOutcome) -> BoolArray:
    """Tell of each row whether it would have been a success, had it flipped."""
    return replace(outcome, flipped=np.ones(len(outcome.rows), dtype=np.bool_)).success
