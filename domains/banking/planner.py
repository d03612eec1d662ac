"""How work is done at the bank's desk, for agents that have no language model. It decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from domains.banking.rules.calendar import days_since
from domains.banking.rules.facts import (
    MONEY_OUT,
    account_of,
    card_of,
    get,
    outgoing,
    record_ids,
    rows,
    subject_of,
    text,
)
from domains.banking.rules.identity import channel_events, entitled, young_device
from domains.banking.rules.payments import latest_check
from domains.banking.rules.standing import FACTORS, needs_speaker
from domains.banking.tables import (
    Account,
    Application,
    AuthorityRecord,
    BusinessRole,
    Customer,
    Device,
    Dispute,
    FraudCase,
    Hold,
    LedgerEntry,
    Note,
    Payment,
    RecordFlag,
    StepUp,
    SupervisorApproval,
    Verification,
)
from domains.banking.tools.payments import WAITING
from domains.kit.desk import Escalation
from domains.kit.domain import Call, Remedy
from domains.kit.json import canonical
from domains.kit.rules import TELL, Contact, Finding, Guess, Outcome, Request
from domains.kit.store import table_of
from domains.kit.world import World

_MOST_ASKS: Final = 2

_ASK: Final = (
    "Before I can help with that I have to know who I am speaking with. Could you tell me two of these, as we hold "
    "them on record: your date of birth, your e-mail address, your phone number, your postal address?"
)
_PUSH: Final = "I have sent a request to the bank's app on your enrolled device. Please approve it there and tell me."
_CALL_BACK: Final = "I am calling you back on the phone number we have on file. Please answer it and tell me."
_QUESTIONS: Final = (
    "Before this payment can go, please answer the four questions about the payee that are now in your app, and tell "
    "me when you have."
)
_SHOWN_NAME: Final = (
    "The payee's bank holds a slightly different name. Please look at it in your app, confirm it if it is right, and "
    "tell me."
)
_BLOCK: Final = "I have blocked the card first, so that nobody can use it. What else can I do about it?"
_CLAIMS: Final = frozenset({"file_dispute", "issue_credit", "correct_balance", *MONEY_OUT})
_SHOWN_BY: Final[Mapping[str, tuple[str, str]]] = {
    "payments": ("get_payment", "payment_id"),
    "payees": ("get_payee", "payee_id"),
    "cards": ("get_card", "card_id"),
    "ledger": ("get_ledger_entry", "ledger_id"),
}
_FLAGGED: Final = frozenset(
    {
        *("customers", "accounts", "cards", "ledger", "payments", "payees", "disputes", "applications", "holds"),
        *("notes", "devices"),
    }
)
_CASES: Final = {"fraud_case": "fraud", "laundering_case": "laundering", "identity_case": "identity"}


class BankPlanner:
    """The bank's `domains.kit.domain.Planner`."""

    # ------------------------------------------------------------------------------ identification

    def receive(self, guesses: Sequence[Guess], world: World) -> Sequence[Call]:
        """Log every identity factor that the caller gave."""
        return [
            Call("log_verification", {"customer_id": guess.key, "factor": guess.column, "value": str(guess.value)})
            for guess in guesses
            if guess.table == table_of(Customer).name and guess.column in FACTORS
        ]

    # ------------------------------------------------------------------------------------ look-ups

    def plan(self, request: Request, world: World) -> Sequence[Call]:
        """Look up the records on which the rules about a request rest, each once.

        Notes, logs, journals and authority records are opened only where there is something in them.
        """
        once = {(call.tool, canonical(call.arguments)): call for call in _look_ups(request, world)}
        return list(once.values())

    # ------------------------------------------------------------------------------------- remedies

    def remedy(self, finding: Finding, request: Request, world: World, contact: Contact) -> Remedy | None:
        """Ask for identity factors, challenge on a trusted channel, or hand out the form that is missing."""
        if finding.rule_id in ("ID-01", "ID-04"):
            return Remedy((), _ASK) if _may_ask(world, contact) else None
        if finding.rule_id in ("ID-06", "ID-07"):
            return _challenge(request, world, contact)
        if finding.rule_id == "PAY-03" and finding.outcome is Outcome.HOLD:
            return _grant("answer_payment_questions", _QUESTIONS, contact)
        if finding.rule_id == "PAY-07":
            money = outgoing(request, world)
            check = latest_check(money.payee, world) if money is not None and money.payee is not None else None
            if check is not None and check.result == "close_match":
                return _grant("confirm_shown_name", _SHOWN_NAME, contact)
        if finding.rule_id == "CARD-08":
            call = Call("block_card", {"card_id": text(request, "card_id"), "reason": "lost"})
            return None if _was_called(call, contact) else Remedy((call,), _BLOCK)
        return None

    # ------------------------------------------------------------------------------------ outcomes

    def enact(self, finding: Finding, request: Request, world: World) -> Sequence[Call]:
        """Place the hold, open the case, refer and flag as a finding demands; what stands already is left alone."""
        return list(_actions(finding, request, world))

    # ------------------------------------------------------------------------------- on the other side

    def react(self, world: World) -> Sequence[Call]:
        """Answer the pending challenges that reach what the caller holds."""
        held = {
            "push": ("approve_push", world.controls.devices),
            "call_back": ("answer_call_back", world.controls.phones),
        }
        return [
            Call(held[row.method][0], {"step_up_id": row.id})
            for row in rows(world, StepUp, status="pending")
            if row.target in held[row.method][1]
        ]


