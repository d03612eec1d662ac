"""Fixtures of the bank's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from domains.kit.world import World
from tests.domains.banking.small_bank import open_bank


@pytest.fixture
def bank() -> Iterator[World]:
    """The small bank; the caller is Anna with her app, device and telephone."""
    world = open_bank()
    yield world
    world.close()
