"""Measures: amounts of money, periods and shares, whatever words and units they are told in.

"$1,000.00 or more", "a thousand dollars" and "1k" say the same amount; "24 hours", "24h" and "one day" the same
period; "80 percent" and "80 %" the same share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from harness.text.normal import Normal, normalise

_UNITS: Final[dict[str, tuple[str, int]]] = {
    "second": ("seconds", 1), "sec": ("seconds", 1), "minute": ("seconds", 60), "min": ("seconds", 60),
    "hour": ("seconds", 3600), "hr": ("seconds", 3600), "h": ("seconds", 3600), "day": ("seconds", 86400),
    "week": ("seconds", 604800), "month": ("months", 1), "year": ("months", 12), "percent": ("percent", 1),
    "per cent": ("percent", 1), "%": ("percent", 1),
}  # fmt: skip
_UNIT = "|".join(sorted(_UNITS, key=lambda unit: -len(unit)))
_QUANTITY = re.compile(
    rf"(?<![\d.,$])(?P<number>\d{{1,6}}(?:\.\d+)?)[\s-]?(?P<kind>business |working |calendar )?(?P<unit>{_UNIT})"
    r"(?:s|'s)?(?![a-z])"
)
# "a day" is how often as well as how long, and is left alone
_ARTICLE = re.compile(r"\b(?P<share>half an?|(?:a )?quarter of an|an) (?P<unit>hour|day|year)\b(?!')")
_SHARES: Final = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "an": Decimal(1)}
_BARE = re.compile(r"(?<![\d.,$])0\.\d{1,4}(?![\d%])")
_FRAME = re.compile(
    r"\b(?:or more|or less|or longer|within|the|last|above|over|below|under|at least|at most|more than|less than|"
    r"calendar|up to|first)\b|[\s.,]+"
)
_LIMIT_BEFORE = re.compile(
    r"\b(?:above|over|exceed\w*|reach\w*|below|under|at least|at most|up to|more than|less than|beyond|short of|"
    r"maximum(?: of| is)?|minimum(?: of| is)?|limit(?: of| is)?|threshold(?: of| is)?|starts? at|begins? at|"
    r"amounts to|(?:payment|transfer|amount|sum)s of|than)\s*$"
)
_LIMIT_AFTER = re.compile(
    r"^\s*(?:dollars?\s*)?(?:or (?:more|less|above|over|higher|lower|below|longer|older)|and (?:up|above|over|more)|"
    r"up(?:wards?)?\b|on\b|onwards?|is (?:the|our) (?:limit|threshold|line|mark)|mark\b|threshold\b|limit\b|line\b)"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """How much of what.

    Attributes
    ----------
    value
        The number, in `unit`.
    unit
        ``cents``, ``seconds``, ``months``, ``percent``, ``business days``, or nothing for a bare fraction.
    """

    value: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class MeasureMention:
    """A measure found in a text.

    Attributes
    ----------
    span
        Start and end in ``Normal.rendered``.
    """

    measure: Measure
    span: tuple[int, int]


def find_measures(text: Normal) -> tuple[MeasureMention, ...]:
    """Return the measures that a text tells, in its order; marked amounts of money only."""
    rendered = text.rendered
    found = [
        MeasureMention(Measure(Decimal(amount.cents), "cents"), amount.span)
        for amount in text.amounts
        if amount.is_marked
    ]
    for match in _QUANTITY.finditer(rendered):
        unit, factor = _UNITS[match["unit"]]
        if match["kind"] in ("business ", "working "):
            unit, factor = "business days", 1
        found.append(MeasureMention(Measure(Decimal(match["number"]) * factor, unit), match.span()))
    for match in _ARTICLE.finditer(rendered):
        unit, factor = _UNITS[match["unit"]]
        share = next(share for word, share in _SHARES.items() if word in match["share"].split())
        found.append(MeasureMention(Measure(share * factor, unit), match.span()))
    fractions = [mention for mention in found if _BARE.fullmatch(rendered[slice(*mention.span)].strip())]
    found = [mention for mention in found if mention not in fractions]
    found += [MeasureMention(Measure(Decimal(match.group()), ""), match.span()) for match in _BARE.finditer(rendered)]
    return tuple(sorted(found, key=lambda mention: mention.span))


def sole_measure(value: str) -> Measure | None:
    """Return the measure that a value is, if it says nothing beside it ("within the last 72 hours")."""
    text = normalise(value)
    mentions = find_measures(text)
    if len(mentions) != 1:
        return None
    start, end = mentions[0].span
    rest = f"{text.rendered[:start]} {text.rendered[end:]}"
    return mentions[0].measure if not _FRAME.sub("", rest) else None


def is_limit(text: Normal, mention: MeasureMention) -> bool:
    """Return whether an amount is told as a limit ("from $1,000 on"), and not as what something costs or holds."""
    start, end = mention.span
    before, after = text.rendered[max(0, start - 30) : start], text.rendered[end : end + 30]
    return _LIMIT_BEFORE.search(before) is not None or _LIMIT_AFTER.search(after) is not None
