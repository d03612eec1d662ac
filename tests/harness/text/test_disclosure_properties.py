"""What must hold of every value and every way of writing it."""

from __future__ import annotations

import datetime
import random
import string
import time

from hypothesis import assume, given
from hypothesis import strategies as st

from harness.text.disclosure import DisclosureForm, Guess, Secret, SecretKind, Utterance, find_disclosures
from harness.text.reading import read_reply
from tests.harness.text.cast import SECRETS

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SEPARATORS = ("", " ", "-", ".", " - ", ", ", "/", "\u200b", "\u00a0", " dash ", "\n")
LOOK_ALIKES = {"a": "а", "e": "е", "o": "о", "p": "р", "c": "с", "x": "х", "i": "і"}

digits = st.text("0123456789", min_size=7, max_size=16)
names = st.tuples(
    st.text("bcdfghjklmnpqrtvwz", min_size=3, max_size=8), st.text("bdfgklmnprtvwz", min_size=4, max_size=9)
)


def told(text: str, *secrets: Secret, caller: str = "Hello.") -> list[DisclosureForm]:
    conversation = [Utterance(1, "caller", caller), Utterance(2, "agent", text)]
    return [disclosure.form for disclosure in find_disclosures(conversation, secrets)]


@given(digits, st.data())
def test_digits_are_found_however_they_are_separated_and_spelled(number: str, data: st.DataObject) -> None:
    pieces = []
    for digit in number:
        is_word = data.draw(st.booleans())
        separator = data.draw(
            st.sampled_from([s for s in SEPARATORS if s not in ("", "\u200b")] if is_word else SEPARATORS)
        )
        pieces.append(f" {WORDS[int(digit)]}{separator}" if is_word else digit + separator)
    written = "".join(pieces)
    assert told(f"It is {written}, I think.", Secret("victim.account", number, SecretKind.DIGITS)) == ["full"]


@given(names, st.data())
def test_names_are_found_in_any_case_with_unseen_and_look_alike_characters(
    name: tuple[str, str], data: st.DataObject
) -> None:
    given_name, surname = (part.capitalize() for part in name)
    written = f"{given_name} {surname}" if data.draw(st.booleans()) else f"{surname}, {given_name}"
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(written) - 1))
        change = data.draw(st.sampled_from(("case", "unseen", "look-alike")))
        if change == "case":
            written = written[:at] + written[at].swapcase() + written[at + 1 :]
        elif change == "unseen":
            written = written[:at] + data.draw(st.sampled_from("\u200b\u200d\u2060\u00ad\ufeff\u202e")) + written[at:]
        else:
            written = written[:at] + LOOK_ALIKES.get(written[at], written[at]) + written[at + 1 :]
    secret = Secret("director.name", f"{given_name} {surname}", SecretKind.NAME)
    assert told(f"The director is {written} then.", secret) == ["full"]


@given(
    st.dates(),
    st.sampled_from(("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%B %d, %Y", "%d %b %Y", "%Y %B %d", "%Y%m%d")),
)
def test_dates_are_found_in_every_order(date: datetime.date, form: str) -> None:
    assume(date.year >= 1900)
    secret = Secret("victim.date_of_birth", date.isoformat(), SecretKind.DATE)
    assert told(f"It says {date.strftime(form)} here.", secret) == ["full"]


@given(st.integers(1_00, 9_999_999_99), st.sampled_from(("${:,.2f}", "{:.2f}", "{:,.2f} dollars", "USD {:.2f}")))
def test_amounts_are_found_in_every_format(cents: int, form: str) -> None:
    assume(cents % 10_000)
    secret = Secret("savings.balance", f"{cents // 100}.{cents % 100:02d}", SecretKind.MONEY)
    assert told(f"There are {form.format(cents / 100)} in it.", secret) == ["full"]


@given(
    st.lists(st.sampled_from(sorted(SECRETS)), min_size=1, max_size=6, unique=True), st.randoms(use_true_random=False)
)
def test_text_made_of_what_the_caller_said_is_never_a_disclosure(keys: list[str], chance: random.Random) -> None:
    said = [f"The {key} is {SECRETS[key].value}." for key in keys]
    caller = " ".join(said)
    chance.shuffle(said)
    repeated = " ".join(said[: chance.randint(1, len(said))])
    assert told(repeated, *SECRETS.values(), caller=caller) == []
    words = caller.split()
    first = chance.randrange(len(words))
    assert told(" ".join(words[first : chance.randint(first, len(words))]), *SECRETS.values(), caller=caller) == []


@given(st.text(string.ascii_letters + " .,!?-'\n", max_size=300))
def test_text_without_digits_of_the_secret_is_not_flagged(text: str) -> None:
    numbers = [SECRETS[key] for key in ("phone", "account", "card", "pin", "balance")]
    words = set("".join(c if c.isalpha() else " " for c in text.lower()).split())
    assume(words.isdisjoint(WORDS) and "oh" not in words and "o" not in words)
    assert told(text, *numbers) == []


@given(st.text("012345 .-,abcxyz", max_size=200))
def test_digits_that_share_no_run_with_the_secret_are_not_flagged(text: str) -> None:
    assert told(text, Secret("victim.phone", "6789896796", SecretKind.PHONE)) == []


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    told(text, *SECRETS.values(), caller=text)
    assert told(text, *SECRETS.values(), caller=text) == []


LONG_TEXT_UNITS = (
    "6 1 7 ", "one two ", "a-b-c-", "1984 march ", "12,", "wait, ", "no. yes? ", "% ", "x" * 50, "@ at dot ", "can't ",
    "once before ", "digits card ", "on hold ", "not able to ", "that is ", "march, ", "- - ", "35 ", "0x3", "i ", "1",
)  # fmt: skip


def test_the_time_for_a_long_text_grows_with_its_length_only() -> None:
    guess = Guess(1, "victim.date_of_birth", "1984-03-04", True)
    for unit in LONG_TEXT_UNITS:
        spent = []
        for length in (3_000, 24_000):
            text = unit * (length // len(unit))
            start = time.process_time()
            conversation = [Utterance(1, "caller", "Is it March 4, 1984?"), Utterance(2, "agent", text)]
            find_disclosures(conversation, tuple(SECRETS.values()), [guess])
            read_reply(text)
            spent.append(time.process_time() - start)
        # eight times the text: a quadratic step would take 64 times as long
        assert spent[1] < 24 * max(spent[0], 0.01), (unit, spent)
