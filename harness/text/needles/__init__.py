"""Protected values, prepared for the search: one module for each way in which values are written."""

from __future__ import annotations

from functools import lru_cache

from harness.text.needles.addresses import make_address_needle
from harness.text.needles.amounts import MoneyNeedle
from harness.text.needles.base import Needle
from harness.text.needles.calendar import DateNeedle
from harness.text.needles.digits import DigitsNeedle
from harness.text.needles.emails import EmailNeedle
from harness.text.needles.names import make_name_needle
from harness.text.needles.wording import CodeNeedle, TextNeedle
from harness.text.normal import normalise
from harness.text.terms import Secret, SecretKind


@lru_cache(maxsize=8192)
def prepare(secret: Secret) -> Needle:
    """Return the needle of a secret; recent ones are remembered.

    Raises
    ------
    ValueError
        If the value cannot be of its kind (a date that is not ISO, a phone number without digits).
    """
    match secret.kind:
        case SecretKind.PHONE | SecretKind.DIGITS:
            return DigitsNeedle(secret)
        case SecretKind.DATE:
            return DateNeedle(secret)
        case SecretKind.MONEY:
            return MoneyNeedle(secret)
        case SecretKind.NAME:
            return make_name_needle(secret)
        case SecretKind.EMAIL:
            return EmailNeedle(secret)
        case SecretKind.ADDRESS:
            return make_address_needle(secret)
        case SecretKind.CODE:
            is_number = normalise(secret.value).compact.isdigit()
            return DigitsNeedle(secret) if is_number else CodeNeedle(secret)
        case SecretKind.TEXT:
            return TextNeedle(secret)
