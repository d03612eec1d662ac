"""Cast kinds: people, firms, their devices, and the roles that people have at firms."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final, Literal

from dateutil.relativedelta import relativedelta

from domains.banking.cast import private
from domains.banking.cast.fields import column, customer, day, name_of, personal, plain, secret
from domains.kit.cast import Attribute, CastContext, CastKind, CastSpec, Form, Member, NewRow, Sensitivity
from domains.kit.errors import SetupError

Role = Literal["owner", "administrator", "approver", "bookkeeper", "payroll", "viewer"]
Tier = Literal["entry", "standard", "premier"]
Status = Literal["active", "restricted", "closed"]

PARTIES: Final = ("person", "business")


class Person(CastSpec):
    """Somebody with a name of their own; a customer unless `customer` says otherwise.

    `works_at` with `role` adds a recorded role at a firm. `household` takes over the address of another person.
    `device_enrolled: null` leaves them without a device.
    """

    born: str | None = None
    works_at: str | None = None
    role: Role | None = None
    role_recorded: str = "-P2Y"
    tier: Tier = "standard"
    status: Status = "active"
    since: str | None = None
    customer: bool = True
    household: str | None = None
    device_enrolled: str | None = "-P1Y"
    phone_changed: str | None = None
    email_changed: str | None = None
    address_since: str | None = None
    recovery_code: bool = False


class Business(CastSpec):
    """A firm; a customer unless `customer` says otherwise."""

    registered: str = "-P10Y"
    since: str = "-P8Y"
    tier: Tier = "standard"
    status: Status = "active"
    customer: bool = True
    phone_changed: str | None = None
    email_changed: str | None = None


class Device(CastSpec):
    """One more device of a person."""

    of: str
    enrolled: str = "-P6M"
    status: Literal["enrolled", "removed"] = "enrolled"


class RoleRecord(CastSpec):
    """A role of a person at a firm, beside what the person's own entry says."""

    business: str
    person: str
    role: Role = "viewer"
    status: Literal["active", "ended"] = "active"
    recorded: str = "-P2Y"


class ChannelEvent(CastSpec):
    """A phone, e-mail, address or device that was enrolled or changed; its value is the one on file."""

    customer: str
    channel: Literal["phone", "email", "address", "device"] = "phone"
    event: Literal["enrolled", "changed"] = "changed"
    at: str = "-P30D"


def build_person(role: str, spec: Person, context: CastContext) -> Member:
    """Build a person with device, contact history, role at a firm and recovery code."""
    _check_person(role, spec)
    draw = context.for_role(role)
    firm = None
    if spec.works_at is not None:
        firm = customer(context, role, "works_at", spec.works_at, ["business"])
    home = context.member(spec.household, f"/cast/{role}/household", ["person"]) if spec.household else None
    born = private.birth_date(context, draw) if spec.born is None else context.day(role, "born", spec.born)
    first, last = private.person_name(context, draw)
    line = str(home.attributes["address"].value) if home else private.address(context, draw)
    email, phone = private.person_email(context, draw, first, last), private.phone(context, draw)
    tax = private.tax_id(context, draw, "ssn")
    key = context.new_id(role, "CU")
    attributes = {
        "id": plain(key, "id"),
        "name": name_of(f"{first} {last}"),
        "first_name": name_of(first, None),
        "last_name": name_of(last, None),
        "date_of_birth": day(born, "date_of_birth", Sensitivity.PERSONAL),
        "birth_year": personal(str(born.year), Form.DIGITS),
        **_reachable(email, phone, line),
        "tax_id": secret(tax, Form.DIGITS, "tax_id"),
        "tax_last4": secret(tax[-4:], Form.DIGITS),
    }
    if home is not None:
        # Whoever shares a home hears its address as their own; the home's first member guards it against others.
        attributes |= {name: replace(attributes[name], sensitivity=Sensitivity.OPEN) for name in ("address", "street")}
    if not spec.customer:
        return Member(role, "person", "", key, role, attributes)
    since = _since(role, spec, born, context)
    values = {"kind": "person", "name": f"{first} {last}", "date_of_birth": born, "tax_id": tax, "since": since}
    values |= {"email": email, "phone": phone, "address": line, "tier": spec.tier, "status": spec.status}
    rows = [NewRow("customers", {"id": key, "registered_on": None, **values})]
    rows += _history(role, key, spec, values, context)
    if spec.address_since is None:
        rows.append(_address(context, role, key, line, since))
    else:
        earlier, moved = private.address(context, draw.child("earlier")), spec.address_since
        attributes["earlier_address"] = personal(earlier, Form.ADDRESS)
        rows.append(_address(context, role, key, earlier, since))
        rows.append(_address(context, role, key, line, context.day(role, "address_since", moved)))
        rows.append(
            _event(context, role, key, "address", "changed", line, context.moment(role, "address_since", moved))
        )
    if spec.device_enrolled is not None:
        enrolled = context.moment(role, "device_enrolled", spec.device_enrolled)
        device, name = context.new_id(role, "DV"), _device_name(context, role)
        attributes |= {"device": plain(device), "device_name": plain(name)}
        rows += _device(context, role, key, device, name, enrolled)
    if firm is not None:
        attributes["role_id"] = plain(context.new_id(role, "BR"))
        recorded = context.moment(role, "role_recorded", spec.role_recorded)
        record = {"id": attributes["role_id"].value, "business_id": firm.key, "person_id": key, "role": spec.role}
        rows.append(NewRow("business_roles", {**record, "status": "active", "recorded_at": recorded}))
    if spec.recovery_code:
        code, code_key = private.code(context, draw), context.new_id(role, "RC")
        attributes["recovery_code"] = secret(code, Form.CODE)
        attributes["recovery_code_id"] = plain(code_key)
        issued = {"id": code_key, "customer_id": key, "code": code, "status": "open"}
        rows.append(NewRow("recovery_codes", {**issued, "issued_at": context.now - timedelta(hours=6)}))
    return Member(role, "person", "customers", key, role, attributes, tuple(rows))


