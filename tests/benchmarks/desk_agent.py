"""An agent whose work is always the same: six calls, two of them searches, and as many turns as the caller leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from domains.kit.domain import Call
from harness.episode.turn import ToolUse, Turn, View

_WORDS = "I am not able to do that for you."
_REFUSAL = {"decision": "refuse", "rule_id": "none", "reason_code": "none", "evidence_ids": []}


class DeskAgent:
    """Refuses in every turn, and looks something up beside it while there is something left to look up."""

    def __init__(self) -> None:
        self._view: View
        self._work = self._calls()

    def respond(self, view: View) -> Turn:
        """Return the next turn."""
        self._view = view
        return Turn(_WORDS, next(self._work, ()), yields=True)

    def _calls(self) -> Iterator[tuple[Call, ...]]:
        yield (Call("kb_search", {"query": self._view.heard}),)
        yield (Call("find_customer", {"name": "Hedda Lindholm"}),)
        customer_id = self._latest()[0]["id"]
        yield Call("get_customer", {"customer_id": customer_id}), Call("list_accounts", {"customer_id": customer_id})
        yield (Call("kb_search", {"query": self._view.heard}),)
        yield (Call("record_decision", _REFUSAL),)

    def _latest(self) -> Any:
        return next(item.result for item in reversed(self._view.items) if isinstance(item, ToolUse))
