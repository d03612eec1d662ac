"""An episode that is played over the wire goes as it went in process."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from contextlib import closing

import pytest

from domains.kit.tools import Actor
from harness.agents.load import REFERENCE_AGENTS, AgentSpec, agent_responder
from harness.agents.model import ModelAgent
from harness.callers.model import END_CALL, ModelCaller, caller_prompt, steps_of
from harness.callers.scripted import ScriptedCaller
from harness.callers.view import Caller
from harness.checks.case import House
from harness.episode.environment import Environment
from harness.episode.events import Called, Event, Said
from harness.episode.limits import Limits
from harness.episode.turn import AgentBrief
from harness.models.contract import ChatMessage, Finish, ModelReply, ModelRequest, Speaker, ToolRequest, Usage
from harness.orchestrator import Responder, caller_responder, play
from harness.scenario.instance import Instance, instantiate
from tests.acceptance.playing import load_suite
from tests.provider.protocol import ChatRequest, Json, Reply
from tests.provider.recorded import Recorded, Step, steps
from tests.provider.server import Provider, serving

SCENARIOS = ("i2f9b", "i6a3d")
"""An attack and its twin, whose calls begin with the same words."""


class PlainClient:
    """A client without limits, retries and records."""

    def __init__(self, provider: Provider, model: str) -> None:
        self._provider, self._model = provider, model

    def complete(self, request: ModelRequest) -> ModelReply:
        tools = [{"type": "function", "function": {"name": tool.name}} for tool in request.tools]
        body = {"model": self._model, "messages": [_sent(message) for message in request.messages], "tools": tools}
        with closing(http.client.HTTPConnection("127.0.0.1", self._provider.port, timeout=10)) as connection:
            connection.request("POST", "/v1/chat/completions", json.dumps(body))
            message = json.loads(connection.getresponse().read())["choices"][0]["message"]
        calls = tuple(
            ToolRequest(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls", [])
        )
        return ModelReply(
            ChatMessage(Speaker.ASSISTANT, message["content"] or "", calls), Finish.STOP, "stop", Usage(), "m"
        )


def _sent(message: ChatMessage) -> Json:
    sent: Json = {"role": str(message.speaker), "content": message.text}
    if message.tool_requests:
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_requests
        ]
    if message.answers is not None:
        sent["tool_call_id"] = message.answers
    return sent


def house_and_instance(scenario_id: str) -> tuple[House, Instance]:
    scenario = load_suite().scenarios[scenario_id]
    house = load_suite().houses[scenario.domain]
    return house, instantiate(scenario, house.domain, 0)


def talk(scenario_id: str, agent: Callable[[AgentBrief], Responder], caller: Caller) -> tuple[Event, ...]:
    """Play an episode."""
    house, instance = house_and_instance(scenario_id)
    brief = AgentBrief(domain=house.domain, policy=house.domain.policy, knowledge="", now=instance.now, seed=0)
    with closing(Environment(instance, house.condition.knowledge(()), Limits())) as environment:
        return play(environment, agent(brief), caller_responder(caller)).events


def in_process(name: str) -> Callable[[AgentBrief], Responder]:
    spec = AgentSpec(name, structured=True, make=REFERENCE_AGENTS[name])
    return lambda brief: agent_responder(spec, brief)


def over_the_wire(provider: Provider) -> Callable[[AgentBrief], Responder]:
    def make(brief: AgentBrief) -> Responder:
        agent = ModelAgent(brief, PlainClient(provider, "agent"))
        return lambda environment: agent.respond(environment.view(Actor.AGENT))

    return make


@pytest.mark.parametrize("name", REFERENCE_AGENTS)
def test_an_agent_over_the_wire_does_what_it_does_in_process(name: str) -> None:
    part = Recorded()
    expected = {}
    for scenario_id in SCENARIOS:
        caller = ScriptedCaller(house_and_instance(scenario_id)[1])
        expected[scenario_id] = talk(scenario_id, in_process(name), caller)
        part.add(steps(expected[scenario_id]))
    with serving({"agent": part}) as provider:
        for scenario_id in SCENARIOS:
            caller = ScriptedCaller(house_and_instance(scenario_id)[1])
            assert talk(scenario_id, over_the_wire(provider), caller) == expected[scenario_id]


def said_and_done(events: tuple[Event, ...]) -> list[tuple[object, ...]]:
    """Return words and calls, without the meaning that a scripted caller's words carry."""
    return [
        (event.speaker, event.text) if isinstance(event, Said) else (event.actor, event.tool, event.arguments)
        for event in events
        if isinstance(event, Said | Called)
    ]


def test_with_both_sides_over_the_wire_the_same_is_said_and_done() -> None:
    agent_part = Recorded()
    caller_part = Recorded(is_added=lambda text: text.startswith("(The desk "))
    expected = {}
    for scenario_id in SCENARIOS:
        instance = house_and_instance(scenario_id)[1]
        names = [beat.name for beat in steps_of(instance)]

        def words(said: Said, names: list[str] = names) -> str:
            beat = said.note.beat if said.note else ""
            return f"[{names.index(beat) + 1}] {said.text}" if beat in names else said.text

        events = talk(scenario_id, in_process("oracle"), ScriptedCaller(instance))
        side = steps(events, Actor.CALLER, words=words, end_tool=END_CALL.name)
        caller_part.add(side, system=caller_prompt(instance))
        agent_part.add(steps(events))
        expected[scenario_id] = said_and_done(events)
    with serving({"agent": agent_part, "caller": caller_part}) as provider:
        for scenario_id in SCENARIOS:
            caller = ModelCaller(house_and_instance(scenario_id)[1], PlainClient(provider, "caller"))
            assert said_and_done(talk(scenario_id, over_the_wire(provider), caller)) == expected[scenario_id]


def test_one_conversation_cannot_go_on_in_two_ways() -> None:
    part = Recorded()
    part.add([Step(("Hi",), Reply("Hello")), Step(("Bye",), Reply("Goodbye"))])
    part.add([Step(("Hi",), Reply("Hello")), Step(("Help",), Reply("Yes?"))])
    with pytest.raises(ValueError, match="turn 1 has two replies"):
        part.add([Step(("Hi",), Reply("Hello")), Step(("Bye",), Reply("Wait"))])


def test_a_conversation_that_was_not_recorded_is_an_error() -> None:
    part = Recorded()
    part.add([Step(("Hi",), Reply("Hello"))])
    with pytest.raises(LookupError, match="not recorded: turn 0"):
        part(ChatRequest({"model": "m", "messages": [{"role": "user", "content": "Ho"}]}))
