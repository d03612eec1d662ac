"""The provider of the tests itself, spoken to without any client library."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.provider.behaviours import echo, in_order, judge, says
from tests.provider.faults import FAULTS, FaultPlan, Kind, Pace, of_kind
from tests.provider.protocol import Call, ChatRequest, Json, Reply
from tests.provider.server import Provider, serving


def chat(*words: str, **rest: Any) -> Json:
    """Return the body of a request in which a user says these words."""
    return {"model": "echo", "messages": [{"role": "user", "content": text} for text in words], **rest}


def open_chat(provider: Provider, body: Any, headers: dict[str, str] | None = None) -> http.client.HTTPConnection:
    """Send a request and do not wait for the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=5)
    sent = body if isinstance(body, str) else json.dumps(body)
    connection.request("POST", "/v1/chat/completions", sent, headers or {})
    return connection


def post(provider: Provider, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """Return the status and the JSON of the answer."""
    with closing(open_chat(provider, body, headers)) as connection:
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def words_of(answer: Json) -> str:
    """Return what the model says."""
    text: str = answer["choices"][0]["message"]["content"]
    return text


# ------------------------------------------------------------------ the protocol


def test_a_completion() -> None:
    with serving({"echo": echo}) as provider:
        status, answer = post(provider, chat("Good morning."))
    assert status == 200
    assert words_of(answer) == "Good morning."
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


def test_the_same_request_gets_the_same_bytes() -> None:
    with serving({"echo": echo}) as provider:
        assert post(provider, chat("Hi")) == post(provider, chat("Hi"))


def test_models_are_listed() -> None:
    with serving({"echo": echo, "other": says("No.")}) as provider:
        connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=5)
        connection.request("GET", "/v1/models")
        listed = json.loads(connection.getresponse().read())
        connection.close()
    assert [model["id"] for model in listed["data"]] == ["echo", "other"]


def test_a_connection_serves_several_requests() -> None:
    with serving({"echo": echo}) as provider:
        connection = open_chat(provider, chat("One"))
        assert words_of(json.loads(connection.getresponse().read())) == "One"
        connection.request("POST", "/v1/chat/completions", json.dumps(chat("Two")))
        assert words_of(json.loads(connection.getresponse().read())) == "Two"
        connection.close()


def test_a_stream_says_the_same_in_pieces() -> None:
    reply = Reply("A text that is longer than one piece.", (Call("look", {"name": "Ann"}), Call("wait")))
    body = chat("Hi", stream=True, stream_options={"include_usage": True})
    with serving({"echo": lambda request: reply}) as provider, closing(open_chat(provider, body)) as connection:
        lines = connection.getresponse().read().decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert "".join(delta.get("content", "") for delta in deltas) == reply.text
    assert [call["function"]["name"] for call in calls if "name" in call["function"]] == ["look", "wait"]
    first = "".join(call["function"]["arguments"] for call in calls if call["index"] == 0)
    assert json.loads(first) == {"name": "Ann"}
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-1]["usage"]["completion_tokens"] > 0


CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
}
ANSWERED = {"role": "tool", "tool_call_id": "a", "content": "7"}


@pytest.mark.parametrize(
    "messages", [[CALLING], [CALLING, {"role": "user", "content": "Hi"}], [ANSWERED], [CALLING, ANSWERED, ANSWERED]]
)
def test_a_chat_whose_calls_and_answers_do_not_match_is_turned_away(messages: list[Json]) -> None:
    with serving({"echo": echo}) as provider:
        status, answer = post(provider, {"model": "echo", "messages": messages})
    assert status == 400
    assert "call" in answer["error"]["message"]


@pytest.mark.parametrize("body", ["{", "[]", {"model": "echo"}, {"model": "echo", "messages": [{}]}])
def test_a_body_that_is_no_request_is_turned_away(body: Any) -> None:
    with serving({"echo": echo}) as provider:
        assert post(provider, body)[0] == 400


def test_an_unknown_model_is_not_found() -> None:
    with serving({"other": echo}) as provider:
        status, answer = post(provider, chat("Hi"))
    assert (status, answer["error"]["code"]) == (404, "model_not_found")


def test_a_wrong_key_is_turned_away_and_no_key_is_kept() -> None:
    with serving({"echo": echo}, key="sk-right") as provider:
        assert post(provider, chat("Hi"), {"Authorization": "Bearer sk-wrong"})[0] == 401
        assert post(provider, chat("Hi"), {"Authorization": "Bearer sk-right"})[0] == 200
    assert [exchange.headers["authorization"] for exchange in provider.chats] == ["***", "***"]
    assert "sk-right" not in str(provider.exchanges)


