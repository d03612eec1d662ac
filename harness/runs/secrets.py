"""Keeps what the environment holds in confidence out of everything that is written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Final

REDACTED: Final = b"[redacted]"

_SECRET_NAME: Final = re.compile(r"(?i)(?:key|token|secret|passw(?:or)?d|credentials?)(?:_|$)")
_SHORTEST: Final = 8
"""Shorter values are no secrets, and would be found in innocent text."""


def secret_values(environment: Mapping[str, str] | None = None) -> tuple[bytes, ...]:
    """Return the values of variables whose names say that they are secret, as JSON text holds them, longest first."""
    found = {
        json.dumps(value, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
        for name, value in (os.environ if environment is None else environment).items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def redact(line: bytes, secrets: tuple[bytes, ...]) -> bytes:
    """Replace every secret in a line."""
    for secret in secrets:
        if secret in line:
            line = line.replace(secret, REDACTED)
    return line
