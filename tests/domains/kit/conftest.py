"""Fixtures of the kit's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from domains.kit.world import World
from tests.domains.kit.lab import open_lab


@pytest.fixture
def world() -> Iterator[World]:
    """A fresh world of the lab."""
    opened = open_lab()
    yield opened
    opened.close()