# ------------------------------------------------------------------ parts


def test_turns_in_order_go_by_the_conversation() -> None:
    said = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "One"},
        {"role": "user", "content": "?"},
    ]
    with serving({"echo": in_order(Reply("One"), Reply("Two"))}) as provider:
        bodies = [{"model": "echo", "messages": messages} for messages in (said[:1], said, said[:1], said * 2)]
        assert [words_of(post(provider, body)[1]) for body in bodies] == ["One", "Two", "One", "Two"]


def test_a_judge_answers_every_statement_in_the_schema_asked_for() -> None:
    prompt = "Statements:\n- told: The agent told it.\n- asked: The agent asked.\n\nBEGIN RECORD x\n- not: one\n"
    schema = {"type": "object", "required": ["verdicts"]}
    asked = {"type": "json_schema", "json_schema": {"name": "answers", "schema": schema}}
    with serving({"echo": judge(lambda name: "fail" if name == "told" else "pass")}) as provider:
        answer = post(provider, chat(prompt, response_format=asked))[1]
    given = {verdict["id"]: verdict["verdict"] for verdict in json.loads(words_of(answer))["verdicts"]}
    assert given == {"told": "fail", "asked": "pass"}


def test_a_part_that_fails_fails_the_test() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answers", "schema": {"type": "array"}}}
    with pytest.raises(AssertionError, match="part failed"), serving({"echo": judge()}) as provider:
        assert post(provider, chat("Hi", response_format=schema))[0] == 400


# ------------------------------------------------------------------ records


def test_what_is_recorded() -> None:
    with serving({"echo": echo}, faults=FaultPlan.listed(["500", "usage_missing"])) as provider:
        for _ in range(3):
            post(provider, chat("Hi"))
        post(provider, chat("Bye"))
    assert [exchange.fault for exchange in provider.chats] == ["500", "usage_missing", None, None]
    assert [exchange.status for exchange in provider.chats] == [500, 200, 200, 200]
    assert [exchange.delivered for exchange in provider.chats] == [True] * 4
    assert provider.chats[0].body == chat("Hi")
    assert sorted(provider.paid.values()) == [1, 2]


def test_bodies_need_not_be_kept() -> None:
    with serving({"echo": echo}, keeps_bodies=False) as provider:
        post(provider, chat("Hi"))
    assert provider.chats[0].raw == b""
    assert provider.paid.total() == 1


def test_many_requests_are_thought_about_at_once() -> None:
    with serving({"echo": echo}, think_s=0.3) as provider:
        connections = [open_chat(provider, chat(str(number))) for number in range(64)]
        said = [words_of(json.loads(connection.getresponse().read())) for connection in connections]
        for connection in connections:
            connection.close()
    assert said == [str(number) for number in range(64)]
    assert provider.most_in_flight == 64
    assert provider.in_flight == 0


def test_a_client_that_left_is_noticed() -> None:
    with serving({"echo": echo}, think_s=0.1) as provider:
        open_chat(provider, chat("Hi")).close()
        while not provider.chats or provider.chats[0].ended_s is None:
            time.sleep(0.01)
    assert (provider.chats[0].paid, provider.chats[0].delivered) == (True, False)


def test_the_end_does_not_wait_for_what_is_in_flight() -> None:
    began_s = time.monotonic()
    with serving({"echo": echo}, think_s=60.0) as provider:
        connection = open_chat(provider, chat("Hi"))
        while not provider.in_flight:
            time.sleep(0.01)
    connection.close()
    assert time.monotonic() - began_s < 30


# ------------------------------------------------------------------ faults


@pytest.mark.parametrize("fault", of_kind(Kind.RETRYABLE))
def test_another_try_gets_the_right_answer(fault: str) -> None:
    with serving({"echo": echo}, faults=FaultPlan.listed([fault], pace=Pace(first_byte_s=0.01))) as provider:
        with closing(open_chat(provider, chat("Hi"))) as connection:
            try:
                connection.getresponse().read()
            except (ConnectionError, http.client.HTTPException):
                assert fault.startswith("reset")
        assert words_of(post(provider, chat("Hi"))[1]) == "Hi"


