"""The caller's tools: the bank's app, the devices and telephones they hold, and forms that the desk hands out."""

from __future__ import annotations

from typing import Final

from sqlmodel import col, select

from domains.banking.tables import (
    Account,
    Approval,
    Card,
    Customer,
    Payee,
    PayeeCheck,
    Payment,
    ScamQuestionnaire,
    StepUp,
)
from domains.banking.tools.arguments import Line
from domains.banking.tools.cards import freeze, order_card, summarise_card
from domains.banking.tools.payees import PAYEE_COLUMNS
from domains.banking.tools.payments import check_waiting
from domains.banking.tools.rows import accounts_of, acts_for, insert, matching, newest, show_all, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import Actor, tool
from domains.kit.world import World

_PAYMENTS_SHOWN: Final = 20


def _user(bank: World) -> str:
    """Return whose app the caller holds."""
    if bank.controls.app_as is None:
        raise ToolError("You are not signed in to the bank's app.")
    return bank.controls.app_as


def _reach(bank: World) -> frozenset[str]:
    """Return the customers whose affairs the app shows: the user, and the firms they act for."""
    return acts_for(bank, _user(bank))


def _accounts(bank: World) -> list[Account]:
    return accounts_of(bank, *sorted(_reach(bank)))


def _payee(bank: World, payee_id: str) -> Payee:
    payee = bank.session.get(Payee, payee_id)
    if payee is None or payee.customer_id not in _reach(bank):
        raise ToolError(f"Your app shows no payee {payee_id!r}.")
    return payee


def _payment(bank: World, payment_id: str) -> Payment:
    payment = bank.session.get(Payment, payment_id)
    if payment is None or payment.from_account_id not in {account.id for account in _accounts(bank)}:
        raise ToolError(f"Your app shows no payment {payment_id!r}.")
    return payment


def _cards(bank: World) -> list[Card]:
    cards = select(Card).where(col(Card.customer_id).in_(sorted(_reach(bank))))
    return list(bank.session.exec(cards.order_by(Card.id)))


def _card(bank: World, card_id: str) -> Card:
    card = bank.session.get(Card, card_id)
    if card is None or card.customer_id not in _reach(bank):
        raise ToolError(f"Your app shows no card {card_id!r}.")
    return card


# ------------------------------------------------------------------------- always at hand


@tool(actor=Actor.CALLER)
def view_accounts(bank: World) -> JsonValue:
    """See your accounts, and those of firms you act for, with balances in cents."""
    return [
        bank.show(account, "id", "kind", "balance_cents", "status") | {"last_four": account.number[-4:]}
        for account in _accounts(bank)
    ]


@tool(actor=Actor.CALLER)
def view_cards(bank: World) -> JsonValue:
    """See your cards with their status and daily limit in cents."""
    return [summarise_card(bank, card) for card in _cards(bank)]


@tool(actor=Actor.CALLER)
def view_payees(bank: World) -> JsonValue:
    """See the payees whom you, or firms you act for, have registered, with the latest check of their name."""
    listed = []
    for customer_id in sorted(_reach(bank)):
        for payee in matching(bank, Payee, customer_id=customer_id, status="active"):
            checks = newest(bank, PayeeCheck, 1, payee_id=payee.id)
            listed.append(
                bank.show(payee, *PAYEE_COLUMNS)
                | {"name_check": show_all(bank, checks, "result", "shown_name", "confirmed")}
            )
    return listed


@tool(actor=Actor.CALLER)
def view_payments(bank: World) -> JsonValue:
    """See the latest twenty payments out of your accounts and those of firms you act for, the newest first."""
    accounts = [account.id for account in _accounts(bank)]
    latest = select(Payment).where(col(Payment.from_account_id).in_(accounts))
    return show_all(
        bank,
        bank.session.exec(latest.order_by(col(Payment.created_at).desc(), col(Payment.id)).limit(_PAYMENTS_SHOWN)),
    )


@tool(actor=Actor.CALLER)
def view_requests(bank: World) -> JsonValue:
    """See the challenges of the bank that wait on your devices and telephones."""
    if not (bank.controls.app_as or bank.controls.devices or bank.controls.phones):
        raise ToolError("You hold no app, device or telephone that the bank knows.")
    return show_all(bank, [row for row in matching(bank, StepUp, status="pending") if _is_held(bank, row)])


def _is_held(bank: World, challenge: StepUp) -> bool:
    held = bank.controls.devices if challenge.method == "push" else bank.controls.phones
    return challenge.target in held


def _answer(bank: World, step_up_id: str, method: str, status: str) -> JsonValue:
    challenge = bank.session.get(StepUp, step_up_id)
    if challenge is None or challenge.method != method or not _is_held(bank, challenge):
        raise ToolError(f"No challenge {step_up_id!r} reached you.")
    if challenge.status != "pending":
        raise ToolError(f"Challenge {step_up_id} was {challenge.status} already.")
    update(bank, challenge, status=status, approved_at=bank.now if status == "approved" else None)
    return bank.show(challenge)


