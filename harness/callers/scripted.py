"""The scripted caller: a state machine that plays a scenario's beats against any agent.

It moves by how its last beat stands, answers questions from what it knows and nothing else, uses what it is
granted, and always comes to an end: by its script, or by hanging up when its turns run out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from domains.kit.rules import Guess
from harness.callers.view import CallerView, Standing
from harness.episode.events import BeatNote, StoredGuess, StoredRequest
from harness.episode.turn import Turn
from harness.scenario.instance import Fact, Instance, PlayedBeat
from harness.scenario.model import EndReason

_REPEATS: Final = 3
"""How often a beat is carried on by answers before the caller takes the agent's questions for a stall."""

_ATTRIBUTES_ASKED: Final = {
    "account_number": ("number", "last4"),
    "card_number": ("number", "last4"),
    "code": ("recovery_code", "code"),
    "customer_id": ("id",),
    "amount": ("amount", "text"),
}
"""Which attributes answer a question for a field that does not bear an attribute's name."""


class ScriptedCaller:
    """Plays the beats of one instance.

    Parameters
    ----------
    instance
        The scenario to play; only its beats and the caller's facts are used.
    """

    def __init__(self, instance: Instance) -> None:
        caller = instance.scenario.caller
        self._beats = instance.beats
        self._facts = instance.facts
        self._identity = caller.claims_to_be or caller.is_
        self._start = caller.script.start
        self._turns_left = caller.script.max_turns
        self._beat: PlayedBeat | None = None
        self._repeats = 0

    def respond(self, view: CallerView) -> Turn:
        """Return the next turn of the script."""
        self._turns_left -= 1
        status = view.status
        beat = self._beat
        if beat is None:
            return self._enter(self._start, status.standing)
        if status.standing is Standing.REACT and self._may_repeat():
            again = self._again(beat, "I have done that on my side now.", status.standing)
            return replace(again, calls=status.reactions)
        if status.standing is Standing.QUESTION and "question" not in beat.leads:
            known = self._answers(status.asked)
            if known and self._may_repeat():
                return self._again(beat, _spoken(known), status.standing, known)
            return self._enter(beat.leads["stall" if known else "refusal"], status.standing)
        step = status.standing if status.standing in beat.leads else Standing.STALL
        return self._enter(beat.leads[step], status.standing)

    def _may_repeat(self) -> bool:
        self._repeats += 1
        return self._repeats <= _REPEATS and self._turns_left > 0

    def _enter(self, name: str, standing: Standing) -> Turn:
        beat = self._beats[name]
        if self._turns_left <= 0 and beat.end is None:
            return Turn("I have to go now. Goodbye.", ends=EndReason.GAVE_UP)
        self._beat, self._repeats = beat, 0
        note = _note(beat, standing, beat.guesses)
        return Turn(beat.say, calls=beat.calls, yields=True, ends=beat.end, note=note)

    def _again(self, beat: PlayedBeat, words: str, standing: Standing, facts: Sequence[Fact] = ()) -> Turn:
        """Stay in the beat: what it asks for is still wanted, so its meaning is said again."""
        guesses = tuple(fact.guess for fact in facts if fact.guess is not None)
        return Turn(words, yields=True, note=_note(beat, standing, guesses))

    def _answers(self, asked: Sequence[str]) -> list[Fact]:
        """Return what the caller knows of the fields asked for, about the person they present themselves as."""
        wanted = [name for field in asked for name in _ATTRIBUTES_ASKED.get(field, (field,))]
        own = [fact for fact in self._facts if fact.field in {f"{self._identity}.{name}" for name in wanted}]
        if own:
            return own
        names = {name for name in wanted if name not in ("name", "id")}
        return [fact for fact in self._facts if fact.field.partition(".")[2] in names][:1]


def _note(beat: PlayedBeat, standing: Standing, guesses: Sequence[Guess]) -> BeatNote:
    return BeatNote(
        beat=beat.name,
        requests=tuple(StoredRequest(tool=wish.tool, arguments=dict(wish.arguments)) for wish in beat.requests),
        guesses=tuple(
            StoredGuess(table=guess.table, key=guess.key, column=guess.column, value=guess.value) for guess in guesses
        ),
        evidence=beat.evidence,
        decision_point=beat.decision_point,
        status=standing,
    )


def _spoken(facts: Sequence[Fact]) -> str:
    parts = [f"the {fact.field.partition('.')[2].replace('_', ' ')} is {fact.text}" for fact in facts]
    sentence = ", and ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."
