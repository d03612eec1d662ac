"""Which model plays which role, with what it is asked for and how long it may take: a TOML file and the command line.

::

    [agent]
    model = "openai/gpt-5-mini"
    api_key_env = "OPENAI_API_KEY"
    parameters = { temperature = 0, seed = 7 }
    price = { input = 0.25, output = 2.0 }      # US dollars for a million tokens

    [caller]
    model = "openai/qwen3-32b"
    base_url = "http://127.0.0.1:8000/v1"

    [[judge]]                                   # one or several
    model = "anthropic/claude-haiku-4-5"
    requests_per_minute = 50

No key is written here, only the name of the environment variable that holds it. A key goes to nobody but the address
that it was named for: with a `base_url` and no `api_key_env`, none is sent.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from domains.kit.json import JsonValue
from harness.errors import DataError
from harness.models.contract import Role

_MAX_FILE_BYTES: Final = 1024 * 1024

_OURS: Final = frozenset(
    """
    model messages tools tool_choice functions response_format stream stream_options n api_key api_base base_url
    api_version timeout max_retries num_retries drop_params allowed_openai_params mock_response client extra_headers
    headers extra_body metadata fallbacks caching custom_llm_provider input_cost_per_token output_cost_per_token
    """.split()
)
"""What the harness decides, or what would let a parameter change something else than the model's sampling."""

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Price(_Part):
    """What a model costs.

    Attributes
    ----------
    input, output
        US dollars for a million tokens.
    """

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the US dollars for so many tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


class RoleConfig(_Part):
    """The model of one role.

    Attributes
    ----------
    model
        As LiteLLM names it: ``provider/model``; ``openai/...`` for whoever speaks that protocol at `base_url`.
    api_key_env
        The environment variable with the key. None leaves it to the provider's usual variable, unless there is a
        `base_url`.
    parameters
        What is asked of the model beside the conversation. Nothing else is sent, and nothing of it is left out.
    call_timeout_s
        From sending a request to the last byte of its answer, on the wall clock.
    turn_timeout_s
        All tries of one call and the pauses between them; waiting for the limits below does not count.
    tries
        How often one call is tried before the fault is final.
    requests_per_minute, tokens_per_minute
        Limits of the provider to keep within; None for none.
    price
        None if it is not known.
    """

    model: Annotated[str, Field(pattern=r"^[^\s/]+/\S+$", max_length=200)]
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s@?#]+$", max_length=500)] | None = None
    api_key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    call_timeout_s: _Positive = 120.0
    turn_timeout_s: _Positive = 600.0
    tries: Annotated[int, Field(ge=1, le=20)] = 6
    requests_per_minute: _Positive | None = None
    tokens_per_minute: _Positive | None = None
    price: Price | None = None

    @field_validator("parameters")
    @classmethod
    def _only_parameters(cls, parameters: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in parameters:
            if name in _OURS:
                raise ValueError(f"{name} is no parameter of a model here: the harness decides it")
            if re.search(r"(?i)key|secret|password|credential|authorization", name):
                raise ValueError(f"{name} looks like a secret; name its environment variable in api_key_env")
        return parameters


class ModelsConfig(_Part):
    """The models of a run, by role.

    Attributes
    ----------
    agent, caller
        None where no model plays the role.
    judge
        Any number of judges; with several the majority counts.
    """

    agent: RoleConfig | None = None
    caller: RoleConfig | None = None
    judge: tuple[RoleConfig, ...] = ()

    @field_validator("judge", mode="before")
    @classmethod
    def _one_or_several(cls, judge: Any) -> Any:
        if isinstance(judge, Mapping | RoleConfig):
            return (judge,)
        return tuple(judge) if isinstance(judge, list) else judge

    def of(self, role: Role) -> tuple[RoleConfig, ...]:
        """Return the models of a role."""
        if role is Role.JUDGE:
            return self.judge
        one = self.agent if role is Role.AGENT else self.caller
        return () if one is None else (one,)


def read_models(path: Path | None, given: Mapping[str, Any] | None = None) -> ModelsConfig:
    """Read the models of a run.

    Parameters
    ----------
    path
        A TOML file; None for none.
    given
        What the command line says, in the same shape: ``{"agent": {"model": ...}}``. It goes before the file, key by
        key; a given judge stands in the place of all in the file, a given `parameters` adds to those of the file.

    Raises
    ------
    DataError
        Naming file and key: if there is no such file, or something in it is unknown or out of range.
    """
    name = "the command line" if path is None else str(path)
    found = {} if path is None else _read(path)
    try:
        return ModelsConfig.model_validate(_merged(found, given or {}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise DataError(name, place, *_explained(first)) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise DataError(str(path), "", "a TOML file", error.strerror or str(error), "Check the path.") from None
    if len(raw) > _MAX_FILE_BYTES:
        raise DataError(str(path), "", f"at most {_MAX_FILE_BYTES} bytes", "more")
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(str(path), "", "a TOML file", str(error)) from None


def _merged(found: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(found)
    for name, value in given.items():
        below = merged.get(name)
        merged[name] = _merged(below, value) if isinstance(below, dict) and isinstance(value, Mapping) else value
    return merged


def _explained(problem: Mapping[str, Any]) -> tuple[str, str]:
    """Say of a problem what was expected and what was found."""
    key = problem["loc"][-1] if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        owner = Price if "price" in problem["loc"] else RoleConfig if len(problem["loc"]) > 1 else ModelsConfig
        return f"one of {', '.join(owner.model_fields)}", f"{key!r}"
    if problem["type"] == "missing":
        return f"a value for {key}", "none"
    if problem["type"] == "string_pattern_mismatch" and key == "model":
        return "a model as provider/name (openai/gpt-5-mini)", f"{problem['input']!r:.80}"
    if problem["type"] == "string_pattern_mismatch" and key == "base_url":
        return "a plain http address without user name, password or query", "something else"
    return str(problem["msg"]).removeprefix("Value error, "), f"{problem['input']!r:.80}"
