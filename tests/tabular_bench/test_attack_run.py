from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from tabular_bench.attack import AttackContext
from tabular_bench.attack_run import AttackOutcome, run_attack
from tabular_bench.budget import Budget
from tabular_bench.constraints.catalogue import Catalogue, Constraints
from tabular_bench.counting import CountedDetector
from tabular_bench.errors import AccessDenied, AttackError, DetectorError, NotApplicable, QueryBudgetSpent
from tabular_bench.problem import Problem
from tabular_bench.protocol import PUBLISHED, STRICT, Preset, Protocol, ProtocolName
from tabular_bench.scaling import ProblemFront, ScaledFront, Scaler
from tabular_bench.schema import Feature, FloatArray, Schema
from tabular_bench.threat import DECISION_ONLY, SCORE_ONLY, WHITE_BOX, Access, ThreatModel
from tests.tabular_bench.loans import SCHEMA, clean_rows, problem

LOANS = problem(clean_rows(500, seed=1))
ROWS = clean_rows(60)


@dataclass
class Linear:
    """The logistic function of a weighted sum."""

    weights: FloatArray
    bias: float = 0.0

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{number}" for number in range(len(self.weights)))

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return 1 / (1 + np.exp(-(rows @ self.weights + self.bias)))

    def gradient(self, rows: FloatArray, targets: FloatArray) -> FloatArray:
        return np.where(targets[:, None] == 1, -1.0, 1.0) * self.weights * np.ones_like(rows)


@dataclass
class Blind:
    """The same without gradients."""

    inner: Linear

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.inner.feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        return self.inner.predict_proba(rows)


@dataclass
class Propose:
    """An attack that is one function."""

    propose: Callable[[AttackContext], FloatArray]
    access: Access = "decision"

    def perturb(self, context: AttackContext) -> FloatArray:
        return self.propose(context)


def greedy(context: AttackContext) -> FloatArray:
    """Far beyond the corner of the ball that the gradient points to, in every column."""
    return context.rows + 100 * np.sign(context.detector.gradients(context.rows, context.all_rows))


GREEDY = Propose(greedy, "gradient")


def plain(rows: FloatArray, features: tuple[Feature, ...]) -> Problem:
    """No relations, and scaled space is problem space."""
    width = rows.shape[1]
    schema = Schema(features)
    return Problem(
        Constraints(schema, Catalogue()), Scaler(np.zeros(width), np.ones(width), rows.min(axis=0), rows.max(axis=0))
    )


def attacked(
    attack: Propose,
    *,
    protocol: ProtocolName = "C2",
    preset: Preset = STRICT,
    threat: ThreatModel = WHITE_BOX,
    budget: Budget | None = None,
    detector: Linear | Blind | None = None,
    rows: FloatArray = ROWS,
    targets: FloatArray | None = None,
    ground: Problem = LOANS,
    threshold: float = 0.5,
    surrogate: Linear | None = None,
) -> AttackOutcome:
    return run_attack(
        attack,
        detector or Linear(np.linspace(-1, 1, ground.schema.width)),
        ground,
        rows,
        np.ones(len(rows), dtype=np.int64) if targets is None else targets.astype(np.int64),
        protocol=Protocol(protocol, preset),
        threat=threat,
        budget=budget or Budget(),
        threshold=threshold,
        seed=1,
        surrogate=surrogate,
    )


LINE = np.array([[0.05, 0.5, 0.5]])
WEIGHTS = Linear(np.array([1.0, -2.0, 0.5]))


def score(rows: FloatArray) -> float:
    return float(rows[0] @ WEIGHTS.weights)


def line(lower: float = -np.inf, upper: float = np.inf, frozen: tuple[int, ...] = ()) -> Problem:
    features = tuple(
        Feature(f"x{n}", lower=lower, upper=upper, mutability="immutable" if n in frozen else "mutable")
        for n in range(3)
    )
    return plain(LINE, features)


@pytest.mark.parametrize(
    ("protocol", "ground", "corner", "drop"),
    [
        ("A", line(), (-0.05, 0.6, 0.4), 0.35),
        ("C1", line(0, 1), (0.0, 0.6, 0.4), 0.30),
        ("C2", line(frozen=(1,)), (-0.05, 0.5, 0.4), 0.15),
    ],
)
def test_a_greedy_attack_ends_in_the_corner_and_no_further(
    protocol: ProtocolName, ground: Problem, corner: tuple[float, ...], drop: float
) -> None:
    outcome = attacked(GREEDY, protocol=protocol, detector=WEIGHTS, rows=LINE, ground=ground)
    np.testing.assert_allclose(outcome.rows, [corner], atol=1e-12)
    assert score(LINE) - score(outcome.rows) == pytest.approx(drop, abs=1e-9)


