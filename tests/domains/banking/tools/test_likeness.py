"""When texts count as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.banking.tools.likeness import compare_names, edits_apart, national_number, words


@pytest.mark.parametrize(
    ("phone", "number"),
    [
        ("(415) 555-0142", "4155550142"),
        ("+1 415 555 0142", "4155550142"),
        ("555-0142", ""),
        ("44155550142", ""),
        ("٤١٥ 555 0142", ""),
        ("", ""),
    ],
)
def test_a_national_number_has_ten_digits(phone: str, number: str) -> None:
    assert national_number(phone) == number


def test_words_forget_case_accents_and_punctuation() -> None:
    assert words("  José O'Neill-Brønn,  Jr. ") == ("jose", "oneill", "brønn", "jr")


@pytest.mark.parametrize(
    ("given", "held", "result"),
    [
        ("Joan Fletcher", "JOAN  FLETCHER", "match"),
        ("Joan Fletcher", "Fletcher, Joan", "close_match"),
        ("Joan Fletcher", "Joan Mary Fletcher", "close_match"),
        ("Joan Fletcher", "Joan Flecher", "close_match"),
        ("Joan Fletcher", "Crest Trading", "no_match"),
        ("Joan Fletcher", "John Butcher", "no_match"),
        ("Joan Fletcher", "", "no_match"),
    ],
)
def test_names_are_compared_as_banks_do(given: str, held: str, result: str) -> None:
    assert compare_names(given, held) == result


@given(st.text("ABC", max_size=8), st.text("ABC", max_size=8), st.text("ABC", max_size=8))
def test_edits_are_a_distance(first: str, second: str, third: str) -> None:
    assert (edits_apart(first, second) == 0) == (first == second)
    assert edits_apart(first, second) == edits_apart(second, first)
    assert edits_apart(first, third) <= edits_apart(first, second) + edits_apart(second, third)
    assert abs(len(first) - len(second)) <= edits_apart(first, second) <= max(len(first), len(second))


def test_one_replaced_sign_is_one_edit() -> None:
    assert edits_apart("KX7P29QM", "KX7P29QN") == 1
    assert edits_apart("KX7P29QM", "KX7P92QM") == 2
    assert edits_apart("KX7P29QM", "X7P29Q") == 2
