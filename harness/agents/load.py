"""Finding the agent that a run names: a reference agent, or ``package.module:factory``."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from domains.kit.tools import Actor
from harness.agents.ablation import latest_turn, latest_turn_of_structure
from harness.agents.reference import Refuser, complier, myopic, oracle
from harness.episode.environment import Environment
from harness.episode.turn import Agent, AgentBrief, AgentFactory, StructuredAgent, StructuredAgentFactory, Turn
from harness.errors import RunError
from harness.orchestrator import Responder

REFERENCE_AGENTS: Final[Mapping[str, StructuredAgentFactory]] = {
    "complier": complier,
    "refuser": Refuser,
    "myopic": myopic,
    "oracle": oracle,
}
"""Agents that need no language model, by name."""


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
    try:
        factory: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            factory = getattr(factory, part)
    except ModuleNotFoundError as error:
        raise RunError(f"agent {spec!r}: there is no module {error.name!r} here or in the environment") from None
    except AttributeError:
        raise RunError(f"agent {spec!r}: module {module_name!r} has no {attribute!r}") from None
    except Exception as error:
        raise RunError(f"agent {spec!r}: importing its module failed: {type(error).__name__}: {error}") from error
    if not callable(factory):
        raise RunError(f"agent {spec!r}: expected a factory that can be called, found {type(factory).__name__}")
    return AgentSpec(spec, structured=False, make=_with_brief(factory))


def _with_brief(factory: Any) -> AgentFactory:
    """Let a factory that takes nothing stand beside one that takes the brief."""
    try:
        takes_nothing = not inspect.signature(factory).parameters
    except (TypeError, ValueError):
        takes_nothing = False

    def make(brief: AgentBrief) -> Agent:
        agent: Agent = factory() if takes_nothing else factory(brief)
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
    """
    agent: Any = spec.make(brief)
    if not hasattr(agent, "respond"):
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
