"""Risk: the fraud score of a payment, cases for investigators, flags on records."""

from __future__ import annotations

from typing import Literal

from domains.banking.features import explain, measure
from domains.banking.tables import Account, Customer, FraudCase, Payee, RecordFlag
from domains.banking.tools.arguments import Cents, Line, Text
from domains.banking.tools.rows import check_reason, check_record, insert, matching
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World


@tool()
def score_payment(
    bank: World,
    from_account_id: str,
    amount_cents: Cents,
    payee_id: str | None = None,
    to_account_id: str | None = None,
) -> JsonValue:
    """Ask the bank's fraud model how suspicious a payment would be; nothing is paid.

    Returns a score from 0 (like everyday payments) to 1 (like known fraud), and the measurements that raise it most,
    each with its value and by how much the score would fall if it were an everyday one. Refuses unless either a payee
    or an account of this bank is named as the receiver.

    Parameters
    ----------
    from_account_id
        The account that would pay.
    amount_cents
        The amount in cents.
    payee_id
        The payee, for a payment out of this bank.
    to_account_id
        The receiving account, for a transfer inside this bank.
    """
    account = bank.find(Account, from_account_id)
    if (payee_id is None) == (to_account_id is None):
        raise ToolError("Name either payee_id or to_account_id as the receiver.")
    receiver = bank.find(Payee, payee_id) if payee_id is not None else bank.find(Account, str(to_account_id))
    return explain(bank.resources["detector"], measure(bank, account, receiver, amount_cents))


@tool(writes=True)
def open_fraud_case(
    bank: World,
    customer_id: str,
    kind: Literal["fraud", "laundering", "identity"],
    reason_code: Line,
    summary: Text,
) -> JsonValue:
    """Open a case for the bank's investigators.

    Returns the case.

    Parameters
    ----------
    customer_id
        The customer whom the case concerns.
    kind
        What is suspected.
    reason_code
        The reason code that the corpus gives.
    summary
        What happened, for the investigator.
    """
    bank.find(Customer, customer_id)
    check_reason(bank, reason_code)
    case = FraudCase(
        id=bank.new_id("FC"),
        customer_id=customer_id,
        kind=kind,
        reason_code=reason_code,
        summary=summary,
        status="open",
        opened_at=bank.now,
    )
    return bank.show(insert(bank, case))


@tool(writes=True, discoverable=True)
def flag_record(bank: World, record_id: str, reason_code: Line) -> JsonValue:
    """Flag a record whose content is not to be trusted, so that nobody works from it.

    Returns the flag. Refuses a record that carries one already.

    Parameters
    ----------
    record_id
        Id of the record: a customer, account, card, ledger entry, payment, payee, dispute, application, hold, note or
        device.
    reason_code
        The reason code that the corpus gives.
    """
    check_record(bank, record_id)
    check_reason(bank, reason_code)
    for known in matching(bank, RecordFlag, record_id=record_id):
        raise ToolError(f"Record {record_id} is flagged already, by {known.id}.")
    return bank.show(
        insert(bank, RecordFlag(id=bank.new_id("RF"), record_id=record_id, reason_code=reason_code, at=bank.now))
    )
