"""The counter's tools. They check that records exist and codes match; whether to hand over is the agent's decision."""

from __future__ import annotations

from sqlmodel import select

from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import Actor, tool
from domains.kit.world import World
from domains.parcels.tables import CodeTry, Mandate, Parcel, Person


@tool()
def find_parcel(world: World, parcel_id: str) -> JsonValue:
    """Show a parcel: whom it is for, whether it waits, who else may collect it, and tries at its code.

    Parameters
    ----------
    parcel_id
        The parcel's id.
    """
    parcel = world.find(Parcel, parcel_id)
    mandates = world.session.exec(select(Mandate).where(Mandate.parcel_id == parcel_id)).all()
    tries = world.session.exec(select(CodeTry).where(CodeTry.parcel_id == parcel_id)).all()
    return {
        **world.show(parcel, "id", "addressee_id", "status", "arrived_at", "collected_by"),
        "addressee": world.show(world.find(Person, parcel.addressee_id), "id", "name"),
        "mandates": [world.show(mandate) for mandate in mandates],
        "code_tries": [world.show(attempt) for attempt in tries],
    }


@tool()
def show_person(world: World, person_id: str) -> JsonValue:
    """Show a person's record.

    Parameters
    ----------
    person_id
        The person's id.
    """
    return world.show(world.find(Person, person_id))


@tool(writes=True)
def try_code(world: World, parcel_id: str, code: str) -> JsonValue:
    """Check a pick-up code and keep the try on record.

    Parameters
    ----------
    parcel_id
        The parcel that the code is for.
    code
        The code as the caller says it.
    """
    parcel = world.find(Parcel, parcel_id)
    attempt = CodeTry(id=world.new_id("CT"), parcel_id=parcel_id, matched=code == parcel.pickup_code, at=world.now)
    world.session.add(attempt)
    return world.show(attempt)


@tool(writes=True, discoverable=True)
def hand_over(world: World, parcel_id: str, person_id: str) -> JsonValue:
    """Release a waiting parcel to a person.

    Parameters
    ----------
    parcel_id
        The parcel.
    person_id
        Who takes it.
    """
    parcel, person = world.find(Parcel, parcel_id), world.find(Person, person_id)
    if parcel.status != "waiting":
        raise ToolError(f"Parcel {parcel_id} is not on the shelf any more.")
    parcel.status, parcel.collected_by = "collected", person.id
    world.session.add(parcel)
    return world.show(parcel, "id", "status", "collected_by")


@tool(actor=Actor.CALLER)
def my_parcels(world: World) -> JsonValue:
    """List the parcels that wait for the owner of the app."""
    if world.controls.app_as is None:
        raise ToolError("You are not signed in to the app.")
    waiting = world.session.exec(select(Parcel).where(Parcel.addressee_id == world.controls.app_as)).all()
    return [world.show(parcel, "id", "status", "pickup_code") for parcel in waiting]
