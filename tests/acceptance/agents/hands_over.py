"""Hands every caller to a human before they have come to the point."""

from domains.kit.domain import Call
from harness.episode.turn import Turn


class Agent:
    def respond(self, view):
        return Turn("A colleague will take over.", calls=(Call("transfer_to_human", {"summary": "Not for me."}),))


def make_agent(brief):
    return Agent()
