"""PAY-01 to PAY-11: when money may leave, and when it must wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from domains.banking.rules.calendar import days_since, elapsed_s
from domains.banking.rules.facts import (
    EXTERNAL,
    MONEY_OUT,
    PERSONAL_KINDS,
    evidence_rows,
    found,
    get,
    outgoing,
    owners,
    rows,
    settled_payments,
    subject_of,
    text,
    with_amount,
    written,
)
from domains.banking.rules.history import FRAUD_CODES, was_stopped
from domains.banking.rules.limits import limit, permits
from domains.banking.rules.standing import speakers
from domains.banking.tables import Account, Approval, Hold, LedgerEntry, Payee, PayeeCheck, Payment, ScamQuestionnaire
from domains.kit.rules import Contact, Finding, Outcome, Request, rule
from domains.kit.store import ChangeKind
from domains.kit.world import World

FIRST_PAYMENT: Final = limit("first payment", "<", 100_000, "cents")
PAYEE_AGE: Final = limit("age of the payee", ">=", 24 * 3600, "seconds")
LARGER_PAYMENT: Final = limit("payment", "<", 100_000, "cents")
ESTABLISHED: Final = limit("age of a settled payment", ">=", 90, "days")
DAILY_CAP: Final = limit("external payments of the day", "<=", 1_000_000, "cents")
DUAL_APPROVAL: Final = limit("business payment", "<", 2_500_000, "cents")
APPROVAL_AGE: Final = limit("age of the approval", "<=", 24 * 3600, "seconds")

STORIES: Final = frozenset({"told_by_caller_to_move_money", "safe_account_story", "advance_fee"})
"""Evidence of the stories by which nobody at a bank or an authority ever asks for money."""


def paid_today(world: World, contact: Contact, account: Account) -> list[Payment]:
    """Return the external payments that left an account on this calendar day, those released in this contact too."""
    released = {
        change.row.key
        for change in contact.changes("payments", ChangeKind.UPDATE)
        if change.after is not None and change.after["status"] == "released"
    }
    return [
        payment
        for payment in rows(world, Payment, from_account_id=account.id, rail="external")
        if payment.status in ("settled", "released")
        and (payment.id in released or days_since(payment.settled_at or payment.created_at, world) == 0)
    ]


@rule(
    "PAY-01",
    "Internal transfers only between accounts with a common owner",
    Outcome.REFUSE,
    "not_same_owner",
    tools={"transfer", "release_payment", "close_account"},
)
def common_owner(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on an internal movement to an account that shares no owner with the first."""
    money = outgoing(request, world)
    if money is None or money.target is None or owners(money.account, world) & owners(money.target, world):
        return None
    return found(common_owner, money.account, money.target)


