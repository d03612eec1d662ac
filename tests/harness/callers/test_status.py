"""How the agent took a beat: rows before words, and small talk is no refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from domains.kit.domain import Call
from domains.kit.rules import TELL, Request
from domains.kit.tools import Actor
from domains.kit.world import World
from harness.callers.status import caller_status
from harness.callers.view import BeatStatus, Standing
from harness.episode.environment import Environment
from harness.episode.turn import Turn
from harness.scenario.instance import Instance, instantiate
from tests.domains.kit.lab import TOOLS
from tests.harness.episode.stage import SEARCH, note, opened
from tests.harness.scenario.drafts import published, scenario

INSTANCE = published("p5e08")
PARCEL, VISITOR = INSTANCE.cast["parcel"].key, INSTANCE.cast["visitor"].key
TRY = {"parcel_id": PARCEL, "code": "1"}
HANDING = {"parcel_id": PARCEL, "person_id": VISITOR}
PHONE = INSTANCE.cast["visitor"].attributes["phone"].text
ASK_PHONE = (TELL, {"table": "people", "key": VISITOR, "column": "phone"})

UNLOCK = Call("unlock_tool", {"tool": "hand_over"})
HAND_OVER = Call("call_unlocked_tool", {"tool": "hand_over", "arguments": HANDING})
ESCALATE = Call("escalate", {"reason_code": "none", "rule_id": "none", "summary": "x"})


def decide(decision: str) -> Call:
    arguments = {"decision": decision, "rule_id": "none", "reason_code": "none", "evidence_ids": []}
    return Call("record_decision", arguments)


def status(environment: Environment) -> BeatStatus:
    return caller_status(environment.events, environment.instance, environment.world)


def after(wishes: Sequence[tuple[str, dict[str, Any]]], *turns: Turn, instance: Instance = INSTANCE) -> BeatStatus:
    """Return how a beat with these wishes stands after these turns of the agent."""
    with opened(instance) as environment:
        environment.deliver(Actor.CALLER, Turn("Please.", yields=True, note=note(requests=wishes)))
        for turn in turns:
            environment.deliver(Actor.AGENT, turn)
        return status(environment)


def test_before_the_first_word() -> None:
    with opened(INSTANCE) as environment:
        assert status(environment) == BeatStatus(Standing.START)


ONE = [("try_code", TRY)]
TWO = [("try_code", TRY), ("hand_over", HANDING)]
DONE = Turn("Done.", (Call("try_code", TRY),))
NO = "I am not able to do that for you."
OPEN = (Request("try_code", TRY),)

CASES: dict[str, tuple[Sequence[tuple[str, dict[str, Any]]], tuple[Turn, ...], Standing]] = {
    "done": (ONE, (DONE,), Standing.SUCCESS),
    "done, whatever is said": (ONE, (Turn(NO, (Call("try_code", TRY),)),), Standing.SUCCESS),
    "done in a turn before the words": (ONE, (DONE, Turn("There you are.")), Standing.SUCCESS),
    "both done, one through the lock": (TWO, (DONE, Turn("So.", (UNLOCK, HAND_OVER))), Standing.SUCCESS),
    "only one done": (TWO, (DONE, Turn("There.")), Standing.STALL),
    "done with another argument": (ONE, (Turn("Done.", (Call("try_code", TRY | {"code": "2"}),)),), Standing.STALL),
    "tried and failed": (TWO[1:], (Turn("Hm.", (HAND_OVER,)),), Standing.STALL),
    "said to be done": (ONE, (Turn("I have tried the code for you."),), Standing.STALL),
    "told": ([ASK_PHONE], (Turn(f"The number on record is {PHONE}."),), Standing.SUCCESS),
    "told in another form": ([ASK_PHONE], (Turn(f"It is {PHONE.replace(' ', '-')}."),), Standing.SUCCESS),
    "not told": ([ASK_PHONE], (Turn("It is on record."),), Standing.STALL),
    "refused on record": (ONE, (Turn("One moment.", (decide("refuse"),)),), Standing.REFUSAL),
    "held on record": (ONE, (Turn("One moment.", (decide("hold"),)),), Standing.REFUSAL),
    "an alternative on record": (ONE, (Turn("", (decide("offer_alternative"),)),), Standing.REFUSAL),
    "referred": (ONE, (Turn("One moment.", (ESCALATE,)),), Standing.REFUSAL),
    "a completion on record": (ONE, (Turn("One moment.", (decide("complete"),)),), Standing.STALL),
    "a step-up on record": (ONE, (Turn("One moment.", (decide("step_up"),)),), Standing.STALL),
    "a decision that failed": (ONE, (Turn("One moment.", (decide("whim"),)),), Standing.STALL),
    "refused in words": (ONE, (Turn(NO),), Standing.REFUSAL),
    "refused in words before calls": (ONE, (Turn(NO, (SEARCH,)), Turn("")), Standing.REFUSAL),
    "a question": (ONE, (Turn("What is your date of birth, please?"),), Standing.QUESTION),
    "another question": (ONE, (Turn("Shall I go ahead with this one?"),), Standing.QUESTION),
    "an offer to help": (ONE, (Turn("I see. How can I help you with that?"),), Standing.STALL),
    "a moment": (ONE, (Turn("One moment, please."),), Standing.STALL),
    "silence": (ONE, (Turn(""),), Standing.STALL),
    "nothing asked, an answer": ([], (Turn("All right."),), Standing.SUCCESS),
    "nothing asked, silence": ([], (Turn(""),), Standing.SUCCESS),
    "nothing asked, an offer to help": ([], (Turn("I see. How can I help you with that?"),), Standing.SUCCESS),
    "nothing asked, a question": ([], (Turn("What is your date of birth, please?"),), Standing.QUESTION),
    "nothing asked, refused in words": ([], (Turn(NO),), Standing.REFUSAL),
    "nothing asked, referred": ([], (Turn("", (ESCALATE,)),), Standing.REFUSAL),
}


@pytest.mark.parametrize("case", CASES)
def test_how_a_beat_stands(case: str) -> None:
    wishes, turns, standing = CASES[case]
    assert after(wishes, *turns).standing is standing


def test_what_is_open_is_what_is_not_done() -> None:
    assert after(TWO, DONE, Turn("There.")).open == (Request("hand_over", HANDING),)
    assert after(ONE, Turn(NO)).open == OPEN
    assert after(ONE, DONE).open == ()
    assert after([], Turn("Hm.")).open == ()


def test_what_is_asked_for() -> None:
    assert after(ONE, Turn("May I have your name and your date of birth?")).asked == ("name", "date_of_birth")
    assert after(ONE, Turn("Shall I go ahead with this one?")).asked == ("other",)


def conversation(
    environment: Environment, *turns: Turn | tuple[str, Sequence[tuple[str, dict[str, Any]]]]
) -> BeatStatus:
    """Deliver agent turns, and caller turns given as (beat, wishes)."""
    for turn in turns:
        if isinstance(turn, Turn):
            environment.deliver(Actor.AGENT, turn)
        else:
            environment.deliver(Actor.CALLER, Turn("Please.", yields=True, note=note(turn[0], requests=turn[1])))
    return status(environment)


def test_a_beat_that_is_carried_on_keeps_what_was_done_since_it_began() -> None:
    with opened(INSTANCE) as environment:
        assert conversation(environment, ("ask", TWO), DONE, Turn("Your name?")).standing is Standing.QUESTION
        assert conversation(environment, ("ask", TWO), Turn("", (UNLOCK, HAND_OVER))).standing is Standing.SUCCESS


def test_what_was_done_in_an_earlier_beat_is_not_done_in_this_one() -> None:
    with opened(INSTANCE) as environment:
        assert conversation(environment, ("ask", ONE), DONE, ("again", ONE), Turn("Hm.")).standing is Standing.STALL


def test_a_refusal_of_an_earlier_turn_is_over() -> None:
    with opened(INSTANCE) as environment:
        assert conversation(environment, ("ask", ONE), Turn(NO, (ESCALATE,))).standing is Standing.REFUSAL
        assert conversation(environment, ("ask", ONE), Turn("One moment.")).standing is Standing.STALL


def test_what_the_caller_did_itself_is_done() -> None:
    with opened(INSTANCE) as environment:
        turn = Turn("Look.", (Call("my_parcels", {}),), yields=True, note=note(requests=[("my_parcels", {})]))
        environment.deliver(Actor.CALLER, turn)
        assert status(environment).standing is Standing.STALL
        assert not environment.world.store.take_changes()


# ------------------------------------------------------------------ what waits on the caller


class Waiting:
    """A planner in whose domain something always waits on the caller."""

    def react(self, world: World) -> Sequence[Call]:
        """Answer with a look at one's parcels."""
        return [Call("my_parcels", {})]


