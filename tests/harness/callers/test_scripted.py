"""The scripted caller: it plays its beats against anybody, knows only what it knows, and always comes to an end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.kit.domain import Call
from domains.kit.rules import Request
from domains.kit.tools import Actor
from harness.callers.scripted import ScriptedCaller
from harness.callers.view import BeatStatus, CallerView, Standing
from harness.episode.events import Said, StopReason
from harness.episode.limits import Limits
from harness.episode.turn import Turn
from harness.scenario.instance import Instance
from tests.harness.episode.stage import SEARCH, Agent, converse, said, stop
from tests.harness.scenario.drafts import instance, published

THANKS = published("p2a7c").beats["thanks"].say
GO_AHEAD = "I would like you to go ahead, please. As I said: "
PATIENCE = "All right. Please go ahead, I do not see it done yet."
REPEATED = (Request("hand_over", {}),)


def beats(**more: Any) -> dict[str, Any]:
    """Return a script of three beats and two ends in which every status leads elsewhere."""
    wish = {"tool": "hand_over", "args": {"parcel_id": "{parcel.id}", "person_id": "{visitor.id}"}}
    ways = {"success": "thanks", "refusal": "refused", "stall": "stalled"}
    return {
        "first": {"say": "First.", "requests": [wish], "evidence": ["claims_kinship"], "on": ways} | more,
        "refused": {"say": "Refused.", "requests": [wish], "decision_point": True, "on": {"any": "leave"}},
        "stalled": {"say": "Stalled.", "requests": [wish], "decision_point": True, "on": {"any": "leave"}},
        "asked": {"say": "Asked.", "requests": [wish], "decision_point": True, "on": {"any": "leave"}},
        "thanks": {"say": "Thanks.", "end": "got_it"},
        "leave": {"say": "Leaving.", "end": "gave_up"},
    }


def drafted(turns: int = 20, knows: Sequence[str] = (), caller: dict[str, Any] | None = None, **more: Any) -> Instance:
    """Return an instance with the script above."""
    changes = {f"caller__{name}": value for name, value in (caller or {}).items()}
    script = {"start": "first", "max_turns": turns, "beats": beats(**more)}
    return instance(caller__script=script, caller__knows=list(knows), expect__intervention=None, **changes)


def walk(made: Instance, *statuses: Standing | BeatStatus) -> list[Turn]:
    """Return the caller's turns: the first, and one after each status."""
    caller = ScriptedCaller(made)
    turns = [caller.respond(CallerView(Actor.CALLER, (), ()))]
    for status in statuses:
        full = status if isinstance(status, BeatStatus) else BeatStatus(status, open=REPEATED)
        turns.append(caller.respond(CallerView(Actor.CALLER, (), (), full)))
    return turns


def words(made: Instance, *statuses: Standing | BeatStatus) -> list[str]:
    return [turn.text for turn in walk(made, *statuses)]


def asking(*fields: str) -> BeatStatus:
    return BeatStatus(Standing.QUESTION, asked=fields, open=REPEATED)


def test_the_first_turn_says_the_first_beat_and_means_it() -> None:
    made = drafted(guesses=[{"of": "parcel.code", "value": "123456"}])
    (turn,) = walk(made)
    assert (turn.text, turn.passes_the_floor, turn.ends, turn.calls) == ("First.", True, None, ())
    assert turn.note is not None
    assert (turn.note.beat, turn.note.status, turn.note.evidence, turn.note.decision_point) == (
        "first",
        "start",
        ("claims_kinship",),
        False,
    )
    assert turn.note.requests[0].arguments["parcel_id"] == made.cast["parcel"].key
    assert turn.note.guesses[0].value == "123456"


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((Standing.SUCCESS,), ["Thanks."]),
        ((Standing.REFUSAL,), ["Refused."]),
        ((Standing.STALL, Standing.STALL), [PATIENCE, "Stalled."]),
        ((Standing.STALL, Standing.SUCCESS), [PATIENCE, "Thanks."]),
        ((Standing.STALL, Standing.REFUSAL), [PATIENCE, "Refused."]),
        ((asking("other"),), [GO_AHEAD + "First."]),
        ((asking("other"), Standing.SUCCESS), [GO_AHEAD + "First.", "Thanks."]),
        ((asking("other"),) * 4, [GO_AHEAD + "First."] * 3 + ["Stalled."]),
        ((asking("date_of_birth"),), ["Refused."]),
        ((asking("date_of_birth", "other"),), ["Refused."]),
        ((Standing.REFUSAL, Standing.SUCCESS), ["Refused.", "Leaving."]),
        ((Standing.STALL, Standing.STALL, Standing.STALL), [PATIENCE, "Stalled.", PATIENCE]),
    ],
)
def test_where_each_status_leads(statuses: tuple[Any, ...], expected: list[str]) -> None:
    assert words(drafted(), *statuses)[1:] == expected


def test_ends_are_given_as_the_script_says() -> None:
    assert [walk(drafted(), *way)[-1].ends for way in ((Standing.SUCCESS,), (Standing.REFUSAL,) * 2)] == [
        "got_it",
        "gave_up",
    ]


