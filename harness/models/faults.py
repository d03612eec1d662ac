"""Why a model gave no reply, by what is to be done about it.

::

    ModelFault
    +-- RetryableFault      worth another try, until the deadline or the tries run out; may say when to come back
    |   +-- RateLimited     too many requests or tokens
    |   +-- Unavailable     connection refused or reset, 5xx, overloaded
    |   +-- TooSlow         no whole answer before the call's deadline, a slow drip included
    |   +-- Unreadable      an answer that is no chat completion: cut JSON, wrong content type, no choices
    +-- RoleOutcome         says something about the role's conversation, not about the provider
    |   +-- ContextOverflow the conversation does not fit the model
    |   +-- Filtered        the provider's filter stepped in before there was an answer
    +-- FatalFault          every further call would end the same way: the run stops with the provider's message
    |   +-- Unauthorised    key missing or refused, quota exhausted
    |   +-- UnknownModel    no such model at this address
    |   +-- BadRequest      the provider does not take what was asked: a parameter, a schema
    +-- BudgetSpent         the run's own limit of money, tokens or time is reached
    +-- NotRecorded         a cassette holds no such request
"""

from __future__ import annotations

from harness.errors import HarnessError


class ModelFault(HarnessError):
    """A model gave no reply."""


class RetryableFault(ModelFault):
    """Worth another try.

    Parameters
    ----------
    message
        The provider's words.
    retry_after_s
        When to come back, if the provider said so.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RateLimited(RetryableFault):
    """Too many requests or tokens."""


class Unavailable(RetryableFault):
    """The provider cannot be reached or fails on its side."""


class TooSlow(RetryableFault):
    """No whole answer before the deadline."""


class Unreadable(RetryableFault):
    """What came back is no answer."""


class RoleOutcome(ModelFault):
    """An outcome of the role's own conversation."""


class ContextOverflow(RoleOutcome):
    """The conversation does not fit the model's context."""


class Filtered(RoleOutcome):
    """The provider's content filter gave no answer."""


class FatalFault(ModelFault):
    """Every further call would end the same way."""


class Unauthorised(FatalFault):
    """The key is missing, refused or used up."""


class UnknownModel(FatalFault):
    """The provider has no such model."""


class BadRequest(FatalFault):
    """The provider does not take what was asked."""


class BudgetSpent(ModelFault):
    """The run's own budget is reached."""


class NotRecorded(ModelFault):
    """A cassette holds no such request."""
