from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.patterns import OPERATORS, Kind, kind_of, literals, matches, matches_all, pattern_fault

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("open", "open", True),
        ("open", "Open", False),
        (1, True, False),
        (True, 1, False),
        (0, False, False),
        ("1", 1, False),
        (1, "1", False),
        (1, 1.0, True),
        (None, None, True),
        (None, "", False),
        (None, 0, False),
        (("open", "shut"), "shut", True),
        (["open", "shut"], "ajar", False),
        ([1, 2], True, False),
        ({"at_least": 5}, 5, True),
        ({"at_least": 5}, 4, False),
        ({"at_least": 5}, "6", False),
        ({"at_least": 5}, None, False),
        ({"at_least": 0}, True, False),
        ({"at_most": 5}, 5, True),
        ({"at_most": 5}, 6, False),
        ({"at_least": "2026-03-01"}, "2026-03-12T09:20:00Z", True),
        ({"at_most": "2026-03-01"}, "2026-03-12T09:20:00Z", False),
        ({"not": "open"}, "shut", True),
        ({"not": "open"}, "open", False),
        ({"not": ["open", None]}, None, False),
        ({"not": {"at_least": 5}}, 4, True),
        ({"contains": "gift"}, "a gift card", True),
        ({"contains": "gift"}, "a Gift card", False),
        ({"contains": "LK-1"}, ["LK-1", "LK-2"], True),
        ({"contains": 1}, [True], False),
        ({"contains": 1}, "1", False),
        ({"contains": "x"}, None, False),
        ({}, {}, False),
        ([], None, False),
        ({"at_least": 1, "at_most": 3}, 2, False),
        ({"like": "open"}, "open", False),
        ({"not": {"like": "open"}}, "shut", False),
        ({"at_least": None}, None, False),
    ],
)
def test_match(pattern: Any, value: Any, expected: bool) -> None:
    assert matches(pattern, value) is expected


def test_every_named_value_must_be_there() -> None:
    assert matches_all({"a": 1}, {"a": 1, "b": 2})
    assert not matches_all({"a": 1, "b": {"not": 3}}, {"a": 1})
    assert matches_all({}, {})


@pytest.mark.parametrize(
    ("pattern", "possible", "found"),
    [
        ("open", {Kind.TEXT}, None),
        (["open", "shut"], {Kind.TEXT}, None),
        (1, {Kind.TEXT}, "a number where only a text can stand"),
        (None, {Kind.TEXT}, "null where only a text can stand"),
        (None, {Kind.TEXT, Kind.NOTHING}, None),
        (["open", 1], {Kind.TEXT}, "a number where only a text can stand"),
        ([], None, "a list of no values"),
        ({}, None, "an object without exactly one of"),
        ({"like": 1}, None, "an object without exactly one of"),
        ({"at_least": True}, None, "`at_least` without a number or a text"),
        ({"at_least": 5}, {Kind.TEXT}, "a number where only a text can stand"),
        ({"not": {"at_most": []}}, None, "`at_most` without a number or a text"),
        ({"contains": 5}, {Kind.TEXT}, "`contains` without a text"),
        ({"contains": 5}, None, None),
    ],
)
def test_fault_of_a_pattern(pattern: Any, possible: set[Kind] | None, found: str | None) -> None:
    fault = pattern_fault(pattern, None if possible is None else frozenset(possible))
    assert fault is None if found is None else fault is not None and fault.startswith(found)


def test_literals_are_what_a_pattern_accepts_by_name() -> None:
    assert list(literals(["a", ("b", {"not": "c"})])) == ["a", "b"]
    assert list(literals({"at_least": 5})) == []


@given(pattern=SCALARS, value=SCALARS)
def test_a_literal_matches_its_equal_of_the_same_kind_only(pattern: Any, value: Any) -> None:
    assert matches(pattern, value) == (kind_of(pattern) is kind_of(value) and pattern == value)
    assert matches(pattern, pattern)


@given(options=st.lists(SCALARS, min_size=1, max_size=4), value=SCALARS)
def test_a_list_matches_what_any_of_it_matches(options: list[Any], value: Any) -> None:
    assert matches(options, value) == any(matches(option, value) for option in options)


@given(operator=st.sampled_from(OPERATORS), operand=SCALARS, value=SCALARS)
def test_not_turns_every_sound_pattern_around(operator: str, operand: Any, value: Any) -> None:
    pattern = {operator: operand}
    if pattern_fault(pattern) is None:
        assert matches({"not": pattern}, value) is not matches(pattern, value)
    else:
        assert not matches(pattern, value)
        assert not matches({"not": pattern}, value)


@given(
    bound=st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    value=st.integers() | st.floats(allow_nan=False, allow_infinity=False),
)
def test_bounds_include_their_value_and_cover_every_number(bound: float, value: float) -> None:
    assert matches({"at_least": bound}, bound)
    assert matches({"at_most": bound}, bound)
    assert matches({"at_least": bound}, value) or matches({"at_most": bound}, value)


@given(value=SCALARS, possible=st.frozensets(st.sampled_from(sorted(Kind)), min_size=1))
def test_a_literal_that_can_never_stand_there_is_a_fault(value: Any, possible: frozenset[Kind]) -> None:
    assert (pattern_fault(value, possible) is None) == (kind_of(value) in possible)
