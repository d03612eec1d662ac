"""What calls one model once: the seam between what the harness does around a call and the library that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from domains.kit.json import JsonValue
from harness.models.config import Price
from harness.models.contract import ModelReply, ModelRequest


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and what the request held beside the conversation, as it was sent."""

    reply: ModelReply
    parameters: Mapping[str, JsonValue]


class Provider(Protocol):
    """Calls one model once, without retries, limits or records. Threads share it."""

    @property
    def price(self) -> Price | None:
        """What the model costs; None if that is not known."""
        ...

    def complete(self, request: ModelRequest, timeout_s: float) -> Answer:
        """Return the answer.

        Parameters
        ----------
        request
            What to send.
        timeout_s
            From sending it to the end of the answer.

        Raises
        ------
        ModelFault
            If there is none.
        """
        ...
