"""What LiteLLM makes of each way in which a provider misbehaves: the facts that a client on top of it rests on.

Where a row has to be changed for a new version of LiteLLM, the client that reads its exceptions has to be looked at.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from tests.provider.faults import FAULTS, HIDDEN, FaultPlan, Pace
from tests.provider.protocol import Call, ChatRequest, Reply
from tests.provider.server import Provider, serving

TIMEOUT_S = 0.2
WORDS = "Hello there"


class Raised(NamedTuple):
    """An exception, by class and `status_code`, and the code that the provider gave, found in `response.text`."""

    name: str
    status: int | None
    code: Any = None


RAISED = {
    # One class for what passes and what does not: only the provider's code tells the two apart.
    "429": Raised("RateLimitError", 429, "rate_limit_exceeded"),
    "429_seconds": Raised("RateLimitError", 429, "rate_limit_exceeded"),
    "429_milliseconds": Raised("RateLimitError", 429, "rate_limit_exceeded"),
    "429_date": Raised("RateLimitError", 429, "rate_limit_exceeded"),
    "quota": Raised("RateLimitError", 429, "insufficient_quota"),
    "413": Raised("RateLimitError", 429, "rate_limit_exceeded"),
    "408": Raised("Timeout", 408),
    "409": Raised("APIError", 409),
    "500": Raised("InternalServerError", 500),
    "500_page": Raised("InternalServerError", 500),
    "502": Raised("BadGatewayError", 502),
    "503": Raised("ServiceUnavailableError", 503),
    "503_seconds": Raised("ServiceUnavailableError", 503),
    "504": Raised("Timeout", 504),
    "529": Raised("APIError", 529),
    "slow_first_byte": Raised("Timeout", 408),
    # Nothing that is no answer has a status of its own: it looks like a 500 with an empty text.
    "reset_at_once": Raised("InternalServerError", 500),
    "reset_in_body": Raised("InternalServerError", 500),
    "cut_json": Raised("InternalServerError", 500),
    "empty_body": Raised("InternalServerError", 500),
    "page": Raised("InternalServerError", 500),
    "choices_missing": Raised("InternalServerError", 500),
    "error_with_200": Raised("APIError", None),
    "401": Raised("AuthenticationError", 401, "invalid_api_key"),
    "402": Raised("APIError", 402, "invalid_request_error"),
    "403": Raised("APIError", 403, "model_not_allowed"),
    "404_model": Raised("NotFoundError", 404, "model_not_found"),
    "404_page": Raised("NotFoundError", 404),
    "400_parameter": Raised("BadRequestError", 400, "unsupported_parameter"),
    "422": Raised("BadRequestError", 422),
    "context_openai": Raised("ContextWindowExceededError", 400, "context_length_exceeded"),
    "context_openai_new": Raised("BadRequestError", 400, "context_length_exceeded"),
    "context_anthropic": Raised("ContextWindowExceededError", 400),
    "context_anthropic_sum": Raised("ContextWindowExceededError", 400),
    "context_vllm": Raised("ContextWindowExceededError", 400, 400),
    "context_vllm_new": Raised("BadRequestError", 400, 400),
    "context_llama_cpp": Raised("ContextWindowExceededError", 400, 400),
    "context_gemini": Raised("ContextWindowExceededError", 400, 400),
    "filtered_azure": Raised("BadRequestError", 400, "content_filter"),
    "filtered_openai": Raised("BadRequestError", 400, "content_policy_violation"),
    "filtered_usage_policy": Raised("ContentPolicyViolationError", 400, "invalid_prompt"),
}

CALLS = ['{"id": "abc"}', '{"id": "def"}']
WHOLE = {"finish": "tool_calls", "text": WORDS, "arguments": CALLS}

RETURNED: dict[str | None, dict[str, Any]] = {
    None: WHOLE | {"native_finish": None, "refusal": None, "reasoning": None, "model": "m-2026-02-01"},
    # The timeout is one of silence, so a drip is waited for; see the test below.
    "slow_drip": WHOLE,
    "10_mb": {"text": "word " * 2_000_000},
    "no_choices": {"finish": None},
    "content_filter": {"finish": "content_filter", "text": None, "arguments": []},
    "refusal": {"finish": "stop", "text": None, "arguments": [], "refusal": "I cannot help with that."},
    "length": {"finish": "length", "arguments": [CALLS[0], '{"id":']},
    "arguments_cut": {"finish": "tool_calls", "arguments": ['{"id":', '{"id":']},
    "empty_reply": {"finish": "stop", "text": None, "arguments": [], "refusal": None},
    # An unknown reason becomes "stop"; what the provider said is kept aside.
    "unknown_finish": {"finish": "stop", "native_finish": "paused"},
    "finish_missing": {"finish": "tool_calls", "native_finish": None},
    "repeated_ids": {"ids": ["call_0", "call_0"]},
    # No usage becomes a usage of zero.
    "usage_missing": {"usage": (0, 0)},
    "usage_null": {"usage": (0, 0)},
    "usage_huge": {"usage": (10**12, 10**12)},
    "usage_negative": {"usage": (-5, -5)},
    "reasoning_content": WHOLE | {"reasoning": HIDDEN},
    "reasoning_in_tags": WHOLE | {"reasoning": HIDDEN},
    # A closing tag alone is left in the text.
    "reasoning_leak": {"text": f"{HIDDEN}</think>{WORDS}", "reasoning": None},
}


def part(request: ChatRequest) -> Reply:
    """Say something and call a tool twice."""
    return Reply(WORDS, (Call("look", {"id": "abc"}), Call("look", {"id": "def"})))


@pytest.fixture(scope="module")
def litellm() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        patch.setattr(litellm, "suppress_debug_info", True)
        # Other tests of the same process may have given it an HTTP client of their own.
        patch.setattr(litellm, "client_session", None)
        yield litellm


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with serving({"m": part}) as provider:
        yield provider


@pytest.fixture
def provider(server: Provider) -> Provider:
    server.clear()
    return server


def ask(litellm: ModuleType, provider: Provider, timeout_s: float = 5.0) -> Any:
    """Ask for one completion."""
    return litellm.completion(
        model="openai/m",
        api_base=provider.url,
        api_key="sk-test",
        messages=[{"role": "user", "content": "Good morning."}],
        max_retries=0,
        timeout=timeout_s,
    )


def fail(litellm: ModuleType, provider: Provider, fault: str) -> Any:
    """Ask under a fault and return the exception."""
    provider.faults = FaultPlan.always(fault, Pace(first_byte_s=0.3))
    with pytest.raises(litellm.exceptions.openai.OpenAIError) as caught:
        ask(litellm, provider, TIMEOUT_S if fault == "slow_first_byte" else 5.0)
    return caught.value


def read(answer: Any) -> dict[str, Any]:
    """Return what a client wants of an answer."""
    usage = answer.usage
    seen = {"model": answer.model, "usage": (usage.prompt_tokens, usage.completion_tokens), "finish": None}
    for choice in answer.choices:
        calls = choice.message.tool_calls or []
        seen |= {
            "finish": choice.finish_reason,
            "native_finish": (choice.provider_specific_fields or {}).get("native_finish_reason"),
            "text": choice.message.content,
            "ids": [call.id for call in calls],
            "arguments": [call.function.arguments for call in calls],
            "refusal": choice.message.get("refusal"),
            "reasoning": choice.message.get("reasoning_content"),
        }
    return seen


def code_in(text: str) -> Any:
    """Return the code in an error's body, wherever the provider puts it."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body.get("error", body).get("code")


