"""A call through the real library to a real server that misbehaves: each kind of trouble has its own outcome."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.episode.turn import ToolOffer
from harness.models.config import Price, RoleConfig
from harness.models.contract import ChatMessage, Finish, ModelReply, ModelRequest, Role, Speaker, Usage
from harness.models.faults import (
    BadRequest,
    ContextOverflow,
    FatalFault,
    Filtered,
    ModelFault,
    RateLimited,
    RetryableFault,
    RoleOutcome,
    TooSlow,
    Unauthorised,
    Unavailable,
    UnknownModel,
    Unreadable,
)
from harness.models.litellm_client import LiteLLMClient
from harness.models.provider import Answer
from tests.provider.faults import FAULTS, HIDDEN, FaultPlan, Kind, of_kind
from tests.provider.protocol import Call, ChatRequest, Reply
from tests.provider.server import Provider, serving

FREEZE = ToolOffer(
    "freeze_card", "Freezes a card.", json.dumps({"type": "object", "properties": {"card": {"type": "string"}}})
)
REQUEST = ModelRequest(
    Role.AGENT,
    "agent/1",
    (ChatMessage(Speaker.SYSTEM, "Be kind."), ChatMessage(Speaker.USER, "Hello")),
    (FREEZE,),
)
TIMEOUT_S = 20.0
"""Enough on a busy machine for whatever answers at all."""

SHORT_S = 0.25
"""For what never does in time."""


def two_calls(request: ChatRequest) -> Reply:
    return Reply("One moment.", (Call("freeze_card", {"card": "one two"}), Call("freeze_card", {"card": "three"})))


@pytest.fixture(scope="module")
def serves() -> Iterator[Provider]:
    with serving({"m": two_calls}) as provider:
        LiteLLMClient(config(provider)).complete(REQUEST, 30.0)
        yield provider


@pytest.fixture
def provider(serves: Provider) -> Provider:
    serves.clear()
    serves.behaviours["m"] = two_calls
    return serves


def config(provider: Provider, **settings: object) -> RoleConfig:
    return RoleConfig(model="openai/m", base_url=provider.url, **settings)  # type: ignore[arg-type]


def ask(
    provider: Provider, request: ModelRequest = REQUEST, timeout_s: float = TIMEOUT_S, **settings: object
) -> Answer:
    return LiteLLMClient(config(provider, **settings)).complete(request, timeout_s)


RAISES: dict[str, type[ModelFault]] = {
    "429": RateLimited,
    "429_seconds": RateLimited,
    "429_milliseconds": RateLimited,
    "429_date": RateLimited,
    "408": Unavailable,
    "409": Unavailable,
    "500": Unavailable,
    "500_page": Unavailable,
    "502": Unavailable,
    "503": Unavailable,
    "503_seconds": Unavailable,
    "504": Unavailable,
    "529": Unavailable,
    "slow_first_byte": TooSlow,
    "slow_drip": TooSlow,
    "reset_at_once": Unavailable,
    "reset_in_body": Unavailable,
    "cut_json": Unreadable,
    "empty_body": Unreadable,
    "page": Unreadable,
    "error_with_200": Unavailable,
    "no_choices": Unreadable,
    "choices_missing": Unreadable,
    "10_mb": Unreadable,
    "401": Unauthorised,
    "402": Unauthorised,
    "403": Unauthorised,
    "quota": Unauthorised,
    "404_model": UnknownModel,
    "404_page": UnknownModel,
    "400_parameter": BadRequest,
    "422": BadRequest,
    "413": ContextOverflow,
    **{name: ContextOverflow for name in FAULTS if name.startswith("context_")},
    **{name: Filtered for name in FAULTS if name.startswith("filtered_")},
}
REPLIES: dict[str, Finish] = {
    "content_filter": Finish.CONTENT_FILTER,
    "refusal": Finish.REFUSAL,
    "length": Finish.LENGTH,
    "arguments_cut": Finish.TOOL_CALLS,
    "empty_reply": Finish.STOP,
    "unknown_finish": Finish.UNKNOWN,
    **dict.fromkeys(of_kind(Kind.HARMLESS), Finish.TOOL_CALLS),
}
BRANCHES = {Kind.RETRYABLE: RetryableFault, Kind.TERMINAL: FatalFault, Kind.OUTCOME: RoleOutcome}


def test_every_kind_of_trouble_has_an_outcome() -> None:
    assert RAISES.keys() | REPLIES.keys() == FAULTS.keys()


@pytest.mark.parametrize("name", RAISES)
def test_trouble_that_leaves_no_reply(provider: Provider, name: str) -> None:
    provider.faults = FaultPlan.always(name)
    with pytest.raises(RAISES[name]) as raised:
        ask(provider, timeout_s=SHORT_S if RAISES[name] is TooSlow else TIMEOUT_S)
    assert type(raised.value) is RAISES[name]
    assert isinstance(raised.value, BRANCHES[FAULTS[name].kind])
    assert len(provider.chats) == 1, "the library sent more than it was asked to"


@pytest.mark.parametrize("name", REPLIES)
def test_trouble_within_a_reply(provider: Provider, name: str) -> None:
    provider.faults = FaultPlan.always(name)
    reply = ask(provider).reply
    assert reply.finish is REPLIES[name]
    assert HIDDEN not in reply.message.text
    assert len({call.id for call in reply.message.tool_requests}) == len(reply.message.tool_requests)


def test_a_reply_is_read_whole(provider: Provider) -> None:
    answer = ask(provider)
    reply = answer.reply
    assert reply.message.text == "One moment."
    assert [json.loads(call.arguments) for call in reply.message.tool_requests] == [
        {"card": "one two"},
        {"card": "three"},
    ]
    assert (reply.finish, reply.finish_said) == (Finish.TOOL_CALLS, "tool_calls")
    assert (reply.model, reply.fingerprint, reply.notes) == ("m-2026-02-01", "fp_local", ())
    assert reply.usage.input_tokens
    assert reply.usage.output_tokens
    assert reply.usage.cost_usd is None, "the price at another address is not known"


def test_a_price_of_the_user_gives_a_cost(provider: Provider) -> None:
    usage = ask(provider, price=Price(input=1_000_000, output=2_000_000)).reply.usage
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    assert usage.cost_usd == usage.input_tokens + 2 * usage.output_tokens


@pytest.mark.parametrize("name", ["usage_missing", "usage_null", "usage_huge", "usage_negative"])
def test_usage_that_is_missing_or_absurd_is_unknown(provider: Provider, name: str) -> None:
    provider.faults = FaultPlan.always(name)
    reply = ask(provider, price=Price(input=1.0, output=1.0)).reply
    assert reply.usage == Usage()
    assert any("usage" in note for note in reply.notes)


# ------------------------------------------------------------------ what is sent


def test_what_was_asked_is_what_is_sent_and_nothing_else(provider: Provider) -> None:
    asked = {"temperature": 0, "seed": 7, "max_tokens": 100, "top_k": 5, "stop": ["END"], "logit_bias": {"5": -100}}
    answer = ask(provider, parameters=asked)
    body = provider.chats[0].body
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "freeze_card",
                    "description": "Freezes a card.",
                    "parameters": {"type": "object", "properties": {"card": {"type": "string"}}},
                },
            }
        ],
        **asked,
    }
    assert answer.parameters == {"model": "m", **asked}


def test_nothing_is_sent_that_was_not_asked_for(provider: Provider) -> None:
    ask(provider, replace(REQUEST, tools=()))
    assert provider.chats[0].body.keys() == {"model", "messages"}


def test_a_parameter_that_would_be_left_out_keeps_the_request_from_being_sent(provider: Provider) -> None:
    # The library takes this one for its own and does not pass it on.
    with pytest.raises(BadRequest, match="user_continue_message"):
        ask(provider, parameters={"user_continue_message": {"role": "user", "content": "Go on."}})
    assert not provider.chats


def test_the_schema_of_an_answer_is_sent(provider: Provider) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    ask(provider, replace(REQUEST, answer_schema=schema))
    assert provider.chats[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": True},
    }


def test_calls_and_what_stood_beside_them_are_handed_back(provider: Provider) -> None:
    beside = {"reasoning_details": [{"type": "encrypted", "data": "xyz"}], "reasoning_content": "Hm."}
    provider.behaviours["m"] = lambda request: Reply("Yes.", (Call("freeze_card", {"card": "1"}, "c1"),), extra=beside)
    reply = ask(provider).reply
    assert reply.message.opaque == beside
    turn = (*REQUEST.messages, reply.message, ChatMessage(Speaker.TOOL, '{"ok": true}', answers="c1"))
    ask(provider, replace(REQUEST, messages=turn))
    *_, said, result = provider.chats[1].body["messages"]
    assert said == {
        "role": "assistant",
        "content": "Yes.",
        **beside,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "freeze_card", "arguments": '{"card": "1"}'}}
        ],
    }
    assert result == {"role": "tool", "content": '{"ok": true}', "tool_call_id": "c1"}


def test_arguments_that_are_no_json_are_kept_raw_and_handed_back_as_json(provider: Provider) -> None:
    provider.behaviours["m"] = lambda request: Reply("", (Call("freeze_card", "card: 1", "c1"),))
    message = ask(provider).reply.message
    assert message.tool_requests[0].arguments == "card: 1"
    turn = (*REQUEST.messages, message, ChatMessage(Speaker.TOOL, "refused", answers="c1"))
    ask(provider, replace(REQUEST, messages=turn))
    sent = provider.chats[1].body["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"arguments_as_written": "card: 1"}


# ------------------------------------------------------------------ keys and addresses


def test_the_key_comes_from_the_variable_that_is_named(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANK_MODEL_KEY", "local-key-1")
    provider.key = "local-key-1"
    try:
        assert isinstance(ask(provider, api_key_env="BANK_MODEL_KEY").reply, ModelReply)
        monkeypatch.setenv("OPENAI_API_KEY", "local-key-1")
        with pytest.raises(Unauthorised):
            ask(provider)
    finally:
        provider.key = None


def test_a_variable_without_a_key_is_named(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BANK_MODEL_KEY", raising=False)
    with pytest.raises(Unauthorised, match="BANK_MODEL_KEY"):
        LiteLLMClient(config(provider, api_key_env="BANK_MODEL_KEY"))


def test_a_provider_whose_usual_key_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Unauthorised):
        LiteLLMClient(RoleConfig(model="openai/gpt-4o-mini")).complete(REQUEST, TIMEOUT_S)


def test_a_provider_that_does_not_exist() -> None:
    with pytest.raises(UnknownModel):
        LiteLLMClient(RoleConfig(model="nobody/knows-this")).complete(REQUEST, TIMEOUT_S)


def test_nobody_at_the_address() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(Unavailable):
            LiteLLMClient(RoleConfig(model="openai/m", base_url=address)).complete(REQUEST, TIMEOUT_S)
