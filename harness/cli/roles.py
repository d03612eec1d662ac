"""Who plays which role: from the options of a command, and a file of models, to a configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.agents.load import LOOP, loop_spec
from harness.errors import RunError
from harness.models.config import ModelsConfig, read_models

_MODEL: Final = re.compile(r"[^\s/:]+/\S+")
"""``provider/name``; a module's factory has its colon before any slash, an address has ``:/`` before its first name."""

_USUAL_AGENT: Final = "oracle"
_USUAL_CALLER: Final = "scripted"


@dataclass(frozen=True, slots=True)
class Roles:
    """Who takes part in a run.

    Attributes
    ----------
    agent, caller
        By name; without meaning where a model plays the role.
    models
        The models that play roles.
    """

    agent: str
    caller: str
    models: ModelsConfig

    @property
    def agent_is_remote(self) -> bool:
        """Whether the agent runs its own loop at an address."""
        return self.models.agent is None and self.agent.partition("://")[0].endswith(LOOP)

    @property
    def have_models(self) -> bool:
        """Whether any model plays a role."""
        return self.models != ModelsConfig()


def is_model(name: str) -> bool:
    """Tell whether a name is that of a model.

    >>> is_model("openai/gpt-5-mini"), is_model("mymodule:make_agent"), is_model("oracle")
    (True, False, False)
    """
    return _MODEL.fullmatch(name) is not None


def resolve_roles(
    *,
    agent: str | None = None,
    caller: str | None = None,
    judges: Sequence[str] = (),
    config: Path | None = None,
    agent_url: str | None = None,
    agent_model: str | None = None,
    agent_http: str | None = None,
) -> Roles:
    """Put the options of a command and a file of models together; options go before the file.

    Parameters
    ----------
    agent, caller
        A model as ``provider/name``, or the name of a participant that needs none; None leaves it to the file.
    judges
        Models; empty leaves them to the file.
    config
        The file.
    agent_url, agent_model
        Address of an OpenAI-compatible endpoint that plays the agent, and the name of its model there.
    agent_http
        Address of an agent that runs its own loop.

    Raises
    ------
    RunError
        If the options contradict each other.
    DataError
        If something in the file is unknown or out of range.
    """
    given: dict[str, Any] = {}
    if agent_http is not None:
        if agent is not None or agent_url is not None:
            raise RunError("--agent-http names an agent, and so does --agent or --agent-url: give one of them")
        agent = loop_spec(agent_http)
    if agent_url is not None:
        # The address of the completions themselves will do as well as the one that clients take.
        base_url = agent_url.rstrip("/").removesuffix("/chat/completions")
        given["agent"] = {"model": _model_at(agent, agent_model), "base_url": base_url}
        agent = None
    elif agent_model is not None:
        raise RunError("--agent-model names a model at --agent-url, which is missing")
    elif agent is not None and is_model(agent):
        given["agent"] = {"model": agent}
    if caller is not None and is_model(caller):
        given["caller"] = {"model": caller}
    for judge in judges:
        if not is_model(judge):
            raise RunError(f"expected --judge as provider/name (openai/gpt-5-mini), found {judge!r}")
    if judges:
        given["judge"] = [{"model": judge} for judge in judges]
    models = read_models(config, given)
    # A participant named on the command line takes the place of the file's model.
    if agent is not None and not is_model(agent):
        models = models.model_copy(update={"agent": None})
    if caller is not None and not is_model(caller):
        models = models.model_copy(update={"caller": None})
    return Roles(agent or _USUAL_AGENT, caller or _USUAL_CALLER, models)


def _model_at(agent: str | None, name: str | None) -> str:
    if name is not None and agent is not None:
        raise RunError("expected --agent-url with --agent-model, or with --agent provider/name, found both")
    if name is not None:
        return f"openai/{name}"
    if agent is None or not is_model(agent):
        raise RunError("--agent-url needs --agent-model, the name of the model at that address")
    return agent