# ---------------------------------------------------------------------------------------- look-ups


def _look_ups(request: Request, world: World) -> Iterator[Call]:
    application_id = text(request, "application_id")
    if application_id is not None:
        yield Call("review_application", {"application_id": application_id})
        return
    if request.tool in MONEY_OUT:
        yield from _money_look_ups(request, world)
    else:
        yield from _record_look_ups(request, world)
    yield from _claim_look_ups(request, world)
    subject = subject_of(request, world)
    if subject is not None:
        yield from _people_look_ups(request, subject, world)


def _money_look_ups(request: Request, world: World) -> Iterator[Call]:
    money = outgoing(request, world)
    if money is None:
        return
    if money.payment is not None:
        yield Call("get_payment", {"payment_id": money.payment.id})
    yield Call("get_account", {"account_id": money.account.id})
    if money.target is not None:
        yield Call("get_account", {"account_id": money.target.id})
    if money.payee is not None:
        yield Call("get_payee", {"payee_id": money.payee.id})
        for account in rows(world, Account, customer_id=money.account.customer_id):
            if any(
                days_since(payment.settled_at or payment.created_at, world) == 0
                for payment in rows(world, Payment, from_account_id=account.id)
            ):
                yield Call("list_payments", {"account_id": account.id})
    yield Call("list_ledger", {"account_id": money.account.id})


def _record_look_ups(request: Request, world: World) -> Iterator[Call]:
    shown_by = _SHOWN_BY.get(text(request, "table") or "") if request.tool == TELL else None
    card, account = card_of(request, world), account_of(request, world)
    if shown_by is not None:
        yield Call(shown_by[0], {shown_by[1]: text(request, "key")})
    if card is not None:
        yield Call("get_card", {"card_id": card.id})
    elif account is not None:
        yield Call("get_account", {"account_id": account.id})
    hold = get(world, Hold, text(request, "hold_id"))
    payment = get(world, Payment, text(request, "payment_id") if hold is None else hold.payment_id)
    if payment is not None:
        yield Call("get_payment", {"payment_id": payment.id})


def _claim_look_ups(request: Request, world: World) -> Iterator[Call]:
    dispute = get(world, Dispute, text(request, "basis_id"))
    ledger_id = dispute.ledger_id if dispute is not None else text(request, "ledger_id") or text(request, "basis_id")
    entry = get(world, LedgerEntry, ledger_id)
    if entry is not None:
        yield Call("get_ledger_entry", {"ledger_id": entry.id})
        if entry.kind == "cash_machine":
            yield Call("read_machine_journal", {"ledger_id": entry.id})
    subject = subject_of(request, world)
    if subject is not None and request.tool in _CLAIMS:
        yield Call("list_disputes", {"customer_id": subject})


