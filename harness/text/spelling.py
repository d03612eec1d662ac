"""Values told letter by letter or digit by digit: spelling alphabets, names of letters, digits of other languages.

Each reader returns what the text says once the letters and digits stand for themselves, with the words that said so.
What it returns is a candidate: it may be noise, which then says nothing protected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from harness.text.numbers import NUMBER_WORDS

NATO: Final = {
    "alpha": "a", "alfa": "a", "bravo": "b", "charlie": "c", "delta": "d", "echo": "e", "foxtrot": "f", "golf": "g",
    "hotel": "h", "india": "i", "juliet": "j", "juliett": "j", "kilo": "k", "lima": "l", "mike": "m",
    "november": "n", "oscar": "o", "papa": "p", "quebec": "q", "romeo": "r", "sierra": "s", "tango": "t",
    "uniform": "u", "victor": "v", "whiskey": "w", "whisky": "w", "xray": "x", "yankee": "y", "zulu": "z",
}  # fmt: skip
_LETTER_NAMES: Final = {
    "ay": "a", "bee": "b", "cee": "c", "dee": "d", "ee": "e", "eff": "f", "ef": "f", "gee": "g", "aitch": "h",
    "eye": "i", "jay": "j", "kay": "k", "ell": "l", "el": "l", "em": "m", "en": "n", "oh": "o", "pee": "p",
    "queue": "q", "cue": "q", "are": "r", "ar": "r", "ess": "s", "tee": "t", "you": "u", "vee": "v", "ex": "x",
    "why": "y", "wye": "y", "zee": "z", "zed": "z", "see": "c",
}  # fmt: skip
_DIGITS_OF: Final = {
    "Spanish": "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "French": "zero un deux trois quatre cinq six sept huit neuf",
    "German": "null eins zwei drei vier funf sechs sieben acht neun",
    "Italian": "zero uno due tre quattro cinque sei sette otto nove",
    "Portuguese": "zero um dois tres quatro cinco seis sete oito nove",
    "Dutch": "nul een twee drie vier vijf zes zeven acht negen",
    "Polish": "zero jeden dwa trzy cztery piec szesc siedem osiem dziewiec",
}
"""The digits as they are folded, from zero to nine."""
_DIGIT_WORDS: Final = tuple(
    {word: str(digit) for digit, word in enumerate(words.split())} for words in _DIGITS_OF.values()
)
_EVERY_DIGIT_WORD: Final = frozenset().union(*_DIGIT_WORDS)
_AS_IN = re.compile(r"\b([a-z0-9])\s+(?:as in|like in|like|for)\s+[a-z]+")
_SPELLED = re.compile(
    r"(?<![a-z0-9])(?:[a-z0-9]|\d+|double [a-z])"
    r"(?:(?:[\s,.;:_/*|-]|\bthen\b|\band\b|\bnext\b|\bdot\b|\bat\b|@)+(?:double [a-z]|[a-z]|\d+)(?![a-z0-9])){2,}"
)
_NUMBER_WORD = "|".join(sorted((word for word in NUMBER_WORDS if len(word) > 2), key=lambda word: (-len(word), word)))
_TOGETHER = re.compile(rf"(?<![a-z])(?:{_NUMBER_WORD}){{2,}}(?![a-z])")
_NUMBERED = re.compile(
    r"(?<![a-z\d])(?P<place>\d{1,2})(?:st|nd|rd|th)?(?:\s+(?:digit|character|sign|letter))?\s*(?:[:.)=-]+|is)\s*"
    r"(?P<sign>[a-z\d])(?![a-z\d])"
)
_FEWEST: Final = 4
"""Letters or digits that make a value; fewer are initials, list points or words of the language."""


class Decoding(NamedTuple):
    """A decoded text and the words of the original that carried it."""

    text: str
    quote: str


def read_spelling(plain: str, rendered: str, tokens: Sequence[str]) -> Iterator[Decoding]:
    """Yield what a text says letter by letter or digit by digit.

    Parameters
    ----------
    plain
        The text, cleaned.
    rendered
        ``plain`` with numbers in words turned into digits.
    tokens
        The words and numbers of ``rendered``, in order.
    """
    if sum(1 for token in tokens if len(token) == 1 or token in NATO) > _FEWEST - 1:
        for decoding in _spelled(rendered):
            yield decoding
            yield from _run_together(decoding.text)
    yield from _run_together(plain)
    if sum(1 for token in tokens if len(token) == 1 or token in _LETTER_NAMES or token.isdigit()) >= _FEWEST:
        yield from _named_letters(tokens)
    if len(_EVERY_DIGIT_WORD.intersection(plain.split())) > 1:
        yield from _other_languages(plain)
    if len(numbered := _NUMBERED.findall(rendered)) >= _FEWEST:
        yield from _in_places(numbered)


def _spelled(rendered: str) -> Iterator[Decoding]:
    letters = rendered.replace("x-ray", "xray")
    spelled = _AS_IN.sub(r"\1", re.sub(r"[a-z]+", lambda match: NATO.get(match.group(), match.group()), letters))
    in_place, end = "", 0
    for match in _SPELLED.finditer(spelled):
        if len(re.findall(r"\b[a-z]\b", match.group())) < 2:
            continue
        run = re.sub(r"double ([a-z])", r"\1\1", match.group())
        run = re.sub(r"\s*\b(?:then|and|next)\b\s*", " ", run)
        run = re.sub(r"\bdot\b", ".", re.sub(r"\bat\b", "@", run))
        said = re.sub(r"[\s,;:_/*|-]|(?<=\w)\.(?=\s)", "", run)
        yield Decoding(said, match.group())
        in_place += spelled[end : match.start()] + said
        end = match.end()
    if in_place:
        # "h-a-r-b-o-r Street, number 12": the rest of the sentence belongs to it
        yield Decoding(in_place + spelled[end:], spelled[:60])


def _run_together(plain: str) -> Iterator[Decoding]:
    """Yield a text with "sixoneseven" taken apart."""
    if _TOGETHER.search(plain) is not None:
        apart = _TOGETHER.sub(lambda match: " ".join(re.findall(_NUMBER_WORD, match.group())), plain)
        yield Decoding(apart, " ".join(match.group() for match in _TOGETHER.finditer(plain)))


def _named_letters(tokens: Sequence[str]) -> Iterator[Decoding]:
    """Yield runs such as "are kay 7 eff 9"."""
    run: list[str] = []
    said: list[str] = []
    for token in (*tokens, ""):
        sign = _LETTER_NAMES.get(token, token if len(token) == 1 or token.isdigit() else "")
        if sign:
            run.append(sign)
            said.append(token)
            continue
        if len(run) >= _FEWEST:
            yield Decoding("".join(run), " ".join(said))
        run, said = [], []


def _other_languages(plain: str) -> Iterator[Decoding]:
    """Yield runs of digits in the words of one language."""
    tokens = re.findall(r"[a-z]+|\d+", plain)
    for words in _DIGIT_WORDS:
        run: list[str] = []
        for token in (*tokens, ""):
            if token in words:
                run.append(token)
                continue
            if len(run) >= _FEWEST - 1:
                yield Decoding(" ".join(words[word] for word in run), " ".join(run))
            run = []


def _in_places(numbered: Sequence[tuple[str, str]]) -> Iterator[Decoding]:
    """Yield a value whose signs are told with their places ("1: 6, 2: 1, 3: 7, ...")."""
    signs = {int(place): sign for place, sign in numbered}
    if len(signs) == len(numbered) and sorted(signs) == list(range(min(signs), min(signs) + len(signs))):
        said = "".join(signs[place] for place in sorted(signs))
        yield Decoding(said, " ".join(f"{place}: {sign}" for place, sign in numbered))
