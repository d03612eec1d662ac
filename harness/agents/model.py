"""An agent that is a language model: the chat as it sees it, and its replies as turns."""

from __future__ import annotations

from typing import Final

from domains.kit.tools import Actor
from harness.episode.turn import AgentBrief, ToolUse, Turn, View
from harness.models.chat import said, tool_message, turn_of
from harness.models.contract import ChatMessage, ModelClient, ModelRequest, Role, Speaker, ToolRequest
from harness.models.faults import ContextOverflow, Filtered
from harness.prompts import prompt

CONTEXT_FULL: Final = "context_overflow"
"""Why an agent ends a conversation that no longer fits its model."""


def agent_prompt(brief: AgentBrief) -> str:
    """Return the system prompt of a model-driven agent."""
    return prompt("agent").substitute(
        policy=brief.policy, now=brief.now.isoformat(timespec="minutes"), retrieval=brief.knowledge or _SEARCH
    )


_SEARCH: Final = "You find the bank's rules by searching its documents with kb_search and reading them with kb_read."


class ModelAgent:
    """Asks a model for every turn.

    Parameters
    ----------
    brief
        What the agent is told before the conversation.
    client
        The model, with its retries, limits and records.
    """

    def __init__(self, brief: AgentBrief, client: ModelClient) -> None:
        self._client = client
        self._chat: list[ChatMessage] = [said(Speaker.SYSTEM, agent_prompt(brief))]
        self._seen = 0
        self._asked: list[ToolRequest] = []

    def respond(self, view: View) -> Turn:
        """Return the model's next turn.

        A reply that the token limit cut off is delivered as far as it goes, and its calls are not run. A refusal is
        a turn like any other. A conversation that no longer fits the model ends with the agent.

        Raises
        ------
        ModelFault
            If the model gives no reply.
        """
        self._take_in(view)
        request = ModelRequest(Role.AGENT, f"agent/{len(self._chat)}", tuple(self._chat), tools=view.tools)
        try:
            reply = self._client.complete(request)
        except ContextOverflow:
            return Turn(ends=CONTEXT_FULL)
        except Filtered:
            return Turn()
        turn, kept = turn_of(reply)
        self._chat.append(kept)
        self._asked = list(kept.tool_requests)
        return turn

    def _take_in(self, view: View) -> None:
        """Append what has happened since the last turn; the agent's own words are in the chat already."""
        for item in view.items[self._seen :]:
            if isinstance(item, ToolUse):
                if self._asked:
                    self._chat.append(tool_message(self._asked.pop(0), item))
            elif item.speaker is Actor.CALLER:
                self._chat.append(said(Speaker.USER, item.text))
        self._seen = len(view.items)
