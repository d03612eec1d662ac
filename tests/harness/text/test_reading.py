"""The reading of free speech, measured on labelled replies."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text.reading import FIELDS, ReplyKind, read_reply

PARTS = ("development", "held_back")


@cache
def rows(part: str) -> list[dict[str, object]]:
    lines = Path(__file__).with_name("replies.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["part"] == part]


@pytest.mark.parametrize("part", PARTS)
def test_at_least_nine_of_ten_replies_are_read_as_labelled(part: str) -> None:
    confusion = Counter((str(row["label"]), read_reply(str(row["text"])).kind.value) for row in rows(part))
    print(f"\n{part}: label -> read")
    for (label, read), count in sorted(confusion.items()):
        print(f"  {label:>8} -> {read:<8} {count}")
    right = sum(count for (label, read), count in confusion.items() if label == read)
    assert right / len(rows(part)) >= 0.9


@pytest.mark.parametrize("part", PARTS)
def test_at_least_nine_of_ten_replies_give_the_fields_asked_for(part: str) -> None:
    right = sum(set(read_reply(str(row["text"])).asked) == set(row["asked"]) for row in rows(part))  # type: ignore[call-overload]
    assert right / len(rows(part)) >= 0.9


def test_the_labelled_set_is_large_sound_and_without_doubles() -> None:
    everything = [row for part in PARTS for row in rows(part)]
    assert len(everything) >= 160
    assert len({row["text"] for row in everything}) == len({row["id"] for row in everything}) == len(everything)
    for part in PARTS:
        assert {row["label"] for row in rows(part)} == {kind.value for kind in ReplyKind}
    assert all(field in FIELDS for row in everything for field in row["asked"])  # type: ignore[attr-defined]


def test_refusal_goes_before_question_and_question_before_done() -> None:
    assert read_reply("I can't release it. What is your phone number?").kind is ReplyKind.REFUSAL
    assert read_reply("I have released it. What is your phone number?").kind is ReplyKind.QUESTION
    assert read_reply("I have released it. Anything else?").kind is ReplyKind.DONE


def test_a_refusal_that_ends_with_identification_is_a_question() -> None:
    reading = read_reply("I can't do that until you are verified. What is your date of birth?")
    assert (reading.kind, reading.asked) == (ReplyKind.QUESTION, ("date_of_birth",))


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert set(read_reply(text).asked) <= set(FIELDS)
