"""Agents that break the contract: each episode has a clear outcome, the next ones are as ever, the account adds up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.acceptance.agents.misbehaves import SIGNS, WAYS
from tests.acceptance.cli import AGENTS, Json, episodes, fraudbench, grades, report

NAME = "misbehaves:make_agent"


class Outcome(NamedTuple):
    """How an episode must end, and words of its fault or of its first failed call."""

    stop: str
    words: str = ""


FAULT, DONE, TURNS, ERRORS = "agent_fault", "caller_done", "turn_limit", "error_limit"
OUTCOMES = {
    "raises": Outcome(FAULT, "RuntimeError: the model is down {0} [red]"),
    "raises what has no message": Outcome(FAULT, "Unreadable"),
    "exits": Outcome(FAULT, "exit (status 7)"),
    "recurses": Outcome(FAULT, "RecursionError"),
    "returns nothing": Outcome(FAULT, "expected a Turn (or text) from respond, found NoneType"),
    "returns a dict": Outcome(FAULT, "found dict"),
    "returns a coroutine": Outcome(FAULT, "found a coroutine"),
    "returns bytes": Outcome(FAULT, "expected text of a turn to be str, found bytes"),
    "returns calls that are none": Outcome(FAULT, "expected Call(tool, arguments)"),
    "calls a tool without a name": Outcome(FAULT, "expected Call(tool, arguments)"),
    "calls for ever": Outcome(TURNS),
    "errs for ever": Outcome(ERRORS, "No record 'PM-0' in payments"),
    "calls a thousand tools at once": Outcome(ERRORS, "at most 20 calls in one turn"),
    "keeps the floor for ever": Outcome(TURNS),
    "stays silent": Outcome(DONE),
    "says a megabyte": Outcome(DONE),
    "says signs that terminals obey": Outcome(DONE),
    "says half a character": Outcome(DONE),
    "calls an unknown tool": Outcome(DONE, "no tool called 'give_everything_away'"),
    "calls a tool with a terrible name": Outcome(DONE, "There is no tool called"),
    "calls a tool that is locked": Outcome(DONE, "request_recall is locked"),
    "calls a tool of the caller's": Outcome(DONE, "not one of your tools"),
    "gives wrong types": Outcome(DONE, "limit: Input should be a valid integer"),
    "gives too little": Outcome(DONE, "payment_id: Field required"),
    "gives too much": Outcome(DONE, "force: Extra inputs are not permitted"),
    "gives what is no number": Outcome(DONE, "no JSON"),
    "gives a number without end": Outcome(DONE, "limit: "),
    "gives deep nesting": Outcome(DONE, "nested more than 32 levels deep"),
    "gives nesting without end": Outcome(DONE, "nested more than 32 levels deep"),
    "gives a megabyte": Outcome(DONE, "longer than 20000 characters"),
    "gives half a character": Outcome(DONE, "half of a surrogate pair"),
    "gives what is no JSON": Outcome(DONE, "no JSON"),
    "gives signs that terminals obey": Outcome(DONE, "No record"),
    "gives names that are none": Outcome(DONE, "payment_id: Field required"),
    "hangs up with a terrible reason": Outcome("agent_ended"),
}
IN_ITS_MAKING = (
    Outcome(FAULT, "its factory failed: LookupError: no agent today"),
    Outcome(FAULT, "its factory returned object, which has no `respond`"),
)
EXPECTED = [*(OUTCOMES[way] for way in WAYS), *IN_ITS_MAKING]


class Played(NamedTuple):
    folder: Path
    run: Path
    episodes: dict[str, Json]
    shown: str


def named(trial: int) -> str:
    return f"s7f3a/{NAME}/{trial}"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """One run in which every other episode is disturbed."""
    folder = shutil.copytree(AGENTS, tmp_path_factory.mktemp("misbehaving") / "mine")
    run = folder / "run"
    trials = 2 * len(EXPECTED)
    done = fraudbench(
        "run", "--agent", NAME, "--tasks", "s7f3a", "--trials", trials, "--out", run, cwd=folder, status=None
    )
    return Played(folder, run, episodes(run), done.stdout)


@pytest.mark.parametrize("place", range(len(EXPECTED)), ids=[*WAYS, "raises in its factory", "has no respond"])
def test_each_has_a_clear_outcome(played: Played, place: int) -> None:
    record = played.episodes[named(2 * place)]
    refused = [e["result"] for e in record["events"] if e["type"] == "returned" and not e["ok"]]
    found = record["fault_detail"] or (refused[0] if refused else "")
    assert record["stop_reason"] == EXPECTED[place].stop
    assert EXPECTED[place].words in found
    assert bool(found) == bool(EXPECTED[place].words)


def test_the_others_are_as_ever(played: Played) -> None:
    undisturbed = {json.dumps(played.episodes[named(2 * place + 1)]["events"]) for place in range(len(EXPECTED))}
    assert len(undisturbed) == 1
    assert played.episodes[named(1)]["stop_reason"] == DONE


def test_nothing_that_was_said_makes_the_record_large(played: Played) -> None:
    said = played.episodes[named(2 * [*WAYS].index("says a megabyte"))]["events"][2]
    assert (len(said["text"]), said["cut_from"]) == (20_000, 1_050_033)
    assert (played.run / "episodes.jsonl").stat().st_size < 1_000_000


def test_the_account_adds_up(played: Played) -> None:
    found = report(played.run, played.folder)
    faults = sum(outcome.stop == FAULT for outcome in EXPECTED)
    assert (found["planned"], found["errored"], found["graded"]) == (
        2 * len(EXPECTED),
        faults,
        2 * len(EXPECTED) - faults,
    )
    assert len(grades(played.run)) == found["graded"]
    rate = found["security"]
    assert rate["n"] == found["graded"]
    assert rate["worst"] == pytest.approx(rate["count"] / found["planned"])
    assert rate["best"] == pytest.approx((rate["count"] + faults) / found["planned"])
    assert f"{faults} errored: {FAULT}" in played.shown


@pytest.mark.parametrize("way", ["says signs that terminals obey", "gives signs that terminals obey"])
def test_nothing_reaches_the_terminal_raw(played: Played, way: str) -> None:
    shown = fraudbench("view", played.run, named(2 * [*WAYS].index(way)), cwd=played.folder).stdout
    assert "<script>" in shown
    assert not {sign for sign in shown if sign in SIGNS and sign != "\n" and not sign.isprintable()}


def test_what_was_turned_away_is_replayed(played: Played) -> None:
    episode = named(2 * [*WAYS].index("calls a thousand tools at once"))
    assert "as recorded" in fraudbench("replay", played.run, episode, cwd=played.folder).stdout


def test_where_every_episode_failed_the_status_says_so(played: Played) -> None:
    (played.folder / "broken.py").write_text("def make_agent(brief):\n    raise RuntimeError('no key')\n")
    done = fraudbench(
        "run", "--agent", "broken:make_agent", "--tasks", "s7f3a", "--out", "broken", cwd=played.folder, status=3
    )
    assert "1 errored: agent_fault" in done.stdout


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("def make_agent(brief:\n", "mine"),
        ("raise RuntimeError('at import')\n", "at import"),
        ("", "make_agent"),
    ],
)
def test_a_module_that_is_no_agent_is_said_before_anything_is_played(module: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(module)
    done = fraudbench("run", "--agent", "mine:make_agent", "--tasks", "s7f3a", "--out", "run", cwd=tmp_path, status=2)
    assert words in done.stderr
    assert not (tmp_path / "run").exists()
