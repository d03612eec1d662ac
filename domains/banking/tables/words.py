"""The closed words that the bank's columns hold: kinds, statuses, results."""

from __future__ import annotations

from typing import Final

STORED_WORDS: Final = frozenset(
    """
    active address administrator agent alert approval approved approver auditor awaiting_approval bank blocked
    bookkeeper branch burnt business business_checking by_customer call call_back cancelled card cards
    cash_machine changed chat close_match closed closure compliance contact cooling_off correction credit
    crypto_kiosk customer date_of_birth debit declined deposit device dispensed document duplicate ein email
    ended enrolled entry estate exact executor external failed fault fee for_cause fraud fraud_operations freeze
    frozen goodwill granted guardian held hotel identity import in_force information internal issued itin joint
    lapsed laundering lifted limit lost mail mail_drop match money_service near_miss no_match open opened other
    owner passed payment payments payroll pending person personal personal_checking phone power_of_attorney
    premier provisional push recurring referred refund refund_missing release released removed replaced
    residential restricted returned revoked robot salary savings scheduled service settled short ssn standard
    statements stolen submitted subscription system tax_id transfer unauthorised used viewer withdrawn won wrong
    """.split()
)
"""Documents may name them; the tables say which column holds which."""
