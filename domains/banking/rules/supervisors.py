"""Approvals that a supervisor recorded, and what each of them opens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domains.banking.rules.facts import cents, get, record_ids, rows, text
from domains.banking.tables import Hold, SupervisorApproval
from domains.kit.rules import Request
from domains.kit.world import World

ACTIONS: Final[Mapping[str, str]] = {
    "issue_credit": "credit",
    "correct_balance": "correction",
    "set_temporary_limit": "limit",
    "release_hold": "release",
    "release_payment": "release",
}
"""What a supervisor can approve, by the request that it is for."""


def approvals_about(request: Request, world: World) -> list[SupervisorApproval]:
    """Return every approval about a record that a request names, and the one that it names as its basis."""
    hold = get(world, Hold, text(request, "hold_id"))
    subjects = record_ids(request) | ({hold.payment_id} if hold is not None and hold.payment_id else set())
    found = [row for key in sorted(subjects) for row in rows(world, SupervisorApproval, subject_id=key)]
    named = get(world, SupervisorApproval, text(request, "basis_id"))
    return found if named is None or named in found else [*found, named]


def approval_for(request: Request, world: World) -> SupervisorApproval | None:
    """Return a granted approval that covers a request's action and amount, or None."""
    action = ACTIONS.get(request.tool)
    wanted_cents = cents(request, "amount_cents") or cents(request, "limit_cents") or 0
    for approval in approvals_about(request, world) if action is not None else ():
        covers = approval.amount_cents is None or wanted_cents <= approval.amount_cents
        if approval.status == "granted" and approval.action == action and covers:
            return approval
    return None