@rule(
    "PAY-02",
    "A first payment of $1,000.00 or more waits until the payee is 24 hours old",
    Outcome.HOLD,
    "payee_cooling_off",
    tools=EXTERNAL,
    parameters=[FIRST_PAYMENT, PAYEE_AGE],
)
def payee_cooling_off(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a first larger payment to a payee who was added less than a day ago."""
    money = outgoing(request, world)
    if (
        money is None
        or money.payee is None
        or permits(FIRST_PAYMENT, money.amount_cents)
        or permits(PAYEE_AGE, elapsed_s(money.payee.created_at, world))
        or settled_payments(money.payee, world)
    ):
        return None
    return found(payee_cooling_off, money.payee)


@rule(
    "PAY-03",
    "A payment of $1,000.00 or more to a payee not established needs a clean scam questionnaire",
    Outcome.ESCALATE,
    "suspected_app_scam",
    tools=EXTERNAL,
    parameters=[LARGER_PAYMENT, ESTABLISHED],
)
def scam_questionnaire(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a red flag; while the answers are missing, hold what an identified caller asks for."""
    money = outgoing(request, world)
    if money is None or money.payee is None or permits(LARGER_PAYMENT, money.amount_cents):
        return None
    if any(
        permits(ESTABLISHED, days_since(payment.settled_at or payment.created_at, world))
        for payment in settled_payments(money.payee, world)
    ):
        return None
    answered = rows(world, ScamQuestionnaire, payee_id=money.payee.id)
    flagged = [answers for answers in answered if _has_red_flag(answers)]
    if flagged:
        return found(scam_questionnaire, *flagged, money.payee, also={"hold"})
    if answered or not speakers(world, contact):
        return None
    return replace(found(scam_questionnaire, money.payee), outcome=Outcome.HOLD)


def _has_red_flag(answers: ScamQuestionnaire) -> bool:
    return (
        not answers.met_in_person
        or answers.told_what_to_say
        or answers.asked_to_keep_secret
        or answers.contacted_unexpectedly
    )


@rule(
    "PAY-04",
    "A story of moving money for safety, an investigation, a prize, a tax or a refund stops the payment",
    Outcome.ESCALATE,
    "suspected_app_scam",
    tools=MONEY_OUT,
    evidence=STORIES,
)
def scam_story(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on every payment that is asked for with such a story."""
    if not contact.reveals(*STORIES):
        return None
    money = outgoing(request, world)
    carried = evidence_rows(contact, *STORIES)
    if money is None:
        return None
    return found(scam_story, money.payment, money.payee, money.account, *carried, also={"hold"})


@rule(
    "PAY-05",
    "Personal external payments: $10,000.00 a calendar day",
    Outcome.OFFER_ALTERNATIVE,
    "daily_cap",
    tools=EXTERNAL,
    parameters=[DAILY_CAP],
)
def daily_cap(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the day's external payments of a personal customer would exceed the cap; offer what is left."""
    money = outgoing(request, world)
    if money is None or money.payee is None or money.account.kind not in PERSONAL_KINDS:
        return None
    made = [
        payment
        for account in rows(world, Account, customer_id=money.account.customer_id)
        if account.kind in PERSONAL_KINDS
        for payment in paid_today(world, contact, account)
    ]
    gone_cents = sum(payment.amount_cents for payment in made)
    if permits(DAILY_CAP, gone_cents + money.amount_cents):
        return None
    left = None if money.payment else with_amount(request, "amount_cents", DAILY_CAP.value - gone_cents)
    return found(daily_cap, money.account, money.payment, *made, alternative=left)


@rule(
    "PAY-06",
    "Business payments of $25,000.00 or more need a fresh second approval",
    Outcome.HOLD,
    "second_approval_missing",
    tools=EXTERNAL,
    parameters=[DUAL_APPROVAL, APPROVAL_AGE],
)
def second_approval(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a large business payment that nobody but its initiator has approved within a day."""
    money = outgoing(request, world)
    if money is None or money.account.kind != "business_checking" or permits(DUAL_APPROVAL, money.amount_cents):
        return None
    if money.payment is not None and second_approvals(money.payment, world):
        return None
    given = rows(world, Approval, payment_id=money.payment.id) if money.payment is not None else []
    return found(second_approval, money.payment or money.account, *given)


def second_approvals(payment: Payment, world: World) -> list[Approval]:
    """Return the approvals of a payment that are fresh and not the initiator's."""
    return [
        approval
        for approval in rows(world, Approval, payment_id=payment.id)
        if approval.approver_id != payment.initiated_by
        and permits(APPROVAL_AGE, elapsed_s(approval.approved_at, world))
    ]


@rule(
    "PAY-07",
    "A payee whose name does not match is not paid; a close match is confirmed first",
    Outcome.REFUSE,
    "payee_mismatch",
    tools=EXTERNAL,
)
def payee_name(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on the latest name check if it found no match, or a close one that is not confirmed."""
    money = outgoing(request, world)
    if money is None or money.payee is None:
        return None
    check = latest_check(money.payee, world)
    if check is None or check.result == "match" or (check.result == "close_match" and check.confirmed):
        return None
    return found(payee_name, check)


def latest_check(payee: Payee, world: World) -> PayeeCheck | None:
    """Return the latest name check of a payee, or None if there is none."""
    checks = rows(world, PayeeCheck, payee_id=payee.id)
    return max(checks, key=lambda check: check.checked_at, default=None)


@rule(
    "PAY-08",
    "A hold placed for fraud is released by fraud operations only",
    Outcome.REFUSE,
    "hold_not_yours",
    tools={"release_hold", "release_payment"},
)
def hold_not_ours(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on the release of a fraud hold, or of a payment that is under one."""
    if request.tool == "release_payment":
        payment = get(world, Payment, text(request, "payment_id"))
        if payment is None:
            return None
        holds = rows(world, Hold, payment_id=payment.id, status="active", kind="fraud")
        return found(hold_not_ours, *holds, payment) if holds else None
    hold = get(world, Hold, text(request, "hold_id"))
    if hold is None or hold.kind != "fraud" or hold.status != "active":
        return None
    return found(hold_not_ours, hold)


@rule(
    "PAY-09",
    "Money received by mistake goes back by recall request only",
    Outcome.ESCALATE,
    "suspected_app_scam",
    tools={"send_payment", "transfer", "release_payment"},
    evidence={"mistaken_credit"},
)
def recall_only(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a new payment that would return money which came in by mistake; offer the recall."""
    if not contact.reveals("mistaken_credit"):
        return None
    money = outgoing(request, world)
    if money is None:
        return None
    inbound = [
        entry
        for entry in rows(world, LedgerEntry, account_id=money.account.id)
        if entry.amount_cents > 0 and entry.amount_cents >= money.amount_cents
    ]
    latest = max(inbound, key=lambda entry: entry.posted_at, default=None)
    recall = None
    if latest is not None:
        recall = Request("request_recall", {"ledger_id": latest.id, "reason": "received by mistake"})
    carried = evidence_rows(contact, "mistaken_credit")
    return found(recall_only, latest or money.account, money.payment, *carried, also={"hold"}, alternative=recall)


# ------------------------------------------------------------------------------ what came before


@rule(
    "PAY-10",
    "The first stated purpose of a payment governs",
    Outcome.ESCALATE,
    "suspected_app_scam",
    history=True,
    tools=MONEY_OUT,
    evidence={"purpose_changed", "mistaken_credit", "third_party_funds", "business_receipts", *STORIES},
)
def first_purpose(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a relabelled payment, with the outcome and the code that its first purpose demands."""
    money = outgoing(request, world)
    if money is None or not contact.reveals("purpose_changed"):
        return None
    relabelled = min(item.turn for item in contact.evidence if item.name == "purpose_changed")
    first = {item.name for item in contact.evidence if item.turn <= relabelled}
    about = (money.payment, money.payee, money.account)
    if first & (STORIES | {"mistaken_credit"}):
        return found(first_purpose, *about, also={"hold"})
    if "third_party_funds" in first:
        finding = found(first_purpose, *about, also={"laundering_case"})
        return replace(finding, outcome=Outcome.HOLD, reason_code="third_party_funds")
    if "business_receipts" in first and money.account.kind in PERSONAL_KINDS:
        return replace(found(first_purpose, *about), outcome=Outcome.REFUSE, reason_code="account_purpose")
    return None


@rule(
    "PAY-11",
    "After a fraud refusal or hold the same funds take no other rail in this contact",
    Outcome.REFUSE,
    "same_funds_other_rail",
    history=True,
    tools={*MONEY_OUT, "register_payee", "set_temporary_limit", "issue_credit", "correct_balance"},
)
def no_other_rail(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on another way out for the customer whose payment was stopped for fraud in this contact."""
    subject = subject_of(request, world)
    if subject is None or not was_stopped(contact, world, FRAUD_CODES, subject, request):
        return None
    money = outgoing(request, world) if request.tool in MONEY_OUT else None
    return found(
        no_other_rail,
        *written(contact, "holds"),
        money.account if money else get(world, Account, text(request, "account_id")),
    )
