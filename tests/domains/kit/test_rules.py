"""Rules and contacts: pure predicates, the strictest first; the contract of a domain."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest

from domains.kit import domain as domain_module
from domains.kit.domain import Domain, load_domain
from domains.kit.errors import UnknownDomain
from domains.kit.rules import (
    CallRecord,
    Contact,
    Evidence,
    Finding,
    Outcome,
    Request,
    findings,
    rule,
    rules_in,
)
from domains.kit.store import Change, ChangeKind, RowRef
from domains.kit.tools import Actor
from domains.kit.world import World
from domains.parcels import rules as parcel_rules


@rule("T-1", "Never", Outcome.REFUSE, "none", tools=["look"])
def never(request: Request, world: World, contact: Contact) -> Finding | None:
    return Finding("T-1", Outcome.REFUSE, "none")


@rule("T-2", "Always up", Outcome.ESCALATE, "none")
def up(request: Request, world: World, contact: Contact) -> Finding | None:
    return Finding("T-2", Outcome.ESCALATE, "none") if contact.turn else None


@rule("T-3", "Refused, too", Outcome.REFUSE, "none")
def too(request: Request, world: World, contact: Contact) -> Finding | None:
    return Finding("T-3", Outcome.REFUSE, "none")


def fired(tool: str, turn: int, world: World) -> list[str]:
    return [f.rule_id for f in findings([never, up, too], Request(tool, {}), world, Contact(turn=turn))]


def test_the_strictest_finding_comes_first_and_ties_keep_their_order(world: World) -> None:
    assert fired("look", 1, world) == ["T-2", "T-1", "T-3"]
    assert fired("look", 0, world) == ["T-1", "T-3"]
    assert fired("make", 0, world) == ["T-3"]


def test_outcomes_are_ordered_from_mild_to_strict() -> None:
    assert list(Outcome) == ["complete", "offer_alternative", "step_up", "refer", "refuse", "hold", "escalate"]


def test_a_contact_remembers_what_was_written() -> None:
    row = RowRef("tries", "1")
    insert = Change(ChangeKind.INSERT, row, None, {"id": "1", "ok": False})
    update = Change(ChangeKind.UPDATE, row, {"id": "1", "ok": False}, {"id": "1", "ok": True})
    contact = Contact(
        turn=2,
        evidence=(Evidence("early", 1), Evidence("late", 2)),
        calls=(
            CallRecord(1, Actor.AGENT, "a", {}, True, (insert,)),
            CallRecord(2, Actor.AGENT, "b", {}, True, (update,)),
        ),
    )
    assert contact.written("tries") == [{"id": "1", "ok": False}]
    assert contact.changes("tries") == [insert, update]
    assert contact.changes("tries", ChangeKind.DELETE) == contact.changes("others") == []
    assert contact.reveals("never", "early")
    latest = contact.latest_turn_only()
    assert (latest.reveals("early"), latest.reveals("late"), latest.calls) == (False, True, contact.calls)


def test_rules_are_collected_from_the_module_that_defines_them() -> None:
    assert list(rules_in(parcel_rules)) == ["PCL-01", "PCL-02"]
    found = rules_in(sys.modules[__name__])
    assert list(found) == ["T-1", "T-2", "T-3"]
    twice = ModuleType(__name__)
    twice.one, twice.other = never, replace(never)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="two rules are called T-1"):
        rules_in(twice)


# ------------------------------------------------------------------ finding a domain


def _point(name: str, target: str) -> EntryPoint:
    return EntryPoint(name, target, domain_module.ENTRY_POINTS)


def broken() -> Domain:
    raise OSError("no data")


def no_domain() -> Any:
    return "parcels"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere", r"expected an installed domain \(absent, broken, none\), found 'nowhere'"),
        ("absent", "domain 'absent' cannot be built: ModuleNotFoundError"),
        ("broken", "domain 'broken' cannot be built: OSError: no data"),
        ("none", "domain 'none': its factory must return a Domain, not str"),
    ],
)
def test_a_domain_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch, name: str, problem: str) -> None:
    points = [
        _point("absent", "no_such_module_anywhere:domain"),
        _point("broken", f"{__name__}:broken"),
        _point("none", f"{__name__}:no_domain"),
    ]
    monkeypatch.setattr(domain_module, "entry_points", lambda group: points)
    with pytest.raises(UnknownDomain, match=problem):
        load_domain.__wrapped__(name)


def test_a_domain_is_built_once_and_equals_itself_only() -> None:
    assert load_domain("parcels") is load_domain("parcels")
    other = replace(load_domain("parcels"))
    assert other != load_domain("parcels")
    assert other.rule_ids == {"PCL-01", "PCL-02"}
    assert set(other.models) == {
        "decisions",
        "escalations",
        "tool_access",
        "people",
        "parcels",
        "mandates",
        "code_tries",
    }
    assert other.base_runs == other.base_keys == frozenset()


def test_a_domain_whose_parts_do_not_fit_is_refused_with_every_misfit() -> None:
    sound = load_domain("parcels")
    odd = replace(
        sound.rules["PCL-01"],
        tools=frozenset({"hand_ovr", "tell"}),
        reason_code="whim",
        evidence=frozenset({"claims_kinship", "a_feeling"}),
    )
    with pytest.raises(TypeError) as caught:
        replace(
            sound, rules={"PCL-01": odd}, look_up={"parcels": ("find_parcel", "id"), "people": ("show", "person_id")}
        )
    assert str(caught.value) == (
        "domain parcels: look_up of parcels: no tool 'find_parcel' with an argument 'id';"
        " look_up of people: no tool 'show' with an argument 'person_id';"
        " rule PCL-01: no evidence 'a_feeling'; rule PCL-01: no reason code 'whim'; rule PCL-01: no tool 'hand_ovr'"
    )
