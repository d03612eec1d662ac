"""References: a value alone, a person's words inside text, and nothing that is filled in is read again."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.cast import Attribute, Form, Member
from domains.kit.errors import SetupError
from harness.scenario.template import FILTERS, attribute_of, references_in, render, resolve


def member(**attributes: Attribute) -> Member:
    return Member("x", "thing", "things", "TH-1", "x", attributes)


CAST = {
    "due": member(
        id=Attribute("PM-A1", "PM-A1"),
        cents=Attribute(2500000, "$25,000.00", Form.MONEY),
        text=Attribute("a payment", "a payment"),
        phone=Attribute("+12125550142", "(212) 555-0142", Form.PHONE),
        paid=Attribute(False, "no"),
        nothing=Attribute(None, ""),
    ),
    "odd": member(name=Attribute("{due.cents} }} {{", "{due.cents} }} {{"), none=Attribute("--", "--")),
}


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("{due.cents}", 2500000, "$25,000.00"),
        ("{due.paid}", False, "no"),
        ("{due.nothing}", None, ""),
        ("{due}", "a payment", "a payment"),
        ("{due.cents} ", "$25,000.00 ", "$25,000.00 "),
        ("{due.phone}", "+12125550142", "(212) 555-0142"),
        ("call {due.phone}", "call (212) 555-0142", "call (212) 555-0142"),
        ("{due.id}{due.id}", "PM-A1PM-A1", "PM-A1PM-A1"),
        ("{due.id|lower}", "pm-a1", "pm-a1"),
        ("{due.id|near_miss}", "PM-A2", "PM-A2"),
        ("{due.id|second_miss}", "PM-A3", "PM-A3"),
        ("{due.phone|last_four}", "0142", "0142"),
        ("{due.cents|near_miss}", "$25,000.01", "$25,000.01"),
        ("{due|upper}", "A PAYMENT", "A PAYMENT"),
        ("{{due.cents}}", "{due.cents}", "{due.cents}"),
        ("{{{due.id}}}", "{PM-A1}", "{PM-A1}"),
        ("{{}}", "{}", "{}"),
        ("", "", ""),
        ("{odd.name}", "{due.cents} }} {{", "{due.cents} }} {{"),
        ("so {odd.name}", "so {due.cents} }} {{", "so {due.cents} }} {{"),
    ],
)
def test_what_a_reference_becomes(text: str, value: Any, words: str) -> None:
    assert resolve(text, CAST, "/x") == value
    assert type(resolve(text, CAST, "/x")) is type(value)
    assert render(text, CAST, "/x") == words


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "a single '{' in text"),
        ("a } b", "a single '}' in text"),
        ("{due.id", "a single '{'"),
        ("{ due.id }", "a single '{'"),
        ("{due.}", "a single '{'"),
        ("{Due.id}", "a single '{'"),
        ("{due.id|}", "a single '{'"),
        ("{due.id|lower|upper}", "a single '{'"),
        ("{due.__class__}", "a single '{'"),
        ("{nobody.id}", "expected a role of the cast (due, odd), found 'nobody'"),
        ("hello {nobody}", "found 'nobody'"),
        ("{due.name}", "expected an attribute of 'due' (cents, id, nothing, paid, phone, text), found 'name'"),
        ("{odd}", "expected an attribute of 'odd' (name, none), found '(none)'"),
        ("{due.id|reversed}", "expected a filter (near_miss, second_miss, last_four, lower, upper), found 'reversed'"),
        ("{odd.none|near_miss}", "nothing in '--' can be changed"),
    ],
)
def test_a_faulty_reference_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(SetupError) as caught:
        resolve({"a": ["x", {"b": text}]}, CAST, "/expect")
    assert caught.value.path == "/expect/a/1/b"
    assert problem in caught.value.problem


def test_keys_and_other_values_are_left_alone() -> None:
    value = {"{due.id}": 1, "n": None, "f": 0.5, "b": True, "l": ["{due.cents}", ["x"]]}
    assert resolve(value, CAST, "") == {"{due.id}": 1, "n": None, "f": 0.5, "b": True, "l": [2500000, ["x"]]}


def test_references_are_listed_in_order() -> None:
    assert references_in("{due.id} {{due.no}} {due|upper} {x.y|near_miss}") == ["due.id", "due", "x.y"]


def test_a_near_miss_leaves_the_shape_and_changes_one_sign() -> None:
    for text in ("PM-9Z9", "39", "z", "Z-", "a9", "661078", "é8é", "x²"):
        missed = FILTERS["near_miss"](text)
        assert len(missed) == len(text)
        assert sum(a != b for a, b in zip(text, missed, strict=True)) == 1
        assert [sign.isalnum() for sign in missed] == [sign.isalnum() for sign in text]


@given(st.text(max_size=40))
def test_doubled_braces_bring_any_text_through(text: str) -> None:
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert render(doubled, CAST, "") == resolve(doubled, CAST, "") == text


@given(st.text(max_size=20))
def test_a_value_is_never_read_again(value: str) -> None:
    cast = {"a": member(text=Attribute(value, value))}
    assert resolve("{a}", cast, "") == value
    assert render("<{a}>", cast, "") == f"<{value}>"


@given(st.text(st.sampled_from("{}|.adue "), max_size=15))
def test_any_text_is_filled_or_refused(text: str) -> None:
    with suppress(SetupError):
        assert not references_in(render(text, CAST, "/x")) or "{{" in text


def test_an_attribute_by_its_name() -> None:
    assert attribute_of("due.cents", CAST, "").value == 2500000
    assert attribute_of("due", CAST, "").text == "a payment"
