"""Parts that a provider's models play."""

from __future__ import annotations

from tests.provider.protocol import Behaviour, ChatRequest, Reply


def echo(request: ChatRequest) -> Reply:
    """Say what was heard."""
    return Reply(request.heard)


def says(text: str) -> Behaviour:
    """Play somebody who always says the same."""
    return lambda request: Reply(text)