def test_a_frozen_column_keeps_every_bit() -> None:
    ugly = np.array([[0.1 + 0.2, 1 / 3, 2 / 3]])
    rows = np.vstack([ugly, ugly * 1.7, ugly * 0.3])
    schema = Schema(tuple(Feature(f"x{n}", mutability="immutable" if n == 1 else "mutable") for n in range(3)))
    ground = Problem(Constraints(schema, Catalogue()), Scaler.fit(rows, schema))
    outcome = attacked(GREEDY, detector=WEIGHTS, rows=rows, ground=ground)
    assert (outcome.rows[:, 1] == rows[:, 1]).all()
    assert (outcome.rows[:, 0] != rows[:, 0]).all()
    assert outcome.report.capability.all()


@pytest.mark.parametrize("protocol", ["C1", "C2"])
def test_whatever_is_proposed_what_comes_out_is_feasible_and_in_the_ball(protocol: ProtocolName) -> None:
    wild = Propose(lambda context: context.rows + context.rng.normal(0, 50, context.rows.shape))
    outcome = attacked(wild, protocol=protocol)
    assert outcome.report.feasible.all(), outcome.report.failures()
    assert (outcome.report.ball & outcome.report.capability).all()


def test_without_constraints_rows_stay_in_the_ball_and_hardly_any_is_feasible() -> None:
    a, b = attacked(GREEDY, protocol="A"), attacked(GREEDY, protocol="B")
    assert a.report.ball.all()
    assert not a.report.feasible.any()
    assert np.array_equal(a.rows, b.rows)
    assert a.success.sum() == a.flipped.sum() > 0
    assert b.success.sum() == 0


def test_a_large_whole_number_that_moved_a_fraction_is_not_rounded_for_the_attacker() -> None:
    rows = np.array([[1_500_000_000.0], [1_500_000_007.0], [1_600_000_000.0]])
    schema = Schema((Feature("seconds", "integer"),))
    ground = Problem(Constraints(schema, Catalogue()), Scaler.fit(rows, schema))
    detector = Linear(np.ones(1))
    step = 0.25 / ground.scaler.scale[0]
    outcome = attacked(GREEDY, protocol="A", budget=Budget(step), detector=detector, rows=rows, ground=ground)
    np.testing.assert_allclose(rows - outcome.rows, 0.25, atol=1e-5)
    assert not outcome.report.integers.any()
    assert attacked(GREEDY, budget=Budget(step), detector=detector, rows=rows, ground=ground).report.integers.all()


def test_presets_differ() -> None:
    """On the same proposals: blocks, ball, and the frozen column that is overwritten all the same."""
    strict, published = (attacked(GREEDY, protocol="C2", preset=preset) for preset in (STRICT, PUBLISHED))
    purpose = slice(SCHEMA.index("purpose=car"), SCHEMA.index("purpose=other") + 1)
    instalment = SCHEMA.index("instalment")
    assert (np.sort(strict.rows[:, purpose], axis=1) == [0, 0, 1]).all()
    assert (np.sort(published.rows[:, purpose], axis=1)[:, -1] < 1).all()
    assert published.report.feasible.any(), published.report.failures()
    assert not published.report.ball.all()
    assert strict.report.ball.all()
    assert (published.rows[:, instalment] != ROWS[:, instalment]).all()
    assert strict.report.feasible.all()
    switched = (strict.rows[:, SCHEMA.discrete] != ROWS[:, SCHEMA.discrete]).any(axis=1)
    switched_in_print = (published.rows[:, SCHEMA.index("term=36")] != ROWS[:, SCHEMA.index("term=36")]).any()
    assert switched.any()
    assert not switched_in_print


def test_the_published_mask_freezes_by_prefix() -> None:
    schema = Schema((Feature("open_acc", mutability="immutable"), Feature("open_acc_6m"), Feature("open_accounts")))
    assert Protocol("C2", PUBLISHED).mask(schema).tolist() == [False, False, True]
    assert Protocol("C2").mask(schema).tolist() == [False, True, True]
    assert Protocol("C1").mask(schema).all()


