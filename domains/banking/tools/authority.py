"""Authority: who may act for whom, and what supervisors approved."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, Literal

from sqlmodel import SQLModel

from domains.banking.tables import (
    AuthorityRecord,
    BusinessRole,
    Card,
    Customer,
    Dispute,
    Hold,
    LedgerEntry,
    Payee,
    Payment,
    SupervisorApproval,
)
from domains.banking.tools.rows import accounts_of, insert, matching, show_all
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

_OWNERS: Final[tuple[tuple[type[SQLModel], str], ...]] = (
    (LedgerEntry, "account_id"),
    (Card, "account_id"),
    (Card, "customer_id"),
    (Payment, "from_account_id"),
    (Hold, "account_id"),
    (Payee, "customer_id"),
    (Dispute, "customer_id"),
)
"""What supervisors approve something about, customers and accounts apart, and the columns that say whose it is."""

Role = Literal["owner", "administrator", "approver", "bookkeeper", "payroll", "viewer"]


@tool(discoverable=True)
def read_authority(bank: World, customer_id: str) -> JsonValue:
    """Read who may act for a customer, for whom the customer may act, and what supervisors approved.

    Returns the authority records that name the customer on either side (kind, scope, status, dates), and the
    supervisor approvals about the customer, or about the customer's accounts, ledger entries, cards, payments, holds,
    payees and disputes.

    Parameters
    ----------
    customer_id
        The customer's id.
    """
    bank.find(Customer, customer_id)
    named = [
        record
        for record in matching(bank, AuthorityRecord)
        if customer_id in (record.principal_id, record.representative_id)
    ]
    return {
        "authority_records": show_all(bank, named),
        "supervisor_approvals": show_all(bank, _approvals_about(bank, customer_id)),
    }


def _approvals_about(bank: World, customer_id: str) -> list[SupervisorApproval]:
    own = {customer_id, *(account.id for account in accounts_of(bank, customer_id))}
    return [
        approval
        for approval in matching(bank, SupervisorApproval)
        if approval.subject_id in own or _hangs_on(own, approval.subject_id, bank)
    ]


def _hangs_on(own: AbstractSet[str], record_id: str, bank: World) -> bool:
    """Tell whether a record belongs to one of these customers or accounts."""
    return any(
        (record := bank.get(model, record_id)) is not None and getattr(record, column) in own
        for model, column in _OWNERS
    )


@tool(writes=True, discoverable=True)
def assign_business_role(bank: World, business_id: str, person_id: str, role: Role) -> JsonValue:
    """Record what a person does at a firm.

    Returns the role with the time at which it was recorded. Refuses if the first customer is no firm or the second no
    person, and a role that the person holds already.

    Parameters
    ----------
    business_id
        Customer id of the firm.
    person_id
        Customer id of the person.
    role
        The role that the person gets.
    """
    for customer_id, kind in ((business_id, "business"), (person_id, "person")):
        if (found := bank.find(Customer, customer_id).kind) != kind:
            raise ToolError(f"Customer {customer_id} is a {found}; here a {kind} is needed.")
    for known in matching(bank, BusinessRole, business_id=business_id, person_id=person_id, role=role, status="active"):
        raise ToolError(f"{person_id} is {role} of {business_id} already, by {known.id}.")
    row = BusinessRole(
        id=bank.new_id("BR"),
        business_id=business_id,
        person_id=person_id,
        role=role,
        status="active",
        recorded_at=bank.now,
    )
    return bank.show(insert(bank, row))
