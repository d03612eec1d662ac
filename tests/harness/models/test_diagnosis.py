"""Faults told apart by what was seen on the wire; the shapes that a local server plays are tested with the client."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from harness.models.diagnosis import diagnose, fault_inside, retry_after_s
from harness.models.faults import (
    BadRequest,
    ContextOverflow,
    FatalFault,
    Filtered,
    ModelFault,
    RateLimited,
    RetryableFault,
    TooSlow,
    Unauthorised,
    Unavailable,
    UnknownModel,
    Unreadable,
)
from harness.models.wire import AnswerTooLong, Exchange, SentTwice

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)
ANY = RuntimeError("whatever the library made of it")


def answered(status: int, body: Any, **headers: str) -> Exchange:
    text = body if isinstance(body, str) else json.dumps(body)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Exchange(1.0, status=status, headers=httpx.Headers(names), body=text.encode())


GEMINI_MINUTE = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}],
    }
}
GEMINI_KEY = {"error": {"code": 400, "message": "API key not valid. Please pass one.", "status": "INVALID_ARGUMENT"}}
MODERATION = {"error": {"code": 403, "message": "Your input was flagged by the moderation endpoint"}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, GEMINI_MINUTE, RateLimited),
        (429, {"error": {"message": "You exceeded your current quota, please check your plan."}}, Unauthorised),
        (429, {"error": {"message": "Too many tokens in this minute: the context window of limits"}}, RateLimited),
        (429, "", RateLimited),
        (400, GEMINI_KEY, Unauthorised),
        (400, {"error": {"message": "Your credit balance is too low to use this API."}}, Unauthorised),
        (403, {"error": {"message": "Insufficient credits"}}, Unauthorised),
        (403, MODERATION, Filtered),
        (401, {"error": {"message": "blocked by the content filter team"}}, Unauthorised),
        (451, "", Filtered),
        (400, {"error": {"code": "data_inspection_failed", "message": "Input may be inappropriate."}}, Filtered),
        (400, {"error": {"message": "Please reduce the length of the messages."}}, ContextOverflow),
        (500, {"error": {"message": "the request exceeds the available context size"}}, ContextOverflow),
        (400, {"error": {"message": "Model small-1 has been retired"}}, UnknownModel),
        (400, {"error": {"message": "unknown model: m"}}, UnknownModel),
        (400, {"message": "temperature must be at most 2"}, BadRequest),
        (400, {"error": {"message": "'temperature' does not support 0 with this model"}}, BadRequest),
        (418, "<html>", BadRequest),
        (302, "", FatalFault),
        (599, "", Unavailable),
        (499, "", Unavailable),
        (200, "[]", Unreadable),
        (200, "{", Unreadable),
        (200, "[" * 50_000, Unreadable),
        (200, {"error": {"code": 429, "message": "slow down"}}, RateLimited),
        (200, {"error": {"code": "401", "message": "who are you"}}, Unauthorised),
        (200, {"error": {"code": "context_length_exceeded", "message": "too long"}}, ContextOverflow),
        (200, {"error": "broken"}, Unavailable),
    ],
)
def test_an_answer_that_is_a_fault(status: int, body: Any, kind: type[ModelFault]) -> None:
    assert type(diagnose(ANY, answered(status, body))) is kind


def test_the_message_is_the_providers_and_bounded() -> None:
    fault = diagnose(ANY, answered(400, {"error": {"message": "No  such\nparameter: x", "code": "bad"}}))
    assert str(fault) == "status 400: No such parameter: x"
    assert len(str(diagnose(ANY, answered(400, "x" * 10_000_000)))) < 700


def test_an_error_beside_an_answer_is_no_fault() -> None:
    body = {"choices": [{"message": {"content": "Hello"}}], "error": {"code": 500}}
    assert fault_inside(body, answered(200, body)) is None
    assert fault_inside({"choices": [{}], "error": None}, answered(200, "")) is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ReadTimeout(""), TooSlow),
        (httpx.ConnectTimeout(""), TooSlow),
        (httpx.PoolTimeout(""), TooSlow),
        (httpx.ConnectError("[Errno 111] Connection refused"), Unavailable),
        (httpx.ConnectError("[Errno -2] Name or service not known"), Unavailable),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate"), FatalFault),
        (httpx.RemoteProtocolError("Server disconnected"), Unavailable),
        (httpx.ReadError(""), Unavailable),
        (httpx.UnsupportedProtocol("ftp"), BadRequest),
        (httpx.LocalProtocolError("Illegal header value"), BadRequest),
        (httpx.DecodingError("bad gzip"), Unreadable),
        (AnswerTooLong("too long"), Unreadable),
        (BadRequest("held back"), BadRequest),
    ],
)
def test_what_kept_an_answer_from_coming(error: Exception, kind: type[ModelFault]) -> None:
    assert type(diagnose(ANY, Exchange(1.0, error=error))) is kind


def test_a_second_request_that_was_held_back_leaves_the_first_answer_to_judge_by() -> None:
    exchange = answered(400, {"error": {"message": "roles must alternate"}})
    exchange.error = SentTwice("no")
    fault = diagnose(ANY, exchange)
    assert type(fault) is BadRequest
    assert "roles must alternate" in str(fault)


def library(name: str, message: str = "", status: int | None = None) -> Exception:
    error: Exception = type(name, (Exception,), {"status_code": status})(message)
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (library("AuthenticationError"), Unauthorised),
        (library("InternalServerError", "The api_key client option must be set", 500), Unauthorised),
        (library("BadRequestError", "LLM Provider NOT provided. You passed model=x"), UnknownModel),
        (library("NotFoundError"), UnknownModel),
        (library("UnsupportedParamsError", "seed"), FatalFault),
        (library("BadRequestError", "odd"), BadRequest),
        (library("ContextWindowExceededError"), ContextOverflow),
        (library("ContentPolicyViolationError"), Filtered),
        (library("Timeout"), TooSlow),
        (library("RateLimitError"), RateLimited),
        (library("ServiceUnavailableError", "", 503), Unavailable),
        (ConnectionRefusedError("no"), Unavailable),
        (ModuleNotFoundError("boto"), FatalFault),
        (KeyError("choices"), FatalFault),
    ],
)
def test_where_nothing_was_seen_the_library_is_believed(error: Exception, kind: type[ModelFault]) -> None:
    assert type(diagnose(error, Exchange(1.0))) is kind


def test_advice_to_leave_parameters_out_is_left_out() -> None:
    error = library("UnsupportedParamsError", "m does not take ['seed']. To drop these, set `drop_params=True`")
    assert "drop" not in str(diagnose(error, Exchange(1.0)))


# ------------------------------------------------------------------ when to come back


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 02 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
    ],
)
def test_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


def test_faults_of_the_provider_say_when_to_come_back() -> None:
    for status in (429, 503):
        fault = diagnose(ANY, answered(status, "", retry_after="3"))
        assert isinstance(fault, RetryableFault)
        assert fault.retry_after_s == 3.0
    fault = diagnose(ANY, answered(429, GEMINI_MINUTE))
    assert isinstance(fault, RetryableFault)
    assert fault.retry_after_s == 34.5