def test_every_fault_has_a_row() -> None:
    assert sorted([*RAISED, *(name for name in RETURNED if name)]) == sorted(FAULTS)


@pytest.mark.parametrize("fault", RAISED)
def test_what_is_raised(litellm: ModuleType, provider: Provider, fault: str) -> None:
    raised = fail(litellm, provider, fault)
    response = getattr(raised, "response", None)
    code = code_in(response.text) if response is not None else None
    status = getattr(raised, "status_code", None)
    assert Raised(type(raised).__name__, status, code) == RAISED[fault]
    assert len(provider.chats) == 1


@pytest.mark.parametrize("fault", RETURNED)
def test_what_is_returned(litellm: ModuleType, provider: Provider, fault: str | None) -> None:
    provider.faults = FaultPlan.listed([fault], pace=Pace(gap_s=0.0001))
    seen = read(ask(litellm, provider))
    assert {name: seen[name] for name in RETURNED[fault]} == RETURNED[fault]


@pytest.mark.parametrize(
    ("fault", "header"),
    [("429_seconds", "retry-after"), ("503_seconds", "retry-after"), ("429_milliseconds", "retry-after-ms")],
)
def test_when_to_come_back_is_in_the_headers(litellm: ModuleType, provider: Provider, fault: str, header: str) -> None:
    assert fail(litellm, provider, fault).response.headers[header] in {"1", "1000"}


def test_a_date_to_come_back_at_is_in_the_headers(litellm: ModuleType, provider: Provider) -> None:
    assert fail(litellm, provider, "429_date").response.headers["retry-after"].endswith(" GMT")


def test_too_large_is_called_rate_limited_and_its_status_is_in_the_context(
    litellm: ModuleType, provider: Provider
) -> None:
    raised = fail(litellm, provider, "413")
    assert (raised.status_code, raised.response.status_code, raised.__context__.status_code) == (429, 429, 413)


def test_a_drip_outlasts_the_timeout(litellm: ModuleType, provider: Provider) -> None:
    provider.faults = FaultPlan.always("slow_drip", Pace(gap_s=0.0005))
    began_s = time.monotonic()
    ask(litellm, provider, TIMEOUT_S)
    assert time.monotonic() - began_s > TIMEOUT_S


@pytest.mark.parametrize("fault", ["error_with_200", "cut_json", "reset_in_body", "page", "empty_body"])
def test_what_was_no_answer_is_told_apart_by_its_words_alone(
    litellm: ModuleType, provider: Provider, fault: str
) -> None:
    words = {
        "error_with_200": "OpenAIException - ",
        "cut_json": "Received response",
        "reset_in_body": "Connection error.",
        "page": "Empty or invalid response",
        "empty_body": "Received response",
    }
    assert words[fault] in str(fail(litellm, provider, fault))


def test_a_refused_connection_is_an_internal_server_error(litellm: ModuleType, provider: Provider) -> None:
    with serving({}) as gone:
        pass
    with pytest.raises(litellm.InternalServerError, match="Connection error"):
        ask(litellm, gone)


def test_blocks_of_the_providers_own_come_through(litellm: ModuleType, provider: Provider) -> None:
    block = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    with serving({"m": lambda request: Reply("Hi", extra={"thinking_blocks": [block], "marks": [1]})}) as other:
        message = ask(litellm, other).choices[0].message
    assert message.thinking_blocks == [block]
    assert message.provider_specific_fields["marks"] == [1]