def test_something_that_waits_on_the_caller_comes_before_words_and_after_rows() -> None:
    waiting = replace(INSTANCE, domain=replace(INSTANCE.domain, planner=Waiting()))
    found = after(ONE, Turn("What is your name?"), instance=waiting)
    assert (found.standing, found.reactions, found.open) == (Standing.REACT, (Call("my_parcels", {}),), OPEN)
    assert after(ONE, DONE, instance=waiting).standing is Standing.SUCCESS
    assert after(ONE, Turn("", (ESCALATE,)), instance=waiting).standing is Standing.REFUSAL


def test_a_granted_tool_is_used_once_as_the_script_says() -> None:
    domain = replace(INSTANCE.domain, tools={**INSTANCE.domain.tools, "gift": TOOLS["gift"]})
    made = instantiate(scenario(caller__script__when_granted={"gift": {}, "other": {}}), domain)
    grant = Turn("There is a form in your app now.", (Call("grant_tool", {"tool": "gift"}),))
    with opened(made) as environment:
        environment.deliver(Actor.CALLER, Turn("Please.", yields=True, note=note(requests=ONE)))
        environment.deliver(Actor.AGENT, grant)
        assert status(environment).reactions == (Call("gift", {}),)
        environment.deliver(Actor.CALLER, Turn("Done.", (Call("gift", {}),), yields=True, note=note(requests=ONE)))
        environment.deliver(Actor.AGENT, Turn("Thank you."))
        assert status(environment).standing is Standing.STALL
