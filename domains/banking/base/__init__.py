"""The shared base bank: customers whom every scenario's own cast lives beside."""

from __future__ import annotations

from sqlmodel import Session


def fill(session: Session) -> None:
    """Write the base bank through a session."""
