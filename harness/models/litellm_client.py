"""One call of a model by LiteLLM: what was asked is what is sent, and what came back is read off the wire.

LiteLLM finds the provider's protocol, address and price. Its own retries, caches, prints and corrections are switched
off or seen through: a parameter that it left out of the request keeps the request from being sent, and where the
provider speaks the chat-completions protocol itself, its answer is read instead of LiteLLM's reading of it.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Final

from domains.kit.json import JsonValue
from harness.episode.turn import ToolOffer
from harness.models.chat_format import plain_json, read_json, read_reply, sent_message, sent_schema, sent_tools
from harness.models.config import Price, RoleConfig
from harness.models.contract import ModelReply, ModelRequest, Usage
from harness.models.diagnosis import diagnose, fault_inside
from harness.models.faults import BadRequest, Unauthorised, Unreadable
from harness.models.provider import Answer
from harness.models.wire import Exchange, Wire

_NO_KEY: Final = "none"
"""What is sent as the key to an address that none was named for."""

_CONVERSATION: Final = frozenset("messages tools system contents input prompt system_instruction".split())
"""Parts of a request's body that are no parameters."""

_OTHER_NAMES: Final = {
    "maxtokens": ("maxcompletiontokens", "maxoutputtokens", "maxtokenstosample", "numpredict", "maxnewtokens"),
    "maxcompletiontokens": ("maxtokens", "maxoutputtokens", "numpredict", "maxnewtokens"),
    "stop": ("stopsequences",),
    "reasoningeffort": ("thinking", "reasoning", "thinkingconfig", "outputconfig", "effort"),
    "thinking": ("thinkingconfig", "reasoning"),
    "paralleltoolcalls": ("disableparalleltooluse",),
    "topp": ("p",),
    "topk": ("k",),
}
"""What parameters are called in other protocols; all names in lower case and without underscores."""

_TRANSLATED: Final = frozenset(("reasoningeffort", "thinking", "paralleltoolcalls"))
"""Parameters that other protocols express in another value."""


class LiteLLMClient:
    """Calls the model of one role; threads may share it.

    Parameters
    ----------
    config
        The model and what is asked of it.

    Raises
    ------
    Unauthorised
        If the variable that should hold its key is not set.
    """

    def __init__(self, config: RoleConfig) -> None:
        self._config = config
        self._library = _library()
        self._settings: dict[str, Any] = {
            "model": config.model,
            "api_key": _key(config),
            "base_url": config.base_url,
            "timeout": config.call_timeout_s,
            "max_retries": 0,
            "drop_params": False,
            "caching": False,
            **config.parameters,
        }
        self._tools: tuple[Sequence[ToolOffer], list[dict[str, JsonValue]]] = ((), [])
        self._sent: dict[tuple[bool, bool], Mapping[str, JsonValue]] = {}

    @cached_property
    def price(self) -> Price | None:
        """The user's price, or that of the model's provider as LiteLLM has it; None if neither is known."""
        if self._config.price is not None or self._config.base_url is not None:
            # LiteLLM's prices are those of the provider whose name the model has, not of any other address.
            return self._config.price
        try:
            found = self._library.module.get_model_info(self._config.model)
        except Exception:  # noqa: BLE001 - the library has no class of its own for a model that it does not know
            return None
        rates = found["input_cost_per_token"] or 0.0, found["output_cost_per_token"] or 0.0
        return Price(input=rates[0] * 1e6, output=rates[1] * 1e6) if any(rates) else None

    def complete(self, request: ModelRequest, timeout_s: float) -> Answer:
        """Call the model once; see `Provider`."""
        messages = [sent_message(message) for message in request.messages]
        optional: dict[str, Any] = {}
        if request.tools:
            optional["tools"] = self._sent_tools(request.tools)
        if request.answer_schema is not None:
            optional["response_format"] = sent_schema(request.answer_schema)
        # The parameters are the same in every call, and what the library makes of them is so for every such kind.
        kind = (bool(request.tools), request.answer_schema is not None)

        def check(body: bytes) -> None:
            if kind not in self._sent and (sent := sent_parameters(body, self._config.parameters)):
                self._sent[kind] = sent

        with self._library.wire.exchange(timeout_s, check) as exchange:
            try:
                response = self._library.module.completion(messages=messages, **self._settings, **optional)
            except Exception as error:
                raise diagnose(error, exchange) from error
        return Answer(self._reply(response, exchange), self._sent.get(kind, {}))

    def _sent_tools(self, tools: Sequence[ToolOffer]) -> list[dict[str, JsonValue]]:
        """Write tools, whose schemas are long and mostly those of the call before."""
        known, written = self._tools
        if known != tools:
            written = sent_tools(tools)
            self._tools = (tools, written)
        # The library may write into what it is given.
        return [{**tool, "function": dict(tool["function"])} for tool in written]

    def _reply(self, response: Any, exchange: Exchange) -> ModelReply:
        body = read_json(exchange.body)
        fault = fault_inside(body, exchange)
        if fault is not None:
            raise fault
        speaks_the_protocol = isinstance(body, dict) and "choices" in body
        reply = read_reply(body if speaks_the_protocol else _as_protocol(response))
        cost_usd = self._cost_usd(reply.usage, response)
        return reply if cost_usd is None else replace(reply, usage=replace(reply.usage, cost_usd=cost_usd))

    def _cost_usd(self, usage: Usage, response: Any) -> float | None:
        if usage.input_tokens is None or usage.output_tokens is None or self.price is None:
            return None
        if self._config.price is not None:
            return self._config.price.of(usage.input_tokens, usage.output_tokens)
        # The library's own sum knows of cached tokens and of those for reasoning, too.
        cost_usd: float | None = getattr(response, "_hidden_params", {}).get("response_cost")
        return cost_usd