def _check_person(role: str, spec: Person) -> None:
    if (spec.works_at is None) != (spec.role is None):
        missing = "role" if spec.role is None else "works_at"
        raise SetupError(f"/cast/{role}/{missing}", "expected works_at and role together, found one of them")
    if not spec.customer:
        told = spec.model_fields_set & (set(Person.model_fields) - {"customer", "born", "household"})
        if told:
            name = sorted(told)[0]
            raise SetupError(f"/cast/{role}/{name}", "expected nothing that needs a record; customer is false")


def _since(role: str, spec: Person, born: date, context: CastContext) -> date:
    """Return the first day as a customer: as written, else eight years ago but not before the age of 16."""
    if spec.since is not None:
        return context.day(role, "since", spec.since)
    return min(
        max(context.day(role, "since", "-P8Y"), born + relativedelta(years=16)), context.day(role, "since", "-P30D")
    )


def build_business(role: str, spec: Business, context: CastContext) -> Member:
    """Build a firm."""
    draw = context.for_role(role)
    name = private.firm_name(context, draw)
    email, phone = private.firm_email(context, draw, name), private.phone(context, draw)
    line = private.address(context, draw)
    tax = private.tax_id(context, draw, "ein")
    key = context.new_id(role, "CU")
    since, registered = context.day(role, "since", spec.since), context.day(role, "registered", spec.registered)
    attributes = {
        "id": plain(key, "id"),
        "name": name_of(name),
        **_published(email, phone, line),
        "tax_id": secret(tax, Form.DIGITS, "tax_id"),
        "registered": day(registered, "registered_on"),
    }
    if not spec.customer:
        return Member(role, "business", "", key, role, attributes)
    values: dict[str, Any] = {"kind": "business", "name": name, "date_of_birth": None, "tax_id": tax, "since": since}
    values |= {"email": email, "phone": phone, "address": line, "tier": spec.tier, "status": spec.status}
    rows = [NewRow("customers", {"id": key, "registered_on": registered, **values})]
    rows += _history(role, key, spec, values, context)
    rows.append(_address(context, role, key, line, since))
    return Member(role, "business", "customers", key, role, attributes, tuple(rows))


def _published(email: str, phone: str, line: str) -> dict[str, Attribute]:
    """Return how a firm can be reached: it prints that on its own letters, so anybody may hear it."""
    reachable = _reachable(email, phone, line)
    return {name: replace(attribute, sensitivity=Sensitivity.OPEN) for name, attribute in reachable.items()}


