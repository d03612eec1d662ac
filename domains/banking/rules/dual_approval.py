"""Whether those who approved a business payment may approve: the part of dual approval that roles decide."""

from __future__ import annotations

from domains.banking.rules.facts import outgoing, ref, rows
from domains.banking.rules.limits import permits
from domains.banking.rules.payments import DUAL_APPROVAL, second_approvals
from domains.banking.rules.standing import Basis, role_basis
from domains.banking.tables import BusinessRole
from domains.kit.rules import Request
from domains.kit.store import RowRef
from domains.kit.world import World


def weak_approval(request: Request, world: World) -> tuple[Basis, tuple[RowRef, ...]] | None:
    """Return why no second approval of a large business payment counts, with the rows that show it.

    None if one counts, if none is needed, or if there is none at all.
    """
    money = outgoing(request, world) if request.tool == "release_payment" else None
    if money is None or money.payment is None or money.account.kind != "business_checking":
        return None
    if permits(DUAL_APPROVAL, money.amount_cents):
        return None
    approvals = second_approvals(money.payment, world)
    firm = money.account.customer_id
    roles = [
        role
        for approval in approvals
        for role in rows(world, BusinessRole, business_id=firm, person_id=approval.approver_id)
    ]
    best = max((role_basis(role, "approval", world) for role in roles), default=Basis.ROLE_BEYOND)
    if not approvals or best is Basis.ROLE:
        return None
    return best, tuple(ref(row) for row in (*approvals, *roles, money.payment))
