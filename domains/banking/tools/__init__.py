"""The bank's tools. They are mechanical: types, existence, ownership of ids, balance, status, and never policy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from domains.banking.tools import (
    accounts,
    app,
    authority,
    cards,
    contact,
    disputes,
    holds,
    identity,
    look_ups,
    onboarding,
    payees,
    payments,
    risk,
)
from domains.kit import desk
from domains.kit.tools import Tool, collect_tools


@cache
def bank_tools() -> Mapping[str, Tool]:
    """Return every tool of the bank by name, the desk's first."""
    return collect_tools(
        desk,
        look_ups,
        identity,
        contact,
        cards,
        payees,
        payments,
        holds,
        disputes,
        risk,
        accounts,
        authority,
        onboarding,
        app,
    )
