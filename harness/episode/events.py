"""Everything that can happen in an episode, in one list.

An episode's trajectory is a flat, ordered sequence of these events, numbered from 0. They are what is stored,
replayed, shown and graded.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from domains.kit.errors import Rejection
from domains.kit.store import ChangeKind, RowRef
from domains.kit.tools import Actor


class StopReason(StrEnum):
    """Why an episode ended."""

    CALLER_DONE = "caller_done"
    AGENT_HANDED_OFF = "agent_handed_off"
    AGENT_ENDED = "agent_ended"
    TURN_LIMIT = "turn_limit"
    TOOL_LIMIT = "tool_limit"
    ERROR_LIMIT = "error_limit"
    TIME_LIMIT = "time_limit"
    COST_LIMIT = "cost_limit"
    AGENT_FAULT = "agent_fault"
    CALLER_FAULT = "caller_fault"
    WORLD_FAULT = "world_fault"
    PROVIDER_FAULT = "provider_fault"


FAULTS: Final = frozenset(
    {StopReason.AGENT_FAULT, StopReason.CALLER_FAULT, StopReason.WORLD_FAULT, StopReason.PROVIDER_FAULT}
)
"""Ends that say nothing about the agent's conduct: the episode counts as errored."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredRequest(_Frozen):
    """A wish of the caller in structured form."""

    tool: str
    arguments: dict[str, Any]


class StoredGuess(_Frozen):
    """A value that the caller gave for a stored field."""

    table: str
    key: str
    column: str
    value: Any


class BeatNote(_Frozen):
    """What a scripted caller's words mean. Judges and reference agents read it; model-driven participants never."""

    beat: str
    requests: tuple[StoredRequest, ...] = ()
    guesses: tuple[StoredGuess, ...] = ()
    evidence: tuple[str, ...] = ()
    decision_point: bool = False
    status: str = "start"
    """How the caller took the agent's turn before this one."""


class RowChange(_Frozen):
    """One row before and after."""

    kind: ChangeKind
    table: str
    key: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def row(self) -> RowRef:
        """The row's address."""
        return RowRef(self.table, self.key)


class _Event(_Frozen):
    id: int
    turn: int
    """Number of the turn, 0 for the first."""


class Said(_Event):
    """Words of one participant, heard by the other."""

    type: Literal["said"] = "said"
    speaker: Actor
    text: str
    cut_from: int | None = None
    """Length of the original, if it was longer than a message may be."""
    note: BeatNote | None = None


class Called(_Event):
    """A tool call. `tool` and `arguments` are as the participant wrote them."""

    type: Literal["called"] = "called"
    actor: Actor
    call_id: str
    tool: str
    arguments: dict[str, Any]


class Returned(_Event):
    """What a call came to, and the rows it changed and showed."""

    type: Literal["returned"] = "returned"
    actor: Actor
    call_id: str
    tool: str
    """The tool that ran: the one inside, for a call through `call_unlocked_tool`."""
    arguments: dict[str, Any]
    ok: bool
    result: Any
    rejection: Rejection | None = None
    changes: tuple[RowChange, ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    heard: tuple[str, ...] = ()
    """Texts among the arguments that reach the caller."""
    ends: bool = False


class TurnEnded(_Event):
    """A participant gave up the floor, or kept it to see what its calls return."""

    type: Literal["turn_ended"] = "turn_ended"
    speaker: Actor
    yields: bool
    ends: str | None = None
    """Why this participant ends the conversation, if it does."""


class Stopped(_Event):
    """The end of the episode; always the last event."""

    type: Literal["stopped"] = "stopped"
    reason: StopReason
    detail: str = ""


Event = Annotated[Said | Called | Returned | TurnEnded | Stopped, Field(discriminator="type")]
EVENTS: Final[TypeAdapter[tuple[Event, ...]]] = TypeAdapter(tuple[Event, ...])
"""Reads and writes a whole trajectory."""
