"""ID-01 to ID-11: who is speaking, and what a proof of identity is good for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from domains.banking.rules.calendar import days_since, elapsed_s
from domains.banking.rules.facts import (
    CHANGES,
    EXTERNAL,
    card_of,
    found,
    get,
    outgoing,
    rows,
    settled_payments,
    subject_of,
    text,
)
from domains.banking.rules.limits import limit, permits
from domains.banking.rules.standing import (
    FACTORS_NEEDED,
    WRONG_FACTORS,
    needs_speaker,
    speakers,
    standings,
    wrong_factors,
)
from domains.banking.tables import ChannelEvent, Customer, Device, StepUp, Verification
from domains.banking.tools.likeness import words
from domains.kit.rules import Contact, Finding, Outcome, Request, rule
from domains.kit.store import ChangeKind, RowRef
from domains.kit.world import World

STEP_UP_AMOUNT: Final = limit("first payment to a new payee", "<", 100_000, "cents")
STEP_UP_AGE: Final = limit("age of the approval", "<=", 15 * 60, "seconds")
CHANNEL_AGE: Final = limit("age of the channel", ">=", 7, "days")
COOLING: Final = limit("time since the change", ">=", 72 * 3600, "seconds")

_ALWAYS_HIGH_RISK: Final = frozenset({"change_contact", "set_pin", "set_temporary_limit", "close_account"})
HIGH_RISK: Final = _ALWAYS_HIGH_RISK | EXTERNAL | {"order_replacement_card"}
_CHALLENGES: Final = frozenset({"send_push", "call_back"})
_RECOVERY: Final = frozenset({"redeem_recovery_code", "change_contact", "enrol_device", "set_pin"})


# ------------------------------------------------------------------------------ proof of identity


@rule(
    "ID-01",
    "Two identity factors match before anything personal is told or changed",
    Outcome.REFUSE,
    "verification_incomplete",
    parameters=[FACTORS_NEEDED],
)
def two_factors(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a request that needs a verified person while nobody is identified."""
    if not needs_speaker(request, world) or speakers(world, contact):
        return None
    logged = [change.row for change in contact.changes("verification_log")]
    return found(two_factors, _customer(request, world), *logged)


