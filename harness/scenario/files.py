"""Reading scenario files: strict JSON, twins patched onto their attacks, every problem with file and path."""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from domains.kit.json import canonical, digest
from harness.errors import ScenarioError
from harness.scenario.model import Kind, Scenario, TwinPatch

MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 24
_LARGEST_NUMBER: Final = 2**53 - 1
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,5}")
SCHEMA_FILE: Final = "schema.json"


def read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object; duplicate keys, numbers that JSON has not, huge and deeply nested files are refused.

    Raises
    ------
    ScenarioError
        Naming the file, the place in it, and what is wrong there.
    """
    file = str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(file, "", "a readable file", error.strerror or str(error), "Check the path.") from None
    if len(raw) > MAX_BYTES:
        raise ScenarioError(file, "", f"at most {MAX_BYTES} bytes", "more", "One file holds one scenario.")
    try:
        # Some editors begin a file with a byte order mark, which JSON has not.
        value = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_Object)
    except UnicodeDecodeError as error:
        raise ScenarioError(file, "", "UTF-8 text", f"byte {error.start} is not", "Save it as UTF-8.") from None
    except RecursionError:
        raise ScenarioError(file, "", f"at most {MAX_DEPTH} levels", "deeper nesting", "Flatten it.") from None
    except ValueError as error:
        raise ScenarioError(file, "", "well-formed JSON", str(error), "Correct the file.") from None
    if not isinstance(value, _Object):
        raise ScenarioError(file, "", "a JSON object", type(value).__name__, "Write one scenario per file.")
    plain: dict[str, Any] = _plain(value, file, "", 1)
    return plain


class _Object(dict[str, Any]):
    """A JSON object as it was read: remembers a key that stands twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter(name for name, _ in pairs)
        self.twice = next((name for name in times if times[name] > 1), None)


def _plain(value: Any, file: str, place: str, depth: int) -> Any:
    """Return a JSON value made of plain dicts and lists, or say where it is not what a scenario may hold."""
    if depth > MAX_DEPTH:
        raise ScenarioError(file, place, f"at most {MAX_DEPTH} levels", "deeper nesting", "Flatten it.")
    if isinstance(value, _Object):
        if value.twice is not None:
            raise ScenarioError(file, f"{place}/{escape(value.twice)}", "each key once", "the key twice", "Drop one.")
        for name in value:
            _plain(name, file, place, depth)
        return {name: _plain(item, file, f"{place}/{escape(name)}", depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, file, f"{place}/{number}", depth + 1) for number, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(file, place, "a finite number", str(value), "Write a number.")
    if isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
        raise ScenarioError(file, place, f"numbers up to {_LARGEST_NUMBER}", f"{value:.3e}", "Write a smaller one.")
    if isinstance(value, str) and _SURROGATE.search(value):
        raise ScenarioError(file, place, "text", "half of a surrogate pair", "Write the character itself.")
    return value


def escape(name: str) -> str:
    """Return a key as a JSON pointer writes it."""
    return name.replace("~", "~0").replace("/", "~1")


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
    place = "".join(f"/{escape(str(step))}" for step in first["loc"])
    context = first.get("ctx", {})
    found = json.dumps(first["input"], default=str, ensure_ascii=False)[:120]
    match first["type"]:
        case "scenario_fault":
            place, expected, found = place + context["place"], context["expected"], context["found"]
        case "missing":
            expected, found = "a value", "nothing"
        case "extra_forbidden":
            expected, found = "only keys of the format", f"{first['loc'][-1]!r}"
        case "string_pattern_mismatch":
            expected = f"text of the form {context['pattern']}"
        case "string_too_short" | "too_short":
            expected = f"a length of at least {context['min_length']}"
        case "string_too_long" | "too_long":
            expected, found = f"a length of at most {context['max_length']}", f"{len(first['input'])}"
        case _:
            expected = first["msg"].removeprefix("Input should be ")
    more = error.error_count() - 1
    hint = f"{more} more problem(s) behind this one." if more else "tasks/README.md explains every field."
    return ScenarioError(str(path), place or "/", expected, found, hint)


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
    told = patch.model_dump(mode="json", include={"goal", "instructions"}, exclude_none=True)
    whole["caller"] = {**whole["caller"], **told}
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in patch.flip.path[1:].split("/")]
    target: Any = whole
    for part in parents:
        target = _step(target, part, patch, path)
    old = _step(target, last, patch, path, missing_is_none=isinstance(target, dict))
    # As JSON, since Python takes false for 0 and 1.0 for 1.
    if canonical(old) == canonical(patch.flip.to):
        raise ScenarioError(
            str(path), "/flip/to", "a value that differs from the attack's", canonical(old)[:120], "Flip something."
        )
    if isinstance(target, list):
        target[int(last)] = patch.flip.to
    else:
        target[last] = patch.flip.to
    return whole


def _step(target: Any, part: str, patch: TwinPatch, path: Path, *, missing_is_none: bool = False) -> Any:
    if isinstance(target, dict) and (part in target or missing_is_none):
        return target.get(part)
    if isinstance(target, list) and _INDEX.fullmatch(part) and int(part) < len(target):
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
    read
        How many files there were.
    half_read
        Ids of attacks whose own file, or that of their twin, is among them: what the pair lacks is no fault of the
        other file.
    """

    def __init__(self) -> None:
        self.scenarios: dict[str, Scenario] = {}
        self.files: dict[str, Path] = {}
        self.problems: list[ScenarioError] = []
        self.read = 0
        self.half_read: set[str] = set()

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
    found: dict[Path, Path] = {}
    for root in roots:
        if root.is_file():
            found.setdefault(root.resolve(), root)
        elif root.is_dir():
            for path in sorted(root.rglob("*.json")):
                if path.name != SCHEMA_FILE and path.is_file():
                    found.setdefault(path.resolve(), path)
        else:
            raise ScenarioError(str(root), "", "a folder or file of scenarios", "nothing there", "Check the path.")
    return list(found.values())


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
    paths = scenario_files(roots)
    library.read = len(paths)
    for path in paths:
        raw: dict[str, Any] = {}
        try:
            raw = read_json(path)
            if raw.get("kind") == Kind.TWIN.value or (raw.get("twin_of") is not None and "caller" not in raw):
                twins.append((path, _parse_patch(raw, path)))
            else:
                scenario = parse_scenario(raw, path)
                _add(library, scenario, path)
                attacks[scenario.id] = raw
        except ScenarioError as error:
            if not lenient:
                raise
            library.problems.append(error)
            library.half_read |= {name for name in (raw.get("id"), raw.get("twin_of")) if isinstance(name, str)}
    for path, patch in twins:
        if patch.twin_of not in attacks and patch.twin_of in library.half_read:
            continue
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
            library.half_read.add(patch.twin_of)
    order = {path: place for place, path in enumerate(paths)}
    library.scenarios = dict(sorted(library.scenarios.items(), key=lambda item: order[library.files[item[0]]]))
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
