"""Reading scenario files: strict JSON, twins patched onto their attacks, every problem with file and path."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from domains.kit.json import digest
from harness.errors import ScenarioError
from harness.scenario.model import Kind, Scenario, TwinPatch

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 24
SCHEMA_FILE: Final = "schema.json"


def read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object; duplicate keys, NaN, huge and deeply nested files are refused.

    Raises
    ------
    ScenarioError
        Naming the file and what is wrong with it.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ScenarioError(str(path), "", "a readable file", error.strerror or str(error), "Check the path.") from None
    if len(raw) > MAX_BYTES:
        raise ScenarioError(str(path), "", f"at most {MAX_BYTES} bytes", f"{len(raw)} bytes", "Split the file.")
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constants)
    except UnicodeDecodeError as error:
        raise ScenarioError(str(path), "", "UTF-8 text", f"byte {error.start} is not", "Save it as UTF-8.") from None
    except RecursionError:
        raise ScenarioError(str(path), "", f"at most {MAX_DEPTH} levels", "deeper nesting", "Flatten it.") from None
    except ValueError as error:
        raise ScenarioError(str(path), "", "well-formed JSON", str(error), "Correct the file.") from None
    if not isinstance(value, dict):
        raise ScenarioError(str(path), "", "a JSON object", type(value).__name__, "Write one scenario per file.")
    if _depth(value) > MAX_DEPTH:
        raise ScenarioError(str(path), "", f"at most {MAX_DEPTH} levels", f"{_depth(value)} levels", "Flatten it.")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _no_constants(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def parse_scenario(raw: Mapping[str, Any], path: Path) -> Scenario:
    """Check one attack (or a whole, already patched twin) against the format.

    Raises
    ------
    ScenarioError
        Naming the file and the JSON path of the first problem.
    """
    try:
        return Scenario.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise _first_problem(error, path) from None


def _first_problem(error: ValidationError, path: Path) -> ScenarioError:
    first = error.errors(include_url=False)[0]
    location = "/" + "/".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    found = first.get("input")
    shown = "nothing" if first["type"] == "missing" else json.dumps(found, default=str)[:120]
    more = len(error.errors()) - 1
    hint = f"{more} more problem(s) behind this one." if more else "tasks/README.md explains every field."
    return ScenarioError(str(path), location, message, shown, hint)


def patch_twin(attack: Mapping[str, Any], patch: TwinPatch, path: Path) -> dict[str, Any]:
    """Return the twin as a whole scenario: the attack with the flip applied and its own expectations.

    Raises
    ------
    ScenarioError
        If the flip's path does not exist in the attack, or changes nothing.
    """
    whole = copy.deepcopy(dict(attack))
    whole |= {
        "id": patch.id,
        "kind": Kind.TWIN.value,
        "twin_of": patch.twin_of,
        "flip": patch.flip.model_dump(mode="json"),
        "expect": patch.expect.model_dump(mode="json", exclude_unset=True),
    }
    if patch.title is not None:
        whole["title"] = patch.title
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in patch.flip.path[1:].split("/")]
    target: Any = whole
    for part in parents:
        target = _step(target, part, patch, path)
    old = _step(target, last, patch, path, missing_is_none=isinstance(target, dict))
    if old == patch.flip.to:
        raise ScenarioError(
            str(path), "/flip/to", "a value that differs from the attack's", f"{old!r}", "Flip something."
        )
    if isinstance(target, list):
        target[int(last)] = patch.flip.to
    else:
        target[last] = patch.flip.to
    return whole


def _step(target: Any, part: str, patch: TwinPatch, path: Path, *, missing_is_none: bool = False) -> Any:
    if isinstance(target, dict) and (part in target or missing_is_none):
        return target.get(part)
    if isinstance(target, list) and part.isdigit() and int(part) < len(target):
        return target[int(part)]
    raise ScenarioError(
        str(path),
        "/flip/path",
        f"a path that exists in {patch.twin_of}",
        patch.flip.path,
        f"There is no {part!r} there.",
    )


class Library:
    """All scenarios of one or more folders or files, twins resolved.

    Attributes
    ----------
    scenarios
        By id, in the order of their files.
    files
        The file of each scenario.
    problems
        Files that could not be read, as errors; filled only by a lenient load.
    """

    def __init__(self) -> None:
        self.scenarios: dict[str, Scenario] = {}
        self.files: dict[str, Path] = {}
        self.problems: list[ScenarioError] = []

    @property
    def content_hash(self) -> str:
        """A digest of every scenario's content."""
        return digest({name: scenario.model_dump(mode="json") for name, scenario in sorted(self.scenarios.items())})

    def twin_for(self, attack_id: str) -> Scenario | None:
        """Return the twin of an attack, if it has one."""
        return next((item for item in self.scenarios.values() if item.twin_of == attack_id), None)


def scenario_files(roots: Iterable[Path]) -> list[Path]:
    """Return the scenario files below some folders (or the files themselves), sorted by name.

    Raises
    ------
    ScenarioError
        If a root does not exist.
    """
    found: dict[Path, None] = {}
    for root in roots:
        if root.is_file():
            found[root] = None
        elif root.is_dir():
            found |= {path: None for path in sorted(root.rglob("*.json")) if path.name != SCHEMA_FILE}
        else:
            raise ScenarioError(str(root), "", "a folder or file of scenarios", "nothing there", "Check the path.")
    return list(found)


def load_library(roots: Sequence[Path], *, lenient: bool = False) -> Library:
    """Load every scenario below `roots`.

    Parameters
    ----------
    roots
        Folders or single files.
    lenient
        Collect unreadable files in `Library.problems` instead of raising at the first.

    Raises
    ------
    ScenarioError
        If a file is malformed, an id stands twice or a twin's attack is not there (unless `lenient`).
    """
    library = Library()
    attacks: dict[str, dict[str, Any]] = {}
    twins: list[tuple[Path, TwinPatch]] = []
    for path in scenario_files(roots):
        try:
            raw = read_json(path)
            if raw.get("kind") == Kind.TWIN.value:
                twins.append((path, _parse_patch(raw, path)))
            else:
                scenario = parse_scenario(raw, path)
                _add(library, scenario, path)
                attacks[scenario.id] = raw
        except ScenarioError as error:
            if not lenient:
                raise
            library.problems.append(error)
    for path, patch in twins:
        try:
            if patch.twin_of not in attacks:
                raise ScenarioError(
                    str(path), "/twin_of", "the id of an attack", repr(patch.twin_of), "Load the attack's file too."
                )
            _add(library, parse_scenario(patch_twin(attacks[patch.twin_of], patch, path), path), path)
        except ScenarioError as error:
            if not lenient:
                raise
            library.problems.append(error)
    return library


def _parse_patch(raw: Mapping[str, Any], path: Path) -> TwinPatch:
    try:
        return TwinPatch.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise _first_problem(error, path) from None


def _add(library: Library, scenario: Scenario, path: Path) -> None:
    if scenario.id in library.scenarios:
        other = library.files[scenario.id]
        raise ScenarioError(str(path), "/id", "an id of its own", repr(scenario.id), f"{other} has the same.")
    library.scenarios[scenario.id] = scenario
    library.files[scenario.id] = path
