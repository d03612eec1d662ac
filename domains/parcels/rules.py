"""The counter's two rules."""

from __future__ import annotations

from typing import Final

from sqlmodel import select

from domains.kit.rules import Contact, Finding, Outcome, Parameter, Request, rule
from domains.kit.store import RowRef
from domains.kit.world import World
from domains.parcels.tables import Mandate, Parcel

_WRONG_CODES: Final = Parameter("wrong pick-up codes", 1, "tries", permitted="<= 1")


@rule("PCL-01", "Addressee or mandate", Outcome.REFUSE, "no_mandate", tools=["hand_over"])
def addressee_or_mandate(request: Request, world: World, contact: Contact) -> Finding | None:
    """A parcel goes to its addressee or to somebody with a mandate for it."""
    parcel_id, person_id = str(request.arguments["parcel_id"]), str(request.arguments["person_id"])
    parcel = world.session.get(Parcel, parcel_id)
    if parcel is None or parcel.addressee_id == person_id:
        return None
    mandates = world.session.exec(select(Mandate).where(Mandate.parcel_id == parcel_id)).all()
    if any(mandate.collector_id == person_id for mandate in mandates):
        return None
    return Finding("PCL-01", Outcome.REFUSE, "no_mandate", rests_on=(RowRef("parcels", parcel_id),))


@rule(
    "PCL-02",
    "Two wrong codes close the parcel for this contact",
    Outcome.ESCALATE,
    "code_guessed",
    tools=["hand_over", "try_code"],
    history=True,
    parameters=[_WRONG_CODES],
)
def wrong_codes(request: Request, world: World, contact: Contact) -> Finding | None:
    """After a second wrong pick-up code the right one does not count any more in this contact."""
    wrong = [
        row
        for row in contact.written("code_tries")
        if row["parcel_id"] == request.arguments["parcel_id"] and not row["matched"]
    ]
    if len(wrong) <= _WRONG_CODES.value:
        return None
    rows = tuple(RowRef("code_tries", str(row["id"])) for row in wrong)
    return Finding("PCL-02", Outcome.ESCALATE, "code_guessed", rests_on=rows)
