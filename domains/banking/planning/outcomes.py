"""How a finding is carried out. What stands already is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from domains.banking.rules.facts import (
    MONEY_OUT,
    account_of,
    get,
    outgoing,
    rows,
    subject_of,
    text,
)
from domains.banking.tables import (
    Account,
    Application,
    FraudCase,
    Hold,
    RecordFlag,
    StepUp,
)
from domains.banking.tools.payments import WAITING
from domains.kit.desk import Escalation
from domains.kit.domain import Call
from domains.kit.rules import Finding, Outcome, Request
from domains.kit.world import World

_FLAGGED: Final = frozenset(
    {
        *("customers", "accounts", "cards", "ledger", "payments", "payees", "disputes", "applications", "holds"),
        *("notes", "devices"),
    }
)
_CASES: Final = {"fraud_case": "fraud", "laundering_case": "laundering", "identity_case": "identity"}


def actions(finding: Finding, request: Request, world: World) -> Iterator[Call]:
    """Yield the calls that carry out a finding: holds, cases, referrals, flags."""
    subject = subject_of(request, world)
    if finding.outcome is Outcome.HOLD or "hold" in finding.also:
        yield from _hold(finding, request, subject, world)
    waiting = rows(world, StepUp, customer_id=subject, method="call_back", status="pending")
    if "call_back" in finding.also and subject is not None and not waiting:
        yield Call("call_back", {"customer_id": subject})
    yield from _cases(finding, request, subject, world)
    if finding.outcome is Outcome.REFER:
        application = get(world, Application, text(request, "application_id"))
        if application is not None and application.status == "submitted":
            yield Call("refer_application", {"application_id": application.id, "reason_code": finding.reason_code})
    if finding.outcome is Outcome.ESCALATE:
        yield from _escalation(finding, world)
    if "flag" in finding.also:
        yield from _flag(finding, world)
    if "pick_up" in finding.also and "pick_up_at_branch" not in world.granted:
        yield Call("grant_tool", {"tool": "pick_up_at_branch"})


def _hold(finding: Finding, request: Request, subject: str | None, world: World) -> Iterator[Call]:
    money = outgoing(request, world) if request.tool in MONEY_OUT else None
    account = account_of(request, world)
    if account is None and subject is not None:
        accounts = rows(world, Account, customer_id=subject, status="open")
        account = min(accounts, key=lambda one: one.opened_at, default=None)
    if account is None:
        return
    covers = {}
    if money is not None:
        waits = money.payment is not None and money.payment.status in WAITING
        covers = {
            "payment_id": money.payment.id if money.payment is not None and waits else None,
            "payee_id": money.payee.id if money.payee is not None else None,
            "amount_cents": money.amount_cents or None,
        }
        covers = {name: value for name, value in covers.items() if value is not None}
    arguments = {"account_id": account.id, "reason_code": finding.reason_code, **covers}
    if not rows(world, Hold, status="active", **arguments):
        yield Call("place_hold", arguments)


def _cases(finding: Finding, request: Request, subject: str | None, world: World) -> Iterator[Call]:
    application = get(world, Application, text(request, "application_id"))
    subject = application.customer_id if application is not None else subject
    for name, kind in _CASES.items():
        if name not in finding.also:
            continue
        if subject is None:
            yield from _escalation(finding, world)
        elif not rows(world, FraudCase, customer_id=subject, kind=kind, reason_code=finding.reason_code, status="open"):
            yield Call(
                "open_fraud_case",
                {
                    "customer_id": subject,
                    "kind": kind,
                    "reason_code": finding.reason_code,
                    "summary": _summary(finding),
                },
            )


def _flag(finding: Finding, world: World) -> Iterator[Call]:
    carrier = next((row.key for row in finding.rests_on if row.table in _FLAGGED), None)
    if carrier is not None and not rows(world, RecordFlag, record_id=carrier):
        yield Call("flag_record", {"record_id": carrier, "reason_code": finding.reason_code})


def _escalation(finding: Finding, world: World) -> Iterator[Call]:
    if not rows(world, Escalation, rule_id=finding.rule_id, reason_code=finding.reason_code):
        yield Call(
            "escalate",
            {"reason_code": finding.reason_code, "rule_id": finding.rule_id, "summary": _summary(finding)},
        )


def _summary(finding: Finding) -> str:
    records = ", ".join(row.key for row in finding.rests_on) or "what the caller said"
    return f"{finding.rule_id} {finding.reason_code}; rests on {records}."
