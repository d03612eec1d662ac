"""How a provider misbehaves, and plans of when.

A fault takes the place of the answer (an error page), changes what the model says (arguments cut off), or changes how
the answer is delivered (a byte at a time). `FAULTS` names them all.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from tests.provider.protocol import ChatRequest, Json


@dataclass(frozen=True)
class Answer:
    """What is sent over the wire.

    Attributes
    ----------
    retry_at_s
        If given, a `Retry-After` header in the form of a date, this many seconds from now.
    first_byte_s, gap_s
        A pause before the first byte, and one after each byte of the body.
    cut_at
        How many bytes of the body are sent before the connection is reset, 0 for not even a status; None for all.
    """

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    retry_at_s: float | None = None
    first_byte_s: float = 0.0
    gap_s: float = 0.0
    cut_at: int | None = None


class Kind(Enum):
    """What a client is to make of a fault."""

    RETRYABLE = "another try gets the right answer"
    TERMINAL = "every further try ends the same way"
    OUTCOME = "it says something about the conversation"
    HARMLESS = "the answer is whole: take it"


@dataclass(frozen=True)
class Pace:
    """How long faults take, so that a test can match them to its deadlines.

    Attributes
    ----------
    retry_after_s
        What `Retry-After` says; a date is whole seconds.
    first_byte_s
        How long a slow first byte is.
    gap_s
        The pause after each byte of a drip.
    """

    retry_after_s: float = 1.0
    first_byte_s: float = 0.3
    gap_s: float = 0.001


@dataclass(frozen=True)
class Fault:
    """One way to misbehave.

    Attributes
    ----------
    instead
        The answer that takes the place of the model's; the call is not paid.
    change
        Changes the completion in place.
    deliver
        Changes how the model's answer is sent.
    """

    kind: Kind
    instead: Callable[[Pace], Answer] | None = None
    change: Callable[[Json], None] = lambda whole: None
    deliver: Callable[[Answer, Pace], Answer] = lambda answer, pace: answer


def _error(
    kind: Kind, status: int, body: Json | str, *, retry: Callable[[Answer, Pace], Answer] = lambda answer, pace: answer
) -> Fault:
    text = body if isinstance(body, str) else json.dumps(body)
    answer = Answer(status, text.encode(), "text/html" if isinstance(body, str) else "application/json")
    return Fault(kind, instead=lambda pace: retry(answer, pace))


def openai_error(message: str, type_: str, code: str | None = None, param: str | None = None) -> Json:
    """Return an error in OpenAI's shape."""
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}


def _later_by_seconds(answer: Answer, pace: Pace) -> Answer:
    return replace(answer, headers=(("Retry-After", format(pace.retry_after_s, "g")),))


def _later_by_milliseconds(answer: Answer, pace: Pace) -> Answer:
    return replace(answer, headers=(("Retry-After-Ms", format(1000 * pace.retry_after_s, "g")),))


def _later_by_date(answer: Answer, pace: Pace) -> Answer:
    return replace(answer, retry_at_s=pace.retry_after_s)


def _message(whole: Json) -> Json:
    message: Json = whole["choices"][0]["message"]
    return message


def _says(**values: object) -> Callable[[Json], None]:
    return lambda whole: _message(whole).update(values)


def _finishes(reason: str) -> Callable[[Json], None]:
    return lambda whole: whole["choices"][0].update(finish_reason=reason)


def _uses(tokens: int) -> Callable[[Json], None]:
    return lambda whole: whole.update(
        usage={"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": 2 * tokens}
    )


