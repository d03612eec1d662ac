"""The cast kinds of the bank, by subject. What decides a case is written in the entry; everything else is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domains.banking.cast.accounts import ACCOUNTS
from domains.banking.cast.disputes import DISPUTES
from domains.banking.cast.ledger import LEDGER
from domains.banking.cast.onboarding import ONBOARDING
from domains.banking.cast.payments import PAYMENTS
from domains.banking.cast.people import PEOPLE
from domains.banking.cast.proof import PROOF
from domains.banking.cast.records import RECORDS
from domains.banking.cast.values import VALUES
from domains.kit.cast import CastKind

CAST_KINDS: Final[Mapping[str, CastKind[Any]]] = {
    **PEOPLE,
    **ACCOUNTS,
    **LEDGER,
    **PAYMENTS,
    **DISPUTES,
    **PROOF,
    **ONBOARDING,
    **RECORDS,
    **VALUES,
}
"""Every kind that a scenario's cast may hold, by the word after ``is``."""