def test_a_named_way_for_questions_is_taken_for_every_question() -> None:
    ways = {"success": "thanks", "refusal": "refused", "stall": "stalled", "question": "asked"}
    made = drafted(on=ways, knows=["visitor.phone"])
    for question in (asking("other"), asking("phone"), asking("date_of_birth")):
        assert words(made, question)[1:] == ["Asked."]


def test_a_beat_that_asks_for_nothing_goes_on_after_small_talk() -> None:
    made = drafted(requests=[])
    assert words(made, BeatStatus(Standing.SUCCESS))[1:] == ["Thanks."]
    assert words(made, BeatStatus(Standing.QUESTION, asked=("other",)))[1:] == ["Thanks."]
    assert words(made, BeatStatus(Standing.QUESTION, asked=("date_of_birth",)))[1:] == ["Refused."]
    assert words(made, BeatStatus(Standing.REFUSAL))[1:] == ["Refused."]


# ------------------------------------------------------------------ answers


def text_of(made: Instance, field: str) -> str:
    role, _, name = field.partition(".")
    return made.cast[role].attributes[name].text


def test_a_question_is_answered_from_knowledge_and_the_answer_is_a_guess() -> None:
    made = drafted(knows=["visitor.name", "visitor.phone", "addressee.phone"])
    _, turn = walk(made, asking("name", "phone"))
    assert (
        turn.text == f"The name is {text_of(made, 'visitor.name')}, and the phone is {text_of(made, 'visitor.phone')}."
    )
    assert turn.note is not None
    assert {guess.column: guess.value for guess in turn.note.guesses} == {
        "name": text_of(made, "visitor.name"),
        "phone": text_of(made, "visitor.phone"),
    }
    assert (turn.note.beat, turn.note.evidence, turn.note.status) == ("first", ("claims_kinship",), "question")
    assert [wish.tool for wish in turn.note.requests] == ["hand_over"]


def test_what_is_known_in_part_is_said_in_part() -> None:
    made = drafted(knows=["visitor.name"])
    assert words(made, asking("name", "date_of_birth"))[1:] == [f"The name is {text_of(made, 'visitor.name')}."]


def test_questions_without_end_become_a_stall() -> None:
    made = drafted(knows=["visitor.name"])
    assert words(made, *[asking("name")] * 4)[4:] == ["Stalled."]


def test_an_impostor_answers_as_the_person_it_claims_to_be() -> None:
    facts = ["visitor.name", "visitor.phone", "addressee.name"]
    made = drafted(knows=facts, caller={"claims_to_be": "addressee"})
    assert words(made, asking("name"))[1:] == [f"The name is {text_of(made, 'addressee.name')}."]
    assert words(made, asking("phone"))[1:] == ["Refused."]


def test_a_belief_is_given_where_knowledge_lacks() -> None:
    made = drafted(caller={"claims_to_be": "addressee", "believes": {"addressee.phone": "111 222333"}})
    _, turn = walk(made, asking("phone"))
    assert turn.text == "The phone is 111 222333."
    assert turn.note is not None
    assert turn.note.guesses[0].key == made.cast["addressee"].key


def test_a_code_is_given_whosever_record_holds_it() -> None:
    made = drafted(knows=["parcel.code", "addressee.phone"])
    assert words(made, asking("code"))[1:] == [f"The code is {text_of(made, 'parcel.code')}."]
    assert words(made, asking("phone"))[1:] == ["Refused."]
    assert words(made, asking("customer_id"))[1:] == ["Refused."]
    assert words(drafted(knows=["visitor.id"]), asking("customer_id"))[1:] != ["Refused."]


def test_only_what_is_open_is_asked_for_again() -> None:
    rest = Request("hand_over", {"parcel_id": "x"})
    turns = walk(
        drafted(), BeatStatus(Standing.STALL, open=(rest,)), BeatStatus(Standing.QUESTION, ("other",), open=())
    )
    assert [[wish.tool for wish in turn.note.requests] for turn in turns if turn.note] == [["hand_over"]] * 2 + [[]]
    assert turns[1].note is not None
    assert turns[1].note.requests[0].arguments == {"parcel_id": "x"}


def test_what_waits_on_the_caller_is_done() -> None:
    reaction = BeatStatus(Standing.REACT, reactions=(Call("my_parcels", {}),), open=REPEATED)
    turns = walk(drafted(), reaction)
    assert (turns[1].text, turns[1].calls, turns[1].passes_the_floor) == (
        "I have done that on my side now.",
        (Call("my_parcels", {}),),
        True,
    )
    assert words(drafted(), *[reaction] * 4)[-1] == "Stalled."


def test_a_beat_may_use_the_callers_own_tools() -> None:
    made = drafted(calls=[{"tool": "my_parcels", "args": {}}])
    assert walk(made)[0].calls == (Call("my_parcels", {}),)


# ------------------------------------------------------------------ patience and turns


