"""An agent that runs its own loop behind an address: its calls are turns, and each way to misbehave has an outcome."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from domains.kit.tools import Actor
from harness.agents import exchange
from harness.agents.exchange import KEY_VARIABLE, MAX_ANSWER_BYTES, Address
from harness.agents.load import agent_responder, load_agent, loop_spec
from harness.agents.remote import TURN_TIMEOUT_S, RemoteAgent
from harness.agents.tool_endpoint import MAX_BODY_BYTES, MAX_WAITING, ToolEndpoint
from harness.callers.view import Caller
from harness.episode.events import Called, Event, Returned, Said, StopReason
from harness.episode.limits import Limits
from harness.episode.turn import Turn
from harness.errors import ParticipantError, RunError
from harness.models.faults import BadRequest, FatalFault, ModelFault, RateLimited, TooSlow, Unauthorised, Unavailable
from harness.orchestrator import Trajectory, caller_responder, play
from tests.harness.agents.loops import REFUSAL, Act, Json, Loop, Raw, Tools, looping
from tests.harness.episode.stage import Speaker, brief, called, opened, returned, said, stop
from tests.harness.scenario.drafts import published

NOTHING_OPEN = (409, {"error": "it is not your turn: tools can be called from a message until you answer it"})


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "pause_s", lambda seed, purpose, number: 0.01)


@contextmanager
def agent_at(url: str, turn_timeout_s: float = 20.0, endpoint: ToolEndpoint | None = None) -> Iterator[RemoteAgent]:
    agent = RemoteAgent(brief(published("p2a7c")), Address(url), endpoint or ToolEndpoint(), turn_timeout_s)
    with closing(agent):
        yield agent


def converse(
    url: str, caller: Caller | None = None, limits: Limits | None = None, turn_timeout_s: float = 20.0
) -> Trajectory:
    """Play a conversation; without another one, the caller speaks twice and hangs up."""
    made = published("p2a7c")
    with opened(made, limits) as environment, agent_at(url, turn_timeout_s) as agent:
        speaker = caller or Speaker([Turn("Hello?"), Turn("Are you there?")])
        return play(environment, lambda at: agent.respond(at.view(Actor.AGENT)), caller_responder(speaker))


def first_turn(url: str, turn_timeout_s: float = 20.0) -> Turn:
    """Ask for one turn."""
    with opened() as environment, agent_at(url, turn_timeout_s) as agent:
        environment.deliver(Actor.CALLER, Turn("Hello?"))
        return agent.respond(environment.view(Actor.AGENT))


def kinds(events: tuple[Event, ...]) -> list[str]:
    return [
        event.text if isinstance(event, Said) else event.tool
        for event in events
        if isinstance(event, Said | Called | Returned)
    ]


# ------------------------------------------------------------------ the contract


def test_a_message_tells_what_the_agent_must_know() -> None:
    told = brief(published("p2a7c"))
    with looping(lambda message, tools: REFUSAL) as loop:
        converse(loop.url)
    first, second = loop.messages
    assert first.pop("tools").keys() == second.pop("tools").keys() == {"url", "token"}
    assert first == {
        "session": second["session"],
        "message": "Hello?",
        "policy": told.policy,
        "knowledge": "",
        "now": told.now.isoformat(),
        "seed": 0,
    }
    assert second["message"] == "Are you there?"
    assert {"Authorization"}.isdisjoint(loop.headers[0])


def test_its_calls_are_turns_in_the_record() -> None:
    results: list[Any] = []

    def act(message: Json, tools: Tools) -> Json:
        results.append(tools.call("get_current_time"))
        results.append(tools.call("find_parcel", {"parcel_id": "PC-NONE"}))
        results.append(tools.call("no%20such%2Ftool"))
        return {"text": f"Done: {message['message']}"}

    with looping(act) as loop:
        events = converse(loop.url, Speaker([Turn("Hello?")])).events
    assert kinds(events) == [
        "Hello?",
        *("get_current_time", "get_current_time", "find_parcel", "find_parcel", "no such/tool", "no such/tool"),
        "Done: Hello?",
        "Bye.",
    ]
    assert {event.actor for event in called(events)} == {Actor.AGENT}
    assert len({event.turn for event in called(events)}) == 3
    assert results == [(200, {"ok": use.ok, "result": use.result}) for use in returned(events)]
    assert [use.ok for use in returned(events)] == [True, False, False]


def test_it_hears_all_that_was_said_since_its_answer() -> None:
    turns = [Turn("One.", yields=False), Turn("Two."), Turn("", yields=True), Turn("Three.")]
    with looping(lambda message, tools: REFUSAL) as loop:
        converse(loop.url, Speaker(turns))
    assert [message["message"] for message in loop.messages] == ["One.\nTwo.", "", "Three."]


def test_the_tools_are_those_of_the_moment() -> None:
    seen: list[set[str]] = []

    def act(message: Json, tools: Tools) -> Json:
        status, listed = tools.ask("GET")
        assert status == 200
        seen.append({tool["name"] for tool in listed["tools"]})
        assert all(tool.keys() == {"name", "description", "parameters"} for tool in listed["tools"])
        assert all(tool["parameters"]["type"] == "object" for tool in listed["tools"])
        return REFUSAL

    with opened() as environment, looping(act) as loop, agent_at(loop.url) as agent:
        view = environment.view(Actor.AGENT)
        agent.respond(view)
    assert seen == [{tool.name for tool in view.tools}]


def test_it_may_hang_up() -> None:
    with looping(lambda message, tools: {"text": "Goodbye.", "end": "done"}) as loop:
        trajectory = converse(loop.url)
    assert stop(trajectory).reason is StopReason.AGENT_ENDED
    assert said(trajectory.events, Actor.AGENT) == ["Goodbye."]


def test_it_is_shown_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with looping(lambda message, tools: REFUSAL) as loop:
        monkeypatch.setenv("FRAUDBENCH_AGENT_KEY", "between us")
        first_turn(loop.url)
        monkeypatch.setenv("FRAUDBENCH_AGENT_KEY", "between\nus")
        with pytest.raises(Unauthorised) as caught:
            first_turn(loop.url)
    assert [headers["Authorization"] for headers in loop.headers] == ["Bearer between us"]
    assert "us" not in str(caught.value).split()


def test_a_key_that_is_echoed_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAUDBENCH_AGENT_KEY", "between us only")
    with looping(always(Raw(b"unknown key: between us only", 401))) as loop, pytest.raises(Unauthorised) as caught:
        first_turn(loop.url)
    assert "unknown key: [redacted]" in str(caught.value)


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with looping(lambda message, tools: REFUSAL) as loop:
        assert first_turn(loop.url) == Turn(REFUSAL["text"] or "")


# ------------------------------------------------------------------ limits and the end


def test_the_limits_of_an_episode_hold_for_its_calls() -> None:
    outcomes: list[int] = []

    def act(message: Json, tools: Tools) -> Any:
        while outcomes[-1:] != [410]:
            outcomes.append(tools.call("get_current_time")[0])
        return REFUSAL

    with looping(act) as loop:
        trajectory = converse(loop.url, limits=Limits(calls=3))
        _eventually(lambda: outcomes[-1:] == [410])
    assert stop(trajectory).reason is StopReason.TOOL_LIMIT
    assert (outcomes, len(returned(trajectory.events))) == ([200, 200, 410], 3)


def test_its_tools_die_with_the_episode() -> None:
    kept: list[Tools] = []

    def act(message: Json, tools: Tools) -> Json:
        kept.append(tools)
        return REFUSAL

    with looping(act) as loop, agent_at(loop.url), opened() as environment:
        endpoint = ToolEndpoint()
        with agent_at(loop.url, endpoint=endpoint) as other:
            with agent_at(loop.url, endpoint=endpoint) as agent:
                for each in (agent, other):
                    each.respond(environment.view(Actor.AGENT))
                assert [tools.call("get_current_time") for tools in kept] == [NOTHING_OPEN] * 2
            assert kept[0].call("get_current_time")[0] == 401
            assert kept[1].call("get_current_time") == NOTHING_OPEN
        for tools in kept:
            with pytest.raises(ConnectionRefusedError):
                tools.call("get_current_time")


def test_a_call_after_the_answer_is_turned_away() -> None:
    late: list[tuple[int, Json]] = []
    answered = threading.Event()

    def act(message: Json, tools: Tools) -> Json:
        def call_late() -> None:
            answered.wait(10)
            late.append(tools.call("get_current_time"))

        threading.Thread(target=call_late, daemon=True).start()
        return REFUSAL

    with looping(act) as loop, opened() as environment, agent_at(loop.url) as agent:
        environment.deliver(Actor.CALLER, Turn("Hello?"))
        environment.deliver(Actor.AGENT, agent.respond(environment.view(Actor.AGENT)))
        answered.set()
        _eventually(lambda: bool(late))
        assert returned(tuple(environment.events)) == []
    assert late == [NOTHING_OPEN]


# ------------------------------------------------------------------ two at once


def test_two_conversations_do_not_mix() -> None:
    """Both agents are in the middle of a turn; each may reach its own world with its own token only."""
    tools_of: dict[str, Tools] = {}
    both = threading.Barrier(2)
    crossed: list[int] = []

    def act(message: Json, tools: Tools) -> Json:
        tools_of[message["session"]] = tools
        both.wait(10)
        (other,) = [found for session, found in tools_of.items() if session != message["session"]]
        crossed.append(Tools(other.url, tools.token).call("get_current_time")[0])
        crossed.append(Tools(tools.url, other.token).call("get_current_time")[0])
        tools.call("find_parcel", {"parcel_id": message["message"]})
        both.wait(10)
        return {"text": message["message"]}

    trajectories: dict[str, Trajectory] = {}
    endpoint = ToolEndpoint()

    def talk(words: str, url: str) -> None:
        with opened() as environment, agent_at(url, endpoint=endpoint) as agent:
            caller = caller_responder(Speaker([Turn(words)]))
            trajectories[words] = play(environment, lambda at: agent.respond(at.view(Actor.AGENT)), caller)

    with looping(act) as loop:
        threads = [threading.Thread(target=talk, args=(words, loop.url)) for words in ("PC-1", "PC-2")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert crossed == [401] * 4
    for words, trajectory in trajectories.items():
        assert kinds(trajectory.events) == [words, "find_parcel", "find_parcel", words, "Bye."]
        assert called(trajectory.events)[0].arguments == {"parcel_id": words}


# ------------------------------------------------------------------ what goes wrong


def always(raw: Raw) -> Act:
    return lambda message, tools: raw


OUTCOMES: dict[str, tuple[Raw, type[Exception], str]] = {
    "500": (Raw(b"oops", 500), Unavailable, "status 500: 'oops'"),
    "502": (Raw(b"<html>", 502), Unavailable, "status 502"),
    "503": (Raw(b"", 503), Unavailable, "status 503"),
    "429": (Raw(b"", 429), RateLimited, "status 429"),
    "401": (Raw(b"", 401), Unauthorised, "FRAUDBENCH_AGENT_KEY"),
    "404": (Raw(b"", 404), BadRequest, "Name the address that takes the messages itself"),
    "501": (Raw(b"", 501), BadRequest, "Name the address that takes the messages itself"),
    "302": (Raw(b"", 302, {"Location": "/elsewhere"}), BadRequest, "redirections are not followed"),
    "422": (
        Raw(b"no", 422),
        ParticipantError,
        "expected status 200 from the agent; the agent answered with status 422",
    ),
    "204": (Raw(b"", 204), ParticipantError, "status 204"),
    "a reset": (Raw(resets=True), Unavailable, "the agent broke off"),
    "half an answer": (Raw(b'{"text": "No', length=100), Unavailable, "the agent broke off: IncompleteRead"),
    "no answer": (Raw(b""), ParticipantError, 'expected {"text": words'),
    "no JSON": (Raw(b"<html>Hello</html>"), ParticipantError, "found '<html>Hello</html>'"),
    "no text": (Raw(b'{"end": "done"}'), ParticipantError, "text: Field required"),
    "no words": (Raw(b'{"text": 7}'), ParticipantError, "text: Input should be a valid string"),
    "another field": (Raw(b'{"text": "", "calls": []}'), ParticipantError, "calls: Extra inputs"),
    "an empty reason": (Raw(b'{"text": "", "end": ""}'), ParticipantError, "end: "),
    "a list": (Raw(b"[]"), ParticipantError, "Input should be an object"),
    "half a character": (Raw(b'{"text": "\\ud83d"}'), ParticipantError, "found"),
    "bytes": (Raw(b'{"text": "\xff"}'), ParticipantError, "found"),
    "nesting": (Raw(b"[" * 100_000), ParticipantError, "found"),
    "too much": (Raw(b" " * (MAX_ANSWER_BYTES + 1)), ParticipantError, "at most 4194304 bytes"),
    "a drip": (Raw(b" " * 100, gap_s=0.05), TooSlow, "within 0.4 s"),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_each_way_to_misbehave_has_an_outcome(name: str) -> None:
    raw, kind, words = OUTCOMES[name]
    with looping(always(raw)) as loop, pytest.raises(kind) as caught:
        first_turn(loop.url, turn_timeout_s=0.4 if kind is TooSlow else 20.0)
    assert words in str(caught.value)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (Raw(b"", 500), StopReason.PROVIDER_FAULT),
        (Raw(resets=True), StopReason.PROVIDER_FAULT),
        (Raw(b"{}"), StopReason.AGENT_FAULT),
    ],
)
def test_an_episode_ends_by_the_fault_of_whom_it_is(raw: Raw, reason: StopReason) -> None:
    with looping(always(raw)) as loop:
        trajectory = converse(loop.url)
    assert stop(trajectory).reason is reason
    assert stop(trajectory).detail


def test_an_agent_that_never_answers_costs_one_turn() -> None:
    loops: list[Loop] = []

    def act(message: Json, tools: Tools) -> Json:
        loops[0].released.wait(20)
        return REFUSAL

    with looping(act) as loop:
        loops.append(loop)
        with pytest.raises(TooSlow, match=r"no whole answer within 0\.3 s"):
            first_turn(loop.url, turn_timeout_s=0.3)


def test_the_deadline_counts_the_calls() -> None:
    def act(message: Json, tools: Tools) -> Any:
        with suppress(OSError):  # once the episode is over, nobody may be listening any more
            while tools.call("get_current_time")[0] == 200:
                time.sleep(0.02)
        return REFUSAL

    with looping(act) as loop:
        trajectory = converse(loop.url, limits=Limits(turns=10**6, calls=10**6), turn_timeout_s=0.3)
    assert stop(trajectory).reason is StopReason.PROVIDER_FAULT
    assert "TooSlow" in stop(trajectory).detail


def test_an_agent_that_is_not_there() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unavailable, match="cannot be reached"):
        first_turn(f"http://127.0.0.1:{port}/talk")


def test_an_agent_whose_certificate_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Distrusted(http.client.HTTPConnection):
        def connect(self) -> None:
            raise ssl.SSLCertVerificationError("self-signed certificate")

    monkeypatch.setattr(Address, "connection", lambda self, timeout_s: Distrusted("127.0.0.1"))
    with pytest.raises(FatalFault, match="is not trusted"):
        first_turn("https://127.0.0.1/talk")


@pytest.mark.parametrize("status", [429, 503])
def test_a_message_that_was_not_taken_is_sent_again(status: int) -> None:
    answers: list[Any] = [Raw(b"", status, {"Retry-After": "0"}), Raw(b"", status), REFUSAL]
    with looping(lambda message, tools: answers.pop(0)) as loop:
        assert first_turn(loop.url).text == REFUSAL["text"]
    assert len({json.dumps(message) for message in loop.messages}) == 1
    assert len(loop.messages) == 3


@pytest.mark.parametrize("raw", [Raw(b"", 500), Raw(b"", 504), Raw(resets=True), Raw(b"{", length=9)])
def test_a_message_that_may_have_been_taken_is_not_sent_again(raw: Raw) -> None:
    with looping(always(raw)) as loop, pytest.raises(Unavailable):
        first_turn(loop.url)
    assert len(loop.messages) == 1


def test_after_a_call_a_message_counts_as_taken() -> None:
    def act(message: Json, tools: Tools) -> Raw:
        tools.call("get_current_time")
        return Raw(b"", 503)

    with looping(act) as loop:
        trajectory = converse(loop.url)
    assert len(loop.messages) == 1
    assert stop(trajectory).reason is StopReason.PROVIDER_FAULT


def test_a_pause_ends_with_the_turn() -> None:
    with looping(always(Raw(b"", 503, {"Retry-After": "60"}))) as loop, pytest.raises(ModelFault):
        first_turn(loop.url, turn_timeout_s=0.3)


# ------------------------------------------------------------------ by name


def test_it_goes_by_its_address() -> None:
    assert loop_spec("http://127.0.0.1:80/talk") == loop_spec("127.0.0.1:80/talk") == "http+loop://127.0.0.1:80/talk"
    spec = load_agent(loop_spec("https://bank.example/agent/"))
    assert (spec.name, spec.structured) == ("bank.example/agent", False)


@pytest.mark.parametrize(
    "spec",
    [
        "http+loop://",
        "http+loop://:80/",
        "http+loop://host:port/",
        "http+loop://host:99999/",
        "ftp+loop://host/",
        "http+loop://us er/",
        "http+loop://host/\u2603",
        "http+loop://[::1/",
    ],
)
def test_what_is_no_address(spec: str) -> None:
    with pytest.raises(RunError, match="expected the address of an agent"):
        load_agent(spec)


@pytest.mark.parametrize("spec", ["http+loop://me:hush@host/", "http+loop://host/?key=hush", "http+loop://host/#hush"])
def test_a_secret_in_an_address_is_not_repeated(spec: str) -> None:
    with pytest.raises(RunError, match="plain and without a key") as caught:
        load_agent(spec)
    assert "hush" not in str(caught.value)


def test_without_history_every_caller_turn_is_a_conversation_of_its_own() -> None:
    with looping(lambda message, tools: REFUSAL) as loop, opened() as environment:
        told = brief(published("p2a7c"))
        with closing(agent_responder(load_agent(loop_spec(loop.url)), told, "latest")) as agent:
            for words in ("One.", "Two."):
                environment.deliver(Actor.CALLER, Turn(words))
                environment.deliver(Actor.AGENT, _turn(agent(environment)))
    assert [message["message"] for message in loop.messages] == ["One.", "Two."]
    assert len({message["session"] for message in loop.messages}) == 2


def _turn(turn: Turn | str) -> Turn:
    assert isinstance(turn, Turn)
    return turn


def _eventually(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


# ------------------------------------------------------------------ as documented


def test_the_documentation_shows_what_is_sent_and_answered() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
    message, answer = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL))
    with looping(lambda sent, tools: answer) as loop:
        assert first_turn(loop.url) == Turn(answer["text"])
    (sent,) = loop.messages
    assert message.keys() == sent.keys()
    assert {name: type(value) for name, value in message.items()} == {name: type(value) for name, value in sent.items()}
    assert message["tools"].keys() == sent["tools"].keys()
    assert re.sub(r"\d+/episodes/\w+", "", message["tools"]["url"]) == re.sub(
        r"\d+/episodes/\w+", "", sent["tools"]["url"]
    )
    for number in (f"{MAX_BODY_BYTES:,} bytes", f"at most {MAX_WAITING} may wait", f"{TURN_TIMEOUT_S:g} seconds"):
        assert number in text
    assert KEY_VARIABLE in text
