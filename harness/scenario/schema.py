"""The published JSON Schema of scenario files."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from harness.scenario.model import Scenario, TwinPatch

_URL = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """Return the schema of one scenario file: a whole attack, or the patch of a twin."""
    schema = TypeAdapter(Scenario | TwinPatch).json_schema(by_alias=True)
    return {"$schema": _URL, "title": "fraudbench scenario, version 1", **schema}
