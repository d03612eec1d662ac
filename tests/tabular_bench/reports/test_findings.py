"""Each published finding, on planted registries, to each of its verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from tabular_bench.registry import Record
from tabular_bench.reports.cells import Cells
from tabular_bench.reports.document import FindingResult
from tabular_bench.reports.findings import FINDINGS, evaluate
from tests.tabular_bench.reports.planted import SEEDS, cell, measured, over_seeds, record, same

Numbers = Mapping[str, Any]
CONSTRAINED = ("ieee_cis", "lcld", "sparkov")


def judge(name: str, records: Iterable[Record]) -> FindingResult:
    """The verdict in the home reading."""
    (home,) = [result for result in evaluate(Cells([list(records)])) if result.name == name and result.is_home]
    return home


def pair(dataset: str, first: Any, second: Any, *, by: str = "protocol") -> list[Record]:
    """Two places that differ in one field, the same numbers on every seed."""
    (one, a), (other, b) = first, second
    return [*same({"dataset": dataset, by: one}, **a), *same({"dataset": dataset, by: other}, **b)]


def defended(defence: str, better: Mapping[str, bool]) -> Iterator[Record]:
    """Cells of the network with and without a defence."""
    for dataset, is_better in better.items():
        at = {"dataset": dataset, "protocol": "A" if dataset == "ccfd" else "C2"}
        yield from same(at, robust=0.3)
        yield from same({**at, "defence": defence}, robust=0.4 if is_better else 0.3)


def ranked(order: Mapping[str, tuple[tuple[float, float, float], tuple[float, float, float]]]) -> Iterator[Record]:
    """Cells of Square on the three models, by data set: their PR-AUC under A and under B."""
    for dataset, both in order.items():
        for protocol, scores in zip("AB", both, strict=True):
            for model, score in zip(("mlp", "xgboost", "ensemble"), scores, strict=True):
                at = {"dataset": dataset, "attack": "square", "model": model, "protocol": protocol}
                yield from same(at, robust=score)


SAME_ORDER = ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
OTHER_ORDER = ((0.3, 0.1, 0.2), (0.4, 0.6, 0.5))
FOUR = ("ccfd", *CONSTRAINED)

HOLDS = {
    "a_equals_b_on_ccfd": pair("ccfd", ("A", {"robust": 0.6}), ("B", {"robust": 0.6})),
    "filtering_hides_lcld": pair("lcld", ("B", {"feasible_flipped": 3}), ("C2", {"feasible_flipped": 300})),
    "mask_suppresses_ieee_cis": pair("ieee_cis", ("C1", {"feasible_flipped": 94}), ("C2", {"feasible_flipped": 4})),
    "ranking_depends_on_protocol": [*ranked(dict.fromkeys(FOUR, SAME_ORDER) | {"sparkov": OTHER_ORDER})],
    "adversarial_training_helps": [*defended("adversarial_training", dict.fromkeys(CONSTRAINED, True))],
    "clipping_is_unreliable": [*defended("clip", dict.fromkeys(FOUR, True) | {"lcld": False})],
}
FAILS = {
    "a_equals_b_on_ccfd": pair("ccfd", ("A", {"robust": 0.6}), ("B", {"robust": 0.600001})),
    "filtering_hides_lcld": pair("lcld", ("B", {"feasible_flipped": 3}), ("C2", {"feasible_flipped": 299})),
    "mask_suppresses_ieee_cis": pair("ieee_cis", ("C1", {"feasible_flipped": 4}), ("C2", {"feasible_flipped": 4})),
    "ranking_depends_on_protocol": [*ranked(dict.fromkeys(FOUR, SAME_ORDER))],
    "adversarial_training_helps": [
        *defended("adversarial_training", dict.fromkeys(CONSTRAINED, True) | {"sparkov": False})
    ],
    "clipping_is_unreliable": [*defended("clip", dict.fromkeys(FOUR, True))],
}


def test_every_finding_is_planted() -> None:
    assert list(HOLDS) == list(FAILS) == [finding.name for finding in FINDINGS]


@pytest.mark.parametrize("name", HOLDS)
def test_every_seed_agrees(name: str) -> None:
    result = judge(name, HOLDS[name])
    assert result.verdict == "holds"
    assert [seed.seed for seed in result.seeds] == sorted(SEEDS)
    assert all(seed.agrees and seed.numbers for seed in result.seeds)


@pytest.mark.parametrize("name", FAILS)
def test_every_seed_contradicts(name: str) -> None:
    result = judge(name, FAILS[name])
    assert result.verdict == "fails"
    assert not any(seed.agrees for seed in result.seeds)


@pytest.mark.parametrize("name", HOLDS)
def test_seeds_that_disagree_decide_nothing(name: str) -> None:
    first = [found for found in HOLDS[name] if found.seed == 42]
    others = [found for found in FAILS[name] if found.seed != 42]
    result = judge(name, [*first, *others])
    assert result.verdict == "undecided"
    assert result.reason == "the seeds disagree: it holds on 42 alone"


@pytest.mark.parametrize("name", HOLDS)
def test_a_missing_cell_decides_nothing(name: str) -> None:
    result = judge(name, FAILS["adversarial_training_helps"][:1] if "training" in name else HOLDS[name][:1])
    assert result.verdict == "undecided"
    assert "no cell" in result.reason


@pytest.mark.parametrize("name", HOLDS)
def test_without_any_cell_the_reason_says_so(name: str) -> None:
    result = judge(name, same({"dataset": "breast_cancer", "attack": "noise"}))
    assert (result.verdict, result.seeds) == ("undecided", ())
    assert result.reason == "the registry has no cell of this reading"


def test_a_failed_cell_is_told() -> None:
    broken = [record(cell("ieee_cis", protocol="C2", seed=seed), None, error="out of memory") for seed in SEEDS]
    planted = [*same({"dataset": "ieee_cis", "protocol": "C1"}), *broken]
    result = judge("mask_suppresses_ieee_cis", planted)
    assert result.verdict == "undecided"
    assert "failed: out of memory" in result.reason


def test_some_is_shown_by_one_data_set_and_every_refuted_by_one() -> None:
    only = [*ranked({"lcld": OTHER_ORDER})]
    assert judge("ranking_depends_on_protocol", only).verdict == "holds"
    assert judge("ranking_depends_on_protocol", ranked({"lcld": SAME_ORDER})).verdict == "undecided"
    assert judge("adversarial_training_helps", defended("adversarial_training", {"lcld": False})).verdict == "fails"
    assert judge("clipping_is_unreliable", defended("clip", {"ccfd": False})).verdict == "holds"


def test_a_variant_of_adversarial_training_counts() -> None:
    records = [*defended("adversarial_training=capgd", dict.fromkeys(CONSTRAINED, True))]
    assert judge("adversarial_training_helps", records).verdict == "holds"


@pytest.mark.parametrize(
    ("filtered", "integrated", "attacked", "verdict"),
    [
        (0, 100, 1000, "holds"),
        (0, 99, 1000, "undecided"),
        (1, 99, 1000, "fails"),
        (20, 9000, 1000, "fails"),
        (0, 0, 150, "fails"),
    ],
)
def test_few_and_hundreds(filtered: int, integrated: int, attacked: int, verdict: str) -> None:
    numbers = {"attacked": attacked, "clean_errors": 100}
    filter_, loop = ({"feasible_flipped": count, **numbers} for count in (filtered, integrated))
    assert judge("filtering_hides_lcld", pair("lcld", ("B", filter_), ("C2", loop))).verdict == verdict


def test_other_readings_are_judged_apart() -> None:
    strict = over_seeds({"dataset": "ccfd", "protocol": "A", "preset": "strict"}, [{"robust": 0.6}] * 3)
    other = over_seeds({"dataset": "ccfd", "protocol": "B", "preset": "strict"}, [{"robust": 0.5}] * 3)
    results = [
        result
        for result in evaluate(Cells([[*HOLDS["a_equals_b_on_ccfd"], *strict, *other]]))
        if result.name == "a_equals_b_on_ccfd"
    ]
    assert [(result.is_home, result.verdict) for result in results] == [(True, "holds"), (False, "fails")]
    assert results[1].reading == "preset strict, both classes attacked"


def test_real_rows_go_before_generated_ones() -> None:
    real = [
        record(cell("ccfd", protocol=protocol, seed=7), measured(robust=robust, provenance="real"))
        for protocol, robust in (("A", 0.5), ("B", 0.4))
    ]
    result = judge("a_equals_b_on_ccfd", [*HOLDS["a_equals_b_on_ccfd"], *real])
    by_seed = {seed.seed: seed.agrees for seed in result.seeds}
    assert by_seed == {7: False, 42: None, 123: None, 456: None}
