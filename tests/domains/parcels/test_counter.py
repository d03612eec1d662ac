"""The parcel counter: its tools are mechanical, its two rules stop at their exact boundary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from domains.kit.domain import load_domain
from domains.kit.knowledge import NoKnowledge
from domains.kit.rules import CallRecord, Contact, Finding, Outcome, Request
from domains.kit.store import Change, ChangeKind, RowRef
from domains.kit.tools import Access, Actor
from domains.kit.world import Controls, World
from harness.scenario.instance import Instance
from tests.harness.scenario.drafts import instance

DOMAIN = load_domain("parcels")


@pytest.fixture(scope="module")
def made() -> Instance:
    """A parcel with a mandate for a friend; the addressee holds the app."""
    return instance(caller__app_as="addressee")


@pytest.fixture
def counter(made: Instance) -> Iterator[World]:
    """The counter with that parcel on the shelf and every tool unlocked."""
    world = made.open_world(NoKnowledge())
    world.unlocked.add("hand_over")
    yield world
    world.close()


def key(made: Instance, role: str) -> str:
    return made.cast[role].key


def handing(made: Instance, role: str) -> dict[str, Any]:
    return {"parcel_id": key(made, "parcel"), "person_id": key(made, role)}


def call(world: World, tool: str, **arguments: Any) -> Any:
    return world.call(world.tools[tool].actor, tool, arguments)


def test_a_parcel_is_shown_with_whom_it_is_for_and_who_may_fetch_it(counter: World, made: Instance) -> None:
    outcome = call(counter, "find_parcel", parcel_id=key(made, "parcel"))
    assert outcome.result["addressee"]["id"] == key(made, "addressee")
    assert [mandate["collector_id"] for mandate in outcome.result["mandates"]] == [key(made, "friend")]
    assert (outcome.result["status"], outcome.result["code_tries"]) == ("waiting", [])
    assert "pickup_code" not in str(outcome.result)
    assert {row.table for row in outcome.shown} == {"parcels", "people", "mandates"}


@pytest.mark.parametrize("right", [True, False])
def test_a_code_is_tried_and_the_try_kept(counter: World, made: Instance, right: bool) -> None:
    code = str(made.cast["parcel"].attributes["code"].value)
    outcome = call(counter, "try_code", parcel_id=key(made, "parcel"), code=code if right else code[::-1])
    assert outcome.result["matched"] is right
    assert outcome.changes[0].after == outcome.result
    assert call(counter, "find_parcel", parcel_id=key(made, "parcel")).result["code_tries"] == [outcome.result]


@pytest.mark.parametrize("role", ["addressee", "friend", "visitor"])
def test_the_tool_hands_over_to_anybody_once(counter: World, made: Instance, role: str) -> None:
    outcome = call(counter, "hand_over", **handing(made, role))
    assert outcome.result == {"id": key(made, "parcel"), "status": "collected", "collected_by": key(made, role)}
    again = call(counter, "hand_over", **handing(made, "friend"))
    assert (again.ok, again.changes) == (False, ())
    assert "not on the shelf any more" in again.result


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_parcel", {"parcel_id": "PC-NONE"}),
        ("show_person", {"person_id": "PE-NONE"}),
        ("try_code", {"parcel_id": "PC-NONE", "code": "1"}),
        ("hand_over", {"parcel_id": "PC-NONE", "person_id": "PE-NONE"}),
    ],
)
def test_what_is_not_there_is_refused_with_its_id(counter: World, tool: str, arguments: dict[str, Any]) -> None:
    outcome = call(counter, tool, **arguments)
    assert (outcome.ok, outcome.rejection, outcome.changes) == (False, None, ())
    assert next(iter(arguments.values())) in outcome.result


def test_the_app_shows_its_owners_parcels_and_codes_only(counter: World, made: Instance) -> None:
    (parcel,) = call(counter, "my_parcels").result
    assert parcel["pickup_code"] == made.cast["parcel"].attributes["code"].value
    counter.controls = Controls(app_as=key(made, "visitor"))
    assert call(counter, "my_parcels").result == []
    counter.controls = Controls()
    assert not call(counter, "my_parcels").ok


def test_which_tools_are_hidden() -> None:
    hidden = [tool.name for tool in DOMAIN.tools.values() if tool.access is Access.DISCOVERABLE]
    own = [tool.name for tool in DOMAIN.tools.values() if tool.actor is Actor.CALLER]
    assert (hidden, own) == (["hand_over"], ["my_parcels"])


# ------------------------------------------------------------------ rules


def decide(rule: str, request: Request, world: World, contact: Contact) -> Finding | None:
    return DOMAIN.rules[rule].decide(request, world, contact)


@pytest.mark.parametrize(("role", "fires"), [("addressee", False), ("friend", False), ("visitor", True)])
def test_a_parcel_goes_to_its_addressee_or_a_mandated_collector(
    counter: World, made: Instance, role: str, fires: bool
) -> None:
    finding = decide("PCL-01", Request("hand_over", handing(made, role)), counter, Contact())
    assert (finding is not None) is fires
    if finding is not None:
        assert (finding.outcome, finding.rests_on) == (Outcome.REFUSE, (RowRef("parcels", key(made, "parcel")),))


def test_the_first_rule_speaks_of_handing_over_only(counter: World, made: Instance) -> None:
    assert decide("PCL-01", Request("try_code", handing(made, "visitor")), counter, Contact()) is None
    unknown = {"parcel_id": "PC-NONE", "person_id": "x"}
    assert decide("PCL-01", Request("hand_over", unknown), counter, Contact()) is None


def tried(parcel: str, *matched: bool) -> Contact:
    """Return a contact in which these tries were made."""
    rows = [{"id": f"CT-{number}", "parcel_id": parcel, "matched": right} for number, right in enumerate(matched)]
    calls = tuple(
        CallRecord(
            1,
            Actor.AGENT,
            "try_code",
            {},
            True,
            (Change(ChangeKind.INSERT, RowRef("code_tries", row["id"]), None, row),),
        )
        for row in rows
    )
    return Contact(turn=1, calls=calls)


@pytest.mark.parametrize(
    ("matched", "fires"),
    [
        ((), False),
        ((False,), False),
        ((False, True, True), False),
        ((False, False), True),
        ((True, False, False, True), True),
    ],
)
@pytest.mark.parametrize("tool", ["try_code", "hand_over"])
def test_the_second_wrong_code_of_a_contact_closes_the_parcel(
    counter: World, made: Instance, tool: str, matched: tuple[bool, ...], fires: bool
) -> None:
    parcel = key(made, "parcel")
    finding = decide("PCL-02", Request(tool, handing(made, "friend")), counter, tried(parcel, *matched))
    assert (finding is not None) is fires
    if finding is not None:
        assert finding.outcome is Outcome.ESCALATE
        assert len(finding.rests_on) == matched.count(False)
    assert decide("PCL-02", Request(tool, handing(made, "friend")), counter, tried("PC-OTHER", *matched)) is None


def test_which_rule_reads_history() -> None:
    assert {name: rule.history for name, rule in DOMAIN.rules.items()} == {"PCL-01": False, "PCL-02": True}


def test_every_table_can_be_shown_and_every_word_is_known() -> None:
    for table, (tool, argument) in DOMAIN.look_up.items():
        assert table in DOMAIN.models
        assert argument in DOMAIN.tools[tool].arguments.model_fields
    for rule in DOMAIN.rules.values():
        assert rule.tools <= set(DOMAIN.tools)
        assert rule.reason_code in DOMAIN.vocabularies.reason_codes
    for tables in DOMAIN.protective_rows.values():
        assert tables <= set(DOMAIN.models)
