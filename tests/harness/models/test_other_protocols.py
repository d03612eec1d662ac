"""Providers with protocols of their own: what is asked reaches them, and what they say is read alike."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness.episode.turn import ToolOffer
from harness.models.config import RoleConfig
from harness.models.contract import ChatMessage, Finish, ModelRequest, Role, Speaker, Usage
from harness.models.faults import BadRequest, Filtered, TooSlow, Unauthorised, Unavailable
from harness.models.litellm_client import LiteLLMClient

# The library defines types when it first meets a protocol; what they are warned of is none of ours.
pytestmark = pytest.mark.filterwarnings("ignore:Items? .* on TypedDict:UserWarning")

FREEZE = ToolOffer("freeze_card", "Freezes a card.", '{"type": "object", "properties": {"card": {"type": "string"}}}')
MESSAGES = (ChatMessage(Speaker.SYSTEM, "Be kind."), ChatMessage(Speaker.USER, "Hello"))
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "signed"}

ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x-1",
    "content": [
        THOUGHT,
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "t1", "name": "freeze_card", "input": {"card": "1"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 10, "output_tokens": 5},
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "One moment."},
                    {"functionCall": {"name": "freeze_card", "args": {"card": "1"}}, "thoughtSignature": "c2lnbmVk"},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    "modelVersion": "gemini-x-001",
}


class Server(ThreadingHTTPServer):
    """Answers every request alike and keeps what was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.headers: dict[str, str] = {}
        self.answer: Any = {}
        self.waits_s = 0.0
        self.seen: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        raw = json.dumps(self.server.answer).encode()
        threading.Event().wait(self.server.waits_s)
        self.send_response(self.server.status)
        for name, value in {**self.server.headers, "content-type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def client(server: Server, model: str, monkeypatch: pytest.MonkeyPatch, **parameters: Any) -> LiteLLMClient:
    monkeypatch.setenv("BANK_LETTERS", "bank-key-0123456789")
    return LiteLLMClient(
        RoleConfig(model=model, base_url=server.url, api_key_env="BANK_LETTERS", parameters=parameters)
    )


def ask(asked: LiteLLMClient, *more: ChatMessage, timeout_s: float = 20.0) -> Any:
    return asked.complete(ModelRequest(Role.AGENT, "agent/1", (*MESSAGES, *more), (FREEZE,)), timeout_s)


def test_anthropic_is_asked_read_and_given_its_thoughts_back(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = ANTHROPIC
    asked = client(server, "anthropic/claude-sonnet-4-5", monkeypatch, temperature=0.5, max_tokens=50, stop=["END"])
    answer = ask(asked)
    reply = answer.reply
    assert {**answer.parameters, "model": ""} == {
        "model": "",
        "temperature": 0.5,
        "max_tokens": 50,
        "stop_sequences": ["END"],
    }
    assert (reply.message.text, reply.finish, reply.model) == ("One moment.", Finish.TOOL_CALLS, "claude-x-1")
    assert reply.usage == Usage(10, 5)
    (call,) = reply.message.tool_requests
    assert (call.id, call.name, json.loads(call.arguments)) == ("t1", "freeze_card", {"card": "1"})
    ask(asked, reply.message, ChatMessage(Speaker.TOOL, "frozen", answers="t1"))
    *_, said, result = server.seen[1]["messages"]
    assert said["content"] == ANTHROPIC["content"]
    assert result["content"][0]["tool_use_id"] == "t1"


def test_a_parameter_that_another_protocol_puts_otherwise_is_there(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = ANTHROPIC
    asked = {"parallel_tool_calls": False, "reasoning_effort": "low", "max_tokens": 5000}
    ask(client(server, "anthropic/claude-sonnet-4-5", monkeypatch, **asked))
    assert server.seen[0]["tool_choice"]["disable_parallel_tool_use"] is True
    assert server.seen[0]["thinking"]["type"] == "enabled"


def test_gemini_is_asked_read_and_given_its_signature_back(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = GEMINI
    asked = client(server, "gemini/gemini-2.5-flash", monkeypatch, temperature=0.5, max_tokens=50, seed=3)
    answer = ask(asked)
    assert answer.parameters == {"generationConfig": {"temperature": 0.5, "max_output_tokens": 50, "seed": 3}}
    message = answer.reply.message
    assert (message.text, answer.reply.finish, answer.reply.finish_said) == ("One moment.", Finish.TOOL_CALLS, "STOP")
    assert answer.reply.usage == Usage(10, 5)
    ask(asked, message, ChatMessage(Speaker.TOOL, "frozen", answers=message.tool_requests[0].id))
    assert "c2lnbmVk" in json.dumps(server.seen[1]["contents"])


def test_gemini_that_blocks_the_conversation(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": GEMINI["usageMetadata"]}
    assert ask(client(server, "gemini/gemini-2.5-flash", monkeypatch)).reply.finish is Finish.CONTENT_FILTER


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("anthropic/claude-sonnet-4-5", {"seed": 7}), ("gemini/gemini-2.5-flash", {"logit_bias": {"5": 1}})],
)
def test_a_parameter_that_a_provider_does_not_have_is_said_before_anything_is_sent(
    server: Server, monkeypatch: pytest.MonkeyPatch, model: str, parameters: dict[str, Any]
) -> None:
    with pytest.raises(BadRequest, match=next(iter(parameters))):
        ask(client(server, model, monkeypatch, **parameters))
    assert server.seen == []


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Unavailable),
        (400, {"type": "error", "error": {"message": "Your credit balance is too low."}}, Unauthorised),
        (400, {"type": "error", "error": {"message": "Output blocked by content filtering policy"}}, Filtered),
    ],
)
def test_faults_are_told_apart_by_what_was_answered(
    server: Server, monkeypatch: pytest.MonkeyPatch, status: int, answer: Any, kind: type[Exception]
) -> None:
    server.status, server.answer = status, answer
    with pytest.raises(kind):
        ask(client(server, "anthropic/claude-sonnet-4-5", monkeypatch))
    assert len(server.seen) == 1


def test_the_deadline_holds_for_every_protocol(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer, server.waits_s = ANTHROPIC, 2.0
    with pytest.raises(TooSlow):
        ask(client(server, "anthropic/claude-sonnet-4-5", monkeypatch), timeout_s=0.1)


def test_ollama_is_asked_and_read(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = {
        "model": "q",
        "message": {"role": "assistant", "content": "Hello"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 4,
    }
    answer = ask(client(server, "ollama_chat/q", monkeypatch, temperature=0.5, max_tokens=50, seed=3))
    assert answer.reply.message.text == "Hello"
    assert answer.reply.usage == Usage(3, 4)
    assert answer.parameters["options"] == {"temperature": 0.5, "num_predict": 50, "seed": 3}
