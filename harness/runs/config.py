"""The resolved configuration of a run: everything that its results depend on, and nothing secret."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domains.kit.json import canonical
from harness.episode.limits import Limits
from harness.models.config import ModelsConfig, RoleConfig
from harness.scenario.model import Kind

RUN_SCHEMA_VERSION: Final = 1

MAX_TRIALS: Final = 1000

_CREDENTIALS: Final = re.compile(r"://[^/\s]*@|[?&;]")
"""User names in an address, and what follows it: both are places where secrets are written."""

_NO_CONDITION: Final = frozenset({"name", "commit", "commit_unknown"})
"""What tells runs apart without changing a result. A commit may touch no code; the hash of the source says if so."""


_PATIENCE: Final = (
    "api_key_env",
    "call_timeout_s",
    "turn_timeout_s",
    "tries",
    "requests_per_minute",
    "tokens_per_minute",
    "price",
)
"""What says how a model is called, not what is asked of it: it may change when a run goes on."""


class RunConfig(BaseModel):
    """What a run was asked to do, with every choice resolved.

    Attributes
    ----------
    agent, caller
        How the participants were named, and the name of the agent in episode ids.
    retrieval
        The retrieval condition.
    tasks
        Ids of the scenarios, in the order in which they are played.
    kinds
        The kinds of scenario among them.
    trials
        Episodes of each scenario.
    seed
        For agents that draw.
    resample
        The seed of the instances; 0 gives the published ones.
    history
        Whether the agent sees the whole contact or its latest turn only.
    scenarios_hash, corpus_hash
        Digests of the content of the chosen scenarios, and of the corpus of each domain among them.
    source_hash, agent_hash
        Digests of the code of this package, and of the file of an agent from elsewhere.
    models, prompts_hash
        The models that play roles, with everything that they are asked for (never a key), and digests of the prompts
        that they are given.
    one_by_one, audits_callers
        Whether models that judge are asked for each assertion in a call of its own, and about the caller as well.
    commit, commit_unknown
        The commit of the checkout, or why there is none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = RUN_SCHEMA_VERSION
    name: str
    agent: str
    agent_name: str
    caller: str
    retrieval: str
    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    kinds: tuple[Annotated[Kind, Field(strict=False)], ...]
    trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)]
    seed: int
    resample: int
    history: Literal["full", "latest"]
    limits: Limits
    package_version: str
    scenario_schema_version: int
    record_schema_version: int
    scenarios_hash: str
    corpus_hash: dict[str, str]
    source_hash: str
    agent_hash: str | None = None
    models: ModelsConfig = ModelsConfig()
    prompts_hash: dict[str, str] = {}
    one_by_one: bool = False
    audits_callers: bool = False
    commit: str | None = None
    commit_unknown: str | None = None

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        for field in ("agent", "agent_name", "caller"):
            if _CREDENTIALS.search(getattr(self, field)):
                raise ValueError(f"{field}: expected a name or a plain address; hand secrets over in the environment")
        if len(set(self.tasks)) != len(self.tasks):
            raise ValueError("tasks: expected each scenario once")
        return self


def differences(ours: RunConfig, theirs: RunConfig) -> list[str]:
    """Name every condition in which two configurations differ, with both values.

    The name of the run, the commit, and how patiently its models are called are no conditions.
    """
    left, right = _conditions(ours), _conditions(theirs)
    return [line for field in left for line in _compare(field, left[field], right[field])]


def asked_of(model: RoleConfig) -> dict[str, Any]:
    """Return what is asked of a model, and not how patiently."""
    return model.model_dump(mode="json", exclude=set(_PATIENCE))


def _conditions(config: RunConfig) -> dict[str, Any]:
    found = config.model_dump(mode="json", exclude={*_NO_CONDITION, "models"})
    agent, caller = config.models.agent, config.models.caller
    return found | {
        "models": {
            "agent": None if agent is None else asked_of(agent),
            "caller": None if caller is None else asked_of(caller),
            "judge": [asked_of(judge) for judge in config.models.judge],
        }
    }


def _compare(field: str, ours: object, theirs: object) -> list[str]:
    if ours == theirs:
        return []
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = dict.fromkeys([*ours, *theirs])
        return [line for name in names for line in _compare(f"{field}.{name}", ours.get(name), theirs.get(name))]
    if isinstance(ours, list) and isinstance(theirs, list) and max(len(ours), len(theirs)) > 1:
        gone, new = [x for x in ours if x not in theirs], [x for x in theirs if x not in ours]
        if not gone and not new:
            return [f"{field}: the same {len(ours)} in another order"]
        return [f"{field}: only in the first {_shown(gone)}; only in the second {_shown(new)}"]
    return [f"{field}: {canonical(ours)} and {canonical(theirs)}"]


def _shown(items: list[object]) -> str:
    shown = ", ".join(str(item) for item in items[:5]) or "nothing"
    return f"{shown} and {len(items) - 5} more" if len(items) > 5 else shown