def _cut_arguments(whole: Json) -> None:
    for call in _message(whole).get("tool_calls", []):
        arguments = call["function"]["arguments"]
        call["function"]["arguments"] = arguments[: len(arguments) // 2]


def _cut_by_length(whole: Json) -> None:
    """Stop as a model does that has used up its tokens: in the middle of a word or of the last call's arguments."""
    message = _message(whole)
    if message.get("tool_calls"):
        function = message["tool_calls"][-1]["function"]
        function["arguments"] = function["arguments"][: len(function["arguments"]) // 2]
    elif message["content"]:
        message["content"] = message["content"][: len(message["content"]) // 2]
    _finishes("length")(whole)


def _filter(whole: Json) -> None:
    _says(content=None, tool_calls=None)(whole)
    _finishes("content_filter")(whole)


def _refuse(whole: Json) -> None:
    _says(content=None, tool_calls=None, refusal="I cannot help with that.")(whole)
    _finishes("stop")(whole)


def _say_nothing(whole: Json) -> None:
    _says(content=None, tool_calls=None)(whole)
    _finishes("stop")(whole)


def _repeat_ids(whole: Json) -> None:
    for call in _message(whole).get("tool_calls", []):
        call["id"] = "call_0"


def _leak_reasoning(whole: Json) -> None:
    message = _message(whole)
    message["content"] = f"{HIDDEN}</think>{message['content'] or ''}"


def _reason(whole: Json) -> None:
    _says(reasoning_content=HIDDEN)(whole)


def _reason_in_tags(whole: Json) -> None:
    message = _message(whole)
    message["content"] = f"<think>{HIDDEN}</think>{message['content'] or ''}"


HIDDEN = "The caller must not hear this thought."
"""What the model thinks wherever a fault lets it think."""

_BUSY = openai_error("Rate limit reached: 60 requests per minute.", "requests", "rate_limit_exceeded")
_DOWN = openai_error("The server had an error.", "server_error")
_OVERLOADED: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_PAGE = "<html><head><title>Gateway</title></head><body><h1>Please come back later</h1></body></html>"

FAULTS: dict[str, Fault] = {
    # The provider is busy or broken.
    "429": _error(Kind.RETRYABLE, 429, _BUSY),
    "429_seconds": _error(Kind.RETRYABLE, 429, _BUSY, retry=_later_by_seconds),
    "429_milliseconds": _error(Kind.RETRYABLE, 429, _BUSY, retry=_later_by_milliseconds),
    "429_date": _error(Kind.RETRYABLE, 429, _BUSY, retry=_later_by_date),
    "408": _error(Kind.RETRYABLE, 408, openai_error("The request took too long.", "timeout")),
    "409": _error(Kind.RETRYABLE, 409, openai_error("The model is being loaded.", "conflict")),
    "500": _error(Kind.RETRYABLE, 500, _DOWN),
    "500_page": _error(Kind.RETRYABLE, 500, _PAGE),
    "502": _error(Kind.RETRYABLE, 502, _PAGE),
    "503": _error(Kind.RETRYABLE, 503, _DOWN),
    "503_seconds": _error(Kind.RETRYABLE, 503, _DOWN, retry=_later_by_seconds),
    "504": _error(Kind.RETRYABLE, 504, _PAGE),
    "529": _error(Kind.RETRYABLE, 529, _OVERLOADED),
    # The answer does not arrive whole, or is none.
    "slow_first_byte": Fault(
        Kind.RETRYABLE, deliver=lambda answer, pace: replace(answer, first_byte_s=pace.first_byte_s)
    ),
    "slow_drip": Fault(Kind.RETRYABLE, deliver=lambda answer, pace: replace(answer, gap_s=pace.gap_s)),
    "reset_at_once": Fault(Kind.RETRYABLE, deliver=lambda answer, pace: replace(answer, cut_at=0)),
    "reset_in_body": Fault(Kind.RETRYABLE, deliver=lambda answer, pace: replace(answer, cut_at=len(answer.body) // 2)),
    "cut_json": Fault(
        Kind.RETRYABLE, deliver=lambda answer, pace: replace(answer, body=answer.body[: len(answer.body) // 2])
    ),
    "empty_body": Fault(Kind.RETRYABLE, deliver=lambda answer, pace: replace(answer, body=b"")),
    "page": _error(Kind.RETRYABLE, 200, _PAGE),
    "error_with_200": _error(Kind.RETRYABLE, 200, openai_error("The provider behind failed.", "server_error")),
    "no_choices": Fault(Kind.RETRYABLE, change=lambda whole: whole.update(choices=[])),
    "choices_missing": Fault(Kind.RETRYABLE, change=lambda whole: whole.pop("choices")),
    "10_mb": Fault(Kind.RETRYABLE, change=_says(content="word " * 2_000_000)),
    # Every further call ends the same way.
    "401": _error(
        Kind.TERMINAL, 401, openai_error("Incorrect API key provided.", "invalid_request_error", "invalid_api_key")
    ),
    "402": _error(Kind.TERMINAL, 402, openai_error("Insufficient balance.", "unknown_error", "invalid_request_error")),
    "403": _error(
        Kind.TERMINAL, 403, openai_error("Your project has no access.", "invalid_request_error", "model_not_allowed")
    ),
    "404_model": _error(
        Kind.TERMINAL, 404, openai_error("The model `x` does not exist.", "invalid_request_error", "model_not_found")
    ),
    "404_page": _error(Kind.TERMINAL, 404, _PAGE),
    "400_parameter": _error(
        Kind.TERMINAL,
        400,
        openai_error(
            "Unsupported parameter: 'seed' is not supported with this model.",
            "invalid_request_error",
            "unsupported_parameter",
            "seed",
        ),
    ),
    "422": _error(Kind.TERMINAL, 422, {"detail": [{"loc": ["body", "tools"], "msg": "Input should be a list"}]}),
    "quota": _error(
        Kind.TERMINAL,
        429,
        openai_error("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
    ),
    # The conversation itself is the reason.
    "context_openai": _error(
        Kind.OUTCOME,
        400,
        openai_error(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "invalid_request_error",
            "context_length_exceeded",
            "messages",
        ),
    ),
    "context_openai_new": _error(
        Kind.OUTCOME,
        400,
        openai_error(
            "Your input exceeds the context window of this model.",
            "invalid_request_error",
            "context_length_exceeded",
            "input",
        ),
    ),
    "context_anthropic": _error(
        Kind.OUTCOME,
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 9000 tokens > 8192 maximum"},
        },
    ),
    "context_anthropic_sum": _error(
        Kind.OUTCOME,
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192",
            },
        },
    ),
    "context_vllm": _error(
        Kind.OUTCOME,
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens "
            "(8000 in the messages, 1000 in the completion).",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "context_vllm_new": _error(
        Kind.OUTCOME,
        400,
        {
            "error": {
                "message": "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            }
        },
    ),
    "context_llama_cpp": _error(
        Kind.OUTCOME,
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 9000,
                "n_ctx": 8192,
            }
        },
    ),
    "context_gemini": _error(
        Kind.OUTCOME,
        400,
        {
            "error": {
                "code": 400,
                "message": "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
                "status": "INVALID_ARGUMENT",
            }
        },
    ),
    "413": _error(Kind.OUTCOME, 413, openai_error("Request too large for model.", "tokens", "rate_limit_exceeded")),
    "filtered_azure": _error(
        Kind.OUTCOME,
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering the content management policy.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            }
        },
    ),
    "filtered_openai": _error(
        Kind.OUTCOME,
        400,
        openai_error(
            "Your request was rejected by the safety system.", "invalid_request_error", "content_policy_violation"
        ),
    ),
    "filtered_usage_policy": _error(
        Kind.OUTCOME,
        400,
        openai_error(
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            "invalid_request_error",
            "invalid_prompt",
        ),
    ),
    "content_filter": Fault(Kind.OUTCOME, change=_filter),
    "refusal": Fault(Kind.OUTCOME, change=_refuse),
    "length": Fault(Kind.OUTCOME, change=_cut_by_length),
    "arguments_cut": Fault(Kind.OUTCOME, change=_cut_arguments),
    "empty_reply": Fault(Kind.OUTCOME, change=_say_nothing),
    "unknown_finish": Fault(Kind.OUTCOME, change=_finishes("paused")),
    # The answer is whole, with something odd about it.
    "repeated_ids": Fault(Kind.HARMLESS, change=_repeat_ids),
    "finish_missing": Fault(Kind.HARMLESS, change=lambda whole: whole["choices"][0].pop("finish_reason")),
    "usage_missing": Fault(Kind.HARMLESS, change=lambda whole: whole.pop("usage")),
    "usage_null": Fault(Kind.HARMLESS, change=lambda whole: whole.update(usage=None)),
    "usage_huge": Fault(Kind.HARMLESS, change=_uses(10**12)),
    "usage_negative": Fault(Kind.HARMLESS, change=_uses(-5)),
    "reasoning_content": Fault(Kind.HARMLESS, change=_reason),
    "reasoning_in_tags": Fault(Kind.HARMLESS, change=_reason_in_tags),
    "reasoning_leak": Fault(Kind.HARMLESS, change=_leak_reasoning),
}


def of_kind(kind: Kind) -> list[str]:
    """List the faults of a kind."""
    return [name for name, fault in FAULTS.items() if fault.kind is kind]


def changed(fault: Fault | None, whole: Json) -> Json:
    """Return the completion as the fault makes it."""
    if fault is None:
        return whole
    whole = copy.deepcopy(whole)
    fault.change(whole)
    return whole


Choice = Callable[[ChatRequest, int], str | None]
"""Names the fault of a request, or None; the number counts the server's requests from 0."""


@dataclass
class FaultPlan:
    """When to misbehave, and how.

    Attributes
    ----------
    choose
        Names the fault of a request.
    pace
        How long faults take.
    """

    choose: Choice = lambda request, number: None
    pace: Pace = field(default_factory=Pace)

    @staticmethod
    def listed(names: Iterable[str | None], then: str | None = None, pace: Pace | None = None) -> FaultPlan:
        """Plan the faults of the first requests one by one, and what comes after."""
        listed = list(names)
        _check([*listed, then])
        return FaultPlan(lambda request, number: listed[number] if number < len(listed) else then, pace or Pace())

    @staticmethod
    def always(name: str, pace: Pace | None = None) -> FaultPlan:
        """Plan one fault for every request."""
        return FaultPlan.listed([], name, pace)

    @staticmethod
    def at_rate(
        rate: float, names: Sequence[str], seed: int = 0, most_in_a_row: int = 2, pace: Pace | None = None
    ) -> FaultPlan:
        """Plan faults for a share of the requests.

        The draw is by seed, body and how often that body was seen, so that it does not depend on which of many
        workers comes first. A body is not hit more than `most_in_a_row` times before it is answered.
        """
        _check(names)
        seen: Counter[str] = Counter()
        in_a_row: Counter[str] = Counter()

        def choose(request: ChatRequest, number: int) -> str | None:
            draw = hashlib.sha256(f"{seed}/{request.digest}/{seen[request.digest]}".encode()).digest()
            seen[request.digest] += 1
            hit = int.from_bytes(draw[:8]) < rate * 2**64 and in_a_row[request.digest] < most_in_a_row
            in_a_row[request.digest] = in_a_row[request.digest] + 1 if hit else 0
            return names[int.from_bytes(draw[8:16]) % len(names)] if hit else None

        return FaultPlan(choose, pace or Pace())


def _check(names: Iterable[str | None]) -> None:
    unknown = sorted({name for name in names if name is not None} - FAULTS.keys())
    if unknown:
        raise ValueError(f"no such fault: {', '.join(unknown)}; there are {', '.join(FAULTS)}")