def test_a_bigger_ball_holds_the_smaller() -> None:
    scores = [attacked(GREEDY, budget=Budget(epsilon)).scores for epsilon in (0.0, 0.05, 0.1, 0.5)]
    assert (np.diff(scores, axis=0) <= 1e-3).all()
    assert np.array_equal(attacked(GREEDY, budget=Budget(0.0, max_switches=0)).rows, ROWS)


def test_rows_that_were_wrong_before_are_errors_and_no_flips() -> None:
    outcome = attacked(GREEDY, targets=np.arange(60) % 2)
    assert outcome.clean_error.any()
    assert not (outcome.clean_error & outcome.flipped).any()
    assert set(outcome.reasons()) <= {"misjudged before the attack", "not flipped", ""}
    assert [reason == "" for reason in outcome.reasons()] == outcome.success.tolist()
    kept = outcome.keep(outcome.flipped)
    assert len(kept.rows) == outcome.flipped.sum()
    assert kept.flipped.all()
    published = attacked(GREEDY, targets=np.arange(60) % 2, preset=PUBLISHED, threshold=0.01)
    assert (published.targets[published.flipped] == 1).all()
    assert np.array_equal(published.clean_error, (published.clean_scores >= 0.5) != (published.targets == 1))


def test_questions_are_counted_for_the_row_they_are_asked_for() -> None:
    def ask(context: AttackContext) -> FloatArray:
        context.detector.scores(context.rows, context.all_rows)
        context.detector.decisions(context.rows[:3].repeat(2, axis=0), np.repeat(np.arange(3), 2))
        context.detector.gradients(context.rows[:1], np.array([0]))
        return context.rows

    outcome = attacked(Propose(ask, "gradient"))
    assert outcome.queries.tolist() == [3] * 3 + [1] * 57
    assert outcome.gradient_calls.tolist() == [1] + [0] * 59
    assert outcome.target_queries[0] == 4
    spent = attacked(Propose(ask, "gradient"), budget=Budget(max_queries=4))
    assert spent.queries.sum() == outcome.queries.sum()
    with pytest.raises(QueryBudgetSpent, match="more than 3 times"):
        attacked(Propose(ask, "gradient"), budget=Budget(max_queries=3))


def test_an_attack_is_given_what_its_threat_model_gives() -> None:
    def scores(context: AttackContext) -> FloatArray:
        context.detector.scores(context.rows, context.all_rows)
        return context.rows

    assert attacked(Propose(scores), threat=SCORE_ONLY).queries.sum() == 60
    with pytest.raises(AccessDenied, match="decision_only gives decisions, not scores"):
        attacked(Propose(scores), threat=DECISION_ONLY)
    with pytest.raises(NotApplicable, match="needs gradients, the threat model score_only"):
        attacked(GREEDY, threat=SCORE_ONLY)
    with pytest.raises(NotApplicable, match="Blind has none"):
        attacked(GREEDY, detector=Blind(Linear(np.ones(SCHEMA.width))))


def test_with_a_surrogate_the_target_is_asked_nothing() -> None:
    transfer = ThreatModel("transfer", surrogate=True)
    stand_in = Linear(np.linspace(-2, 1, SCHEMA.width))
    outcome = attacked(GREEDY, threat=transfer, surrogate=stand_in)
    direct = attacked(GREEDY, detector=stand_in)
    assert np.array_equal(outcome.rows, direct.rows)
    assert outcome.gradient_calls.sum() == 60
    assert outcome.target_queries.sum() == 0
    with pytest.raises(NotApplicable, match="needs a surrogate"):
        attacked(GREEDY, threat=transfer)
    with pytest.raises(NotApplicable, match="has no surrogate"):
        attacked(GREEDY, surrogate=stand_in)


def test_ignorance_changes_the_attack_and_not_the_check() -> None:
    wild = Propose(
        lambda context: context.project(context.rows + context.rng.normal(0, 50, ROWS.shape), context.all_rows)
    )
    blind = attacked(wild, protocol="C1", threat=ThreatModel("no_relations", knows_relations=False))
    assert (~blind.report.relations).sum() > 0
    assert blind.report.one_hot.all()
    unmasked = attacked(wild, threat=ThreatModel("no_mask", knows_mask=False))
    assert unmasked.report.capability.all()


