"""Twins: one flip apart from their attack, and exactly on the boundary where the flip is a number or a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from dateutil.relativedelta import relativedelta

from domains.kit.clock import is_offset, parse_day, parse_moment
from domains.kit.errors import SetupError
from harness.checks.case import Case, Entry
from harness.checks.playing import Rehearsal
from harness.errors import ScenarioError
from harness.problem import Problem
from harness.scenario.files import parse_scenario, patch_twin
from harness.scenario.instance import instantiate
from harness.scenario.model import Flip, Kind, Scenario, Tier, TwinPatch

_TIME_OFFSET: Final = re.compile(r"(?P<sign>-?)P(?:(\d+)D)?T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
_MONTH: Final = re.compile(r"[12]\d{3}-(?:0[1-9]|1[0-2])")


def check_pairs(entries: Sequence[Entry]) -> Iterator[Problem]:
    """Every attack has exactly one twin."""
    twins: dict[str, list[str]] = {}
    for entry in entries:
        if entry.scenario.twin_of is not None:
            twins.setdefault(entry.scenario.twin_of, []).append(entry.scenario.id)
    for entry in entries:
        found = twins.get(entry.scenario.id, [])
        if entry.scenario.kind is Kind.ATTACK and len(found) != 1 and not (entry.is_half_read and not found):
            yield entry.problem(
                "/id", "exactly one twin of this attack", ", ".join(found) or "none", "Write one file with twin_of."
            )


def check_flip(case: Case) -> Iterator[Problem]:
    """The flip is a stored field or an earlier beat: attack and twin ask for the same thing in the end."""
    if case.scenario.flip is None:
        return
    parts = case.scenario.flip.path.split("/")
    beat = case.attack.caller.script.beats.get(parts[4]) if parts[1] == "caller" and len(parts) > 4 else None
    if beat is not None and beat.decision_point:
        yield case.problem(
            "/flip/path",
            "a stored field or an earlier beat",
            "the beat of the decision point",
            "Flip what comes before it.",
        )


def check_boundary(case: Case) -> Iterator[Problem]:
    """A twin that flips a number or a time sits on the last permitted value: one unit further, a rule fires."""
    flip, rules = case.scenario.flip, case.house.domain.rules
    bounded = any(rules[rule_id].parameters for rule_id in case.scenario.rules if rule_id in rules)
    if flip is None or case.scenario.tier is not Tier.SINGLE_CONTROL or not bounded:
        return
    neighbours = list(_neighbours(flip.to, case))
    if neighbours and not any(_fires(case, value) for value in neighbours):
        yield case.problem(
            "/flip/to",
            "the last permitted value: one unit further, a rule of the scenario fires",
            repr(flip.to),
            f"None fires at {', '.join(map(repr, neighbours))}. Move the value to the boundary.",
        )


def _fires(case: Case, value: Any) -> bool:
    """Play the twin with its flip moved to `value` and tell whether a rule of the scenario fires."""
    scenario = case.scenario
    if scenario.flip is not None and value == value_at(_raw(case.attack), scenario.flip.path):
        # One unit further lies the attack itself, whose rules are seen to fire when it is played.
        return True
    moved = TwinPatch(
        schema_version=1,
        id=scenario.id,
        kind="twin",
        twin_of=case.attack.id,
        flip=Flip(path=scenario.flip.path if scenario.flip else "", to=value),
        expect=scenario.expect,
    )
    file = Path(case.file)
    try:
        raw = patch_twin(_raw(case.attack), moved, file)
        instance = instantiate(parse_scenario(raw, file), case.house.domain, case.instance.seed)
    except (ScenarioError, SetupError):
        # The value one unit further may not be one that the domain can hold (a negative count): no boundary there.
        return False
    observed = Rehearsal(case.house, instance).observed()
    return any(finding.rule_id in scenario.rules for seen in observed for finding in seen.fired)


def _raw(scenario: Scenario) -> dict[str, Any]:
    return scenario.model_dump(mode="json", by_alias=True, exclude_none=True)


def value_at(document: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer, or None if there is none."""
    for part in pointer[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def _neighbours(value: Any, case: Case) -> Iterator[Any]:
    """Yield the values one unit to either side: a cent or a count, a second of an elapsed time, a day, a month."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        elapsed = _TIME_OFFSET.fullmatch(value)
        if elapsed is not None:
            days, hours, minutes, seconds = (int(part or 0) for part in elapsed.groups()[1:])
            total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
            yield from (f"{elapsed['sign']}PT{total + step}S" for step in (1, -1) if total + step >= 0)
        elif _MONTH.fullmatch(value):
            first = date.fromisoformat(f"{value}-01")
            yield from (f"{first + relativedelta(months=step):%Y-%m}" for step in (1, -1))
        elif is_offset(value) or _is_day(value):
            # A day or a moment column may stand behind the field; the form that does not fit it is refused there.
            moment = None if _is_day(value) else parse_moment(value, case.instance.now, case.house.domain.zone)
            day = parse_day(value, case.instance.now, case.house.domain.zone)
            for step in (timedelta(days=1), timedelta(days=-1)):
                yield (day + step).isoformat()
                if moment is not None:
                    yield (moment + step).isoformat()


def _is_day(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
