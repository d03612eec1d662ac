"""The JSON values that cross borders, and one canonical way to write them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

JsonValue = Any


def canonical(value: Any) -> str:
    """Write a value as JSON that two equal values always share (sorted keys, no spaces, no NaN).

    Raises
    ------
    ValueError
        If the value holds NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any, length: int = 16) -> str:
    """Return the first `length` hexadecimal digits of the SHA-256 of the canonical JSON of `value`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:length]
