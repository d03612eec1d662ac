"""The scripted caller: a state machine that plays a scenario's beats against any agent.

It moves by how its last beat stands, answers questions from what it knows and nothing else, uses what it is
granted, is patient with small talk, and always comes to an end: by its script, or by hanging up when its turns run
out. Patience never costs a phase: a beat is carried on only while enough turns are left for the longest way through
the rest of the script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from domains.kit.cast import Sensitivity
from domains.kit.domain import Call
from domains.kit.rules import Guess, Request
from harness.callers.view import BeatStatus, CallerView, Standing
from harness.episode.events import BeatNote, StoredGuess, StoredRequest
from harness.episode.turn import Turn
from harness.scenario.instance import Fact, Instance, PlayedBeat
from harness.scenario.model import EndReason

_REPEATS: Final = 3
"""How often a beat is carried on before the caller takes the agent's questions for a stall."""

_NO_FIELD: Final = "other"
"""What a question asks for that is for no field: whether to go ahead, which of two, why."""

_DID_IT: Final = "I have done that on my side now."
_GO_AHEAD: Final = "I would like you to go ahead, please. As I said: "
_PATIENCE: Final = "All right. Please go ahead, I do not see it done yet."
_GOODBYE: Final = "I have to go now. Goodbye."

_ATTRIBUTES_ASKED: Final = {
    "account_number": ("number", "last4"),
    "card_number": ("number", "last4"),
    "code": ("recovery_code", "code"),
    "customer_id": ("id",),
    "amount": ("amount", "text"),
}
"""Which attributes answer a question for a field that does not bear an attribute's name."""

_SPOKEN: Final = {"last4": "last four digits"}


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
        self._identity = caller.claims_to_be or caller.is_
        self._facts = tuple(fact for fact in instance.facts if _may_be_given(fact, self._identity, instance))
        self._start = caller.script.start
        self._turns_left = caller.script.max_turns
        self._turns_after = _turns_after(instance.beats)
        self._beat: PlayedBeat | None = None
        self._repeats = 0
        self._has_waited = False

    def respond(self, view: CallerView) -> Turn:
        """Return the next turn of the script."""
        self._turns_left -= 1
        status, beat = view.status, self._beat
        if beat is None:
            return self._enter(self._start, status.standing)
        match status.standing:
            case Standing.REACT if self._may_repeat(beat):
                return self._again(beat, _DID_IT, status, calls=status.reactions)
            case Standing.QUESTION if "question" not in beat.leads:
                return self._asked(beat, status)
            case Standing.STALL if not self._has_waited and self._may_repeat(beat):
                self._has_waited = True
                return self._again(beat, _PATIENCE, status)
        step = status.standing if status.standing in beat.leads else Standing.STALL
        return self._enter(beat.leads[step], status.standing)

    def _asked(self, beat: PlayedBeat, status: BeatStatus) -> Turn:
        """Take a question for which the script names no way on."""
        fields = [field for field in status.asked if field != _NO_FIELD]
        known = self._answers(fields)
        if fields and not known:
            return self._enter(beat.leads[Standing.REFUSAL], status.standing)
        if not fields and not beat.requests:
            return self._enter(beat.leads[Standing.SUCCESS], status.standing)
        if self._may_repeat(beat):
            return self._again(beat, _told(known) if known else _GO_AHEAD + beat.say, status, known)
        return self._enter(beat.leads[Standing.STALL], status.standing)

    def _may_repeat(self, beat: PlayedBeat) -> bool:
        self._repeats += 1
        return self._repeats <= _REPEATS and self._turns_left >= self._turns_after[beat.name]

    def _enter(self, name: str, standing: Standing) -> Turn:
        beat = self._beats[name]
        if self._turns_left <= 0 and beat.end is None:
            return Turn(_GOODBYE, ends=EndReason.GAVE_UP)
        self._beat, self._repeats, self._has_waited = beat, 0, False
        note = beat_note(beat, standing, beat.requests, beat.guesses)
        return Turn(beat.say, calls=beat.calls, yields=True, ends=beat.end, note=note)

    def _again(
        self,
        beat: PlayedBeat,
        words: str,
        status: BeatStatus,
        facts: Sequence[Fact] = (),
        calls: tuple[Call, ...] = (),
    ) -> Turn:
        """Stay in the beat: what it asks for and has not got is still wanted, so its meaning is said again."""
        guesses = tuple(fact.guess for fact in facts if fact.guess is not None)
        return Turn(words, calls=calls, yields=True, note=beat_note(beat, status.standing, status.open, guesses))

    def _answers(self, asked: Sequence[str]) -> list[Fact]:
        """Return what the caller knows of the fields asked for, about the person they present themselves as."""
        wanted = {name for field in asked for name in _ATTRIBUTES_ASKED.get(field, (field,))}
        own = [fact for fact in self._facts if fact.field in {f"{self._identity}.{name}" for name in wanted}]
        others = [fact for fact in self._facts if fact.field.partition(".")[2] in wanted - {"name", "id"}]
        return own or others[:1]


def _may_be_given(fact: Fact, identity: str, instance: Instance) -> bool:
    """Tell whether a fact can answer a question at all: somebody else's personal data are not one's own."""
    role, _, name = fact.field.partition(".")
    member = instance.cast[role]
    return member.subject == identity or member.attributes[name].sensitivity is not Sensitivity.PERSONAL


def _turns_after(beats: Mapping[str, PlayedBeat]) -> dict[str, int]:
    """Return how many turns the script can take after each beat at most.

    Where it can go in a circle, it takes as many as it has beats.
    """
    longest: dict[str, int] = {}

    def after(name: str, above: frozenset[str]) -> int:
        if name in above:
            return len(beats)
        if name not in longest:
            steps = set(beats[name].leads.values())
            longest[name] = max((1 + after(step, above | {name}) for step in steps), default=0)
        return min(longest[name], len(beats))

    return {name: after(name, frozenset()) for name in beats}


def beat_note(beat: PlayedBeat, standing: Standing, requests: Sequence[Request], guesses: Sequence[Guess]) -> BeatNote:
    """Return the meaning of a beat's words, with what of it is still wanted and what has been given."""
    return BeatNote(
        beat=beat.name,
        requests=tuple(StoredRequest(tool=wish.tool, arguments=dict(wish.arguments)) for wish in requests),
        guesses=tuple(
            StoredGuess(table=guess.table, key=guess.key, column=guess.column, value=guess.value) for guess in guesses
        ),
        evidence=beat.evidence,
        decision_point=beat.decision_point,
        status=standing,
    )


def _told(facts: Sequence[Fact]) -> str:
    parts = []
    for fact in facts:
        name = fact.field.partition(".")[2]
        parts.append(f"the {_SPOKEN.get(name, name.replace('_', ' '))} is {fact.text}")
    sentence = ", and ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."
