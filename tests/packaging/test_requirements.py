"""What is declared, what is pinned, what is imported and what is explained are the same dependencies."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.layers import PACKAGES, Import, imports_of, read_modules

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = ("build", "base", "dev")

# Import names that are not the name of the distribution.
DISTRIBUTIONS = {
    "dateutil": "python-dateutil",
    "faiss": "faiss-cpu",
    "sklearn": "scikit-learn",
    "xgboost": "xgboost-cpu",
    "yaml": "pyyaml",
}
# Needed without an import of ours: `zoneinfo` reads the one where a system has no time zones.
IMPLICIT = {"tzdata"}

PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s\\]+)(?: \\\n    --hash=sha256:[0-9a-f]{64})+")


def declared(group: str) -> dict[str, Requirement]:
    """Return the requirements of `build`, `base` or an extra by canonical name."""
    project = PROJECT["project"]
    texts = {"build": PROJECT["build-system"]["requires"], "base": project["dependencies"]}
    texts |= project["optional-dependencies"]
    requirements = map(Requirement, texts[group])
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def pinned(lock: str) -> dict[str, str]:
    """Return the versions of a lock by name; every line that is no comment must be a pin with hashes."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    pins: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", code):
        match = PIN.fullmatch(entry)
        assert match, f"requirements/{lock}.lock: not a pin with hashes: {entry!r}"
        pins[canonicalize_name(match["name"])] = match["version"]
    return pins


@pytest.mark.parametrize(("lock", "groups"), [("build", ["build"]), ("base", ["base"]), ("dev", ["base", "dev"])])
def test_a_lock_pins_what_is_declared(lock: str, groups: list[str]) -> None:
    pins = pinned(lock)
    stale = [
        str(requirement)
        for group in groups
        for name, requirement in declared(group).items()
        if name not in pins or not requirement.specifier.contains(pins[name])
    ]
    assert not stale, f"requirements/{lock}.lock does not satisfy {stale}; run `make lock`"


def test_locks_agree() -> None:
    everything = pinned("dev")
    for lock in ("build", "base"):
        assert pinned(lock).items() <= everything.items()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index_and_no_path(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    assert not re.search(r"index-url|find-links|trusted-host|://|@ |-e ", text)


def third_party(found: Import) -> str | None:
    """Return the distribution that an import needs; None for our own code and the standard library."""
    top = found.target.partition(".")[0]
    if top in PACKAGES or top in sys.stdlib_module_names:
        return None
    return canonicalize_name(DISTRIBUTIONS.get(top, top))


def test_every_import_is_declared() -> None:
    base = declared("base").keys()
    extras = declared("dense").keys() | declared("tabular").keys()
    modules = read_modules(ROOT)
    undeclared = [
        f"{module.path}:{found.line}: {name}"
        for module in modules.values()
        for found in imports_of(module, modules)
        if (name := third_party(found)) and name not in (base if found.at_import else base | extras)
    ]
    assert not undeclared, f"not among the dependencies that are there by then: {undeclared}"


def test_every_base_dependency_is_used() -> None:
    modules = read_modules(ROOT)
    used = {third_party(found) for module in modules.values() for found in imports_of(module, modules)}
    assert declared("base").keys() - used == IMPLICIT


def test_every_dependency_is_explained() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    explained = {canonicalize_name(name) for name in re.findall(r"^\* `([^`]+)`: \S", text, re.MULTILINE)}
    groups = ("build", "base", "dense", "tabular", "dev")
    assert explained == {name for group in groups for name in declared(group)}
