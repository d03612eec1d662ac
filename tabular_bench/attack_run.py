"""The one final function: it alone applies budget, mask, feasibility and success to what an attack returns."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tabular_bench.attack import Attack, AttackContext
from tabular_bench.budget import Budget
from tabular_bench.constraints.feasibility import Checker, FeasibilityReport
from tabular_bench.counting import CountedDetector, checked_scores
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.errors import AttackError, NotApplicable
from tabular_bench.problem import Problem
from tabular_bench.projection import Projection
from tabular_bench.protocol import Protocol
from tabular_bench.schema import BoolArray, FloatArray, IntArray
from tabular_bench.seeds import generator
from tabular_bench.threads import one_thread
from tabular_bench.threat import ThreatModel

PUBLISHED_THRESHOLD: Final = 0.5


@dataclass(frozen=True, eq=False)
class AttackOutcome:
    """What became of n attacked rows; arrays have one entry a row unless it says otherwise.

    Attributes
    ----------
    clean, rows
        Shape ``(n, d)``, in problem space: before and after. Rows that did not succeed are in here, too.
    targets
        The true labels.
    clean_scores, scores
        The target's scores before and after.
    clean_error
        Classified wrongly before anything was done; such a row is never flipped.
    flipped
        Classified rightly before and wrongly after. The published preset counts fraud only.
    report
        Feasibility, ball and capability.
    queries, gradient_calls
        What the attack asked of the detector that it worked on.
    target_queries
        What it asked of the target: the same, or 0 with a surrogate.
    runtime_s
        Wall time of the attack alone, on one thread.
    protocol
        That it ran under.
    """

    clean: FloatArray
    rows: FloatArray
    targets: IntArray
    clean_scores: FloatArray
    scores: FloatArray
    clean_error: BoolArray
    flipped: BoolArray
    report: FeasibilityReport
    queries: IntArray
    gradient_calls: IntArray
    target_queries: IntArray
    runtime_s: float
    protocol: Protocol

    @property
    def feasible_flipped(self) -> BoolArray:
        """Flipped and feasible."""
        return self.flipped & self.report.feasible

    @property
    def success(self) -> BoolArray:
        """Flipped by a row that the protocol accepts.

        A accepts whatever lies in the ball. B, C1 and C2 accept what is feasible as well, and C2 only what the
        attacker could make. Whether leaving the ball disqualifies is the preset's choice.
        """
        success = self.flipped.copy()
        if self.protocol.preset.checks_ball:
            success &= self.report.ball
        if self.protocol.name != "A":
            success &= self.report.feasible
        if self.protocol.masks:
            success &= self.report.capability
        return success

    def keep(self, chosen: BoolArray) -> AttackOutcome:
        """Return the outcome of some of the rows only, say of the feasible ones.

        Parameters
        ----------
        chosen
            Shape ``(n,)``.
        """
        per_row = "clean rows targets clean_scores scores clean_error flipped queries gradient_calls target_queries"
        families = "bounds integers one_hot relations ball capability violations feasible"
        report = replace(self.report, **{name: getattr(self.report, name)[chosen] for name in families.split()})
        return replace(self, report=report, **{name: getattr(self, name)[chosen] for name in per_row.split()})

    def reasons(self) -> list[str]:
        """Say of each row why it is no success; empty for those that are."""
        causes = (
            (self.clean_error, "misjudged before the attack"),
            (~self.flipped, "not flipped"),
            (~self.report.ball, "outside the budget"),
            (~self.report.feasible, "infeasible"),
            (~self.report.capability, "beyond the attacker's reach"),
        )
        success = self.success
        return [
            "" if success[row] else next(reason for cause, reason in causes if cause[row])
            for row in range(len(self.rows))
        ]


def run_attack(
    attack: Attack,
    target: Detector,
    problem: Problem,
    rows: FloatArray,
    targets: IntArray,
    *,
    protocol: Protocol,
    threat: ThreatModel,
    budget: Budget,
    threshold: float,
    seed: int,
    surrogate: Detector | None = None,
) -> AttackOutcome:
    """Attack rows and find out what that is worth.

    Parameters
    ----------
    attack
        Proposes rows.
    target
        The detector to be fooled; expects scaled rows.
    problem
        Columns, relations, spaces.
    rows
        Shape ``(n, d)``, in problem space, finite. n may be 0.
    targets
        Shape ``(n,)``: the true labels, 0 or 1.
    protocol, threat, budget
        How constraints enter, what the attacker knows, how far it may go.
    threshold
        A score of at least this is a prediction of fraud. The published preset uses one half instead.
    seed
        Of the attack's randomness.
    surrogate
        What the attack works on where the threat model says so; expects scaled rows.

    Returns
    -------
    AttackOutcome
        For the n rows.

    Raises
    ------
    NotApplicable
        If attack, threat model and detector do not go together.
    AttackError
        If the attack breaks its contract.
    DetectorError
        If a detector does.
    """
    if protocol.preset.only_caught_fraud:
        threshold = PUBLISHED_THRESHOLD
    attacked = _attacked(attack, target, threat, surrogate)
    targets = np.asarray(targets, dtype=np.int64)
    projection = Projection(problem, protocol, budget, threat, rows)
    counted = CountedDetector(attacked, targets, threshold, threat, budget.max_queries)
    shown = projection.clean_scaled.copy()
    shown.setflags(write=False)
    context = AttackContext(shown, targets, counted, projection, generator(seed, "attack"))
    started = time.perf_counter()
    with one_thread():
        proposed = attack.perturb(context) if len(rows) else shown
    runtime_s = time.perf_counter() - started
    final = _finish(proposed, projection.knowing_all())
    clean_scores = checked_scores(target, projection.clean_scaled)
    scores = checked_scores(target, problem.scaler.to_scaled(final))
    flipped, clean_error = _flipped(clean_scores, scores, targets, threshold, protocol)
    checker = Checker(
        problem.constraints,
        problem.scaler,
        protocol.ball(problem.schema, budget),
        protocol.mask(problem.schema),
        protocol.preset,
    )
    asked = counted.queries + counted.gradient_calls
    return AttackOutcome(
        clean=rows,
        rows=final,
        targets=targets,
        clean_scores=clean_scores,
        scores=scores,
        clean_error=clean_error,
        flipped=flipped,
        report=checker.check(rows, final),
        queries=counted.queries,
        gradient_calls=counted.gradient_calls,
        target_queries=np.zeros_like(asked) if threat.surrogate else asked,
        runtime_s=runtime_s,
        protocol=protocol,
    )


def _attacked(attack: Attack, target: Detector, threat: ThreatModel, surrogate: Detector | None) -> Detector:
    """Return the detector that the attack works on, or say what does not fit."""
    if threat.surrogate != (surrogate is not None):
        raise NotApplicable(
            f"the threat model {threat.name} {'needs a' if threat.surrogate else 'has no'} surrogate detector"
        )
    attacked = target if surrogate is None else surrogate
    if not threat.allows(attack.access):
        raise NotApplicable(f"the attack needs {attack.access}s, the threat model {threat.name} gives {threat.access}s")
    if attack.access == "gradient" and not isinstance(attacked, DifferentiableDetector):
        raise NotApplicable(f"the attack needs gradients, {type(attacked).__name__} has none; attack it by its scores")
    return attacked


def _finish(proposed: FloatArray, projection: Projection) -> FloatArray:
    """Bring candidates to where the protocol allows them; returns problem-space rows."""
    proposed = np.asarray(proposed, dtype=np.float64)
    expected = projection.clean_scaled.shape
    if proposed.shape != expected:
        raise AttackError(f"expected candidate rows of shape {expected}, found {proposed.shape}")
    if not np.isfinite(proposed).all():
        broken = int((~np.isfinite(proposed).all(axis=1)).sum())
        raise AttackError(f"expected finite candidate rows, found NaN or infinity in {broken} of {len(proposed)}")
    every = np.arange(len(proposed))
    return projection.to_problem(projection(proposed, every), every)


def _flipped(
    clean_scores: FloatArray, scores: FloatArray, targets: IntArray, threshold: float, protocol: Protocol
) -> tuple[BoolArray, BoolArray]:
    is_fraud = targets == 1
    clean_error = (clean_scores >= threshold) != is_fraud
    flipped = ~clean_error & ((scores >= threshold) != is_fraud)
    if protocol.preset.only_caught_fraud:
        flipped &= is_fraud
    return flipped, clean_error
