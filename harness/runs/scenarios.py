"""The scenarios of a run, kept with it: reports and replays rest on what was played, whatever the files say later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from domains.kit.json import digest
from harness.errors import RecordError
from harness.scenario.files import Library
from harness.scenario.model import Scenario

_MAX_BYTES: Final = 256 * 1024 * 1024

_SCENARIOS: Final[TypeAdapter[dict[str, Scenario]]] = TypeAdapter(dict[str, Scenario])


def scenarios_hash(scenarios: Mapping[str, Scenario]) -> str:
    """Return a digest of the content of some scenarios."""
    return digest({name: scenario.model_dump(mode="json") for name, scenario in sorted(scenarios.items())})


def write_scenarios(scenarios: Mapping[str, Scenario]) -> bytes:
    """Return scenarios as JSON, by id, twins whole."""
    return _SCENARIOS.dump_json(dict(scenarios), indent=1, by_alias=True, exclude_unset=True) + b"\n"


def read_scenarios(path: Path, expected_hash: str) -> Library:
    """Read the scenarios of a run.

    Raises
    ------
    RecordError
        If the file cannot be read, or does not hold the scenarios that the run was started with.
    """
    hint = "Restore the file, or play the run again."
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise RecordError(str(path), "", "the scenarios of the run", error.strerror or str(error), hint) from None
    if len(raw) > _MAX_BYTES:
        raise RecordError(str(path), "", f"at most {_MAX_BYTES} bytes", "more", hint)
    library = Library()
    try:
        library.scenarios = _SCENARIOS.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/" + "/".join(map(str, first["loc"])) if first["loc"] else ""
        raise RecordError(str(path), place, first["msg"], f"{first['input']!r:.80}", hint) from None
    library.files = dict.fromkeys(library.scenarios, path)
    found = scenarios_hash(library.scenarios)
    if found != expected_hash:
        raise RecordError(str(path), "", f"scenarios with the hash {expected_hash}", found, hint)
    return library
