"""The prepared store of the bank."""

from __future__ import annotations

from domains.banking.base import fill
from domains.banking.tables import TABLES
from domains.kit.store import StoreTemplate


def build_template() -> StoreTemplate:
    """Return the bank's tables filled with the shared base bank."""
    return StoreTemplate(TABLES, fill)