def _people_look_ups(request: Request, subject: str, world: World) -> Iterator[Call]:
    yield Call("get_customer", {"customer_id": subject})
    if request.tool == TELL and account_of(request, world) is None:
        yield Call("list_accounts", {"customer_id": subject})
    agents = [role.person_id for role in rows(world, BusinessRole, business_id=subject)]
    for person in dict.fromkeys((subject, *agents)):
        has_log = rows(world, Verification, customer_id=person), rows(world, StepUp, customer_id=person)
        if any(has_log):
            yield Call("get_customer", {"customer_id": person})
            yield Call("get_verification_log", {"customer_id": person})
    if rows(world, AuthorityRecord, principal_id=subject) or _has_approval(request, world):
        yield Call("read_authority", {"customer_id": subject})
    for key in sorted(record_ids(request) | {subject}):
        is_marked = rows(world, Note, about_id=key), rows(world, RecordFlag, record_id=key)
        if any(is_marked):
            yield Call("list_notes", {"about_id": key})


def _has_approval(request: Request, world: World) -> bool:
    return any(rows(world, SupervisorApproval, subject_id=key) for key in sorted(record_ids(request)))


# ---------------------------------------------------------------------------------------- remedies


def _may_ask(world: World, contact: Contact) -> bool:
    """Tell whether to ask for identity factors once more: at most twice, and not after a wrong answer.

    A turn in which something was wanted that needs a verified person, and nothing was decided, ended in asking.
    """
    decided = {call.turn for call in contact.calls if call.tool == "record_decision"}
    asked = {turn for turn, request in contact.requests if turn < contact.turn and needs_speaker(request, world)}
    asked -= decided
    was_answered = any(turn > max(asked) for turn, _ in contact.guesses) if asked else True
    if len(asked) >= _MOST_ASKS or not was_answered:
        return False
    return not any(
        change.after is not None and not change.after["matched"]
        for call in contact.calls
        for change in call.changes
        if change.row.table == table_of(Verification).name and call.turn > max(asked, default=contact.turn)
    )


def _challenge(request: Request, world: World, contact: Contact) -> Remedy | None:
    tried = {call.tool for call in contact.calls if call.ok}
    for person in entitled(request, world, contact):
        devices = [
            device
            for device in rows(world, Device, customer_id=person, status="enrolled")
            if not young_device(world, device)
        ]
        if devices and "send_push" not in tried:
            oldest = min(devices, key=lambda device: device.enrolled_at)
            return Remedy((Call("send_push", {"customer_id": person, "device_id": oldest.id}),), _PUSH)
        if "call_back" not in tried and not channel_events(world, person, "phone"):
            return Remedy((Call("call_back", {"customer_id": person}),), _CALL_BACK)
    return None


def _grant(tool: str, words: str, contact: Contact) -> Remedy | None:
    call = Call("grant_tool", {"tool": tool})
    return None if _was_called(call, contact) else Remedy((call,), words)


def _was_called(wanted: Call, contact: Contact) -> bool:
    return any(call.tool == wanted.tool and dict(call.arguments) == dict(wanted.arguments) for call in contact.calls)


# ---------------------------------------------------------------------------------------- outcomes


def _actions(finding: Finding, request: Request, world: World) -> Iterator[Call]:
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
    referred = rows(world, Escalation, rule_id=finding.rule_id, reason_code=finding.reason_code)
    if finding.outcome is Outcome.ESCALATE and not referred:
        yield _escalation(finding)
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
            yield _escalation(finding)
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


def _escalation(finding: Finding) -> Call:
    return Call(
        "escalate",
        {"reason_code": finding.reason_code, "rule_id": finding.rule_id, "summary": _summary(finding)},
    )


def _summary(finding: Finding) -> str:
    records = ", ".join(row.key for row in finding.rests_on) or "what the caller said"
    return f"{finding.rule_id} {finding.reason_code}; rests on {records}."
