"""From what a provider answered, or what kept it from answering, to the fault that it is.

The status and the body of the answer decide where there are any, because the provider library renames faults (a
refused connection, a missing key and cut JSON all become an internal error of the server). Its exception decides
only where nothing was seen on the wire.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from domains.kit.json import JsonValue
from harness.models.faults import (
    BadRequest,
    ContextOverflow,
    FatalFault,
    Filtered,
    ModelFault,
    RateLimited,
    TooSlow,
    Unauthorised,
    Unavailable,
    UnknownModel,
    Unreadable,
)
from harness.models.wire import AnswerTooLong, Exchange, SentTwice

_MESSAGE_CHARS: Final = 600
"""As much of a provider's message is kept."""

_TEXT_CHARS: Final = 20_000
"""As much of an answer is searched for what it says."""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_OVERFLOW: Final = _any_of(
    r"context_length_exceeded",
    r"(maximum|available|model's) context (length|size|window|limit)",
    r"context (length|size|window|limit) (is |was |of \S+ )?(exceeded|too)",
    r"exceeds? (the |its |your )?(\w+ )?context",
    r"prompt is too long",
    r"input is too long",
    r"too many (input |prompt )?tokens in",
    r"input (token count|length).{0,40}exceeds",
    r"exceeds the maximum number of tokens",
    r"longer than the (model's context|maximum model length)",
    r"exceeds? (the )?context limit",
    r"reduce the length of (the |your )?(messages|prompt|input)",
)

_FILTER: Final = _any_of(
    r"content[_ -]?filter",
    r"content[_ -]?policy",
    r"content management policy",
    r"responsible ?ai ?policy",
    r"safety system",
    r"violat\w+ (our|the) usage polic",
    r"flagged (by|for|as) ",
    r"prohibited[_ ]content",
    r"data_inspection_failed",
    r"invalid_prompt",
    r"blocked by (the |a )?(\w+ )?(guardrail|safety|moderation)",
)

_USED_UP: Final = _any_of(
    r"insufficient_quota",
    r"billing_hard_limit",
    r"insufficient (credit|balance|funds)",
    r"credit balance is too low",
    r"out of credits",
    r"payment required",
)
_QUOTA: Final = _any_of(r"exceeded your (current|monthly) quota")
_COMES_BACK: Final = _any_of(r"retryDelay", r"RESOURCE_EXHAUSTED", r"per (minute|second|day)")
"""Some providers call a limit of the minute a quota as well; that one comes back."""

_KEY: Final = _any_of(
    r"(invalid|incorrect|wrong|missing|no)[_ ]?(valid )?api[_ ]?key", r"api[_ ]key not valid", r"api_key"
)

_NO_MODEL: Final = _any_of(
    r"model_not_found",
    r"model\b.{0,80}(does not exist|not found|is not (available|supported)|has been (deprecated|retired))",
    r"(unknown|invalid|no such|unsupported) model",
    r"provider not provided",
)

_RETRY_DELAY: Final = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')


def diagnose(error: Exception, exchange: Exchange) -> ModelFault:
    """Return the fault behind an exception of the provider library.

    Parameters
    ----------
    error
        What the library raised.
    exchange
        What the wire saw of the call.
    """
    if isinstance(exchange.error, ModelFault):
        return exchange.error
    if exchange.error is not None and not (isinstance(exchange.error, SentTwice) and exchange.status is not None):
        return _of_transport(exchange.error)
    if exchange.status is not None:
        return _of_answer(exchange, error)
    return _of_library(error)


def fault_inside(body: JsonValue, exchange: Exchange) -> ModelFault | None:
    """Return the fault that an answer of status 200 carries in its body, or None if it carries none."""
    found = body.get("error") if isinstance(body, dict) else None
    if not found or body.get("choices"):
        return None
    code = str(found.get("code")) if isinstance(found, dict) else ""
    status = int(code) if re.fullmatch(r"[45]\d\d", code) else 500
    return _of_status(status, json.dumps(found, ensure_ascii=False), exchange.headers)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a provider asks to wait, or None if it does not say.

    Parameters
    ----------
    headers
        Of its answer, names in lower case; the time may stand in milliseconds, seconds or as a date.
    now
        Against which a date is read; None for the clock.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text) else None


