"""Everything that can go wrong in a domain, by the boundary it crosses.

::

    DomainError
    +-- ToolError           the world says no: recorded as a failed result, the episode goes on
    |   +-- CallRejected    the call never reached the tool (unknown, badly formed, not available)
    +-- SetupError          a scenario asks for rows or people that the domain cannot make
    +-- UnknownDomain       no domain of that name is installed
    +-- StoreEnded          a tool ended the transaction in which its store lives: a bug in it
"""

from __future__ import annotations

from enum import StrEnum


class DomainError(Exception):
    """Root of the domain layer's exceptions."""


class ToolError(DomainError):
    """A business refusal by a tool: the message is what the participant reads as the result."""


class Rejection(StrEnum):
    """Why a call never reached its tool."""

    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"
    NOT_UNLOCKED = "not_unlocked"
    NOT_GRANTED = "not_granted"
    NOT_YOURS = "not_yours"


class CallRejected(ToolError):
    """A call that the world turned away before any tool ran.

    Parameters
    ----------
    reason
        The kind of rejection, kept in the record.
    message
        What the participant reads.
    """

    def __init__(self, reason: Rejection, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

    def __reduce__(self) -> tuple[type[CallRejected], tuple[Rejection, str]]:
        """Rebuild from the parts, so that the error crosses to another process."""
        return type(self), (self.reason, self.message)


class SetupError(DomainError):
    """A scenario asks for something that the domain cannot build.

    Parameters
    ----------
    path
        JSON path inside the scenario, such as ``/cast/due/to``.
    message
        What was expected and what was found.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.problem = message

    def __reduce__(self) -> tuple[type[SetupError], tuple[str, str]]:
        """Rebuild from the parts, so that the error crosses to another process."""
        return type(self), (self.path, self.problem)


class UnknownDomain(DomainError):
    """A scenario or a command names a domain that is not installed, or whose factory does not build one."""


class StoreEnded(DomainError):
    """A statement of a tool has ended the transaction in which its store lives: a bug in the tool."""
