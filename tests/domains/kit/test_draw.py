"""Draws: the same on every machine and with every library, and spread as they should be."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.kit.draw import Draw, record_id

ROOT = Draw(("instance", 0, "s7f3a"))


def test_draws_are_what_they_have_always_been() -> None:
    """A change here gives every published scenario another cast."""
    assert ROOT.bits() == 0x867838F8C7CF829CAC14CA03D1FCAF25C8E27F254D756412002BF348ECF92C24
    assert ROOT.child("cast", "victim").integer(1, 1_000_000) == 396_706
    assert ROOT.child("phone").digits(10) == "2489903289"
    assert ROOT.child("code").code("AA-99-x") == "CW-37-x"
    assert record_id(ROOT, "PM") == "PM-H4X3U5"
    assert ROOT.child("pick").choice(["a", "b", "c", "d", "e"]) == "d"


def test_children_are_named_and_do_not_move_each_other() -> None:
    assert ROOT.child("a", 1) == ROOT.child("a").child(1)
    values = {ROOT.child(*labels).bits() for labels in [("a",), ("b",), ("a", 1), ("a", 2), ("a1",), ()]}
    assert len(values) == 6
    assert Draw(("instance", 1, "s7f3a")).bits() != ROOT.bits()


def test_integers_are_spread_evenly() -> None:
    counts = Counter(ROOT.child(n).integer(1, 6) for n in range(6000))
    assert set(counts) == {1, 2, 3, 4, 5, 6}
    assert all(880 < count < 1120 for count in counts.values())


@given(st.integers(-(10**12), 10**12), st.integers(0, 10**12), st.text(max_size=5))
def test_integers_keep_their_bounds(low: int, width: int, label: str) -> None:
    assert low <= Draw((label,)).integer(low, low + width) <= low + width
    assert Draw((label,)).integer(low, low) == low


@given(st.integers(1, 40), st.text(max_size=5))
def test_digits_are_as_many_as_asked_for(count: int, label: str) -> None:
    digits = Draw((label,)).digits(count)
    assert (len(digits), digits.isdecimal(), digits[0] != "0") == (count, True, True)


def test_codes_fill_their_pattern_and_avoid_look_alikes() -> None:
    codes = [ROOT.child(n).code("A9A9-x") for n in range(500)]
    assert all(code.endswith("-x") and code[0].isupper() and code[1].isdigit() for code in codes)
    assert not set("IO01") & set("".join(codes))
    assert len(set(codes)) > 450


def test_a_record_id_has_no_run_of_digits() -> None:
    for n in range(200):
        prefix, _, rest = record_id(ROOT.child(n), "PM").partition("-")
        assert prefix == "PM"
        assert [sign.isdigit() for sign in rest] == [False, True] * 3


@pytest.mark.parametrize(("low", "high"), [(2, 1), (0, -1)])
def test_an_empty_range_is_an_error(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="expected low <= high"):
        ROOT.integer(low, high)
    with pytest.raises(ValueError, match="expected low <= high"):
        ROOT.choice([])
