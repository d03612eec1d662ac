"""How work is done at the bank's desk, for agents that have no language model. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from domains.banking.planning.look_ups import look_ups
from domains.banking.planning.outcomes import actions
from domains.banking.rules.facts import (
    outgoing,
    rows,
    text,
)
from domains.banking.rules.identity import channel_events, entitled, young_device
from domains.banking.rules.payments import latest_check
from domains.banking.rules.standing import FACTORS, needs_speaker
from domains.banking.tables import (
    Customer,
    Device,
    StepUp,
    Verification,
)
from domains.kit.domain import Call, Remedy
from domains.kit.json import canonical
from domains.kit.rules import Contact, Finding, Guess, Outcome, Request
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
        once = {(call.tool, canonical(call.arguments)): call for call in look_ups(request, world)}
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
        return list(actions(finding, request, world))

    # ------------------------------------------------------------------------------- on the other side

    def react(self, world: World) -> Sequence[Call]:
        """Answer the pending challenges that reach what the caller holds."""
        held = {
            "push": ("approve_push", world.controls.devices),
            "call_back": ("answer_call_back", world.controls.phones),
        }
        return [
            Call(answer, {"step_up_id": row.id})
            for method, (answer, reached) in held.items()
            for row in rows(world, StepUp, status="pending", method=method)
            if row.target in reached
        ]


def _may_ask(world: World, contact: Contact) -> bool:
    """Tell whether to ask for identity factors: at most twice, the second time only after a right answer.

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
