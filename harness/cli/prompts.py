"""`fraudbench prompt`: print what a model would be given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli.options import CorpusRoot, TasksRoot
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.episode.turn import ToolOffer


def prompt(
    name: Annotated[str, typer.Argument(metavar="ID", help="A scenario; with --run also an episode of that run.")],
    role: Annotated[Literal["agent", "caller", "judge"], typer.Option(help="agent, caller or judge.")] = "agent",
    retrieval: Annotated[str, typer.Option(help="How the agent finds its rules: oracle, bm25, none or full.")] = "bm25",
    run: Annotated[Path | None, typer.Option(help="The run whose episode a judge is shown.", metavar="DIR")] = None,
    resample: Annotated[int, typer.Option(help="Draw another cast; 0 is the published one.")] = 0,
    tasks_root: TasksRoot = None,
    corpus: CorpusRoot = None,
) -> None:
    """Print what a model sees before its first word: the system prompt, and the tools with their schemas.

    A judge sees a finished episode, so it needs --run.
    """
    if role == "judge":
        say("\n".join(_judge(name, run)))
    else:
        say("\n".join(_participant(name, role, retrieval, resample, tasks_root, corpus)))


def _participant(
    name: str, role: str, retrieval: str, resample: int, tasks_root: list[Path] | None, corpus: Path | None
) -> Iterator[str]:
    from domains.kit.tools import Actor
    from harness.agents.model import agent_prompt
    from harness.callers.model import END_CALL, caller_prompt
    from harness.cli.selection import find_scenario
    from harness.episode.environment import Environment
    from harness.episode.limits import Limits
    from harness.resources import data_root
    from harness.runs.engine import resolve_config
    from harness.runs.stage import Stage
    from harness.scenario.files import Library

    library = Library()
    library.scenarios = {name: find_scenario(name, tasks_root)}
    config = resolve_config(
        library, name="prompt", agent="oracle", retrieval=retrieval, resample=resample, corpus_root=corpus
    )
    stage = Stage(config, library.scenarios, corpus or data_root("corpus"))
    instance = stage.instance(name)
    actor = Actor.AGENT if role == "agent" else Actor.CALLER
    environment = Environment(instance, stage.knowledge(name), Limits())
    try:
        tools = environment.view(actor).tools
    finally:
        environment.close()
    yield from _section("system", agent_prompt(stage.brief(name, 0)) if role == "agent" else caller_prompt(instance))
    yield from _tools(tools if role == "agent" else (*tools, END_CALL))


def _judge(name: str, run: Path | None) -> Iterator[str]:
    from harness.cli.stored import find_record
    from harness.errors import RunError
    from harness.runs.folder import RunFolder
    from harness.runs.stage import Stage
    from judges.panel import Answers
    from judges.semantic import judge_prompt

    if run is None:
        raise RunError("a judge is shown a finished episode: expected --run, the folder of a run")
    stored = RunFolder(run)
    record = find_record(stored, name)
    instance = Stage(stored.config, stored.library().scenarios, run).instance(record.scenario_id)
    asked = instance.expect.assertions
    if not asked:
        raise RunError(f"{record.scenario_id} has no statements that a judge decides")
    yield from _section("user", judge_prompt(asked, record.events))
    yield from _section("answer schema", json.dumps(Answers.model_json_schema(), indent=2))


def _tools(tools: Iterable[ToolOffer]) -> Iterator[str]:
    for tool in tools:
        schema = json.dumps(tool.parameters, indent=2, ensure_ascii=False)
        yield from _section(f"tool {tool.name}", f"{tool.description}\n{schema}")


def _section(title: str, text: str) -> Iterator[str]:
    yield f"---- {title}"
    yield text
    yield ""
