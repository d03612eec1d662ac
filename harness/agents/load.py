"""Finding the agent that a run names: a reference agent, ``package.module:factory``, or one behind an HTTP address."""

from __future__ import annotations

import importlib
import inspect
import logging
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
from harness.episode.turn import Agent, AgentBrief, AgentFactory, StructuredAgent, StructuredAgentFactory, Turn, View
from harness.errors import RunError, UnknownName
from harness.models.faults import ModelFault

REFERENCE_AGENTS: Final[Mapping[str, StructuredAgentFactory]] = {
    "complier": complier,
    "refuser": Refuser,
    "myopic": myopic,
    "oracle": oracle,
}
"""Agents that need no language model, by name."""

LOOP: Final = "+loop"
"""Marks, behind the scheme of an address, an agent that runs its own loop there: ``http+loop://127.0.0.1:8080/talk``."""

HISTORIES: Final = ("full", "latest")
"""How much of the conversation an agent sees."""

_log = logging.getLogger(__name__)

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
    """Find an agent by name, by ``package.module:factory``, or by an address marked with ``+loop``.

    The factory takes an `AgentBrief` (or nothing) and returns an object with ``respond(view) -> Turn | str``; if it
    has a ``close()`` as well, that is called when the episode is over. The current folder is searched for the module,
    as ``python -m`` would.

    Raises
    ------
    RunError
        If the name is unknown, the module or factory cannot be found, or the address is none.
    """
    if spec in REFERENCE_AGENTS:
        return AgentSpec(spec, structured=True, make=REFERENCE_AGENTS[spec])
    scheme, is_address, rest = spec.partition("://")
    if is_address and scheme.endswith(LOOP):
        return _loop_agent(f"{scheme.removesuffix(LOOP)}://{rest}")
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


def loop_spec(url: str) -> str:
    """Return the name by which `load_agent` knows the agent that runs its own loop at an address.

    >>> loop_spec("http://127.0.0.1:8080/talk")
    'http+loop://127.0.0.1:8080/talk'
    """
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{LOOP}{separator}{rest}" if separator else f"http{LOOP}://{url}"


def _loop_agent(url: str) -> AgentSpec:
    # HTTP is imported only where an agent is behind it.
    from harness.agents.exchange import Address
    from harness.agents.remote import RemoteAgent
    from harness.agents.tool_endpoint import ToolEndpoint

    address, endpoint = Address(url), ToolEndpoint()
    return AgentSpec(address.place, structured=False, make=lambda brief: RemoteAgent(brief, address, endpoint))


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


class AgentResponder:
    """Asks the agent of one episode for its turns.

    Parameters
    ----------
    spec
        The agent.
    brief
        What it is told before the conversation.
    forgets
        Whether it sees nothing before the latest caller turn. What an agent remembers by itself is beyond its view:
        one that listens to words is built anew for every caller turn.

    Raises
    ------
    RunError
        If the agent cannot be built, or is none.
    ModelFault
        If no agent of a run could be built.
    """

    def __init__(self, spec: AgentSpec, brief: AgentBrief, *, forgets: bool) -> None:
        self._spec = spec
        self._brief = brief
        self._forgets = forgets
        self._heard = 0
        self._agent: Any = self._built()

    def __call__(self, environment: Environment) -> Turn | str:
        """Return the agent's next turn."""
        if self._spec.structured:
            reader: StructuredAgent = self._agent
            structured = environment.structured_view()
            return reader.respond(latest_turn_of_structure(structured) if self._forgets else structured)
        view = environment.view(Actor.AGENT)
        if self._forgets:
            self._forget(view)
            view = latest_turn(view)
        listener: Agent = self._agent
        return listener.respond(view)

    def close(self) -> None:
        """Tell the agent, if it wants to know, that the episode is over. What it raises then is only logged."""
        close = getattr(self._agent, "close", None)
        if callable(close):
            try:
                close()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it may be anybody's code
                _log.warning("agent %r: its close() failed: %s", self._spec.name, describe(error))

    def _forget(self, view: View) -> None:
        heard = sum(message.speaker is Actor.CALLER for message in view.messages)
        if self._heard not in (0, heard):
            fresh = self._built()
            self.close()
            self._agent = fresh
        self._heard = heard

    def _built(self) -> Any:
        try:
            agent = self._spec.make(self._brief)
        except ModelFault:
            raise
        except (Exception, SystemExit) as error:
            raise RunError(f"agent {self._spec.name!r}: its factory failed: {describe(error)}") from error
        if not callable(getattr(agent, "respond", None)):
            found = type(agent).__name__
            raise RunError(f"agent {self._spec.name!r}: its factory returned {found}, which has no `respond`")
        return agent


def agent_responder(spec: AgentSpec, brief: AgentBrief, history: str = "full") -> AgentResponder:
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
    return AgentResponder(spec, brief, forgets=history == "latest")
