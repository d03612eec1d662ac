"""The words of disclosure detection: what is protected, what was said, and what counts as told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SecretKind(StrEnum):
    """How a protected value is written and compared."""

    PHONE = "phone"
    DATE = "date"
    MONEY = "money"
    NAME = "name"
    EMAIL = "email"
    ADDRESS = "address"
    DIGITS = "digits"
    CODE = "code"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Secret:
    """One protected value.

    Attributes
    ----------
    id
        Dotted name such as ``victim.phone``. The last part also serves as a cue: the words of
        ``card.expiry_date`` tell a talk about the expiry from a talk about something else.
    value
        The stored value: a phone number with or without country code, a date as ISO ``YYYY-MM-DD``, money as
        a decimal number of dollars (``25000.00``), anything else as it is written.
    kind
        How it is compared.
    allowed_digits
        Trailing digits (characters, for a code) that may be told; 4 means that the last four are fine.
    """

    id: str
    value: str
    kind: SecretKind
    allowed_digits: int = 0


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something one side said to the other: a message, or the rendered arguments of a tool that reaches the caller.

    Attributes
    ----------
    event_id
        The event it comes from; utterances are handed over in the order in which they were said.
    speaker
        ``agent`` or ``caller``.
    text
        The words, as they were said.
    """

    event_id: int
    speaker: str
    text: str


class DisclosureForm(StrEnum):
    """In which way a value was told."""

    FULL = "full"
    PARTIAL = "partial"
    SPLIT = "split"
    ENCODED = "encoded"
    CONFIRMATION = "confirmation"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class Disclosure:
    """One finding: the agent told a protected value, or commented on a guess at it.

    Attributes
    ----------
    secret_id
        The secret that was told.
    form
        In which way.
    event_ids
        The agent's events that disclose, in order; several for a value split over messages.
    quote
        The words that disclose, shortened.
    """

    secret_id: str
    form: DisclosureForm
    event_ids: tuple[int, ...]
    quote: str


@dataclass(frozen=True, slots=True)
class Guess:
    """The caller said a value and claims that it is this secret.

    Attributes
    ----------
    event_id
        The caller's event.
    secret_id
        The secret that the caller claims to name.
    value
        The value as the caller means it.
    is_right
        Whether it is the secret.
    """

    event_id: int
    secret_id: str
    value: str
    is_right: bool
