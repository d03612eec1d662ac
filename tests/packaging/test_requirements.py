"""What is declared, what is pinned, what is imported and what is explained are the same dependencies."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Set
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.layers import PACKAGES, Import, Module, imports_of, is_within, read_modules

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCAL_MODEL = ("local-model-build", "local-model")
"""Locks of the environment that `make test-local-model` sets up for another program."""
LOCKS = ("build", "base", "dev", "tabular", "bench", *LOCAL_MODEL)
TORCH = "torch.txt"

# Import names that are not the name of the distribution.
DISTRIBUTIONS = {
    "art": "adversarial-robustness-toolbox",
    "dateutil": "python-dateutil",
    "faiss": "faiss-cpu",
    "llama_cpp": "llama-cpp-python",
    "sklearn": "scikit-learn",
    "xgboost": "xgboost-cpu",
    "yaml": "pyyaml",
}
# Needed without an import of ours: `zoneinfo` reads the one where a system has no time zones.
IMPLICIT = {"tzdata"}

# What stands behind a build of torch for graphics cards.
GPU = re.compile(r"cuda|nvidia|triton")
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s\\]+)(?: \\\n    --hash=sha256:[0-9a-f]{64})+")


def declared(group: str) -> dict[str, Requirement]:
    """Return the requirements of `build`, `base`, an extra, or the local model by canonical name."""
    project = PROJECT["project"]
    texts = {"build": PROJECT["build-system"]["requires"], "base": project["dependencies"]}
    texts |= project["optional-dependencies"]
    for name in LOCAL_MODEL:
        lines = (ROOT / "requirements" / f"{name}.in").read_text(encoding="utf-8").splitlines()
        texts[name] = [line for line in lines if not line.startswith("#")]
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


def pinned_torch() -> Requirement:
    """Return the one requirement of the file that pip reads for torch alone."""
    lines = (ROOT / "requirements" / TORCH).read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line and not line.startswith("#"))
    return Requirement(line)


def unsatisfied(requirements: dict[str, Requirement], pins: dict[str, str]) -> list[str]:
    """Return the requirements that the pins leave out or break."""
    return [
        str(requirement)
        for name, requirement in requirements.items()
        if name not in pins or not requirement.specifier.contains(pins[name])
    ]


@pytest.mark.parametrize(
    ("lock", "groups"),
    [
        ("build", ["build"]),
        ("base", ["base"]),
        ("dev", ["base", "dev"]),
        ("tabular", ["tabular"]),
        ("bench", ["bench"]),
        *((name, [name]) for name in LOCAL_MODEL),
    ],
)
def test_a_lock_pins_what_is_declared(lock: str, groups: list[str]) -> None:
    requirements = {name: requirement for group in groups for name, requirement in declared(group).items()}
    requirements.pop("torch", None)
    stale = unsatisfied(requirements, pinned(lock))
    assert not stale, f"requirements/{lock}.lock does not satisfy {stale}; run `make lock`"


def test_torch_is_pinned_alike_everywhere() -> None:
    assert declared("tabular")["torch"] == declared("dense")["torch"] == pinned_torch()
    assert not any("torch" in pinned(lock) for lock in LOCKS)


def test_what_torch_needs_is_pinned() -> None:
    # Markers are read as on a platform without builds for graphics cards, whichever build is installed here.
    texts = importlib.metadata.requires("torch")
    assert texts
    elsewhere = {"platform_system": "Darwin", "sys_platform": "darwin", "extra": ""}
    needs = [need for need in map(Requirement, texts) if not need.marker or need.marker.evaluate(elsewhere)]
    missing = unsatisfied({canonicalize_name(need.name): need for need in needs}, pinned("tabular"))
    assert not missing, f"requirements/tabular.lock lacks {missing}; name them in requirements/compile.sh"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_nothing_for_graphics_cards(lock: str) -> None:
    assert not list(filter(GPU.match, pinned(lock)))


def test_locks_agree() -> None:
    dev = pinned("dev")
    for lock in ("build", "base"):
        assert pinned(lock).items() <= dev.items()
    gate = dict(dev)
    for lock in ("tabular", "bench"):
        pins = pinned(lock)
        assert {name: version for name, version in pins.items() if name in gate}.items() <= gate.items()
        gate |= pins


@pytest.mark.parametrize("name", [*(f"{lock}.lock" for lock in LOCKS), TORCH])
def test_a_pinned_file_names_no_index_and_no_path(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert not re.search(r"index-url|find-links|trusted-host|://|@ |-e ", text)


def third_party(found: Import) -> str | None:
    """Return the distribution that an import needs; None for our own code and the standard library."""
    top = found.target.partition(".")[0]
    if top in PACKAGES or top in sys.stdlib_module_names:
        return None
    return canonicalize_name(DISTRIBUTIONS.get(top, top))


def test_every_import_is_declared() -> None:
    base = declared("base").keys()
    tabular = declared("tabular").keys()
    modules = read_modules(ROOT)

    def there_by_then(module: Module, found: Import) -> Set[str]:
        if found.at_import:
            return base
        return base | tabular if is_within(module.name, "tabular_bench") else base | tabular | declared("dense").keys()

    undeclared = [
        f"{module.path}:{found.line}: {name}"
        for module in modules.values()
        for found in imports_of(module, modules)
        if (name := third_party(found)) and name not in there_by_then(module, found)
    ]
    assert not undeclared, f"not among the dependencies that are there by then: {undeclared}"


def test_types_do_not_depend_on_whether_an_extra_is_installed() -> None:
    (skipped,) = (
        override["module"]
        for override in PROJECT["tool"]["mypy"]["overrides"]
        if override.get("ignore_missing_imports") and override.get("follow_imports") == "skip"
    )
    extras = (declared("dense").keys() | declared("tabular").keys()) - declared("base").keys()
    import_names = {distribution: name for name, distribution in DISTRIBUTIONS.items()}
    assert set(skipped) == {f"{import_names.get(name, name).replace('-', '_')}.*" for name in extras}


def test_every_import_of_a_test_is_declared() -> None:
    installed = {name for group in ("build", "base", "dev", "tabular") for name in declared(group)}
    elsewhere = {
        "tests/local_model/serve.py": declared("local-model").keys(),
        "tests/benchmarks/bench_attacks.py": declared("bench").keys() | installed | {"tests"},
        "tests/benchmarks/rivals.py": declared("bench").keys() | installed | {"tests"},
    }
    undeclared = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        module = Module(name, name, False, ast.parse(path.read_text(encoding="utf-8")))
        undeclared += [
            f"{name}:{found.line}: {needed}"
            for found in imports_of(module, {})
            if (needed := third_party(found)) and needed not in elsewhere.get(name, installed | {"tests"})
        ]
    assert not undeclared, f"not among the dependencies that the gate installs: {undeclared}"


def test_every_base_dependency_is_used() -> None:
    modules = read_modules(ROOT)
    used = {third_party(found) for module in modules.values() for found in imports_of(module, modules)}
    assert declared("base").keys() - used == IMPLICIT


def test_every_dependency_is_explained() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    explained = {canonicalize_name(name) for name in re.findall(r"^\* `([^`]+)`: \S", text, re.MULTILINE)}
    groups = ("build", "base", "dense", "tabular", "dev", "bench", *LOCAL_MODEL)
    assert explained == {name for group in groups for name in declared(group)}