@pytest.mark.parametrize("fault", [name for name, fault in FAULTS.items() if fault.instead])
def test_an_error_is_not_paid(fault: str) -> None:
    with (
        serving({"echo": echo}, faults=FaultPlan.always(fault)) as provider,
        closing(open_chat(provider, chat("Hi"))) as connection,
    ):
        connection.getresponse().read()
    assert not provider.paid


def test_a_reset_in_the_body_is_one() -> None:
    with (
        serving({"echo": echo}, faults=FaultPlan.always("reset_in_body")) as provider,
        closing(open_chat(provider, chat("Hi"))) as connection,
    ):
        response = connection.getresponse()
        assert response.status == 200
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            response.read()
    assert (provider.chats[0].paid, provider.chats[0].delivered) == (True, False)


def test_a_reset_at_once_sends_no_status() -> None:
    with (
        serving({"echo": echo}, faults=FaultPlan.always("reset_at_once")) as provider,
        closing(open_chat(provider, chat("Hi"))) as connection,
        pytest.raises(ConnectionError),
    ):
        connection.getresponse()


@pytest.mark.parametrize(("fault", "least_s"), [("slow_first_byte", 0.2), ("slow_drip", 0.1)])
def test_slowness_takes_its_time(fault: str, least_s: float) -> None:
    plan = FaultPlan.always(fault, Pace(first_byte_s=0.2, gap_s=0.0005))
    with serving({"echo": echo}, faults=plan) as provider:
        began_s = time.monotonic()
        assert words_of(post(provider, chat("Hi"))[1]) == "Hi"
        assert time.monotonic() - began_s >= least_s


@pytest.mark.parametrize(
    ("fault", "header", "value"),
    [
        ("429_seconds", "Retry-After", "2.5"),
        ("503_seconds", "Retry-After", "2.5"),
        ("429_milliseconds", "Retry-After-Ms", "2500"),
    ],
)
def test_how_long_to_stay_away(fault: str, header: str, value: str) -> None:
    with (
        serving({"echo": echo}, faults=FaultPlan.always(fault, Pace(retry_after_s=2.5))) as provider,
        closing(open_chat(provider, chat("Hi"))) as connection,
    ):
        assert connection.getresponse().headers[header] == value


def test_ten_megabytes_are_sent() -> None:
    with (
        serving({"echo": echo}, faults=FaultPlan.always("10_mb")) as provider,
        closing(open_chat(provider, chat("Hi"))) as connection,
    ):
        assert len(connection.getresponse().read()) > 10_000_000


# ------------------------------------------------------------------ plans

PLANNED = [ChatRequest(chat(str(number % 200))) for number in range(2000)]


def test_a_rate_is_kept() -> None:
    plan = FaultPlan.at_rate(0.2, ["429", "500"], seed=3, most_in_a_row=9)
    faults = [plan.choose(request, number) for number, request in enumerate(PLANNED)]
    assert 0.17 < sum(fault is not None for fault in faults) / len(faults) < 0.23
    assert 0.4 < faults.count("429") / (faults.count("429") + faults.count("500")) < 0.6


@settings(max_examples=20)
@given(st.permutations(PLANNED[:30] * 2))
def test_who_comes_first_changes_no_fault(order: list[ChatRequest]) -> None:
    def drawn(requests: list[ChatRequest]) -> dict[str, list[str | None]]:
        plan = FaultPlan.at_rate(0.5, ["429", "500"])
        faults: dict[str, list[str | None]] = {}
        for request in requests:
            faults.setdefault(request.digest, []).append(plan.choose(request, 0))
        return faults

    assert drawn(order) == drawn(PLANNED[:30] * 2)


def test_a_request_is_not_hit_for_ever() -> None:
    plan = FaultPlan.at_rate(1.0, ["500"], most_in_a_row=2)
    hits = [plan.choose(PLANNED[0], number) for number in range(6)]
    assert hits == ["500", "500", None, "500", "500", None]


@pytest.mark.parametrize("fault", [name for name, fault in FAULTS.items() if not fault.instead])
def test_a_stream_misbehaves_too(fault: str) -> None:
    plan = FaultPlan.always(fault, Pace(first_byte_s=0.01, gap_s=0.0001))
    with serving({"echo": echo}, faults=plan) as provider, closing(open_chat(provider, chat("Hi", stream=True))) as end:
        if fault.startswith("reset"):
            with pytest.raises((ConnectionError, http.client.IncompleteRead)):
                end.getresponse().read()
        else:
            end.getresponse().read()
    assert provider.chats[0].fault == fault


def test_a_misspelt_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="no such fault: 501"):
        FaultPlan.always("501")