def _reachable(email: str, phone: str, line: str) -> dict[str, Attribute]:
    return {
        "email": personal(email, Form.EMAIL, "email"),
        "phone": personal(phone, Form.PHONE, "phone"),
        "address": personal(line, Form.ADDRESS, "address"),
        "street": personal(private.street_of(line), Form.ADDRESS),
    }


def _history(
    role: str, key: str, spec: Person | Business, values: dict[str, Any], context: CastContext
) -> list[NewRow]:
    """Return the events that say since when phone and e-mail are on file."""
    since = datetime.combine(values["since"], time(12), tzinfo=context.zone)
    rows = []
    for channel, changed in (("phone", spec.phone_changed), ("email", spec.email_changed)):
        field = f"{channel}_changed"
        at = since if changed is None else context.moment(role, field, changed)
        event = "enrolled" if changed is None else "changed"
        rows.append(_event(context, role, key, channel, event, values[channel], at))
    return rows


def _event(context: CastContext, role: str, key: str, channel: str, event: str, value: str, at: datetime) -> NewRow:
    values = {"id": context.new_id(role, "CE"), "customer_id": key, "channel": channel, "event": event}
    return NewRow("channel_events", {**values, "value": value, "at": at})


def _address(context: CastContext, role: str, key: str, line: str, since: date) -> NewRow:
    values = {"id": context.new_id(role, "AH"), "customer_id": key, "address": line, "since": since}
    return NewRow("address_history", values)


def _device_name(context: CastContext, role: str) -> str:
    return context.for_role(role).child("device").choice(("Android phone", "iPhone", "Android tablet", "iPad"))


def _device(
    context: CastContext, role: str, owner: str, key: str, name: str, enrolled: datetime, status: str = "enrolled"
) -> list[NewRow]:
    values = {"id": key, "customer_id": owner, "name": name, "enrolled_at": enrolled, "status": status}
    event = _event(context, role, owner, "device", "enrolled", name, enrolled)
    return [NewRow("devices", values), event]


def build_device(role: str, spec: Device, context: CastContext) -> Member:
    """Build a device and the event of its enrolment."""
    owner = customer(context, role, "of", spec.of, ["person"])
    key, name = context.new_id(role, "DV"), _device_name(context, role)
    rows = _device(context, role, owner.key, key, name, context.moment(role, "enrolled", spec.enrolled), spec.status)
    attributes = {"id": plain(key, "id"), "device": plain(key), "name": plain(name, "name")}
    return Member(role, "device", "devices", key, owner.role, attributes, tuple(rows))


def build_role_record(role: str, spec: RoleRecord, context: CastContext) -> Member:
    """Build a role at a firm."""
    firm = customer(context, role, "business", spec.business, ["business"])
    person = customer(context, role, "person", spec.person, ["person"])
    key = context.new_id(role, "BR")
    values = {"id": key, "business_id": firm.key, "person_id": person.key, "role": spec.role, "status": spec.status}
    row = NewRow("business_roles", {**values, "recorded_at": context.moment(role, "recorded", spec.recorded)})
    attributes = {"id": plain(key, "id"), "role": plain(spec.role, "role")}
    return Member(role, "role_record", "business_roles", key, person.role, attributes, (row,))


def build_channel_event(role: str, spec: ChannelEvent, context: CastContext) -> Member:
    """Build an event of a contact channel."""
    owner = customer(context, role, "customer", spec.customer, PARTIES)
    if spec.channel == "device":
        if "device" not in owner.attributes:
            raise SetupError(f"/cast/{role}/channel", f"expected a customer with a device; {spec.customer!r} has none")
        value = str(owner.attributes["device_name"].value)
    else:
        value = str(column(owner, spec.channel))
    row = _event(context, role, owner.key, spec.channel, spec.event, value, context.moment(role, "at", spec.at))
    key = str(row.values["id"])
    return Member(role, "channel_event", "channel_events", key, owner.role, {"id": plain(key, "id")}, (row,))


PEOPLE: Final[dict[str, CastKind[Any]]] = {
    "person": CastKind("person", Person, build_person),
    "business": CastKind("business", Business, build_business),
    "device": CastKind("device", Device, build_device),
    "role_record": CastKind("role_record", RoleRecord, build_role_record),
    "channel_event": CastKind("channel_event", ChannelEvent, build_channel_event),
}
