"""Finding the agent that a run names: a reference agent, or ``package.module:factory``."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from domains.kit.tools import Actor
from harness.agents.ablation import latest_turn, latest_turn_of_structure
from harness.agents.reference import Refuser, complier, myopic, oracle
from harness.episode.environment import Environment, describe
from harness.episode.turn import Agent, AgentBrief, AgentFactory, StructuredAgent, StructuredAgentFactory, Turn
from harness.errors import RunError, UnknownName
from harness.orchestrator import Responder

REFERENCE_AGENTS: Final[Mapping[str, StructuredAgentFactory]] = {
    "complier": complier,
    "refuser": Refuser,
    "myopic": myopic,
    "oracle": oracle,
}
"""Agents that need no language model, by name."""

HISTORIES: Final = ("full", "latest")
"""How much of the conversation an agent sees."""

_KEYWORDS: Final = inspect.Parameter.VAR_KEYWORD


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent that can be built for every episode.

    Attributes
    ----------
    name
        The name in episode ids and reports.
    structured
        Whether it reads the meaning of the conversation instead of its words.
    """

    name: str
    structured: bool
    make: AgentFactory | StructuredAgentFactory


def load_agent(spec: str) -> AgentSpec:
    """Find an agent by name or by ``package.module:factory``.

    The factory takes an `AgentBrief` (or nothing) and returns an object with ``respond(view) -> Turn | str``. The
    current folder is searched for the module, as ``python -m`` would.

    Raises
    ------
    RunError
        If the name is unknown, or the module or factory cannot be found.
    """
    if spec in REFERENCE_AGENTS:
        return AgentSpec(spec, structured=True, make=REFERENCE_AGENTS[spec])
    module_name, colon, attribute = spec.partition(":")
    if not colon or not module_name or not attribute:
        known = ", ".join(REFERENCE_AGENTS)
        raise RunError(f"expected an agent ({known}, or package.module:factory), found {spec!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    factory = _attribute(spec, _module(spec, module_name), attribute)
    if not callable(factory):
        raise RunError(f"agent {spec!r}: expected a factory that can be called, found {type(factory).__name__}")
    return AgentSpec(spec, structured=False, make=_with_brief(factory))


def _module(spec: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise RunError(f"agent {spec!r}: there is no module {error.name!r} here or in the environment") from error
    except (Exception, SystemExit) as error:
        raise RunError(f"agent {spec!r}: importing its module failed: {describe(error)}") from error


def _attribute(spec: str, module: ModuleType, path: str) -> Any:
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            raise RunError(f"agent {spec!r}: {module.__name__!r} has no {path!r}")
        found = getattr(found, part)
    return found


def _with_brief(factory: Callable[..., Any]) -> AgentFactory:
    """Let a factory that takes nothing stand beside one that takes the brief.

    A factory that could be called without it gets the brief only if it has a parameter of that name.
    """
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        takes_brief = True
    else:
        takes_brief = any(
            parameter.name == "brief" or (parameter.default is parameter.empty and parameter.kind is not _KEYWORDS)
            for parameter in parameters
        )

    def make(brief: AgentBrief) -> Agent:
        agent: Agent = factory(brief) if takes_brief else factory()
        return agent

    return make


def agent_responder(spec: AgentSpec, brief: AgentBrief, history: str = "full") -> Responder:
    """Build the agent for one episode and say how it is asked for its turns.

    Parameters
    ----------
    spec
        The agent.
    brief
        What it is told before the conversation.
    history
        ``full``, or ``latest`` to let it see nothing before the latest caller turn.

    Raises
    ------
    RunError
        If the agent cannot be built, or is none.
    UnknownName
        If there is no such history.
    """
    if history not in HISTORIES:
        raise UnknownName("history", history, HISTORIES)
    try:
        agent: Any = spec.make(brief)
    except (Exception, SystemExit) as error:
        raise RunError(f"agent {spec.name!r}: its factory failed: {describe(error)}") from error
    if not callable(getattr(agent, "respond", None)):
        raise RunError(f"agent {spec.name!r}: its factory returned {type(agent).__name__}, which has no `respond`")
    forgets = history == "latest"
    if spec.structured:
        reader: StructuredAgent = agent

        def respond_to_structure(environment: Environment) -> Turn:
            view = environment.structured_view()
            return reader.respond(latest_turn_of_structure(view) if forgets else view)

        return respond_to_structure
    listener: Agent = agent

    def respond(environment: Environment) -> Turn | str:
        view = environment.view(Actor.AGENT)
        return listener.respond(latest_turn(view) if forgets else view)

    return respond
