"""What a check of scenarios is given, and how it reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.checks.house import House
from harness.checks.playing import Rehearsal
from harness.problem import Problem
from harness.scenario.instance import Instance
from harness.scenario.model import Scenario

_EXPECTED_AND_FOUND: Final = re.compile(r"expected (?P<expected>.+), found (?P<found>.+)", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """One scenario of a library.

    Attributes
    ----------
    file
        Its file, as messages name it.
    is_half_read
        Whether the file of its twin was found and could not be read.
    """

    scenario: Scenario
    file: str
    is_half_read: bool = field(default=False, kw_only=True)

    def problem(self, path: str, expected: str, found: str, message: str) -> Problem:
        """Report something wrong in this scenario's file."""
        return Problem(self.file, path, expected, found, message)

    def refused(self, path: str, words: str) -> Problem:
        """Report what the domain cannot build, in the domain's words."""
        said = _EXPECTED_AND_FOUND.fullmatch(words)
        if said is not None:
            return self.problem(path, said["expected"], said["found"], "Correct it, or add it to the domain first.")
        return self.problem(path, "something that the domain can build", "a fault", f"{words[0].upper()}{words[1:]}.")


@dataclass(frozen=True)
class Case(Entry):
    """One scenario under check.

    Attributes
    ----------
    rehearsal
        The canonical instance as the reference agents play it.
    attack
        The attack that a twin answers; the scenario itself for an attack.
    """

    house: House
    rehearsal: Rehearsal
    attack: Scenario

    @property
    def instance(self) -> Instance:
        """The canonical instance."""
        return self.rehearsal.instance


Check = Callable[[Case], Iterator[Problem]]
"""A check of one scenario."""

SuiteCheck = Callable[[Sequence[Entry]], Iterator[Problem]]
"""A check of all scenarios together."""


def unknown(
    case: Case, path: str, kind: str, name: str, known: Mapping[str, object] | frozenset[str]
) -> Iterator[Problem]:
    """Report a name that is not among those known, with those that are if they are few."""
    if name not in known:
        listed = ", ".join(sorted(known))
        article = "an" if kind[0] in "aeiou" else "a"
        expected = f"{article} {kind}" + (f" ({listed})" if 0 < len(listed) < 400 else "")
        yield case.problem(path, expected, repr(name), "Correct the name, or add it to the domain first.")
