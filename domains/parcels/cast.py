"""The counter's cast kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domains.kit.cast import Attribute, CastContext, CastKind, CastSpec, Form, Member, NewRow, Sensitivity

_NAMES: Final = ("Ilse", "Marek", "Tova", "Anselm", "Petra", "Lucian", "Edda", "Bruno")
_SURNAMES: Final = ("Harrow", "Linden", "Castell", "Vogel", "Marsh", "Okafor", "Sandoval", "Teague")


class PersonSpec(CastSpec):
    """A person; everything about them is drawn."""


class ParcelSpec(CastSpec):
    """A parcel that waits for a person."""

    to: str
    arrived: str = "-P2D"


class MandateSpec(CastSpec):
    """A mandate to collect a parcel."""

    parcel: str
    collector: str


def build_person(role: str, spec: PersonSpec, context: CastContext) -> Member:
    """Draw a person."""
    draw = context.for_role(role)
    key = context.new_id(role, "PE")
    name = context.distinct(
        draw.child("name"), lambda d: f"{d.child('first').choice(_NAMES)} {d.child('last').choice(_SURNAMES)}"
    )
    phone = context.private(draw.child("phone"), lambda d: f"{d.child('a').digits(3)} {d.child('b').digits(6)}")
    return Member(
        role=role,
        kind="person",
        table="people",
        key=key,
        subject=role,
        attributes={
            "id": Attribute(key, key, column="id"),
            "name": Attribute(name, name, Form.NAME, column="name"),
            "phone": Attribute(phone, phone, Form.PHONE, Sensitivity.PERSONAL, column="phone"),
        },
        rows=(NewRow("people", {"id": key, "name": name, "phone": phone}),),
    )


def build_parcel(role: str, spec: ParcelSpec, context: CastContext) -> Member:
    """Draw a parcel for somebody of the cast."""
    addressee = context.member(spec.to, f"/cast/{role}/to", ["person"])
    key = context.new_id(role, "PC")
    code = context.private(context.for_role(role).child("code"), lambda d: d.digits(6))
    values = {
        "id": key,
        "addressee_id": addressee.key,
        "pickup_code": code,
        "status": "waiting",
        "arrived_at": context.moment(role, "arrived", spec.arrived),
    }
    return Member(
        role=role,
        kind="parcel",
        table="parcels",
        key=key,
        subject=spec.to,
        attributes={
            "id": Attribute(key, key, column="id"),
            "code": Attribute(code, code, Form.DIGITS, Sensitivity.SECRET, column="pickup_code"),
        },
        rows=(NewRow("parcels", values),),
    )


def build_mandate(role: str, spec: MandateSpec, context: CastContext) -> Member:
    """Put a mandate on record."""
    parcel = context.member(spec.parcel, f"/cast/{role}/parcel", ["parcel"])
    collector = context.member(spec.collector, f"/cast/{role}/collector", ["person"])
    key = context.new_id(role, "MD")
    values = {"id": key, "parcel_id": parcel.key, "collector_id": collector.key}
    return Member(
        role=role,
        kind="mandate",
        table="mandates",
        key=key,
        subject=parcel.subject,
        attributes={"id": Attribute(key, key, column="id")},
        rows=(NewRow("mandates", values),),
    )


CAST_KINDS: Final[Mapping[str, CastKind[Any]]] = {
    "person": CastKind("person", PersonSpec, build_person),
    "parcel": CastKind("parcel", ParcelSpec, build_parcel),
    "mandate": CastKind("mandate", MandateSpec, build_mandate),
}