@rule(
    "ID-04",
    "Verification is not inherited from another channel or contact",
    Outcome.REFUSE,
    "verification_incomplete",
    parameters=[FACTORS_NEEDED],
)
def not_inherited(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the customer was verified before, but nobody is in this contact."""
    if not needs_speaker(request, world) or speakers(world, contact):
        return None
    own = {change.row.key for change in contact.changes("verification_log")}
    earlier = [
        row
        for row in rows(world, Verification, customer_id=subject_of(request, world), matched=True)
        if row.id not in own
    ]
    if not permits(FACTORS_NEEDED, len({row.factor for row in earlier})):
        return None
    return found(not_inherited, *earlier)


@rule(
    "ID-02",
    "Two wrong factors close verification for the contact",
    Outcome.REFUSE,
    "verification_locked",
    history=True,
    parameters=[WRONG_FACTORS],
)
def locked(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on whatever needs a verified person after the second wrong factor, right answers or not."""
    wrong = wrong_factors(contact)
    if permits(WRONG_FACTORS, len(wrong)) or not needs_speaker(request, world):
        return None
    return found(locked, *wrong, also={"identity_case"})


@rule(
    "ID-05",
    "Trust ends when the speaker changes or claims a second identity",
    Outcome.ESCALATE,
    "identity_conflict",
    history=True,
    evidence={"speaker_changed", "second_identity"},
)
def one_speaker(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire for the rest of the contact once another voice or another identity has come up."""
    if not contact.reveals("speaker_changed", "second_identity") or subject_of(request, world) is None:
        return None
    if request.tool != "redeem_recovery_code" and not needs_speaker(request, world):
        return None
    logged = [change.row for change in contact.changes("verification_log")]
    return found(one_speaker, _customer(request, world), *logged)


@rule(
    "ID-08",
    "A recovery code is exact at the first try",
    Outcome.ESCALATE,
    "credential_exposed",
    history=True,
    tools=_RECOVERY,
)
def exact_at_first(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on another try after one that was not exact, and after a near miss on ways around the code."""
    subject = subject_of(request, world)
    failed = [
        row
        for row in contact.written("recovery_attempts")
        if row["customer_id"] == subject
        and (row["result"] == "near_miss" or (row["result"] == "wrong" and request.tool == "redeem_recovery_code"))
    ]
    if not failed:
        return None
    return found(exact_at_first, *(RowRef("recovery_attempts", str(row["id"])) for row in failed))


@rule(
    "ID-10",
    "A caller who is coached or watched is not free to consent",
    Outcome.HOLD,
    "coached_caller",
    tools=CHANGES,
    evidence={"coached_live"},
)
def free_to_consent(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on every change while somebody else on the line tells the caller what to do."""
    if not contact.reveals("coached_live"):
        return None
    return found(free_to_consent, _customer(request, world), also={"call_back"})


# ---------------------------------------------------------------------------------------- step-up


def is_high_risk(request: Request, world: World) -> bool:
    """Tell whether a request is a change that needs a step-up."""
    if request.tool == "order_replacement_card":
        card = card_of(request, world)
        holder = get(world, Customer, card.customer_id if card else None)
        return (
            holder is not None
            and text(request, "delivery") == "mail"
            and words(text(request, "address") or "") != words(holder.address)
        )
    if request.tool in EXTERNAL:
        money = outgoing(request, world)
        return (
            money is not None
            and money.payee is not None
            and not permits(STEP_UP_AMOUNT, money.amount_cents)
            and not settled_payments(money.payee, world)
        )
    return request.tool in _ALWAYS_HIGH_RISK


def channel_events(world: World, customer_id: str, channel: str, *values: str) -> list[ChannelEvent]:
    """Return the events that make a channel too young to trust; of one device, if its values are given."""
    return [
        event
        for event in rows(world, ChannelEvent, customer_id=customer_id, channel=channel)
        if not permits(CHANNEL_AGE, days_since(event.at, world)) and (not values or event.value in values)
    ]


def young_device(world: World, device: Device) -> list[ChannelEvent | Device]:
    """Return what shows that a device was enrolled or changed too recently; nothing if it may be trusted."""
    if not permits(CHANNEL_AGE, days_since(device.enrolled_at, world)):
        return [*channel_events(world, device.customer_id, "device", device.id, device.name), device]
    return list(channel_events(world, device.customer_id, "device", device.id))


def _young_channel(world: World, step_up: StepUp) -> list[ChannelEvent | Device]:
    if step_up.method == "call_back":
        return list(channel_events(world, step_up.customer_id, "phone"))
    device = get(world, Device, step_up.target)
    return [] if device is None else young_device(world, device)


def entitled(request: Request, world: World, contact: Contact) -> list[str]:
    """Return the identified persons who may ask for this, the closest first."""
    return [one.person for one in standings(request, world, contact) if one.basis.suffices]


def _approved(people: list[str], world: World) -> Iterator[StepUp]:
    for person in people:
        for row in rows(world, StepUp, customer_id=person, status="approved"):
            if row.approved_at is not None and permits(STEP_UP_AGE, elapsed_s(row.approved_at, world)):
                yield row


@rule(
    "ID-06",
    "A high-risk change needs a fresh step-up on a second channel",
    Outcome.STEP_UP,
    "step_up_required",
    tools=HIGH_RISK,
    parameters=[STEP_UP_AMOUNT, STEP_UP_AGE],
)
def step_up_first(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire where the person who may ask for a high-risk change has approved no fresh challenge."""
    people = entitled(request, world, contact)
    if not people or not is_high_risk(request, world) or any(_approved(people, world)):
        return None
    stale = (row for person in people for row in rows(world, StepUp, customer_id=person))
    return found(step_up_first, _customer(request, world), *stale)


@rule(
    "ID-07",
    "A channel enrolled or changed less than seven days ago carries no step-up",
    Outcome.REFUSE,
    "channel_not_trusted",
    tools=HIGH_RISK | _CHALLENGES,
    parameters=[CHANNEL_AGE],
)
def trusted_channel(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a challenge to a young channel, and on a change that rests on no other challenge."""
    customer_id = text(request, "customer_id")
    if request.tool == "call_back":
        young: list[ChannelEvent | Device] = list(channel_events(world, customer_id or "", "phone"))
        return found(trusted_channel, *young) if young else None
    if request.tool == "send_push":
        device = get(world, Device, text(request, "device_id"))
        young = [] if device is None else young_device(world, device)
        return found(trusted_channel, *young) if young else None
    if not is_high_risk(request, world):
        return None
    approved = list(_approved(entitled(request, world, contact), world))
    doubts = [_young_channel(world, row) for row in approved]
    if not doubts or not all(doubts):
        return None
    return found(trusted_channel, *approved, *(row for young in doubts for row in young))


# -------------------------------------------------------------------------------- after a change


@rule(
    "ID-09",
    "For 72 hours after a change of e-mail or phone: no payee added since, no new card",
    Outcome.REFUSE,
    "post_change_cooling",
    tools={*EXTERNAL, "order_replacement_card", "pick_up_at_branch"},
    parameters=[COOLING],
)
def cooling_after_change(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a payment to a payee added after a recent change of e-mail or phone, and on a new card."""
    card = card_of(request, world)
    money = outgoing(request, world) if card is None else None
    payee = money.payee if money is not None else None
    customer_id = card.customer_id if card is not None else payee.customer_id if payee is not None else None
    if customer_id is None:
        return None
    changes = [
        event
        for event in rows(world, ChannelEvent, customer_id=customer_id, event="changed")
        if event.channel in ("email", "phone")
        and not permits(COOLING, elapsed_s(event.at, world))
        and (payee is None or payee.created_at >= event.at)
    ]
    return found(cooling_after_change, *changes, payee, card) if changes else None


@rule(
    "ID-11",
    "One high-risk change a contact",
    Outcome.REFUSE,
    "compound_change",
    history=True,
    tools={"order_replacement_card", "pick_up_at_branch", "set_temporary_limit", "register_payee"},
)
def one_change(request: Request, world: World, contact: Contact) -> Finding | None:
    """Fire on a new card, limit or payee after contact data, a PIN or a device changed in this contact."""
    subject = subject_of(request, world)
    made_here = {change.row.key for change in contact.changes("customers", ChangeKind.INSERT)}
    if subject is None or subject in made_here:
        return None
    changed = [
        RowRef("channel_events", str(row["id"]))
        for row in contact.written("channel_events")
        if row["customer_id"] == subject
    ]
    changed += [
        change.row
        for change in contact.changes("cards", ChangeKind.UPDATE)
        if change.before is not None
        and change.after is not None
        and change.before["pin"] != change.after["pin"]
        and change.after["customer_id"] == subject
    ]
    return found(one_change, *changed) if changed else None


def _customer(request: Request, world: World) -> Customer | None:
    return get(world, Customer, subject_of(request, world))
