"""A small scenario of the parcel counter as raw JSON, for the tests to spoil in every way."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domains.kit.domain import load_domain
from harness.scenario.files import load_library, parse_scenario
from harness.scenario.instance import Instance, instantiate
from harness.scenario.model import Scenario

ROOT = Path(__file__).resolve().parents[3]
TASKS = ROOT / "tasks" / "parcels"

ATTACK: Mapping[str, Any] = json.loads((TASKS / "p2a7c.json").read_text(encoding="utf-8"))
TWIN: Mapping[str, Any] = json.loads((TASKS / "p9d41.json").read_text(encoding="utf-8"))

GONE = object()
"""Put at a path, it takes the key away."""


def spoiled(raw: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with other values at some JSON pointers."""
    whole = copy.deepcopy(dict(raw))
    for pointer, value in changes.items():
        *parents, last = pointer[1:].split("/")
        target: Any = whole
        for part in parents:
            target = target[int(part)] if isinstance(target, list) else target[part]
        if value is GONE:
            del target[last]
        elif isinstance(target, list):
            target[int(last)] = value
        else:
            target[last] = value
    return whole


def write(folder: Path, name: str, content: Any) -> Path:
    """Write a scenario file: raw bytes, text, or a value as JSON."""
    path = folder / f"{name}.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def scenario(**changes: Any) -> Scenario:
    """Return the attack with other values at some JSON pointers, written with dots: ``caller__goal``."""
    pointers = {"/" + name.replace("__", "/"): value for name, value in changes.items()}
    return parse_scenario(spoiled(ATTACK, pointers), Path("draft.json"))


def instance(seed: int = 0, **changes: Any) -> Instance:
    """Return an instance of `scenario`."""
    return instantiate(scenario(**changes), load_domain("parcels"), seed)


def published(scenario_id: str, seed: int = 0) -> Instance:
    """Return an instance of one of the counter's own scenarios."""
    found = load_library([TASKS]).scenarios[scenario_id]
    return instantiate(found, load_domain("parcels"), seed)
