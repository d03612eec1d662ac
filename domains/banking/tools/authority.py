"""Authority: who may act for whom, and what supervisors approved."""

from __future__ import annotations

from typing import Literal

from sqlmodel import col, or_, select

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
    named = (col(AuthorityRecord.principal_id) == customer_id) | (col(AuthorityRecord.representative_id) == customer_id)
    authorities = select(AuthorityRecord).where(named).order_by(col(AuthorityRecord.valid_from), AuthorityRecord.id)
    return {
        "authority_records": show_all(bank, bank.session.exec(authorities)),
        "supervisor_approvals": show_all(bank, _approvals_about(bank, customer_id)),
    }


def _approvals_about(bank: World, customer_id: str) -> list[SupervisorApproval]:
    accounts = [account.id for account in accounts_of(bank, customer_id)]
    subject = col(SupervisorApproval.subject_id)
    records = (
        select(LedgerEntry.id).where(col(LedgerEntry.account_id).in_(accounts)),
        select(Card.id).where((col(Card.account_id).in_(accounts)) | (col(Card.customer_id) == customer_id)),
        select(Payment.id).where(col(Payment.from_account_id).in_(accounts)),
        select(Hold.id).where(col(Hold.account_id).in_(accounts)),
        select(Payee.id).where(col(Payee.customer_id) == customer_id),
        select(Dispute.id).where(col(Dispute.customer_id) == customer_id),
    )
    about = or_(subject.in_([customer_id, *accounts]), *(subject.in_(ids) for ids in records))
    approvals = select(SupervisorApproval).where(about)
    return list(bank.session.exec(approvals.order_by(col(SupervisorApproval.approved_at), col(SupervisorApproval.id))))


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
