"""What a call of a model costs in processor time, beside what the provider library itself takes for it."""

from __future__ import annotations

import gc
import json
import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import httpx
import openai
import pytest

from harness.episode.turn import ToolOffer
from harness.models.build import Models
from harness.models.chat_format import sent_message, sent_tools
from harness.models.config import ModelsConfig, RoleConfig
from harness.models.contract import ChatMessage, ModelRequest, Role, Speaker
from tests.benchmarks.conftest import Table
from tests.benchmarks.measure import cpu_ms
from tests.provider.behaviours import says
from tests.provider.server import serving

TURNS = 15
PARAMETERS: dict[str, Any] = {"temperature": 0, "seed": 1}
SCHEMA = {"type": "object", "properties": {f"field_{n}": {"type": "string", "description": "x" * 60} for n in range(4)}}
TOOLS = tuple(ToolOffer(f"tool_{number}", "Does a thing. " * 8, json.dumps(SCHEMA)) for number in range(20))
POLICY = ChatMessage(Speaker.SYSTEM, "Be careful with other people's money. " * 250)
QUESTION = ChatMessage(Speaker.USER, "Please look at my account and tell me what you see there. " * 4)


def _serve(connection: Connection) -> None:
    with serving({"m": says("I see nothing out of the ordinary.")}, keeps_bodies=False) as provider:
        connection.send(provider.url)
        connection.recv()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A provider in a process of its own, whose processor time is not ours."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    yield ours.recv()
    ours.send(None)
    process.join()


@pytest.fixture
def bare(url: str) -> Iterator[openai.OpenAI]:
    """A client of the library's own kind, on a wire of its own."""
    with httpx.Client(timeout=None) as client:
        yield openai.OpenAI(api_key="none", base_url=url, http_client=client, max_retries=0)


def test_a_conversation(table: Table, url: str, bare: openai.OpenAI) -> None:
    config = ModelsConfig(agent=RoleConfig(model="openai/m", base_url=url, parameters=PARAMETERS))
    models = Models(config)
    models.prepare()
    import litellm

    tools = sent_tools(TOOLS)
    # The address is named, for the library does more for one that is not its provider's own.
    settings = {"client": bare, "base_url": url, "api_key": "none", "timeout": 60.0, "max_retries": 0, **PARAMETERS}

    def ours() -> None:
        client = models.session("episode").client(Role.AGENT)
        messages: tuple[ChatMessage, ...] = (POLICY,)
        for turn in range(TURNS):
            messages = (*messages, QUESTION)
            messages = (*messages, client.complete(ModelRequest(Role.AGENT, f"agent/{turn}", messages, TOOLS)).message)

    def theirs() -> None:
        messages = [sent_message(POLICY)]
        for _ in range(TURNS):
            messages.append(sent_message(QUESTION))
            answer = litellm.completion("openai/m", messages, tools=tools, **settings)
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})

    # In turns, so that a machine that is busy for a while is busy for both. What other benchmarks have left behind is
    # kept from the collector, which would look through it in the middle of one or the other.
    gc.freeze()
    rounds = [(cpu_ms(ours, repeats=1, rounds=1), cpu_ms(theirs, repeats=1, rounds=1)) for _ in range(24)]
    gc.unfreeze()
    our_ms, their_ms = (min(side) / TURNS for side in zip(*rounds, strict=True))
    table.add("a model's call by LiteLLM alone", their_ms, "ms")
    table.add("what the harness adds to it", our_ms - their_ms, "ms", 0.4)
