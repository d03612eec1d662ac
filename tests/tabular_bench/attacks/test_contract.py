"""Every attack is held to one contract, on every kind of detector and data set, under every protocol."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tabular_bench.attack_run import AttackOutcome, run_attack
from tabular_bench.attacks.catalogue import ATTACKS, find_attack
from tabular_bench.budget import Budget, Norm
from tabular_bench.constraints.catalogue import Catalogue, Constraints
from tabular_bench.counting import checked_scores
from tabular_bench.dataset import Dataset
from tabular_bench.datasets.registry import DATASETS, load_dataset
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.models import find_model
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.errors import NotApplicable
from tabular_bench.problem import Problem
from tabular_bench.protocol import PUBLISHED, STRICT, Preset, Protocol, ProtocolName
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Feature, FloatArray, IntArray, Kind, Schema
from tabular_bench.threat import THREAT_MODELS, ThreatModel
from tests.tabular_bench.test_attack_run import Linear, plain

DETECTORS = ("logistic", "mlp", "xgboost", "forest", "ensemble", "always")
PROTOCOLS: tuple[ProtocolName, ...] = ("A", "B", "C1", "C2")
MAX_QUERIES = 25
# Those for which the seed decides nothing.
DETERMINISTIC = {"fgsm", "bim"}
# The threat model that gives an attack what it says it needs, and no more.
JUST_ENOUGH = {threat.access: threat for threat in THREAT_MODELS.values()}


@dataclass
class Watched:
    """A detector that counts by itself what it is asked."""

    inner: Detector
    scored: int = 0

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.inner.feature_names

    def predict_proba(self, rows: FloatArray) -> FloatArray:
        self.scored += len(rows)
        return self.inner.predict_proba(rows)


@dataclass
class WatchedWithGradients(Watched):
    differentiated: int = field(default=0)

    def gradient(self, rows: FloatArray, targets: NDArray[np.int8]) -> FloatArray:
        assert isinstance(self.inner, DifferentiableDetector)
        self.differentiated += len(rows)
        return self.inner.gradient(rows, targets)


@dataclass(frozen=True)
class Case:
    """A few rows, what they are taken for, and the detector that does."""

    problem: Problem
    detector: Detector
    rows: FloatArray
    targets: IntArray
    threshold: float

    def run(
        self,
        name: str,
        protocol: ProtocolName = "C2",
        *,
        preset: Preset = STRICT,
        budget: Budget | None = None,
        seed: int = 1,
        threat: ThreatModel | None = None,
        detector: Detector | None = None,
        count: int | None = None,
    ) -> AttackOutcome:
        attack = find_attack(name)
        return run_attack(
            attack,
            detector or self.detector,
            self.problem,
            self.rows[:count],
            self.targets[:count],
            protocol=Protocol(protocol, preset),
            threat=threat or JUST_ENOUGH[attack.access],
            budget=budget or Budget(0.3, max_queries=MAX_QUERIES),
            threshold=self.threshold,
            seed=seed,
        )


@cache
def dataset(name: str) -> Dataset:
    return load_dataset(name, rows=1500)


@cache
def detector(data: str, model: str) -> Detector:
    return find_model(model).train(TrainingSet.of(dataset(data)))


@cache
def case(data: str, model: str) -> Case:
    """Three rows that are taken for fraud, two that are not, and one that is judged wrongly from the start."""
    loaded = dataset(data)
    rows, _ = loaded.part("test")
    scores = checked_scores(detector(data, model), loaded.problem.scaler.to_scaled(rows))
    order = np.argsort(-scores, kind="stable")
    chosen = order[[0, 1, 2, -1, -2, 3]]
    threshold = 0.5 if model == "always" else float((scores[order[3]] + scores[order[-2]]) / 2)
    return Case(loaded.problem, detector(data, model), rows[chosen], np.array([1, 1, 1, 0, 0, 0]), threshold)


def applies(name: str, of: Detector) -> bool:
    return find_attack(name).access != "gradient" or isinstance(of, DifferentiableDetector)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("model", DETECTORS)
@pytest.mark.parametrize("data", DATASETS)
def test_an_attack_keeps_to_its_contract(data: str, model: str, name: str) -> None:
    given = case(data, model)
    before = given.rows.copy()
    for number, protocol in enumerate(PROTOCOLS):
        if not applies(name, given.detector):
            with pytest.raises(NotApplicable, match="needs gradients"):
                given.run(name, protocol)
            continue
        has_gradients = isinstance(given.detector, DifferentiableDetector)
        watched = (WatchedWithGradients if has_gradients else Watched)(given.detector)
        norm = ("linf", "l2")[number % 2]
        budget = Budget(0.3, norm, max_switches=1 + number // 2, max_queries=MAX_QUERIES)  # type: ignore[arg-type]
        outcome = given.run(name, protocol, budget=budget, detector=watched)
        hold_to_protocol(given.problem.schema, outcome)
        # The final function scores each row twice, on nobody's account.
        assert outcome.queries.sum() == watched.scored - 2 * len(before)
        assert outcome.gradient_calls.sum() == getattr(watched, "differentiated", 0)
        assert (outcome.queries + outcome.gradient_calls <= MAX_QUERIES).all()
        wrong_from_the_start = 3 if model == "always" else 1
        assert outcome.clean_error.tolist() == [False] * (6 - wrong_from_the_start) + [True] * wrong_from_the_start
        assert model != "always" or not outcome.flipped.any()
        again = given.run(name, protocol, budget=budget)
        assert np.array_equal(again.rows, outcome.rows)
        assert np.array_equal(again.queries, outcome.queries)
    assert np.array_equal(given.rows, before)


def hold_to_protocol(schema: Schema, outcome: AttackOutcome) -> None:
    clean, rows, report = outcome.clean, outcome.rows, outcome.report
    assert rows.shape == clean.shape
    assert np.isfinite(rows).all()
    assert report.ball.all()
    if outcome.protocol.projects:
        assert report.feasible.all(), report.failures()
        assert set(np.unique(rows[:, schema.discrete])) <= {0.0, 1.0}
        for block in schema.blocks:
            assert (rows[:, block.columns].sum(axis=1) == 1).all()
        assert np.array_equal(rows[:, schema.integer], np.round(rows[:, schema.integer]))
    if outcome.protocol.masks:
        frozen = ~schema.mutable & ~schema.derived
        assert np.array_equal(rows[:, frozen], clean[:, frozen])


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("data", ["lcld", "ieee_cis"])
def test_under_the_published_preset_as_well(data: str, protocol: ProtocolName, name: str) -> None:
    outcome = case(data, "mlp").run(name, protocol, preset=PUBLISHED)
    assert np.isfinite(outcome.rows).all()
    assert (outcome.queries + outcome.gradient_calls <= MAX_QUERIES).all()
    scaler = case(data, "mlp").problem.scaler
    free = ~dataset(data).schema.derived
    assert (outcome.rows >= scaler.lowest - 1e-9 * np.abs(scaler.lowest) - 1e-9)[:, free].all()
    assert (outcome.rows <= scaler.highest + 1e-9 * np.abs(scaler.highest) + 1e-9)[:, free].all()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_that_is_given_less_than_it_needs_does_not_apply(name: str) -> None:
    given = case("lcld", "mlp")
    needed = find_attack(name).access
    for threat in THREAT_MODELS.values():
        if threat.allows(needed):
            assert given.run(name, threat=threat).success.shape == (6,)
        else:
            with pytest.raises(NotApplicable, match=f"needs {needed}s, the threat model {threat.name} gives"):
                given.run(name, threat=threat)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("queries", [0, 1, 2, 3, 7])
def test_the_smallest_budgets_of_queries_are_kept(name: str, queries: int) -> None:
    given = case("lcld", "mlp")
    for max_switches in (0, 1, 3):
        outcome = given.run(name, budget=Budget(0.3, max_switches=max_switches, max_queries=queries))
        assert (outcome.queries + outcome.gradient_calls <= queries).all()
        hold_to_protocol(given.problem.schema, outcome)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("count", [0, 1])
def test_no_row_and_one_row(count: int, protocol: ProtocolName, name: str) -> None:
    outcome = case("sparkov", "mlp").run(name, protocol, count=count)
    assert outcome.rows.shape == (count, dataset("sparkov").schema.width)
    assert outcome.queries.shape == (count,)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("kind", ["numeric", "integer", "binary"])
def test_one_column(kind: str, norm: str, name: str) -> None:
    """One step of the column fools the detector, and every attack finds it."""
    rows = np.array([[1.0], [0.0], [1.0], [0.0]])
    ground = plain(rows, (Feature("only", kind),))  # type: ignore[arg-type]
    given = Case(ground, Linear(np.array([2.0]), -1.0), rows, np.array([1, 0, 1, 0]), 0.5)
    outcome = given.run(name, budget=Budget(1.0, norm, max_queries=200))  # type: ignore[arg-type]
    # The published steps start each time from where rounding has taken them back to.
    assert outcome.success.all() or (kind != "numeric" and name == "published_capgd")


@pytest.mark.parametrize("name", ATTACKS)
def test_where_nothing_may_move_nothing_does(name: str) -> None:
    rows = np.array([[0.3, 1.0], [0.7, 0.0]])
    frozen = tuple(Feature(f"x{number}", mutability="immutable") for number in range(2))
    given = Case(plain(rows, frozen), Linear(np.ones(2), 5.0), rows, np.array([1, 1]), 0.5)
    assert np.array_equal(given.run(name).rows, rows)
    free = Case(plain(rows, (Feature("a"), Feature("b"))), Linear(np.ones(2), 5.0), rows, np.array([1, 1]), 0.5)
    assert np.array_equal(free.run(name, budget=Budget(0.0, max_queries=30)).rows, rows)


@pytest.mark.parametrize("name", [name for name in ATTACKS if find_attack(name).access != "decision"])
def test_another_seed_gives_other_rows_where_there_is_chance(name: str) -> None:
    given = case("lcld", "mlp")
    # No row can be flipped, so that every attack goes on to the end of its restarts.
    stubborn = replace(given, rows=given.rows[:3], targets=np.ones(3, dtype=np.int64), threshold=1e-15)
    one, other = (stubborn.run(name, "A", budget=Budget(0.1, "l2"), seed=seed) for seed in (1, 2))
    assert np.array_equal(one.rows, other.rows) == (name in DETERMINISTIC)


KINDS = st.sampled_from(["numeric", "integer", "binary", "category"])


@settings(max_examples=20)
@given(
    kinds=st.lists(st.tuples(KINDS, st.booleans()), min_size=1, max_size=6),
    norm=st.sampled_from(["linf", "l2"]),
    epsilon=st.sampled_from([0.0, 0.07, 0.6, 3.0]),
    max_switches=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_on_any_table_rows_stay_valid_in_the_ball_and_as_they_were_where_frozen(
    kinds: list[tuple[Kind, bool]], norm: Norm, epsilon: float, max_switches: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    features = tuple(
        Feature(
            f"f{number}",
            kind,
            lower=-2.0 if kind != "category" else -np.inf,
            upper=3.0 if kind != "category" else np.inf,
            mutability="mutable" if moves else "immutable",
            categories=("a", "b", "c") if kind == "category" else (),
        )
        for number, (kind, moves) in enumerate(kinds)
    )
    schema = Schema(features)
    rows = rng.uniform(-2.0, 3.0, (4, schema.width))
    rows[:, schema.integer] = np.round(rows[:, schema.integer])
    rows[:, schema.discrete] = rows[:, schema.discrete] > 0.5
    for block in schema.blocks:
        rows[:, block.columns] = np.eye(3)[rng.integers(0, 3, 4)]
    ground = Problem(Constraints(schema, Catalogue()), Scaler.fit(rows, schema))
    detector = Linear(rng.normal(size=schema.width), rng.normal())
    table = Case(ground, detector, rows, rng.integers(0, 2, 4), 0.5)
    for name in ATTACKS:
        outcome = table.run(name, budget=Budget(epsilon, norm, max_switches, max_queries=30))
        hold_to_protocol(schema, outcome)
        assert outcome.report.capability.all(), name
        assert (outcome.rows >= schema.lower - 1e-9).all()
        assert (outcome.rows <= schema.upper + 1e-9).all()