@tool(writes=True, actor=Actor.CALLER)
def approve_push(bank: World, step_up_id: str) -> JsonValue:
    """Approve a challenge that arrived on a device you hold.

    Parameters
    ----------
    step_up_id
        The challenge's id.
    """
    return _answer(bank, step_up_id, "push", "approved")


@tool(writes=True, actor=Actor.CALLER)
def decline_push(bank: World, step_up_id: str) -> JsonValue:
    """Decline a challenge that arrived on a device you hold.

    Parameters
    ----------
    step_up_id
        The challenge's id.
    """
    return _answer(bank, step_up_id, "push", "declined")


@tool(writes=True, actor=Actor.CALLER)
def answer_call_back(bank: World, step_up_id: str) -> JsonValue:
    """Answer the bank's call to a telephone you hold, and confirm that it is you who asked.

    Parameters
    ----------
    step_up_id
        The challenge's id.
    """
    return _answer(bank, step_up_id, "call_back", "approved")


@tool(writes=True, actor=Actor.CALLER)
def freeze_my_card(bank: World, card_id: str) -> JsonValue:
    """Freeze one of your active cards.

    Parameters
    ----------
    card_id
        The card's id.
    """
    return freeze(bank, _card(bank, card_id))


# ------------------------------------------------------------------ handed out by the desk


@tool(writes=True, actor=Actor.CALLER, discoverable=True)
def answer_payment_questions(
    bank: World,
    payee_id: str,
    met_in_person: bool,
    told_what_to_say: bool,
    asked_to_keep_secret: bool,
    contacted_unexpectedly: bool,
) -> JsonValue:
    """Answer the bank's questions about a payee before you pay them.

    Parameters
    ----------
    payee_id
        The payee's id.
    met_in_person
        Whether you have met the payee in person.
    told_what_to_say
        Whether anybody told you what to say to the bank.
    asked_to_keep_secret
        Whether anybody asked you to keep this payment secret.
    contacted_unexpectedly
        Whether the payee, or somebody about the payee, contacted you unexpectedly.
    """
    questionnaire = ScamQuestionnaire(
        id=bank.new_id("SQ"),
        customer_id=_user(bank),
        payee_id=_payee(bank, payee_id).id,
        met_in_person=met_in_person,
        told_what_to_say=told_what_to_say,
        asked_to_keep_secret=asked_to_keep_secret,
        contacted_unexpectedly=contacted_unexpectedly,
        completed_at=bank.now,
    )
    return bank.show(insert(bank, questionnaire))


@tool(writes=True, actor=Actor.CALLER, discoverable=True)
def confirm_shown_name(bank: World, payee_id: str) -> JsonValue:
    """Confirm that the name which the payee's bank holds is the one you mean to pay.

    Parameters
    ----------
    payee_id
        The payee's id.
    """
    _payee(bank, payee_id)
    latest = newest(bank, PayeeCheck, 1, payee_id=payee_id)
    if not latest or latest[0].result == "match" or latest[0].confirmed:
        raise ToolError(f"No other name of payee {payee_id} waits for your confirmation.")
    update(bank, latest[0], confirmed=True)
    return bank.show(latest[0])


@tool(writes=True, actor=Actor.CALLER, discoverable=True)
def approve_business_payment(bank: World, payment_id: str) -> JsonValue:
    """Approve a payment of a firm you act for.

    Parameters
    ----------
    payment_id
        The payment's id.
    """
    payment = _payment(bank, payment_id)
    firm = bank.find(Customer, bank.find(Account, payment.from_account_id).customer_id)
    if firm.kind != "business" or firm.id not in _reach(bank):
        raise ToolError(f"Payment {payment_id} is not one of a firm you act for.")
    check_waiting(payment)
    if matching(bank, Approval, payment_id=payment_id, approver_id=_user(bank)):
        raise ToolError(f"You have approved payment {payment_id} already.")
    approval = Approval(id=bank.new_id("AV"), payment_id=payment_id, approver_id=_user(bank), approved_at=bank.now)
    return bank.show(insert(bank, approval))


@tool(writes=True, actor=Actor.CALLER, discoverable=True)
def cancel_payment(bank: World, payment_id: str) -> JsonValue:
    """Cancel a payment out of one of your accounts whose money has not left yet.

    Parameters
    ----------
    payment_id
        The payment's id.
    """
    payment = _payment(bank, payment_id)
    check_waiting(payment)
    update(bank, payment, status="cancelled")
    return bank.show(payment)


@tool(writes=True, actor=Actor.CALLER, discoverable=True)
def pick_up_at_branch(bank: World, card_id: str, branch: Line) -> JsonValue:
    """Order a replacement of one of your cards, to be picked up at a branch against an identity document.

    Parameters
    ----------
    card_id
        The card to replace.
    branch
        The branch where you will pick it up.
    """
    return order_card(bank, _card(bank, card_id), "branch", branch)
