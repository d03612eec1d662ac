"""Which scenarios a command means."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from harness.errors import RunError, UnknownName
from harness.resources import data_root
from harness.scenario.files import Library, load_library
from harness.scenario.model import Kind, Scenario, Suite


def select_scenarios(
    paths: Sequence[Path] | None,
    *,
    selector: str | None = None,
    suite: str | None = None,
    kind: str | None = None,
    domain: str | None = None,
) -> Library:
    """Load scenarios and keep those that are asked for.

    Parameters
    ----------
    paths
        Folders or files; by default those that come with fraudbench.
    selector
        Comma-separated ids or patterns (``s7f3a,s1*``), mechanisms, tiers, or a path to a folder or file.
    suite, kind, domain
        Keep only these.

    Raises
    ------
    RunError
        If a word is not one that can be selected by, or nothing is left.
    """
    words = [word.strip() for word in (selector or "").split(",") if word.strip()]
    folders = [Path(word) for word in words if "/" in word or word.endswith(".json")]
    patterns = [word for word in words if Path(word) not in folders]
    library = load_library(folders or paths or [data_root("tasks")])
    for name, value, known in (("suite", suite, Suite), ("kind", kind, Kind)):
        if value is not None and value not in set(known):
            raise UnknownName(name, value, known)
    return _narrowed(library, patterns, suite, kind, domain)


def narrow(library: Library, selector: str | None) -> Library:
    """Keep the scenarios of a library that a selector names; None keeps all.

    Raises
    ------
    RunError
        If nothing is named by a part of it.
    """
    return _narrowed(library, [word.strip() for word in (selector or "").split(",") if word.strip()])


def _narrowed(
    library: Library,
    patterns: Sequence[str],
    suite: str | None = None,
    kind: str | None = None,
    domain: str | None = None,
) -> Library:
    for pattern in patterns:
        if not any(_matches(scenario, pattern) for scenario in library.scenarios.values()):
            raise RunError(
                f"no scenario matches {pattern!r}; give ids or patterns (`fraudbench tasks list` prints them), a "
                "mechanism, a tier, or a path"
            )
    kept = {
        scenario.id: scenario
        for scenario in library.scenarios.values()
        if (not patterns or any(_matches(scenario, pattern) for pattern in patterns))
        and suite in (None, scenario.suite)
        and kind in (None, scenario.kind)
        and domain in (None, scenario.domain)
    }
    if not kept:
        raise RunError("no scenario is left after selection; `fraudbench tasks list` prints what there is")
    narrowed = Library()
    narrowed.scenarios, narrowed.files = kept, library.files
    return narrowed


def find_scenario(scenario_id: str, paths: Sequence[Path] | None) -> Scenario:
    """Return one scenario by id.

    Raises
    ------
    UnknownName
        If there is none.
    """
    library = load_library(paths or [data_root("tasks")])
    if scenario_id not in library.scenarios:
        raise UnknownName("scenario", scenario_id, library.scenarios)
    return library.scenarios[scenario_id]


def _matches(scenario: Scenario, pattern: str) -> bool:
    return fnmatchcase(scenario.id, pattern) or pattern in (scenario.mechanism, scenario.tier)