# ------------------------------------------------------------------ by what was seen


def _of_transport(error: Exception) -> ModelFault:
    said = f"{type(error).__name__}: {error}"[:_MESSAGE_CHARS]
    if isinstance(error, httpx.TimeoutException):
        return TooSlow(f"no whole answer before the deadline ({said})")
    if isinstance(error, AnswerTooLong | httpx.DecodingError):
        return Unreadable(str(error))
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError | httpx.InvalidURL):
        return BadRequest(f"the address or a header cannot be used ({said})")
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return FatalFault(f"the certificate of the provider is not trusted ({said})")
    return Unavailable(f"the provider cannot be reached, or broke off ({said})")


def _of_answer(exchange: Exchange, error: Exception) -> ModelFault:
    assert exchange.status is not None
    text = exchange.body[: 4 * _TEXT_CHARS].decode("utf-8", "replace")
    if exchange.status < 300:
        try:
            inside = fault_inside(json.loads(exchange.body), exchange)
        except (ValueError, RecursionError):
            inside = None
        return inside or Unreadable(f"the answer is no chat completion ({type(error).__name__}): {_start(text)}")
    return _of_status(exchange.status, text, exchange.headers)


def _of_status(status: int, text: str, headers: Mapping[str, str]) -> ModelFault:
    message = f"status {status}: {_message(text)}"
    searched = text[:_TEXT_CHARS]
    wait_s = retry_after_s(headers)
    if wait_s is None and (delay := _RETRY_DELAY.search(searched)):
        wait_s = float(delay[1])
    if 300 <= status < 400:
        return FatalFault(f"the address answers with a redirection ({message})")
    is_refusal = 400 <= status < 500
    if is_refusal:
        quota = _USED_UP.search(searched) or (_QUOTA.search(searched) and not _COMES_BACK.search(searched))
        if status == 402 or (quota and wait_s is None):
            return Unauthorised(message)
        if status == 413 or (status != 429 and _OVERFLOW.search(searched)):
            return ContextOverflow(message)
        if status not in (401, 429) and (status == 451 or _FILTER.search(searched)):
            return Filtered(message)
    elif _OVERFLOW.search(searched):
        return ContextOverflow(message)
    return _by_number(status, searched, message, wait_s)


def _by_number(status: int, text: str, message: str, wait_s: float | None) -> ModelFault:
    if status == 429:
        return RateLimited(message, wait_s)
    if status in (401, 403, 407):
        return Unauthorised(message)
    if status in (404, 405, 410):
        return UnknownModel(message)
    if status in (408, 409, 425, 499) or status >= 500:
        return Unavailable(message, wait_s)
    if _KEY.search(text):
        return Unauthorised(message)
    if _NO_MODEL.search(text):
        return UnknownModel(message)
    return BadRequest(message)


def _of_library(error: Exception) -> ModelFault:
    """Judge by the library's exception alone: it sent nothing, or by ways of its own."""
    # What follows is advice on how to have the library leave parameters out, or where in it the error came up.
    message = _start(re.split(r"\. To drop these|\nTraceback", f"{type(error).__name__}: {error}", maxsplit=1)[0])
    status = getattr(error, "status_code", None)
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"AuthenticationError", "PermissionDeniedError"} or _KEY.search(message):
        return Unauthorised(message)
    if names & {"ContextWindowExceededError"}:
        return ContextOverflow(message)
    if names & {"ContentPolicyViolationError"}:
        return Filtered(message)
    if names & {"Timeout", "APITimeoutError"}:
        return TooSlow(message)
    if names & {"RateLimitError"}:
        return RateLimited(message)
    if names & {"NotFoundError"} or _NO_MODEL.search(message):
        return UnknownModel(message)
    if names & {"BadRequestError", "UnprocessableEntityError"}:
        return BadRequest(message)
    if isinstance(error, OSError) or status in (502, 503, 504, 529):
        return Unavailable(message)
    return FatalFault(f"the provider library failed before it sent anything: {message}")


def _message(text: str) -> str:
    """Return the provider's own words out of the body of an error."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _start(text)
    for name in ("error", "message", "detail"):
        while isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return _start(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def _start(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MESSAGE_CHARS else f"{text[:_MESSAGE_CHARS]}..."