@pytest.mark.parametrize(
    ("propose", "complaint"),
    [
        (lambda context: context.rows[:-1], r"shape \(60, 12\), found \(59, 12\)"),
        (lambda context: context.rows * np.nan, "NaN or infinity in 60 of 60"),
    ],
)
def test_candidates_that_break_the_contract(propose: Callable[[AttackContext], FloatArray], complaint: str) -> None:
    with pytest.raises(AttackError, match=complaint):
        attacked(Propose(propose))


def test_clean_rows_cannot_be_written_to() -> None:
    def cheat(context: AttackContext) -> FloatArray:
        context.rows[0] = 0.0
        return context.rows

    with pytest.raises(ValueError, match="read-only"):
        attacked(Propose(cheat))


def test_detectors_are_held_to_their_contract() -> None:
    class Wrong(Linear):
        def predict_proba(self, rows: FloatArray) -> FloatArray:
            return super().predict_proba(rows)[:, None]

    with pytest.raises(DetectorError, match=r"shape \(60,\), found \(60, 1\)"):
        attacked(GREEDY, detector=Wrong(np.ones(SCHEMA.width)))
    broken = Linear(np.full(SCHEMA.width, np.nan))
    with pytest.raises(DetectorError, match="finite gradients"):
        attacked(GREEDY, detector=broken)
    with pytest.raises(DetectorError, match="scores in 0"):
        attacked(Propose(lambda context: context.rows), detector=broken)


def test_attacks_run_on_one_thread_and_give_the_others_back() -> None:
    seen = []

    def look(context: AttackContext) -> FloatArray:
        seen.append(torch.get_num_threads())
        return context.rows

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        attacked(Propose(look))
        assert seen == [1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_no_row() -> None:
    outcome = attacked(GREEDY, rows=np.zeros((0, SCHEMA.width)))
    assert outcome.success.shape == (0,)
    assert outcome.reasons() == []


def test_pull_back_is_the_chain_rule() -> None:
    seen = {}

    def look(context: AttackContext) -> FloatArray:
        gradients = np.zeros_like(context.rows)
        gradients[:, SCHEMA.index("instalment")] = 1.0
        seen["pulled"] = context.pull_back(context.rows, gradients)
        seen["mask"] = context.mask
        return context.rows

    attacked(Propose(look))
    scale = LOANS.scaler.scale
    amount, instalment = SCHEMA.index("amount"), SCHEMA.index("instalment")
    expected = ROWS[:, instalment] / ROWS[:, amount] * scale[amount] / scale[instalment]
    np.testing.assert_allclose(seen["pulled"][:, amount], expected, rtol=1e-3)
    assert (seen["pulled"][:, instalment] == 0).all()
    assert not seen["mask"][instalment]


def test_the_penalty_is_normalised_and_its_gradient_right() -> None:
    def look(context: AttackContext) -> FloatArray:
        assert context.penalty is not None
        rows = context.rows + context.rng.normal(0, 0.5, context.rows.shape)
        value, gradient = context.penalty(rows)
        step = 1e-6 * gradient / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-12)
        change = context.penalty(rows + step)[0] - context.penalty(rows - step)[0]
        np.testing.assert_allclose(change, 2e-6 * np.linalg.norm(gradient, axis=1), rtol=1e-3, atol=1e-12)
        assert (value > 0).any()
        return context.rows

    attacked(Propose(look))
    silent = Propose(lambda context: context.rows if context.penalty is None else context.rows[:0])
    assert attacked(silent, protocol="A").success.sum() == 0


def test_the_two_fronts_undo_each_other() -> None:
    inner = Linear(np.linspace(-1, 1, SCHEMA.width))
    front = ProblemFront(inner, LOANS.scaler)
    back = ScaledFront(front, LOANS.scaler)
    scaled = LOANS.scaler.to_scaled(ROWS)
    np.testing.assert_allclose(back.predict_proba(scaled), inner.predict_proba(scaled), rtol=1e-9)
    assert front.feature_names == inner.feature_names


def test_margins_have_the_sign_of_being_right() -> None:
    counted = CountedDetector(WEIGHTS, np.array([1, 0]), 0.5, WHITE_BOX)
    scores, of = np.array([0.5, 0.5]), np.array([0, 1])
    assert counted.wrong(scores, of).tolist() == [False, True]
    assert counted.margins(np.array([0.7, 0.7]), of) == pytest.approx([0.2, -0.2])
