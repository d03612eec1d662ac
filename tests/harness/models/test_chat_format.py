"""Reading answers of the protocol, whole or odd, and writing messages as providers take them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.chat_format import read_json, read_reply, sendable_arguments, sent_message
from harness.models.contract import ChatMessage, Finish, ModelReply, Speaker, ToolRequest, Usage
from harness.models.faults import Unreadable

USAGE = {"prompt_tokens": 7, "completion_tokens": 3}


def body(message: Any, finish: Any = "stop", **whole: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "x", "model": "m-1", "choices": [choice], "usage": USAGE, **whole}


def said(content: Any, **message: Any) -> ModelReply:
    return read_reply(body({"role": "assistant", "content": content, **message}))


def called(*calls: Any, content: Any = None, finish: str = "tool_calls") -> ModelReply:
    return read_reply(body({"role": "assistant", "content": content, "tool_calls": list(calls)}, finish))


def call(arguments: Any = "{}", name: Any = "freeze_card", **beside: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **beside}


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        "text",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": ["text"]},
        {"choices": [{"text": "old style"}]},
        {"choices": [{"message": "text"}]},
        body({"role": "assistant", "content": None, "tool_calls": ["freeze_card"]}),
        body({"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}),
    ],
)
def test_what_is_no_completion_is_unreadable(broken: Any) -> None:
    with pytest.raises(Unreadable):
        read_reply(broken)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
NAMES = st.sampled_from(["choices", "message", "content", "tool_calls", "function", "usage", "model", "text", "x"])
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=20
)


@given(ANYTHING, ANYTHING)
def test_nothing_that_comes_back_breaks_the_reader(message: Any, usage: Any) -> None:
    for found in (message, body(message, usage=usage), {"choices": message}):
        try:
            reply = read_reply(found)
        except Unreadable:
            continue
        assert isinstance(reply.message.text, str)
        assert all(isinstance(each.arguments, str) for each in reply.message.tool_requests)


# ------------------------------------------------------------------ text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ("Hello", "Hello"),
        ([{"type": "text", "text": "Hel"}, {"type": "thinking", "thinking": "hm"}, {"text": "lo"}], "Hello"),
        (["odd", {"type": "image"}], ""),
        ("<think>hm</think>Hello", "Hello"),
        ("<Thinking>\nhm\n</Thinking>\n\nHello", "Hello"),
        ("hm</think>Hello", "Hello"),
        ("hm</think>hm again</think> Hello", "Hello"),
        ("Hel<think>hm</think>lo", "Hello"),
        ("Hello<think>and then it was cut", "Hello"),
        ("I think <b>so</b>", "I think <b>so</b>"),
    ],
)
def test_the_words_for_the_other_side(content: Any, text: str) -> None:
    reply = said(content)
    assert reply.message.text == text
    assert ("reasoning" in " ".join(reply.notes)) == (isinstance(content, str) and text != content)


def test_parts_of_a_text_are_handed_back_as_they_came() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hello"}]
    assert sent_message(said(parts).message) == {"role": "assistant", "content": parts}


def test_a_refusal_is_told_as_text() -> None:
    reply = said(None, refusal="I cannot do that.")
    assert (reply.finish, reply.message.text) == (Finish.REFUSAL, "I cannot do that.")
    assert "refusal" not in sent_message(reply.message)


# ------------------------------------------------------------------ calls


def test_text_and_several_calls_are_all_there() -> None:
    reply = called(call('{"card": "1"}'), {**call('{"card": "2"}'), "id": "c2"}, content="Both at once.")
    assert reply.message.text == "Both at once."
    assert reply.message.tool_requests == (
        ToolRequest("c1", "freeze_card", '{"card": "1"}'),
        ToolRequest("c2", "freeze_card", '{"card": "2"}'),
    )
    assert reply.notes == ()


@pytest.mark.parametrize(
    ("ids", "unique"),
    [
        (["a", "a", "a"], ["a", "a-2", "a-3"]),
        (["a", "a-2", "a"], ["a", "a-2", "a-3"]),
        ([None, "", "b"], ["call-1", "call-2", "b"]),
        (["call-2", None], ["call-2", "call-2-2"]),
    ],
)
def test_every_call_has_an_id_of_its_own(ids: list[str | None], unique: list[str]) -> None:
    reply = called(*({**call(), "id": each} for each in ids))
    assert [each.id for each in reply.message.tool_requests] == unique
    assert len(reply.notes) == sum(before != after for before, after in zip(ids, unique, strict=True))


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [("{}", "{}"), ('{"card": "1', '{"card": "1'), ("", ""), (None, ""), ({"card": "1"}, '{"card": "1"}'), (5, "5")],
)
def test_arguments_are_kept_as_they_were_written(arguments: Any, kept: str) -> None:
    assert called(call(arguments)).message.tool_requests[0].arguments == kept


def test_what_stands_beside_a_call_is_handed_back_beside_it() -> None:
    signed = {"google": {"thought_signature": "xyz"}}
    message = called(call(), {**call(), "id": "c2", "extra_content": signed}).message
    assert sent_message(message)["tool_calls"] == [call(), {**call(), "id": "c2", "extra_content": signed}]


@given(st.text(max_size=60) | st.recursive(SCALARS, lambda inner: st.lists(inner), max_leaves=5).map(json.dumps))
def test_arguments_that_are_handed_back_are_always_an_object(arguments: str) -> None:
    assert isinstance(json.loads(sendable_arguments(arguments)), dict)


@given(st.dictionaries(st.text(max_size=5), SCALARS, max_size=4))
def test_good_arguments_are_handed_back_to_the_letter(arguments: dict[str, Any]) -> None:
    written = json.dumps(arguments, indent=1)
    assert sendable_arguments(written) == written


# ------------------------------------------------------------------ why it stopped


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.STOP),
        ("end_turn", Finish.STOP),
        ("length", Finish.LENGTH),
        ("max_tokens", Finish.LENGTH),
        ("MAX_TOKENS", Finish.LENGTH),
        ("content_filter", Finish.CONTENT_FILTER),
        ("SAFETY", Finish.CONTENT_FILTER),
        ("refusal", Finish.REFUSAL),
        ("paused", Finish.UNKNOWN),
        (None, Finish.STOP),
        (7, Finish.UNKNOWN),
    ],
)
def test_why_it_stopped_talking(reason: Any, finish: Finish) -> None:
    reply = read_reply(body({"role": "assistant", "content": "Hello"}, reason))
    assert reply.finish is finish
    assert reply.finish_said == str(reason or "")
    assert bool(reply.notes) == (finish is Finish.UNKNOWN or reason is None)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("tool_calls", Finish.TOOL_CALLS),
        ("stop", Finish.TOOL_CALLS),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.CONTENT_FILTER),
        ("paused", Finish.UNKNOWN),
    ],
)
def test_why_it_stopped_with_calls(reason: str, finish: Finish) -> None:
    assert called(call(), finish=reason).finish is finish


# ------------------------------------------------------------------ usage, names


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        (USAGE, Usage(7, 3)),
        (None, Usage()),
        ([], Usage()),
        ({}, Usage()),
        ({"prompt_tokens": 7}, Usage(7, None)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage()),
        ({"prompt_tokens": "7", "completion_tokens": 3.0}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": -3}, Usage()),
        ({"prompt_tokens": 10**12, "completion_tokens": 3}, Usage(None, 3)),
    ],
)
def test_only_usage_that_can_be_is_believed(usage: Any, known: Usage) -> None:
    reply = read_reply(body({"role": "assistant", "content": "Hello"}, usage=usage))
    assert reply.usage == known
    assert bool(reply.notes) == (known != Usage(7, 3))


def test_an_empty_answer_may_have_cost_no_output() -> None:
    reply = read_reply(body({"role": "assistant", "content": None}, usage={"prompt_tokens": 7, "completion_tokens": 0}))
    assert reply.usage == Usage(7, 0)


def test_of_several_choices_the_first_is_taken() -> None:
    whole = body({"role": "assistant", "content": "One"})
    whole["choices"].append({"message": {"role": "assistant", "content": "Two"}})
    reply = read_reply(whole)
    assert reply.message.text == "One"
    assert reply.notes == ("2 choices came back; the first was taken",)


def test_what_ran_is_what_the_provider_says() -> None:
    reply = read_reply(body({"content": "Hello"}, model="m-2026-01-02", system_fingerprint="fp"))
    assert (reply.model, reply.fingerprint) == ("m-2026-01-02", "fp")
    reply = read_reply(body({"content": "Hello"}, model=None))
    assert (reply.model, reply.fingerprint) == ("", None)


# ------------------------------------------------------------------ JSON


def test_halves_of_characters_and_numbers_that_are_none_can_be_kept() -> None:
    found = read_json(b'{"a": "x\\ud83d", "\\ud83d": NaN, "b": [Infinity, "\\u00fc"]}')
    assert found == {"a": "x?", "?": None, "b": [None, "\u00fc"]}
    json.dumps(found, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"<html>", b"[" * 100_000, b"[" * 90 + b"]" * 90])
def test_what_cannot_be_kept_is_none(raw: bytes) -> None:
    assert read_json(raw) is None


def test_a_tools_result_names_its_call() -> None:
    message = ChatMessage(Speaker.TOOL, '{"ok": true}', answers="c1")
    assert sent_message(message) == {"role": "tool", "content": '{"ok": true}', "tool_call_id": "c1"}