def sent_parameters(body: bytes, asked: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the parameters in the body of a request, where all that was asked for is among them.

    A body without a conversation (some providers are asked for a token first) has none.

    Raises
    ------
    BadRequest
        Naming the first parameter that is not.
    """
    sent = read_json(body)
    if not isinstance(sent, dict) or sent.keys().isdisjoint(_CONVERSATION):
        return {}
    parameters = {name: value for name, value in sent.items() if name not in _CONVERSATION}
    found = dict(_flat(parameters))
    for name, value in asked.items():
        plain = _plain(name)
        places = [place for place in (plain, *_OTHER_NAMES.get(plain, ())) if place in found]
        if not any(plain in _TRANSLATED or _equal(found[place], value) for place in places):
            instead = f"{places[0]} = {found[places[0]]!r}" if places else "nothing of the kind"
            raise BadRequest(
                f"expected the parameter {name} = {value!r} in the request to the provider, found {instead}: it does "
                "not get there by LiteLLM. Leave it out of the role's parameters."
            )
    return parameters


def _flat(value: Mapping[str, JsonValue]) -> list[tuple[str, JsonValue]]:
    """List a body's parameters, those of nested objects too, with plain names."""
    found: list[tuple[str, JsonValue]] = []
    for name, part in value.items():
        found.append((_plain(name), part))
        if isinstance(part, dict):
            found += _flat(part)
    return found


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _equal(sent: JsonValue, asked: JsonValue) -> bool:
    return bool(sent == asked or sent == [asked])


def _as_protocol(response: Any) -> JsonValue:
    """Return the library's reading of an answer in another protocol, zero tokens taken for none reported."""
    found = response.model_dump()
    usage = found.get("usage") or {}
    if not usage.get("total_tokens"):
        found["usage"] = None
    for choice in found.get("choices") or ():
        native = (choice.get("provider_specific_fields") or {}).get("native_finish_reason")
        if native:
            choice["finish_reason"] = str(native)
    try:
        return plain_json(found)
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _key(config: RoleConfig) -> str | None:
    if config.api_key_env is not None:
        key = os.environ.get(config.api_key_env, "").strip()
        if not key:
            raise Unauthorised(
                f"expected the key for {config.model} in the environment variable {config.api_key_env}, found none"
            )
        return key
    return None if config.base_url is None else _NO_KEY


# ------------------------------------------------------------------ the library


@dataclass(frozen=True, slots=True)
class _Library:
    module: ModuleType
    wire: Wire


_loading = threading.Lock()


def _library() -> _Library:
    """Import the library once for the process, silent and without a look at the network."""
    with _loading:
        return _load()


@cache
def _load() -> _Library:
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import httpx
    import litellm

    wire = Wire()
    litellm.suppress_debug_info = True
    litellm.client_session = httpx.Client(transport=wire, timeout=None, follow_redirects=False)
    litellm.sync_transport = wire
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(logging.CRITICAL)
        logger.propagate = False
    warnings.filterwarnings("ignore", module=r"(litellm|pydantic)\b")
    return _Library(litellm, wire)
