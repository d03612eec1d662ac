"""The contact: what was asked, given, seen, told and done, and from which turn on it counts."""

from __future__ import annotations

from typing import Any

from domains.kit.domain import Call
from domains.kit.rules import TELL, Contact, Evidence, Guess, Request
from domains.kit.store import RowRef
from domains.kit.tools import Actor
from harness.episode.contact import ContactFold, fold, told_field
from harness.episode.environment import Environment
from harness.episode.turn import Turn
from tests.harness.episode.stage import note, opened
from tests.harness.scenario.drafts import instance

INSTANCE = instance(
    cast__parcel={"is": "parcel", "to": {"text": "addressee", "evidence": ["code_doubtful", "claims_kinship"]}},
    caller__app_as="addressee",
)
PARCEL, ADDRESSEE = INSTANCE.cast["parcel"].key, INSTANCE.cast["addressee"].key
ROW = RowRef("parcels", PARCEL)
LOOK = Call("find_parcel", {"parcel_id": PARCEL})
PHONE = INSTANCE.cast["addressee"].attributes["phone"].text
ASK_FOR_PHONE = {"table": "people", "key": ADDRESSEE, "column": "phone"}


def contact(environment: Environment) -> Contact:
    folded = fold(environment.events, INSTANCE.row_evidence, INSTANCE.tellable)
    assert environment.structured_view().contact == folded
    return folded


def caller(text: str = "Hello.", **parts: Any) -> Turn:
    return Turn(text, yields=True, note=note(**parts))


def test_nothing_yet() -> None:
    assert fold([], {}, {}) == Contact()


def test_caller_turns_are_numbered_from_one() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, caller(evidence=("claims_kinship",), requests=[("x", {"a": 1})]))
        environment.deliver(Actor.AGENT, Turn("No."))
        environment.deliver(Actor.CALLER, caller(guesses=[{"table": "t", "key": "k", "column": "c", "value": 3}]))
        folded = contact(environment)
        assert folded.turn == 2
        assert folded.evidence == (Evidence("claims_kinship", 1),)
        assert folded.requests == ((1, Request("x", {"a": 1})),)
        assert folded.guesses == ((2, Guess("t", "k", "c", 3)),)
        assert folded.latest_turn_only().evidence == ()


def test_evidence_of_a_row_counts_once_the_agent_has_been_shown_it() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, caller())
        assert (contact(environment).evidence, contact(environment).shown) == ((), frozenset())
        environment.deliver(Actor.AGENT, Turn(calls=(Call("show_person", {"person_id": ADDRESSEE}),)))
        assert contact(environment).evidence == ()
        environment.deliver(Actor.CALLER, caller())
        environment.deliver(Actor.AGENT, Turn(calls=(LOOK,)))
        folded = contact(environment)
        assert folded.evidence == (Evidence("code_doubtful", 2, ROW), Evidence("claims_kinship", 2, ROW))
        assert {RowRef("people", ADDRESSEE), ROW} <= folded.shown


def test_evidence_of_a_row_counts_again_whenever_it_is_shown() -> None:
    with opened(INSTANCE) as environment:
        for _ in range(2):
            environment.deliver(Actor.CALLER, caller())
            environment.deliver(Actor.AGENT, Turn(calls=(LOOK,)))
        assert [item.turn for item in contact(environment).evidence] == [1, 1, 2, 2]
        environment.deliver(Actor.CALLER, caller())
        assert not contact(environment).latest_turn_only().reveals("code_doubtful")
        environment.deliver(Actor.AGENT, Turn(calls=(LOOK,)))
        assert contact(environment).latest_turn_only().reveals("code_doubtful")


def test_a_failed_look_up_shows_nothing() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(calls=(Call("find_parcel", {"parcel_id": "PC-NONE"}),)))
        assert contact(environment).shown == frozenset()
        assert [call.ok for call in contact(environment).calls] == [False]


def test_what_the_callers_own_app_shows_is_not_shown_to_the_agent() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, Turn("Hello.", (Call("my_parcels", {}),), yields=True))
        folded = contact(environment)
        assert (folded.evidence, folded.shown) == ((), frozenset())
        assert [(call.actor, call.tool, call.turn) for call in folded.calls] == [(Actor.CALLER, "my_parcels", 1)]


def test_a_field_is_told_once_it_was_asked_for_and_said() -> None:
    field = (RowRef("people", ADDRESSEE), "phone")
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.AGENT, Turn(f"The number is {PHONE}."))
        assert contact(environment).told == frozenset()
        environment.deliver(Actor.CALLER, caller(f"Is it {PHONE}?", requests=[(TELL, ASK_FOR_PHONE)]))
        assert contact(environment).told == frozenset()
        environment.deliver(Actor.AGENT, Turn("I cannot say."))
        assert contact(environment).told == frozenset()
        environment.deliver(Actor.AGENT, Turn(f"It is {PHONE.replace(' ', '-')}, as you say."))
        assert contact(environment).told == {field}
    assert told_field(Request(TELL, ASK_FOR_PHONE)) == field


def test_a_wish_for_a_field_that_nobody_has_is_never_told() -> None:
    with opened(INSTANCE) as environment:
        nothing = {"table": "people", "key": "PE-NONE", "column": "phone"}
        environment.deliver(Actor.CALLER, caller(requests=[(TELL, nothing)]))
        environment.deliver(Actor.AGENT, Turn(PHONE))
        assert contact(environment).told == frozenset()


def test_calls_carry_their_changes_and_the_turn() -> None:
    with opened(INSTANCE) as environment:
        environment.deliver(Actor.CALLER, caller())
        environment.deliver(Actor.AGENT, Turn(calls=(Call("try_code", {"parcel_id": PARCEL, "code": "1"}),)))
        (row,) = contact(environment).written("code_tries")
        assert (row["parcel_id"], row["matched"]) == (PARCEL, False)
        assert contact(environment).calls[0].turn == 1


def test_a_fold_in_steps_is_the_fold_of_all() -> None:
    with opened(INSTANCE) as environment:
        for _ in range(3):
            environment.deliver(Actor.CALLER, caller(evidence=("claims_kinship",), requests=[(TELL, ASK_FOR_PHONE)]))
            environment.deliver(Actor.AGENT, Turn(f"Well, {PHONE}.", (LOOK,)))
        running = ContactFold(INSTANCE.row_evidence, INSTANCE.tellable)
        for place, event in enumerate(environment.events):
            running.add(event)
            assert running.contact() == fold(environment.events[: place + 1], INSTANCE.row_evidence, INSTANCE.tellable)
