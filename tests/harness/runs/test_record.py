"""The lines of a run folder: what is written can be read, what others wrote is refused by file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.tools import Actor
from harness.episode.events import Called, Event, Said, Stopped, StopReason
from harness.errors import RecordError
from harness.orchestrator import state_digest
from harness.runs import record as records
from harness.runs.record import EpisodeRecord, GradeRecord, Timing, episode_id, intact_bytes, read_lines, to_line
from harness.runs.secrets import redact, secret_values
from harness.scenario.model import Kind
from tests.harness.runs.mini import make_grade


def episode(name: str = "a", *events: Event, **changes: Any) -> EpisodeRecord:
    whole = (*events, Stopped(id=len(events), turn=0, reason=StopReason.CALLER_DONE))
    values: dict[str, Any] = {
        "episode_id": episode_id(name, "agent", 0),
        "scenario_id": name,
        "trial": 0,
        "agent_seed": 5,
        "resample": 0,
        "stop_reason": StopReason.CALLER_DONE,
        "fault_detail": "",
        "state_digest": state_digest(whole),
        "events": whole,
    }
    return EpisodeRecord(**(values | changes))


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


# Text as people and programs may send it: everything but lone surrogates, which JSON cannot carry.
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(text=TEXT, arguments=st.dictionaries(TEXT, JSON, max_size=3))
def test_a_record_comes_back_as_it_was(text: str, arguments: dict[str, Any], tmp_path_factory: Any) -> None:
    events = (
        Said(id=0, turn=0, speaker=Actor.CALLER, text=text),
        Called(id=1, turn=0, actor=Actor.AGENT, call_id="c1", tool=text, arguments=arguments),
    )
    whole = episode("a", *events)
    line = to_line(whole)
    assert line.count(b"\n") == 1
    path = write(tmp_path_factory.mktemp("r") / "episodes.jsonl", line, to_line(episode("b")))
    assert list(read_lines(path, EpisodeRecord)) == [whole, episode("b")]


def test_what_cannot_be_read_back_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def record(arguments: Any) -> EpisodeRecord:
        return episode("a", Called(id=0, turn=0, actor=Actor.AGENT, call_id="c1", tool="t", arguments=arguments))

    deep: Any = "x"
    for _ in range(230):
        deep = [deep]
    for value in ("\ud800", deep):
        broken = record({"x": value})
        with pytest.raises(ValueError):  # noqa: PT011 - of several kinds; that it cannot be written is what matters
            to_line(broken)
        stored = EpisodeRecord.model_validate_json(to_line(records.unwritable(broken, ValueError("bad \ud800"))))
        assert stored.is_errored
        assert stored.episode_id == broken.episode_id
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 1000)
    with pytest.raises(ValueError, match="less than 1000 bytes"):
        to_line(record({"x": "y" * 1000}))


def test_a_torn_last_line_is_not_there_yet(tmp_path: Path) -> None:
    first, second = to_line(episode("a")), to_line(episode("b"))
    for cut in (1, len(second) // 2, len(second) - 1):
        path = write(tmp_path / "episodes.jsonl", first, second[:cut])
        assert [record.scenario_id for record in read_lines(path, EpisodeRecord)] == ["a"]
        assert intact_bytes(path) == len(first)
    assert list(read_lines(tmp_path / "none.jsonl", EpisodeRecord)) == []


GOOD = to_line(episode("a"))

REFUSED = {
    "torn in the middle": ((GOOD[:50] + b"\n", to_line(episode("b"))), "line 1: expected one JSON object"),
    "empty line": ((GOOD, b"\n"), "line 2: expected one JSON object"),
    "another version": (
        (GOOD, to_line(episode("b")).replace(b'"schema_version":1', b'"schema_version":2')),
        "line 2: expected a record of version 1, found version 2. Read it with the fraudbench that wrote it",
    ),
    "no version": ((b'{"a":1}\n',), "line 1: expected a record of version 1, found version None"),
    "no object": ((b"[]\n",), "line 1: expected a record of version 1"),
    "twice": ((GOOD, GOOD), "line 2: expected each episode once, found a/agent/0 again"),
    "unknown key": ((GOOD.replace(b'"trial":0', b'"trial":0,"extra":1'),), "line 1, extra: expected"),
    "wrong type": ((GOOD.replace(b'"trial":0', b'"trial":"0"'),), "line 1, trial: expected"),
    "not the end": (
        (GOOD.replace(b'"stop_reason":"caller_done"', b'"stop_reason":"turn_limit"'),),
        "line 1, record: expected the last event to be the stop that the record names",
    ),
    "gap in the events": ((GOOD.replace(b'"id":0', b'"id":1'),), "expected events numbered from 0"),
    "deep": ((b"[" * 100_000 + b"\n",), "line 1: expected one JSON object"),
    "no text": ((b"\xff\xfe\n",), "line 1: expected one JSON object"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_we_did_not_write_is_refused_by_file_and_line(tmp_path: Path, case: str) -> None:
    lines, message = REFUSED[case]
    path = write(tmp_path / "episodes.jsonl", *lines)
    with pytest.raises(RecordError) as caught:
        list(read_lines(path, EpisodeRecord))
    assert f"{path}: {message}" in str(caught.value) or message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_line_that_is_too_long_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_LINE_BYTES", len(GOOD) + 10)
    path = write(tmp_path / "episodes.jsonl", GOOD, b"x" * 500)
    for read in (lambda: list(read_lines(path, EpisodeRecord)), lambda: intact_bytes(path)):
        with pytest.raises(RecordError, match=r"line 2: expected at most \d+ bytes"):
            read()


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").mkdir()
    with pytest.raises(RecordError, match=r"episodes\.jsonl: expected a readable file"):
        list(read_lines(tmp_path / "episodes.jsonl", EpisodeRecord))


def test_a_grade_record_holds_a_grade_of_its_episode_or_a_fault() -> None:
    grade = make_grade("a/agent/0", Kind.ATTACK, True)
    line = GradeRecord(episode_id="a/agent/0", grade=grade)
    assert GradeRecord.model_validate_json(to_line(line), strict=True) == line
    for values in ({"grade": None}, {"grade": grade, "fault": "x"}):
        with pytest.raises(ValueError, match="either a grade or a fault"):
            GradeRecord(episode_id="a/agent/0", **values)
    with pytest.raises(ValueError, match="found that of"):
        GradeRecord(episode_id="b/agent/0", grade=grade)
    with pytest.raises(ValueError, match="finite"):
        GradeRecord(episode_id="a/agent/0", grade=make_grade("a/agent/0", Kind.ATTACK, True, facts={"x": float("inf")}))


def test_timings_are_read_back(tmp_path: Path) -> None:
    timing = Timing(episode_id="a", wall_s=0.25, cpu_s=0.125)
    assert list(read_lines(write(tmp_path / "t", to_line(timing)), Timing)) == [timing]


def test_secrets_are_known_by_the_names_of_their_variables() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-123456789",
        "DB_PASSWORD": 'quo"ted-word',
        "HF_TOKEN": "short",
        "KEYBOARD_LAYOUT": "not-a-secret",
        "PATH": "/usr/bin:/bin",
    }
    values = secret_values(environment)
    assert values == (b'quo\\"ted-word', b"sk-123456789") or values == (b"sk-123456789", b'quo\\"ted-word')
    assert redact(b'{"a":"sk-123456789, quo\\"ted-word"}', values) == b'{"a":"[redacted], [redacted]"}'
    assert redact(b'{"a":"not-a-secret short"}', values) == b'{"a":"not-a-secret short"}'
