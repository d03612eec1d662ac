"""What a run with models will take, before anything is called.

The scenarios are played by a reference agent and the scripted caller, which need no model. Every turn that they take
is a call that a model would have been asked for, with the prompts, the tools and the conversation that it would have
been sent under the run's retrieval condition. A model that searches or talks more takes more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domains.kit.tools import Actor
from harness.agents.model import agent_prompt
from harness.callers.model import END_CALL, caller_prompt
from harness.episode.environment import Environment
from harness.episode.events import Called, Event, Returned, Said, TurnEnded
from harness.episode.limits import Limits
from harness.episode.turn import ToolOffer
from harness.models.config import ModelsConfig
from harness.models.contract import Role
from harness.runs.config import RunConfig
from harness.runs.play import play_episode
from harness.runs.stage import Stage
from harness.scenario.files import Library
from harness.scenario.instance import Instance

REFERENCE: Final = "oracle"
"""The agent whose conversations are measured."""

CHARS_PER_TOKEN: Final = 4
"""A rule of thumb for English and JSON."""

_VERDICT_CHARS: Final = 240
"""What a judge writes on one statement."""

JudgePrompts = Callable[[Instance, Sequence[Event]], Sequence[tuple[str, int]]]
"""Returns what a judge is sent of an episode, one text a call, with the statements that each asks about."""


@dataclass(frozen=True, slots=True)
class Use:
    """Calls of one model, and the tokens of all of them together."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, input_chars: int, output_chars: int) -> Use:
        """Return the use with one call more."""
        tokens = input_chars // CHARS_PER_TOKEN + 1, output_chars // CHARS_PER_TOKEN + 1
        return Use(self.calls + 1, self.input_tokens + tokens[0], self.output_tokens + tokens[1])

    def times(self, count: int) -> Use:
        """Return the use of so many equal runs."""
        return Use(self.calls * count, self.input_tokens * count, self.output_tokens * count)


def estimate(
    config: RunConfig, library: Library, corpus_root: Path, judge_prompts: JudgePrompts
) -> dict[tuple[Role, int], Use]:
    """Return what each model of a run will take, by role and number.

    Parameters
    ----------
    config
        The run.
    library
        Its scenarios.
    corpus_root
        The folder with the documents of every domain.
    judge_prompts
        What one judge is sent of an episode.

    Raises
    ------
    HarnessError
        If a scenario or a corpus cannot be read or built.
    """
    plain = config.model_copy(
        update={"agent": REFERENCE, "agent_name": REFERENCE, "caller": "scripted", "models": ModelsConfig()}
    )
    stage = Stage(plain, library.scenarios, corpus_root)
    uses = {(role, index): Use() for role in Role for index in range(len(config.models.of(role)))}
    for scenario_id in config.tasks:
        events = play_episode(stage, scenario_id, 0).events
        for role, index in uses:
            for sent, written in _calls(stage, scenario_id, role, events, judge_prompts):
                uses[role, index] = uses[role, index].plus(sent, written)
    return {seat: use.times(config.trials) for seat, use in uses.items()}


def _calls(
    stage: Stage, scenario_id: str, role: Role, events: Sequence[Event], judge_prompts: JudgePrompts
) -> Iterator[tuple[int, int]]:
    """Yield the characters sent and written in each call of one role in one episode."""
    instance = stage.instance(scenario_id)
    if role is Role.JUDGE:
        for text, count in judge_prompts(instance, events):
            yield len(text), count * _VERDICT_CHARS
        return
    agent_tools, caller_tools = _tools(stage, scenario_id)
    if role is Role.AGENT:
        yield from _turns(events, Actor.AGENT, agent_prompt(stage.brief(scenario_id, 0)), agent_tools)
    else:
        yield from _turns(events, Actor.CALLER, caller_prompt(instance), (*caller_tools, END_CALL))


def _tools(stage: Stage, scenario_id: str) -> tuple[tuple[ToolOffer, ...], tuple[ToolOffer, ...]]:
    environment = Environment(stage.instance(scenario_id), stage.knowledge(scenario_id), Limits())
    try:
        return environment.view(Actor.AGENT).tools, environment.view(Actor.CALLER).tools
    finally:
        environment.close()


def _turns(events: Sequence[Event], actor: Actor, system: str, tools: Sequence[ToolOffer]) -> Iterator[tuple[int, int]]:
    """Yield the characters sent and written in every turn of one side: each sends all that was said before it."""
    sent = len(system) + sum(len(tool.name) + len(tool.description) + len(tool.schema_text) for tool in tools)
    written = results = 0
    for event in events:
        if isinstance(event, Said) and event.speaker is not actor:
            sent += len(event.text)
        elif isinstance(event, Said):
            written += len(event.text)
        elif isinstance(event, Called) and event.actor is actor:
            written += len(event.tool) + len(json.dumps(event.arguments))
        elif isinstance(event, Returned) and event.actor is actor:
            results += len(event.result) if isinstance(event.result, str) else len(json.dumps(event.result))
        elif isinstance(event, TurnEnded) and event.speaker is actor:
            yield sent, written
            sent, written, results = sent + written + results, 0, 0
