"""Contact data: telephone, e-mail, address, enrolled devices."""

from __future__ import annotations

from typing import Literal

from domains.banking.tables import AddressHistory, ChannelEvent, Customer, Device
from domains.banking.tools.arguments import Line
from domains.banking.tools.likeness import national_number
from domains.banking.tools.rows import insert, update
from domains.kit.errors import ToolError
from domains.kit.json import JsonValue
from domains.kit.tools import tool
from domains.kit.world import World

ContactField = Literal["email", "phone", "address"]


@tool(writes=True)
def change_contact(bank: World, customer_id: str, field: ContactField, value: Line) -> JsonValue:
    """Change a customer's e-mail address, telephone number or postal address.

    Returns the field, the new value and the time of the change; the change is kept in the customer's history. Refuses
    a value that cannot be of this kind or that is on record already.

    Parameters
    ----------
    customer_id
        The customer whose record is changed.
    field
        What to change.
    value
        The new value: an e-mail address, a US telephone number, or an address in one line.
    """
    customer = bank.find(Customer, customer_id)
    stored = _written_as_stored(field, value)
    if getattr(customer, field) == stored:
        raise ToolError(f"The {field} of {customer_id} is {stored!r} already.")
    update(bank, customer, **{field: stored})
    event = record_channel(bank, customer_id, field, "changed", stored)
    if field == "address":
        record_address(bank, customer_id, stored)
    return bank.show(event)


def _written_as_stored(field: ContactField, value: str) -> str:
    if field == "phone":
        number = national_number(value)
        if not number:
            raise ToolError(f"{value!r} is not a telephone number of ten digits.")
        return f"({number[:3]}) {number[3:6]}-{number[6:]}"
    if field == "email":
        name, _, host = value.partition("@")
        if not name or "." not in host or "@" in host or any(sign.isspace() for sign in value):
            raise ToolError(f"{value!r} is not an e-mail address.")
    return value


def record_channel(bank: World, customer_id: str, channel: str, event: str, value: str) -> ChannelEvent:
    """Keep in the customer's history that a channel was enrolled or changed."""
    row = ChannelEvent(
        id=bank.new_id("CE"), customer_id=customer_id, channel=channel, event=event, value=value, at=bank.now
    )
    return insert(bank, row)


def record_address(bank: World, customer_id: str, address: str) -> AddressHistory:
    """Keep since when an address is on file."""
    today = bank.now.astimezone(bank.zone).date()
    return insert(bank, AddressHistory(id=bank.new_id("AH"), customer_id=customer_id, address=address, since=today))


def enrol(bank: World, customer_id: str, name: str) -> Device:
    """Enrol a device for a customer and keep that in the customer's history."""
    device = insert(
        bank,
        Device(id=bank.new_id("DV"), customer_id=customer_id, name=name, enrolled_at=bank.now, status="enrolled"),
    )
    record_channel(bank, customer_id, "device", "enrolled", name)
    return device


@tool(writes=True, discoverable=True)
def enrol_device(bank: World, customer_id: str, name: Line) -> JsonValue:
    """Enrol a new device for a customer's app; it can receive challenges from then on.

    Returns the device.

    Parameters
    ----------
    customer_id
        The customer who will use the device.
    name
        What the customer calls the device, such as "Pixel 9".
    """
    bank.find(Customer, customer_id)
    return bank.show(enrol(bank, customer_id, name))
