"""A caller that is a language model: it plays a scenario's part in its own words.

It is told the part, what it knows and the steps of the call, and nothing else of the scenario. Each of its messages
begins with the number of the step it plays, in square brackets; the number is taken off before the words are
delivered, and tells the judges where in the script the call stands. It ends the call by a tool, not by a word.
"""

from __future__ import annotations

import re
from typing import Final

from domains.kit.json import canonical
from domains.kit.tools import Actor
from harness.callers.scripted import beat_note
from harness.callers.view import BeatStatus, CallerView, Standing
from harness.episode.events import BeatNote
from harness.episode.turn import ToolOffer, ToolUse, Turn
from harness.models.chat import arguments_of, said, tool_message, turn_of
from harness.models.contract import ChatMessage, Finish, ModelClient, ModelRequest, Role, Speaker, ToolRequest
from harness.models.faults import RoleOutcome
from harness.prompts import prompt
from harness.scenario.instance import Instance, PlayedBeat
from harness.scenario.model import EndReason

END_CALL: Final = ToolOffer(
    name="end_call",
    description="Hang up. Use it when you have what you want, or when all your steps are behind you.",
    schema_text=canonical(
        {
            "type": "object",
            "properties": {"reason": {"type": "string", "enum": [str(reason) for reason in EndReason]}},
            "required": ["reason"],
            "additionalProperties": False,
        }
    ),
)

WOULD_NOT_PLAY: Final = "would_not_play"
"""Why a caller ends a call that its model or the provider's filter refuses to play."""

OUT_OF_TURNS: Final = "out_of_turns"

_TURNS_FOR_EACH: Final = 2
"""A caller in its own words may take twice the turns of the script."""

_PICKED_UP: Final = "(The desk has picked up the phone. Begin.)"
_GO_ON: Final = "(The desk says nothing. Go on.)"
_STEP: Final = re.compile(r"^\s*\[(?P<number>\d{1,2})\]\s*")


def steps_of(instance: Instance) -> list[PlayedBeat]:
    """Return the beats of a call that goes the long way: from the start, past every no, to the last before the end."""
    steps: list[PlayedBeat] = []
    beat = instance.beats[instance.scenario.caller.script.start]
    while beat not in steps and beat.end is None:
        steps.append(beat)
        beat = instance.beats[beat.leads["refusal"]]
    return steps


def caller_prompt(instance: Instance) -> str:
    """Return the system prompt of a model-driven caller: its part, its knowledge and its steps."""
    steps = steps_of(instance)
    last_needed = max((place for place, beat in enumerate(steps) if beat.decision_point), default=len(steps) - 1)
    lines = [
        f"[{place + 1}]{' (needed)' if place <= last_needed else ''} {beat.say}" for place, beat in enumerate(steps)
    ]
    return prompt("caller").substitute(
        instructions=instance.instructions,
        goal=instance.goal,
        knows="\n".join(f"- {_named(fact.field)}: {fact.text}" for fact in instance.facts) or "- nothing",
        does_not_know="\n".join(f"- {text}" for text in instance.does_not_know) or "- anything else",
        tactics=", ".join(tactic.replace("_", " ") for tactic in instance.scenario.caller.tactics) or "plainly",
        steps="\n".join(lines),
    )


def _named(field: str) -> str:
    role, _, name = field.partition(".")
    return f"{role.replace('_', ' ')}: {name.replace('_', ' ')}"


class ModelCaller:
    """Asks a model for every turn of the caller.

    Parameters
    ----------
    instance
        The scenario to play.
    client
        The model.
    """

    def __init__(self, instance: Instance, client: ModelClient) -> None:
        self._client = client
        self._beats = instance.beats
        self._steps = steps_of(instance)
        self._step: PlayedBeat | None = None
        self._turns_left = instance.scenario.caller.script.max_turns * _TURNS_FOR_EACH
        self._chat: list[ChatMessage] = [said(Speaker.SYSTEM, caller_prompt(instance))]
        self._seen = 0
        self._asked: list[ToolRequest] = []

    def respond(self, view: CallerView) -> Turn:
        """Return the model's next turn.

        A model or a filter that will not play the part ends the call; the episode is then invalid, since nothing was
        tried on the agent.

        Raises
        ------
        ModelFault
            If the model gives no reply.
        """
        self._turns_left -= 1
        if self._turns_left < 0:
            return Turn(ends=OUT_OF_TURNS)
        self._take_in(view)
        purpose = f"caller/{len(self._chat)}"
        request = ModelRequest(Role.CALLER, purpose, tuple(self._chat), tools=(*view.tools, END_CALL))
        try:
            reply = self._client.complete(request)
        except RoleOutcome:
            return Turn(ends=WOULD_NOT_PLAY)
        if reply.finish in (Finish.REFUSAL, Finish.CONTENT_FILTER):
            return Turn(ends=WOULD_NOT_PLAY)
        turn, kept = turn_of(reply)
        self._chat.append(kept)
        self._asked = [request for request in kept.tool_requests if request.name != END_CALL.name]
        hang_up = next((request for request in kept.tool_requests if request.name == END_CALL.name), None)
        ends = None if hang_up is None else self._reason(hang_up, view.status)
        words, note = self._read(turn.text)
        return Turn(
            words,
            calls=tuple(call for call in turn.calls if call.tool != END_CALL.name),
            yields=True if words else None,
            ends=ends,
            note=note if words else None,
        )

    def _take_in(self, view: CallerView) -> None:
        heard = False
        for item in view.items[self._seen :]:
            if isinstance(item, ToolUse):
                if self._asked:
                    self._chat.append(tool_message(self._asked.pop(0), item))
                    heard = True
            elif item.speaker is Actor.AGENT:
                self._chat.append(said(Speaker.USER, item.text))
                heard = True
        self._seen = len(view.items)
        if not heard:
            self._chat.append(said(Speaker.USER, _PICKED_UP if len(self._chat) == 1 else _GO_ON))

    def _read(self, text: str) -> tuple[str, BeatNote | None]:
        """Take the step's number off and return the words with the meaning that the script gives that step."""
        match = _STEP.match(text)
        if match is not None and 1 <= int(match["number"]) <= len(self._steps):
            self._step = self._steps[int(match["number"]) - 1]
        words = text[match.end() :] if match is not None else text
        step = self._step
        return words.strip(), None if step is None else beat_note(step, Standing.START, step.requests, ())

    def _reason(self, request: ToolRequest, status: BeatStatus) -> str:
        """Return why the caller hangs up: its own reason where the script would end here for it, else giving up."""
        reason = (arguments_of(request) or {}).get("reason")
        if self._step is None:
            return EndReason.GAVE_UP
        leads = self._step.leads
        end = self._beats[leads[status.standing if status.standing in leads else Standing.STALL]].end
        return end if end is not None and end == reason else EndReason.GAVE_UP
