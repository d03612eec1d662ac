"""Running all checks over a library of scenarios."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domains.kit.errors import DomainError, SetupError
from domains.kit.knowledge import NoKnowledge
from harness.checks.answers import check_blindness
from harness.checks.brackets import check_brackets
from harness.checks.callers import check_knowledge, check_paths, check_people
from harness.checks.case import Case, Check, Entry, SuiteCheck
from harness.checks.clues import check_clock, check_give_aways, check_near_copies
from harness.checks.house import GraderFactory, House, furnish
from harness.checks.playing import Rehearsal
from harness.checks.references import (
    check_beats,
    check_rules_and_documents,
    check_tables,
    check_tools,
    check_vocabularies,
)
from harness.checks.retrievable import check_retrievable
from harness.checks.rows import check_rows
from harness.checks.twins import check_boundary, check_flip, check_pairs
from harness.errors import HarnessError
from harness.problem import Problem
from harness.runs.executors import Executor, Lost, Serial
from harness.scenario.files import Library
from harness.scenario.instance import instantiate

STATIC_CHECKS: Final[Mapping[str, Check]] = {
    "vocabularies": check_vocabularies,
    "rules and documents": check_rules_and_documents,
    "tools": check_tools,
    "tables": check_tables,
    "rows": check_rows,
    "beats": check_beats,
    "people": check_people,
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
    executor: Executor | None = None,
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
    executor
        Where scenarios are checked; None for this process.

    Returns
    -------
    CheckReport
        Problems by file; an empty list if every scenario can be admitted.
    """
    problems = [Problem.of(error) for error in library.problems]
    checker = _Checker(library, corpus_root, make_grader, seeds)
    checker.prepare()
    for outcome in (executor or Serial()).run(checker, list(library.scenarios), threading.Event()):
        if isinstance(outcome, Problem):
            problems.append(outcome)
            continue
        if isinstance(outcome, Lost):
            entry = checker.entry(outcome.task)
            problems.append(entry.problem("", "a scenario that the checks get through", outcome.reason, ""))
        progress(outcome.task)
    entries = [checker.entry(scenario_id) for scenario_id in library.scenarios]
    for check in SUITE_CHECKS.values():
        problems += check(entries)
    checks = (*STATIC_CHECKS, "setup", "brackets", *PLAYED_CHECKS, *SUITE_CHECKS)
    return CheckReport(library.read, checks, tuple(sorted(set(problems))))


@dataclass(frozen=True, slots=True)
class _Checked:
    """A scenario has been through all checks."""

    task: str


class _Checker:
    """Checks scenarios by their ids, each by itself."""

    def __init__(self, library: Library, corpus_root: Path, make_grader: GraderFactory, seeds: Sequence[int]) -> None:
        self._library = library
        self._corpus_root = corpus_root
        self._make_grader = make_grader
        self._seeds = seeds
        self._houses: dict[str, House] = {}

    def __reduce__(self) -> tuple[type[_Checker], tuple[Library, Path, GraderFactory, Sequence[int]]]:
        """Travel without what was built: another process builds its own."""
        return _Checker, (self._library, self._corpus_root, self._make_grader, self._seeds)

    def prepare(self) -> None:
        """Build the houses, so that processes forked from this one have them already."""
        for domain_name in {scenario.domain for scenario in self._library.scenarios.values()}:
            # Whatever is wrong with a house is reported with each of its scenarios.
            with suppress(DomainError, HarnessError):
                self._house(domain_name)

    def entry(self, scenario_id: str) -> Entry:
        """Return a scenario with its file."""
        library = self._library
        return Entry(
            library.scenarios[scenario_id],
            str(library.files[scenario_id]),
            is_half_read=scenario_id in library.half_read,
        )

    def __call__(self, scenario_id: str) -> Iterator[Problem | _Checked]:
        """Yield what is wrong with a scenario, and that it has been checked."""
        entry = self.entry(scenario_id)
        try:
            case = self._case(entry)
        except SetupError as error:
            yield entry.refused(error.path, error.problem)
        except (DomainError, HarnessError) as error:
            yield entry.refused("/domain", str(error))
        else:
            yield from _check_case(case, self._seeds)
        yield _Checked(scenario_id)

    def _house(self, domain_name: str) -> House:
        if domain_name not in self._houses:
            self._houses[domain_name] = furnish(domain_name, self._corpus_root, self._make_grader)
        return self._houses[domain_name]

    def _case(self, entry: Entry) -> Case:
        scenario, house = entry.scenario, self._house(entry.scenario.domain)
        instance = instantiate(scenario, house.domain)
        instance.open_world(NoKnowledge()).close()
        attack = self._library.scenarios[scenario.twin_of] if scenario.twin_of is not None else scenario
        return Case(scenario, entry.file, house, Rehearsal(house, instance), attack)


def _check_case(case: Case, seeds: Sequence[int]) -> Iterator[Problem]:
    static = [problem for check in STATIC_CHECKS.values() for problem in check(case)]
    yield from static
    if static:
        return
    for seed in seeds:
        yield from check_brackets(case, seed)
    for check in PLAYED_CHECKS.values():
        yield from check(case)
