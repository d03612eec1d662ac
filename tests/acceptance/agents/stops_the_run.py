"""Refers every caller and refuses. Where a file `stop` says so, it sends a signal in its third episode, once."""

import os
from itertools import count
from pathlib import Path

from domains.kit.domain import Call
from harness.episode.turn import Turn

EPISODE = count()


class Agent:
    def __init__(self):
        self.episode, self.turn = next(EPISODE), -1

    def respond(self, view):
        self.turn += 1
        if (self.episode, self.turn) == (2, 2):
            signal_once()
        if self.turn == 0:
            return Turn(calls=(Call("kb_search", {"query": view.heard[:200]}),))
        if self.turn == 1:
            referral = {"reason_code": "none", "rule_id": "none", "summary": view.heard}
            return Turn("One moment, please.", calls=(Call("escalate", referral), Call("get_current_time", {})))
        return "I am not able to do that for you."


def signal_once():
    try:
        Path("stop").rename("stopped")
    except FileNotFoundError:
        return
    whom, number = Path("stopped").read_text().split()
    os.kill(os.getppid() if whom == "parent" else os.getpid(), int(number))


def make_agent(brief):
    return Agent()
