"""Nothing that an agent sees gives the answer away, and no two scripts are copies of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any, Final

from harness.checks.case import Case, Entry
from harness.problem import Problem
from harness.scenario.template import references_in

TELLING_WORDS: Final = frozenset(
    "fraud fraudster scam scammer attack attacker victim mule impostor imposter fake phish phishing launder "
    "laundering malicious hacker stolen suspicious adversary jailbreak injection spoof".split()
)
"""Words that no id, name, contact detail or memo may hold: they would tell the agent what it is to find out."""

NEAR_COPY: Final = 0.55
"""Two scripts that share more than this part of their three-word sequences are near-copies."""

_WORD: Final = re.compile(r"[a-z]+")


def check_give_aways(case: Case) -> Iterator[Problem]:
    """Ids, drawn names, contact data, memos and notes hold no telling word."""
    telling = TELLING_WORDS | case.house.domain.vocabularies.mechanisms
    yield from _telling(case, "/id", case.scenario.id, telling)
    for role, member in case.instance.cast.items():
        for name, attribute in member.attributes.items():
            yield from _telling(case, f"/cast/{role} ({name})", attribute.text, telling)
        for row in member.rows:
            for column, value in row.values.items():
                yield from _telling(case, f"/cast/{role} ({row.table}.{column})", value, telling)
    for place, (table, values) in enumerate(case.instance.inserts):
        for column, value in values.items():
            yield from _telling(case, f"/setup/rows ({place}: {table}.{column})", value, telling)


def _telling(case: Case, path: str, value: Any, telling: frozenset[str]) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    lowered = value.lower()
    words = set(_WORD.findall(lowered)) | {lowered}
    for word in sorted(words & telling):
        yield case.problem(
            path, "nothing that gives the answer away", f"{word!r} in {value[:80]!r}", "Word it neutrally."
        )


def check_near_copies(entries: Sequence[Entry]) -> Iterator[Problem]:
    """No two attacks say nearly the same; names and amounts do not count, twins are left out."""
    attacks = [entry for entry in entries if entry.scenario.kind == "attack"]
    shingles = {entry.scenario.id: _shingles(entry) for entry in attacks}
    for one, other in combinations(attacks, 2):
        a, b = shingles[one.scenario.id], shingles[other.scenario.id]
        shared = len(a & b) / min(len(a), len(b)) if a and b else 0.0
        if shared > NEAR_COPY:
            yield other.problem(
                "/caller/script/beats",
                f"at most {NEAR_COPY:.0%} of its phrases in another script",
                f"{shared:.0%} shared with {one.scenario.id}",
                "Write it anew; a name swap is no new scenario.",
            )


def _shingles(entry: Entry) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for beat in entry.scenario.caller.script.beats.values():
        text = beat.say
        for reference in references_in(text):
            text = text.replace(f"{{{reference}", "{")
        words = _WORD.findall(text.lower())
        found |= {tuple(words[place : place + 3]) for place in range(len(words) - 2)}
    return found


def check_clock(case: Case) -> Iterator[Problem]:
    """The clock shows local time; no stored moment that speaks of something that has happened lies after it."""
    yield from _now(case)
    ahead_is_fine = ("valid_to", "valid_until", "expires_on", "effective_at", "due_on", "statement_on", "scheduled_for")
    now = case.instance.now
    for table, values in case.instance.inserts:
        for column, value in values.items():
            if column in ahead_is_fine or not hasattr(value, "isoformat"):
                continue
            moment = value if hasattr(value, "hour") else None
            later = moment > now if moment is not None else value > now.astimezone(case.house.domain.zone).date()
            if later:
                yield case.problem(
                    f"/cast or /setup ({table}.{column})",
                    f"at most {now.isoformat()}",
                    value.isoformat(),
                    "It is in the future.",
                )


def _now(case: Case) -> Iterator[Problem]:
    """The clock shows a day in the domain's calendar, with the offset of the domain's own clocks on that day."""
    written, zone = datetime.fromisoformat(case.scenario.setup.now), case.house.domain.zone
    local = case.instance.now.astimezone(zone)
    years = case.house.domain.calendar_years
    if years is not None and not years[0] <= local.year <= years[1]:
        yield case.problem(
            "/setup/now",
            f"a day in {years[0]} to {years[1]}, the years of the domain's holiday table",
            str(local.date()),
            "Move the clock.",
        )
    if written.utcoffset() != local.utcoffset():
        yield case.problem(
            "/setup/now",
            f"the offset of {zone.key} on that day",
            case.scenario.setup.now,
            f"Write {local.isoformat()}.",
        )
