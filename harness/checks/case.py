"""What a check of scenarios is given, and how it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from domains.kit.domain import Domain
from harness.problem import Problem
from harness.retrieval.conditions import Condition
from harness.retrieval.corpus import Corpus
from harness.scenario.instance import Instance
from harness.scenario.model import Scenario
from harness.verdict import Grader


@dataclass(frozen=True)
class House:
    """A domain with its corpus, ready to play scenarios.

    Attributes
    ----------
    condition
        Retrieval by BM25 over the corpus as it is.
    padded
        The same over the corpus filled up to the size of a full bank's.
    """

    domain: Domain
    corpus: Corpus
    condition: Condition
    padded: Condition
    grader: Grader


@dataclass(frozen=True)
class Case:
    """One scenario under check.

    Attributes
    ----------
    file
        Its file, as messages name it.
    instance
        The canonical instance.
    attack
        The attack that a twin answers; the scenario itself for an attack.
    """

    scenario: Scenario
    file: str
    house: House
    instance: Instance
    attack: Scenario

    def problem(self, path: str, expected: str, found: str, message: str) -> Problem:
        """Report something wrong in this scenario's file."""
        return Problem(self.file, path, expected, found, message)


Check = Callable[[Case], Iterator[Problem]]
"""A check of one scenario."""

SuiteCheck = Callable[[Sequence[Case]], Iterator[Problem]]
"""A check of all scenarios together."""


def unknown(
    case: Case, path: str, kind: str, name: str, known: Mapping[str, object] | frozenset[str]
) -> Iterator[Problem]:
    """Report a name that is not among those known, with those that are if they are few."""
    if name not in known:
        listed = ", ".join(sorted(known))
        expected = f"a {kind}" + (f" ({listed})" if len(listed) < 400 else "")
        yield case.problem(path, expected, repr(name), "Correct the name, or add it to the domain first.")
