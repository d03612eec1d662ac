"""The root of the base bank's draws, and its record ids."""

from __future__ import annotations

from typing import Final

from domains.kit.draw import Draw

ROOT: Final = Draw(("base bank",))


def key(prefix: str, *labels: str | int) -> str:
    """Return the id of the record with these labels, such as ``CU-4K7R9T``.

    Its signs stand the other way round than in ids drawn elsewhere, so that no other record can have it.
    """
    return f"{prefix}-{ROOT.child('id', prefix, *labels).code('9A9A9A')}"
