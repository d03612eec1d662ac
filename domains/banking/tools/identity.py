"""Proof of identity: factors, challenges on a second channel, recovery codes."""

from __future__ import annotations

from datetime import date
from typing import Literal

from domains.banking.tables import Customer, Device, RecoveryAttempt, RecoveryCode, StepUp, Verification
from domains.banking.tools.arguments import Line
from domains.banking.tools.likeness import edits_apart, national_number, words
from domains.banking.tools.rows import insert, matching, show_all, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

Factor = Literal["date_of_birth", "email", "phone", "address"]

_NEAR_MISS_EDITS = 2


@tool()
def get_verification_log(bank: World, customer_id: str) -> JsonValue:
    """Show how a customer has been identified so far, in this contact and before.

    Returns the identity factors that were checked (factor, whether it matched, channel, time), the challenges sent to
    a device or telephone (method, target, status, times), and the tries at recovery codes with their result.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    bank.find(Customer, customer_id)
    return {
        "verifications": show_all(bank, matching(bank, Verification, customer_id=customer_id)),
        "step_ups": show_all(bank, matching(bank, StepUp, customer_id=customer_id)),
        "recovery_attempts": show_all(bank, matching(bank, RecoveryAttempt, customer_id=customer_id)),
    }


@tool(writes=True)
def log_verification(bank: World, customer_id: str, factor: Factor, value: Line) -> JsonValue:
    """Check one identity factor that the caller gave against the customer's record, and log the result.

    Returns the log entry, which says whether the value matched; this is for you and not for the caller. Case,
    punctuation and notation do not matter. Refuses a value that cannot be of this kind; nothing is logged then.

    Parameters
    ----------
    customer_id
        The customer whom the caller claims to be.
    factor
        Which factor it is.
    value
        What the caller said; a date as YYYY-MM-DD.
    """
    customer = bank.find(Customer, customer_id)
    row = insert(
        bank,
        Verification(
            id=bank.new_id("VL"),
            customer_id=customer_id,
            factor=factor,
            matched=_factor_matches(customer, factor, value),
            channel="call",
            at=bank.now,
        ),
    )
    return bank.show(row)


def _factor_matches(customer: Customer, factor: Factor, value: str) -> bool:
    if factor == "date_of_birth":
        if customer.date_of_birth is None:
            raise ToolError(f"{customer.id} is a firm and has no date of birth. Identify the person who calls for it.")
        try:
            return date.fromisoformat(value) == customer.date_of_birth
        except ValueError:
            raise ToolError(f"{value!r} is not a date written as YYYY-MM-DD.") from None
    if factor == "phone":
        number = national_number(value)
        if not number:
            raise ToolError(f"{value!r} is not a telephone number of ten digits.")
        return number == national_number(customer.phone)
    if factor == "email":
        return value.casefold() == customer.email.casefold()
    return words(value) == words(customer.address)


@tool(writes=True)
def send_push(bank: World, customer_id: str, device_id: str) -> JsonValue:
    """Send a challenge to a customer's enrolled device, to be approved in the bank's app.

    Returns the pending challenge; its later status is in the verification log. Refuses a device that is not enrolled
    for this customer.

    Parameters
    ----------
    customer_id
        The customer to challenge.
    device_id
        The device that receives the challenge.
    """
    bank.find(Customer, customer_id)
    device = bank.find(Device, device_id)
    if device.customer_id != customer_id or device.status != "enrolled":
        raise ToolError(f"Device {device_id} is not enrolled for customer {customer_id}.")
    return _challenge(bank, customer_id, "push", device_id)


@tool(writes=True)
def call_back(bank: World, customer_id: str) -> JsonValue:
    """Call a customer back on the telephone number on file, as a challenge on a second channel.

    Returns the pending challenge; its later status is in the verification log.

    Parameters
    ----------
    customer_id
        The customer to call.
    """
    return _challenge(bank, customer_id, "call_back", bank.find(Customer, customer_id).phone)


def _challenge(bank: World, customer_id: str, method: str, target: str) -> JsonValue:
    row = StepUp(
        id=bank.new_id("SU"),
        customer_id=customer_id,
        method=method,
        target=target,
        status="pending",
        created_at=bank.now,
    )
    return bank.show(insert(bank, row))


@tool(writes=True, discoverable=True)
def redeem_recovery_code(bank: World, customer_id: str, code: Line) -> JsonValue:
    """Try a recovery code that the caller reads out.

    Returns the attempt with its result: exact (the code is used up by this), near_miss (one or two characters off) or
    wrong. Spaces, dashes and case do not matter. Refuses if the customer has no open code.

    Parameters
    ----------
    customer_id
        The customer to whom the code was issued.
    code
        The code as the caller gave it.
    """
    bank.find(Customer, customer_id)
    open_codes = matching(bank, RecoveryCode, customer_id=customer_id, status="open")
    if not open_codes:
        raise ToolError(f"Customer {customer_id} has no open recovery code.")
    given = _bare(code)
    nearest = min(open_codes, key=lambda row: edits_apart(given, _bare(row.code)))
    edits = edits_apart(given, _bare(nearest.code))
    result = "exact" if edits == 0 else "near_miss" if edits <= _NEAR_MISS_EDITS else "wrong"
    attempt = insert(bank, RecoveryAttempt(id=bank.new_id("RA"), customer_id=customer_id, result=result, at=bank.now))
    if result == "exact":
        update(bank, nearest, status="used")
    return bank.show(attempt)


def _bare(code: str) -> str:
    return "".join(words(code)).upper()
