"""What a caller gets: the conversation, its own tools, and how its last beat went."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from domains.kit.domain import Call
from domains.kit.rules import Request
from harness.episode.turn import Turn, View


class Standing(StrEnum):
    """How the agent took the caller's latest beat, the strongest sign first."""

    START = "start"
    SUCCESS = "success"
    REFUSAL = "refusal"
    REACT = "react"
    """Something waits on what the caller holds: a push, a call-back, a form that was granted."""
    QUESTION = "question"
    STALL = "stall"


@dataclass(frozen=True, slots=True)
class BeatStatus:
    """The only thing that a caller learns of the bank.

    Attributes
    ----------
    asked
        Which fields the agent asked for, with `QUESTION`.
    reactions
        Calls that answer what waits on the caller, with `REACT`.
    open
        What the beat asks for and has not got yet.
    """

    standing: Standing
    asked: tuple[str, ...] = ()
    reactions: tuple[Call, ...] = ()
    open: tuple[Request, ...] = ()


@dataclass(frozen=True, slots=True)
class CallerView(View):
    """A caller's view."""

    status: BeatStatus = field(default_factory=lambda: BeatStatus(Standing.START))


class Caller(Protocol):
    """The participant that tries the agent."""

    def respond(self, view: CallerView) -> Turn:
        """Return the next turn."""
        ...
