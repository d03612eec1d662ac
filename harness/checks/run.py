"""Running all checks over a library of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domains.kit.domain import load_domain
from domains.kit.errors import DomainError, SetupError
from domains.kit.knowledge import NoKnowledge
from harness.checks.answers import check_blindness
from harness.checks.brackets import check_brackets
from harness.checks.callers import check_knowledge, check_paths
from harness.checks.case import Case, Check, House, SuiteCheck
from harness.checks.clues import check_clock, check_give_aways, check_near_copies
from harness.checks.references import (
    check_beats,
    check_rules_and_documents,
    check_tables,
    check_tools,
    check_vocabularies,
)
from harness.checks.retrievable import check_retrievable
from harness.checks.twins import check_boundary, check_flip, check_pairs
from harness.errors import HarnessError
from harness.problem import Problem
from harness.retrieval.conditions import make_condition
from harness.retrieval.corpus import Corpus, load_corpus
from harness.retrieval.padding import pad_corpus
from harness.scenario.files import Library
from harness.scenario.instance import instantiate
from harness.scenario.model import Scenario
from harness.verdict import Grader

CORPUS_SIZE: Final = 700
"""Documents in a full bank's corpus; the search for the deciding document is tried at this size."""

STATIC_CHECKS: Final[Mapping[str, Check]] = {
    "vocabularies": check_vocabularies,
    "rules and documents": check_rules_and_documents,
    "tools": check_tools,
    "tables": check_tables,
    "beats": check_beats,
    "knowledge": check_knowledge,
    "paths": check_paths,
    "give-aways": check_give_aways,
    "clock": check_clock,
    "flip": check_flip,
}
"""Checks that play nothing. Where one of them fails, the played ones are left out: they would fail for its reason."""

PLAYED_CHECKS: Final[Mapping[str, Check]] = {
    "boundary": check_boundary,
    "blindness": check_blindness,
    "retrievable": check_retrievable,
}
"""Checks that play the canonical instance."""

SUITE_CHECKS: Final[Mapping[str, SuiteCheck]] = {"pairs": check_pairs, "near-copies": check_near_copies}
"""Checks of all scenarios together."""

GraderFactory = Callable[[Corpus], Grader]
"""Builds the grader for a house; it is handed the corpus, whose confidential facts must not be told."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the checks found.

    Attributes
    ----------
    checked
        How many scenarios were checked, unreadable ones included.
    checks
        The names of the checks that were run.
    """

    checked: int
    checks: tuple[str, ...]
    problems: tuple[Problem, ...]


def check_library(
    library: Library,
    corpus_root: Path,
    make_grader: GraderFactory,
    seeds: Sequence[int],
    progress: Callable[[str], None] = lambda scenario_id: None,
) -> CheckReport:
    """Run every check over every scenario of a library.

    Parameters
    ----------
    library
        Loaded leniently: files that could not be read are reported with the rest.
    corpus_root
        The folder that holds one corpus for each domain.
    make_grader
        Builds the grader of a house.
    seeds
        Draws under which the reference agents must bracket each scenario; the canonical one is 0.
    progress
        Called with each scenario's id once it is done.

    Returns
    -------
    CheckReport
        Problems by file; an empty list if every scenario can be admitted.
    """
    problems = [Problem.of(error) for error in library.problems]
    houses: dict[str, House] = {}
    cases: list[Case] = []
    for scenario in library.scenarios.values():
        file = str(library.files[scenario.id])
        try:
            if scenario.domain not in houses:
                houses[scenario.domain] = furnish(scenario.domain, corpus_root, make_grader)
            case = _case(scenario, file, houses[scenario.domain], library)
        except SetupError as error:
            problems.append(Problem(file, error.path, "something that the domain can build", error.problem, ""))
        except (DomainError, HarnessError) as error:
            problems.append(Problem(file, "/domain", "an installed domain with a corpus", str(error), ""))
        else:
            cases.append(case)
            problems += _check_case(case, seeds)
        progress(scenario.id)
    for check in SUITE_CHECKS.values():
        problems += check(cases)
    checks = (*STATIC_CHECKS, "setup", "brackets", *PLAYED_CHECKS, *SUITE_CHECKS)
    return CheckReport(len(library.scenarios) + len(library.problems), checks, tuple(sorted(set(problems))))


def furnish(domain_name: str, corpus_root: Path, make_grader: GraderFactory) -> House:
    """Load a domain with its corpus and build both indexes.

    Raises
    ------
    UnknownDomain
        If the domain is not installed.
    CorpusError
        If its corpus cannot be read.
    """
    domain = load_domain(domain_name)
    corpus = load_corpus(corpus_root, domain_name)
    padded = pad_corpus(corpus, max(CORPUS_SIZE, len(corpus.documents)))
    return House(
        domain=domain,
        corpus=corpus,
        condition=make_condition("bm25", corpus),
        padded=make_condition("bm25", padded),
        grader=make_grader(corpus),
    )


def _case(scenario: Scenario, file: str, house: House, library: Library) -> Case:
    instance = instantiate(scenario, house.domain)
    instance.open_world(NoKnowledge()).close()
    attack = library.scenarios[scenario.twin_of] if scenario.twin_of is not None else scenario
    return Case(scenario, file, house, instance, attack)


def _check_case(case: Case, seeds: Sequence[int]) -> Iterator[Problem]:
    static = [problem for check in STATIC_CHECKS.values() for problem in check(case)]
    yield from static
    if static:
        return
    for seed in seeds:
        yield from check_brackets(case, seed)
    for check in PLAYED_CHECKS.values():
        yield from check(case)