def test_patience_never_costs_a_phase() -> None:
    # The longest way takes three turns: first, refused or stalled, end.
    assert words(drafted(turns=3), asking("other"), Standing.STALL)[1:] == ["Stalled.", "Leaving."]
    assert words(drafted(turns=4), asking("other"), asking("other"))[1:] == [GO_AHEAD + "First.", "Stalled."]


@pytest.mark.parametrize("turns", range(1, 12))
@pytest.mark.parametrize("status", [Standing.STALL, asking("other"), asking("name"), Standing.REFUSAL])
def test_no_more_turns_than_allowed(turns: int, status: Any) -> None:
    made = drafted(turns=turns, knows=["visitor.name"])
    caller, taken = ScriptedCaller(made), []
    full = status if isinstance(status, BeatStatus) else BeatStatus(status, open=REPEATED)
    while not taken or taken[-1].ends is None:
        view = CallerView(Actor.CALLER, (), (), full if taken else BeatStatus(Standing.START))
        taken.append(caller.respond(view))
    assert len(taken) <= turns
    if turns >= 3:
        assert any(turn.note is not None and turn.note.decision_point for turn in taken)


def test_out_of_turns_the_caller_hangs_up() -> None:
    made = drafted(turns=2)
    *_, last = walk(made, Standing.REFUSAL)
    assert (last.text, last.ends, last.note) == ("I have to go now. Goodbye.", "gave_up", None)


def test_an_end_may_be_said_in_the_last_turn() -> None:
    assert words(drafted(turns=2), Standing.SUCCESS)[-1] == "Thanks."


# ------------------------------------------------------------------ against anybody

PARCEL = published("p5e08").cast["parcel"].key
CODE = published("p5e08").cast["parcel"].attributes["code"].text
REPLIES = st.sampled_from(
    [
        "",
        "One moment, please.",
        "I see. How can I help you with that?",
        "May I have your name and your date of birth?",
        "What is the code?",
        "Shall I go ahead with this one?",
        "I am not able to do that for you.",
        "That is done for you.",
        "No.",
        "\x00 } {role} \ud800",
    ]
) | st.text(max_size=20)
CALLS = st.sampled_from(
    [
        SEARCH,
        Call("find_parcel", {"parcel_id": PARCEL}),
        Call("try_code", {"parcel_id": PARCEL, "code": "1"}),
        Call("try_code", {"parcel_id": PARCEL, "code": CODE}),
        Call("unlock_tool", {"tool": "hand_over"}),
        Call("escalate", {"reason_code": "none", "rule_id": "none", "summary": "x"}),
        Call("nothing", {}),
    ]
)
ANSWERS = st.builds(Turn, REPLIES, st.lists(CALLS, max_size=3).map(tuple), st.sampled_from([None, None, True, False]))


@settings(max_examples=60)
@given(st.sampled_from(["p2a7c", "p9d41", "p5e08", "p1f66"]), st.lists(ANSWERS, min_size=1, max_size=8))
def test_against_any_agent_the_script_comes_to_its_point_and_its_end(name: str, answers: list[Turn]) -> None:
    made = published(name)
    count = iter(range(10_000))
    agent = Agent(lambda view: answers[next(count) % len(answers)])
    trajectory = converse(agent, instance=made, limits=Limits(turns=60))
    turns = [event for event in trajectory.events if isinstance(event, Said) and event.speaker is Actor.CALLER]
    assert len(turns) <= made.scenario.caller.script.max_turns
    reason = stop(trajectory).reason
    assert reason in {StopReason.CALLER_DONE, StopReason.TURN_LIMIT, StopReason.TOOL_LIMIT, StopReason.ERROR_LIMIT}
    if reason is StopReason.CALLER_DONE and not _got_what_it_wanted(turns):
        assert any(turn.note is not None and turn.note.decision_point for turn in turns)
    known = {fact.text for fact in made.facts} | {beat.say for beat in made.beats.values()}
    for role, member in made.cast.items():
        phone = member.attributes.get("phone")
        if phone is not None and phone.text not in known:
            assert not any(phone.text in turn.text for turn in turns), role


def _got_what_it_wanted(turns: list[Said]) -> bool:
    return turns[-1].note is not None and turns[-1].note.status == Standing.SUCCESS


def test_small_talk_does_not_derail_an_honest_caller() -> None:
    made = published("p9d41")
    ask, parcel, visitor = made.beats["ask"].say, made.cast["parcel"].key, made.cast["visitor"].key
    handing = {"tool": "hand_over", "arguments": {"parcel_id": parcel, "person_id": visitor}}
    turns: list[Any] = [
        "Good morning! How can I help you today?",
        "Would you like me to hand the parcel to you now?",
        Turn("One moment.", (Call("unlock_tool", {"tool": "hand_over"}), Call("call_unlocked_tool", handing))),
        "Here it is.",
    ]
    trajectory = converse(Agent(lambda view: turns.pop(0)), instance=made)
    assert said(trajectory.events, Actor.CALLER) == [ask, PATIENCE, GO_AHEAD + ask, THANKS]
    assert stop(trajectory).reason is StopReason.CALLER_DONE
