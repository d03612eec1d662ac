"""An episode's models: cassette, budget, limits, retries and record around each call, with scripted providers."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness.episode.turn import ToolOffer
from harness.errors import DataError, RunError
from harness.models import faults, shared
from harness.models.budget import Budget
from harness.models.build import Models
from harness.models.config import ModelsConfig, Price, RoleConfig, read_models
from harness.models.contract import (
    ChatMessage,
    Finish,
    ModelClient,
    ModelReply,
    ModelRequest,
    Role,
    Speaker,
    ToolRequest,
    Usage,
)
from harness.models.faults import BadRequest, BudgetSpent, ModelFault, NotRecorded, RateLimited, TooSlow, Unavailable
from harness.models.ledger import Ledger
from harness.models.provider import Answer
from harness.models.record import EpisodeCalls, ModelCall, shortened
from harness.models.retry import Clock
from harness.models.session import Session

EPISODE = "a1b2c/openai/m/0"
FREEZE = ToolOffer("freeze_card", "Freezes a card.", '{"type": "object"}')
KEY = "bank-key-0123456789"


@dataclass
class Time:
    """A clock that moves when somebody sleeps."""

    now_s: float = 100.0
    slept: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@dataclass
class Script:
    """A provider that plays what is listed, and then repeats what it heard."""

    listed: list[ModelReply | ModelFault] = field(default_factory=list)
    price: Price | None = None
    usage: Usage = field(default_factory=lambda: Usage(10, 5))
    asked: list[ModelRequest] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    def complete(self, request: ModelRequest, timeout_s: float) -> Answer:
        self.asked.append(request)
        self.timeouts.append(timeout_s)
        found = self.listed.pop(0) if self.listed else reply(f"You said: {request.messages[-1].text}", self.usage)
        if isinstance(found, ModelFault):
            raise found
        return Answer(found, {"model": "m", "temperature": 0})


def reply(text: str, usage: Usage | None = None, **message: Any) -> ModelReply:
    said = ChatMessage(Speaker.ASSISTANT, text, **message)
    return ModelReply(said, Finish.STOP, "stop", usage or Usage(10, 5), "m-1", "fp")


def built(script: Script, config: Mapping[str, Any] | None = None, **settings: Any) -> Models:
    given = {"agent": {"model": "openai/m", **(config or {})}}
    settings.setdefault("clock", Time().clock)
    return Models(read_models(None, given), make_provider=lambda role: script, **settings)


def talk(client: ModelClient, *words: str, tools: tuple[ToolOffer, ...] = (FREEZE,)) -> tuple[ChatMessage, ...]:
    """Say words one after the other and keep the conversation."""
    messages: tuple[ChatMessage, ...] = (ChatMessage(Speaker.SYSTEM, "Be kind."),)
    for number, text in enumerate(words):
        messages = (*messages, ChatMessage(Speaker.USER, text))
        answer = client.complete(ModelRequest(Role.AGENT, f"agent/{number}", messages, tools))
        messages = (*messages, answer.message)
    return messages


def written(calls: tuple[ModelCall, ...]) -> str:
    """Write calls as a run does."""
    return EpisodeCalls(episode_id=EPISODE, calls=calls).model_dump_json()


def asking(text: str = "Hello", purpose: str = "agent/0") -> ModelRequest:
    return ModelRequest(Role.AGENT, purpose, (ChatMessage(Speaker.USER, text),))


# ------------------------------------------------------------------ records


def test_a_record_holds_what_was_sent_and_what_came_back() -> None:
    session = built(Script([Unavailable("down")]), {"parameters": {"temperature": 0}}).session(EPISODE)
    talk(session.client(Role.AGENT), "Hello")
    (call,) = session.calls
    assert (call.role, call.index, call.purpose, call.occurrence) == (Role.AGENT, 0, "agent/0", 0)
    assert call.sent.model == "openai/m"
    assert call.sent.parameters == {"model": "m", "temperature": 0}
    assert [message.text for message in call.sent.messages] == ["Be kind.", "Hello"]
    assert call.sent.tools == (FREEZE,)
    assert [(fault.kind, fault.message) for fault in call.failed_tries] == [("Unavailable", "down")]
    assert call.tries == 2
    assert call.reply == reply("You said: Hello")
    assert call.fault is None


def test_a_record_keeps_only_what_is_new_in_a_conversation() -> None:
    session = built(Script()).session(EPISODE)
    whole = talk(session.client(Role.AGENT), "one", "two", "three")
    kept = [(call.sent.known_messages, len(call.sent.messages), call.sent.tools) for call in session.calls]
    assert kept == [(0, 2, (FREEZE,)), (2, 2, None), (4, 2, None)]
    assert tuple(message for call in session.calls for message in call.sent.messages) == whole[:-1]


def test_a_conversation_that_is_shortened_in_the_middle_is_kept_from_there() -> None:
    session = built(Script()).session(EPISODE)
    client = session.client(Role.AGENT)
    messages = talk(client, "one", "two")
    client.complete(ModelRequest(Role.AGENT, "agent/9", (messages[0], *messages[3:]), ()))
    last = session.calls[-1]
    assert (last.sent.known_messages, last.sent.messages, last.sent.tools) == (1, messages[3:], ())


def test_a_fault_is_recorded_and_raised() -> None:
    script = Script([Unavailable("down")] * 9)
    session = built(script, {"tries": 3}).session(EPISODE)
    with pytest.raises(Unavailable, match="down"):
        session.client(Role.AGENT).complete(asking())
    (call,) = session.calls
    assert call.reply is None
    assert call.fault is not None
    assert (call.fault.kind, call.tries) == ("Unavailable", 3)
    assert len(script.asked) == 3


def test_times_are_kept_apart() -> None:
    time = Time()
    models = built(Script([RateLimited("busy", 7.0)]), {"requests_per_minute": 1}, clock=time.clock)
    session = models.session(EPISODE)
    session.client(Role.AGENT).complete(asking())
    (timing,) = session.timings
    assert (timing.role, timing.purpose) == (Role.AGENT, "agent/0")
    assert timing.wall_s == sum(time.slept)
    assert 0 < timing.waited_s < timing.wall_s - 6.9


def test_equal_questions_are_numbered() -> None:
    session = built(Script()).session(EPISODE)
    client = session.client(Role.AGENT)
    for text in ("one", "two", "one"):
        client.complete(asking(text))
    assert [call.occurrence for call in session.calls] == [0, 0, 1]
    assert session.calls[0].key == session.calls[2].key != session.calls[1].key


BASE = ModelRequest(
    Role.AGENT,
    "agent/0",
    (ChatMessage(Speaker.USER, "Hello"), ChatMessage(Speaker.ASSISTANT, "Yes", (ToolRequest("c", "t", "{}"),))),
    (FREEZE,),
)


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, messages=BASE.messages[:1]),
        replace(BASE, messages=(*BASE.messages, BASE.messages[0])),
        replace(BASE, messages=(ChatMessage(Speaker.SYSTEM, "Hello"), BASE.messages[1])),
        replace(BASE, messages=(ChatMessage(Speaker.USER, "Hello", opaque={"a": 1}), BASE.messages[1])),
        replace(BASE, messages=(ChatMessage(Speaker.USER, "Hello", answers="c"), BASE.messages[1])),
        replace(
            BASE, messages=(BASE.messages[0], ChatMessage(Speaker.ASSISTANT, "Yes", (ToolRequest("d", "t", "{}"),)))
        ),
        replace(BASE, tools=()),
        replace(BASE, tools=(replace(FREEZE, description="Other."),)),
        replace(BASE, tools=(FREEZE, FREEZE)),
        replace(BASE, answer_schema={"type": "object"}),
    ],
)
def test_the_key_depends_on_everything_that_is_asked(other: ModelRequest) -> None:
    def key(request: ModelRequest, config: Mapping[str, Any] | None = None) -> str:
        session = built(Script(), config).session(EPISODE)
        session.client(Role.AGENT).complete(request)
        return session.calls[0].key

    assert key(BASE) == key(replace(BASE, purpose="agent/7"))
    assert key(BASE) != key(other)
    assert key(BASE) != key(BASE, {"parameters": {"seed": 1}})
    assert key(BASE) != key(BASE, {"model": "openai/n"})
    assert key(BASE) == key(BASE, {"base_url": "http://127.0.0.1:1/v1", "tries": 2})


def test_the_key_is_the_same_whatever_was_asked_before() -> None:
    first, second = (built(Script()).session(EPISODE) for _ in range(2))
    client = first.client(Role.AGENT)
    for request in (asking("one"), replace(BASE, tools=()), BASE):
        client.complete(request)
    second.client(Role.AGENT).complete(BASE)
    assert first.calls[-1].key == second.calls[-1].key


def test_keys_stay_out_of_replies_faults_and_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANK_LETTERS", KEY)
    script = Script([Unavailable(f"wrong {KEY}"), reply(f"My key is {KEY}."), BadRequest(f"bad {KEY}")])
    session = built(script, {"api_key_env": "BANK_LETTERS"}).session(EPISODE)
    client = session.client(Role.AGENT)
    assert client.complete(asking()).message.text == "My key is [redacted]."
    with pytest.raises(BadRequest) as raised:
        client.complete(asking(f"Is it {KEY}?"))
    assert KEY not in str(raised.value)
    assert KEY not in written(session.calls)


def test_a_record_survives_the_way_through_a_file() -> None:
    script = Script([reply("Hm.", tool_requests=(ToolRequest("c", "t", "{"),), opaque={"r": [1, None]}), TooSlow("x")])
    session = built(script, {"tries": 1}).session(EPISODE)
    client = session.client(Role.AGENT)
    client.complete(replace(BASE, answer_schema={"type": "object"}))
    with pytest.raises(TooSlow):
        client.complete(asking())
    line = EpisodeCalls(episode_id=EPISODE, calls=session.calls)
    assert EpisodeCalls.model_validate_json(line.model_dump_json(), strict=True) == line


def test_a_shortened_record_is_bounded_and_says_what_is_missing() -> None:
    long = "z" * 100_000
    script = Script([reply(long, tool_requests=(ToolRequest("c", "t", long),), opaque={"r": [{"s": long}]})])
    session = built(script).session(EPISODE)
    tool = ToolOffer("t", long, long)
    session.client(Role.AGENT).complete(
        ModelRequest(Role.AGENT, "agent/0", (ChatMessage(Speaker.USER, long),), (tool,))
    )
    text = written((shortened(session.calls[0]),))
    assert len(text) < 40_000
    assert text.count("100000 characters in all, sha256 ") == 6
    assert len(written(session.calls)) > 600_000


def test_parallel_calls_of_an_episode_are_all_kept() -> None:
    session = built(Script()).session(EPISODE)
    client = session.client(Role.AGENT)
    threads = [
        threading.Thread(target=client.complete, args=(asking(f"q{number}", f"agent/{number}"),))
        for number in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {call.purpose for call in session.calls} == {f"agent/{number}" for number in range(40)}
    assert len(session.timings) == 40


# ------------------------------------------------------------------ patience, limits, budgets


def test_retries_pause_alike_in_equal_runs_and_not_in_step_within_one() -> None:
    def pauses(episode_id: str, seed: int = 0) -> list[float]:
        time = Time()
        models = built(Script([Unavailable("down")] * 3), seed=seed, clock=time.clock)
        models.session(episode_id).client(Role.AGENT).complete(asking())
        return time.slept

    assert pauses("a/0") == pauses("a/0")
    assert len(pauses("a/0")) == 3
    assert pauses("a/0") != pauses("a/1")
    assert pauses("a/0") != pauses("a/0", seed=1)


def test_a_try_gets_no_more_time_than_the_episode_has() -> None:
    time, script = Time(), Script()
    session = built(script, {"call_timeout_s": 20}, clock=time.clock).session(EPISODE, time_s=30.0)
    client = session.client(Role.AGENT)
    client.complete(asking())
    time.now_s += 25.0
    client.complete(asking())
    time.now_s += 5.0
    with pytest.raises(TooSlow):
        client.complete(asking())
    assert script.timeouts == [20.0, 5.0]


def test_roles_at_one_provider_share_the_tightest_limit() -> None:
    time = Time()
    config = ModelsConfig(
        agent=RoleConfig(model="openai/m", requests_per_minute=60.0),
        caller=RoleConfig(model="openai/m", requests_per_minute=6000.0),
        judge=(RoleConfig(model="openai/n"),),
    )
    script = Script()
    session = Models(config, make_provider=lambda role: script, clock=time.clock).session(EPISODE)
    for _ in range(3):
        session.client(Role.AGENT).complete(asking())
    session.client(Role.CALLER).complete(asking())
    session.client(Role.JUDGE).complete(asking())
    assert time.slept == [1.0]


def test_a_token_limit_counts_what_was_used_in_the_end() -> None:
    time = Time()
    script = Script(usage=Usage(590, 10))
    client = built(script, {"tokens_per_minute": 600}, clock=time.clock).session(EPISODE).client(Role.AGENT)
    client.complete(asking())
    client.complete(asking())
    assert 57.0 < sum(time.slept) < 60.0


def test_a_budget_ends_the_run_and_not_the_call() -> None:
    script = Script(price=Price(input=1.0, output=1.0))
    models = built(script, budget=Budget(max_tokens=30))
    models.prepare()
    session = models.session(EPISODE)
    client = session.client(Role.AGENT)
    client.complete(asking())
    client.complete(asking())
    with pytest.raises(BudgetSpent):
        client.complete(asking())
    assert len(script.asked) == len(session.calls) == 2


def test_a_budget_counts_calls_whose_usage_is_unknown() -> None:
    script = Script(price=Price(input=1e6, output=1e6), usage=Usage())
    client = built(script, budget=Budget(max_cost_usd=20.0)).session(EPISODE).client(Role.AGENT)
    client.complete(asking("z" * 80))
    with pytest.raises(BudgetSpent):
        client.complete(asking())


def test_a_limit_of_cost_needs_prices() -> None:
    with pytest.raises(RunError, match=r"openai/m \(agent\)"):
        built(Script(), budget=Budget(max_cost_usd=1.0)).prepare()
    built(Script(price=Price(input=1.0, output=1.0)), budget=Budget(max_cost_usd=1.0)).prepare()
    built(Script(), budget=Budget(max_tokens=1)).prepare()


def test_the_ledger_counts_by_role() -> None:
    models = built(Script([Unavailable("down"), reply("Hi", Usage(3, 2, 0.5))]))
    models.session(EPISODE).client(Role.AGENT).complete(asking())
    account = models.ledger.accounts()[Role.AGENT]
    assert (account.calls, account.tries, account.input_tokens, account.cost_usd) == (1, 2, 3, 0.5)
    assert account.latency_s > 0


# ------------------------------------------------------------------ building


def test_a_role_that_no_model_plays() -> None:
    session = built(Script()).session(EPISODE)
    with pytest.raises(RunError, match="Name one with --caller"):
        session.client(Role.CALLER)
    with pytest.raises(RunError, match="found 1"):
        session.client(Role.AGENT, 1)


def test_each_model_is_built_once_and_late() -> None:
    made: list[str] = []

    def make(config: RoleConfig) -> Script:
        made.append(config.model)
        return Script()

    judges = (RoleConfig(model="openai/j"), RoleConfig(model="openai/k"))
    models = Models(ModelsConfig(agent=RoleConfig(model="openai/m"), judge=judges), make_provider=make)
    for _ in range(2):
        models.session(EPISODE).client(Role.AGENT).complete(asking())
    assert made == ["openai/m"]
    models.prepare()
    assert made == ["openai/m", "openai/j", "openai/k"]


def _scripted(config: RoleConfig) -> Script:
    return Script(usage=Usage(30, 10))


def _ask_once(models: Models) -> None:
    models.session(EPISODE).client(Role.AGENT).complete(asking())


def test_a_worker_process_spends_from_the_budget_of_the_run_and_writes_into_its_ledger() -> None:
    config = ModelsConfig(agent=RoleConfig(model="openai/m", requests_per_minute=6000.0))
    models = Models(config, make_provider=_scripted, budget=Budget(max_tokens=40))
    models.prepare()
    process = multiprocessing.get_context("spawn").Process(target=_ask_once, args=(models,))
    process.start()
    process.join()
    with pytest.raises(BudgetSpent, match="40 of 40 tokens"):
        _ask_once(models)
    account = models.ledger.accounts()[Role.AGENT]
    assert (account.calls, account.input_tokens, account.output_tokens) == (1, 30, 10)


def test_a_worker_that_was_killed_in_the_middle_of_a_change_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared, "_PATIENCE_S", 0.05)
    ledger = Ledger()
    process = multiprocessing.get_context("spawn").Process(target=_die_with, args=(ledger,))
    process.start()
    process.join()
    ledger.add(Role.AGENT, Usage(30, 10), tries=1)
    assert ledger.accounts()[Role.AGENT].calls == 1


def _die_with(ledger: Ledger) -> None:
    with shared.alone_with(ledger._numbers):
        os._exit(9)


# ------------------------------------------------------------------ cassettes


def recorded(folder: Path, session: Session) -> Path:
    """Keep the calls of a session as a run does."""
    (folder / "cassette").mkdir(parents=True, exist_ok=True)
    line = EpisodeCalls(episode_id=session.episode_id, calls=session.calls).model_dump_json()
    with (folder / "cassette" / "calls.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    return folder


def nobody(config: RoleConfig) -> Script:
    raise AssertionError("a cassette needs no provider")


def replaying(folder: Path, **config: Any) -> Models:
    given = {"agent": {"model": "openai/m", **config}}
    return Models(read_models(None, given), make_provider=nobody, cassette=folder)


@pytest.fixture
def tape(tmp_path: Path) -> tuple[Path, tuple[ModelCall, ...]]:
    session = built(Script([Unavailable("down")])).session(EPISODE)
    talk(session.client(Role.AGENT), "one", "two", "three")
    return recorded(tmp_path, session), session.calls


def test_the_same_questions_get_the_same_answers(tape: tuple[Path, tuple[ModelCall, ...]]) -> None:
    folder, calls = tape
    for path in (folder, folder / "cassette", folder / "cassette" / "calls.jsonl"):
        models = replaying(path, tries=1, requests_per_minute=1)
        models.prepare()
        session = models.session(EPISODE)
        talk(session.client(Role.AGENT), "one", "two", "three")
        assert session.calls == calls
        assert models.ledger.accounts()[Role.AGENT].tries == 4


def test_a_recorded_fault_comes_again(tmp_path: Path) -> None:
    session = built(Script([BadRequest("no such parameter")])).session(EPISODE)
    with pytest.raises(BadRequest):
        session.client(Role.AGENT).complete(asking())
    again = replaying(recorded(tmp_path, session)).session(EPISODE)
    with pytest.raises(BadRequest, match="no such parameter"):
        again.client(Role.AGENT).complete(asking())
    assert again.calls == session.calls


@pytest.mark.parametrize("kind", [kind for kind in vars(faults).values() if isinstance(kind, type)])
def test_every_fault_can_be_recorded(kind: type[Exception], tmp_path: Path) -> None:
    if not issubclass(kind, ModelFault) or issubclass(kind, BudgetSpent):
        return
    session = built(Script([kind("it went wrong")]), {"tries": 1}).session(EPISODE)
    with pytest.raises(kind):
        session.client(Role.AGENT).complete(asking())
    with pytest.raises(kind, match="it went wrong") as raised:
        replaying(recorded(tmp_path, session)).session(EPISODE).client(Role.AGENT).complete(asking())
    assert type(raised.value) is kind


def test_equal_questions_get_their_own_answers(tmp_path: Path) -> None:
    session = built(Script([reply("first"), reply("second")])).session(EPISODE)
    for _ in range(2):
        session.client(Role.AGENT).complete(asking())
    client = replaying(recorded(tmp_path, session)).session(EPISODE).client(Role.AGENT)
    assert [client.complete(asking()).message.text for _ in range(2)] == ["first", "second"]
    with pytest.raises(NotRecorded, match="asked 2 times, and is asked once more now"):
        client.complete(asking())


Ask = Callable[[Path], None]


def ask_otherwise(folder: Path) -> None:
    talk(replaying(folder).session(EPISODE).client(Role.AGENT), "one", "two, please", "three")


def ask_more(folder: Path) -> None:
    talk(replaying(folder).session(EPISODE).client(Role.AGENT), "one", "two", "three", "four")


def ask_with_other_tools(folder: Path) -> None:
    talk(replaying(folder).session(EPISODE).client(Role.AGENT), "one", tools=())


def ask_another_model(folder: Path) -> None:
    talk(replaying(folder, model="openai/n").session(EPISODE).client(Role.AGENT), "one")


def ask_another_episode(folder: Path) -> None:
    talk(replaying(folder).session("other/0").client(Role.AGENT), "one")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (ask_otherwise, "nearest recorded call is agent/1: message 4 was 'user: two' and is 'user: two, please'"),
        (ask_more, "nearest recorded call is agent/2: it had 6 messages, this one has 8; the first 6 are the same"),
        (ask_with_other_tools, "nearest recorded call is agent/0: its messages are the same; its tools"),
        (ask_another_model, "it was made of openai/m, this one of openai/n"),
        (ask_another_episode, "expected calls of the episode other/0, found none"),
    ],
)
def test_a_question_that_is_not_recorded_shows_the_nearest(
    tape: tuple[Path, tuple[ModelCall, ...]], ask: Ask, message: str
) -> None:
    with pytest.raises(NotRecorded) as raised:
        ask(tape[0])
    assert message in str(raised.value)


def test_a_long_difference_is_shown_where_it_is(tmp_path: Path) -> None:
    session = built(Script()).session(EPISODE)
    session.client(Role.AGENT).complete(asking("z" * 5000 + "left"))
    again = replaying(recorded(tmp_path, session)).session(EPISODE)
    with pytest.raises(NotRecorded) as raised:
        again.client(Role.AGENT).complete(asking("z" * 5000 + "right"))
    assert "left" in str(raised.value)
    assert "right" in str(raised.value)
    assert len(str(raised.value)) < 800


def test_a_line_that_was_cut_off_is_half_an_episode(tape: tuple[Path, tuple[ModelCall, ...]]) -> None:
    file = tape[0] / "cassette" / "calls.jsonl"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(NotRecorded):
        talk(replaying(tape[0]).session(EPISODE).client(Role.AGENT), "one")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "{}",
        '{"calls":[]}',
        '{"schema_version":1,"episode_id":"\\q"',
        '{"schema_version":2,"episode_id":"a","calls":[]}',
    ],
)
def test_a_line_of_no_episode_is_named_before_the_run(tmp_path: Path, line: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(f'{{"schema_version":1,"episode_id":"a","calls":[]}}\n{line}\n', encoding="utf-8")
    with pytest.raises(DataError) as raised:
        replaying(tmp_path).prepare()
    assert str(raised.value).startswith(f"{file}: line 2: expected the calls of an episode, found")


@pytest.mark.parametrize(
    ("rest", "place"), [("", "line"), (',"calls":[1]}', "calls.0"), (',"calls":[],"more":1}', "more")]
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, rest: str, place: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(f'{{"schema_version":1,"episode_id":"a \\" b"{rest}\n', encoding="utf-8")
    with pytest.raises(DataError) as raised:
        talk(replaying(tmp_path).session('a " b').client(Role.AGENT), "one")
    assert str(raised.value).startswith(f"{file}: line 1, {place}: ")


def test_an_episode_that_was_played_anew_counts_as_it_was_last(tmp_path: Path) -> None:
    for text in ("first", "second"):
        session = built(Script([reply(text)])).session(EPISODE)
        session.client(Role.AGENT).complete(asking())
        recorded(tmp_path, session)
    assert replaying(tmp_path).session(EPISODE).client(Role.AGENT).complete(asking()).message.text == "second"


def test_a_folder_without_a_recording(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--record"):
        replaying(tmp_path).prepare()
