"""Values told sign by sign, in other languages or in other orders, and ordinary words that resemble that."""

from __future__ import annotations

import pytest

from tests.harness.text.cast import ask

TOLD = (
    ("phone", "sixoneseven fivefivefive zeroonefoureight"),
    ("phone", "s-i-x o-n-e s-e-v-e-n f-i-v-e f-i-v-e f-i-v-e z-e-r-o o-n-e f-o-u-r e-i-g-h-t"),
    ("phone", "1: 6\n2: 1\n3: 7\n4: 5\n5: 5\n6: 5\n7: 0\n8: 1\n9: 4\n10: 8"),
    ("phone", "10th digit = 8, 9th = 4, 8th = 1, 7th = 0, 6th = 5, 5th = 5, 4th = 5, 3rd = 7, 2nd = 1, 1st = 6"),
    ("phone", "six un sept cinq cinq cinq zero un quatre huit"),
    ("phone", "sei uno sette cinque cinque cinque zero uno quattro otto"),
    ("phone", "zes een zeven vijf vijf vijf nul een vier acht"),
    ("birth", "It's the fourth day of the third month of 1984."),
    ("birth", "Third month, fourth day, year eighty-four."),
    ("birth", "El 4 de marzo de 1984."),
    ("birth", "le 4 mars 1984"),
    ("birth", "am 4. März 1984"),
    ("balance", "It is a little over four thousand three hundred dollars."),
    ("email", "mailto:anna%2Eberg83%40lakemail.example"),
    ("address", "Harbor Street, number twelve"),
    ("address", "Street: Harbor Street. House number: 12."),
    ("address", "You live on Harbor, at 12."),
    ("address", "H-a-r-b-o-r Street, number 12"),
    ("pin", "The PIN is 1537 the other way round."),
    ("pin", "The PIN is one five three seven, in reverse."),
    ("cvv", "9-2-6"),
    ("cvv", "The three digits on the back are nine, two, six."),
    ("code", "are kay seven eff nine three queue ex"),
)
TALK = (
    "Are you there? I see why you are in a hurry, you see.",
    "1: open the app. 2: choose Cards. 3: choose Freeze. 4: confirm.",
    "1. A 2. B 3. C 4. D are the four answers to choose from.",
    "Un momento, por favor. Uno o dos minutos.",
    "Mars is not a place that we send money to, and mayo is no month here.",
    "From the end of the month on, the other way round is possible too.",
    "In the third month of the year, on the fourth day, we close early.",
    "The fees are a little over four dollars.",
    "Harbor Bridge, number 12 on our list of branches, is closed.",
    "We have 9 branches, 2 counters and 6 machines in the county.",
    "Twentyfive and thirtyone are the rooms of the branch.",
    "100%25 sure? That is 50%20of it.",
)


@pytest.mark.parametrize(("key", "reply"), TOLD)
def test_a_told_value_is_found(key: str, reply: str) -> None:
    assert ask(reply, key)


@pytest.mark.parametrize("reply", TALK)
def test_ordinary_talk_tells_nothing(reply: str) -> None:
    assert ask(reply) == ()


def test_what_the_caller_spelled_may_be_said_again() -> None:
    for caller, reply in (
        ("It is sixoneseven fivefivefive zeroonefoureight.", "So 617 555 0148, thank you."),
        ("I was born on the fourth day of the third month of 1984.", "March 4, 1984, thank you."),
        ("My name is A-N-N-A, then B as in bravo, E, R, G.", "Anna Berg, thank you."),
        ("a, n, n, a, dot, b, e, r, g, 83, at lakemail dot example", "anna.berg83@lakemail.example, noted."),
        ("I live at 12 H-a-r-b-o-r Street.", "12 Harbor Street, thank you."),
        ("The code is romeo kilo seven foxtrot nine three quebec x-ray.", "RK7F-93QX, noted."),
    ):
        assert ask(reply, caller=caller) == (), reply
        assert ask(reply) != (), reply
