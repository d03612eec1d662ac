"""The caller: nothing beyond its knowledge reaches it, every path ends, and the decision point lies on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.checks.case import Case
from harness.problem import Problem
from harness.scenario.model import Beat, Tier
from harness.scenario.template import references_in

_OPEN_HANDLES = frozenset({"id"})
"""Attributes that give nothing away: a record's id is a handle, and useless without access to the record."""


def check_people(case: Case) -> Iterator[Problem]:
    """Whoever calls, is claimed to call, or owns the app, device or telephone is somebody, not a thing."""
    caller, cast = case.scenario.caller, case.instance.cast
    roles = {"is": caller.is_, "claims_to_be": caller.claims_to_be, "acts_for": caller.acts_for}
    roles |= {"app_as": caller.app_as}
    roles |= {f"devices/{place}": role for place, role in enumerate(caller.devices)}
    roles |= {f"answers_phones/{place}": role for place, role in enumerate(caller.answers_phones)}
    people = ", ".join(sorted(role for role, member in cast.items() if member.subject == role))
    for name, role in roles.items():
        if role is None or role not in cast or cast[role].subject == role:
            continue
        found = f"{role!r}, of the kind {cast[role].kind}"
        yield case.problem(f"/caller/{name}", f"a person or firm of the cast ({people})", found, "Name who it is.")


def check_knowledge(case: Case) -> Iterator[Problem]:
    """Whatever text reaches the caller refers only to what the caller knows or believes."""
    caller = case.scenario.caller
    known = set(caller.knows) | set(caller.believes)
    known |= {f"{role}.text" for role in case.scenario.cast if f"{role}.cents" in known}
    texts = {"/caller/goal": caller.goal, "/caller/instructions": caller.instructions}
    texts |= {f"/caller/does_not_know/{place}": text for place, text in enumerate(caller.does_not_know)}
    for name, beat in caller.script.beats.items():
        texts[f"/caller/script/beats/{name}/say"] = beat.say
        for place, guess in enumerate(beat.guesses):
            texts[f"/caller/script/beats/{name}/guesses/{place}/value"] = guess.value
    for path, text in texts.items():
        for reference in references_in(text):
            field = reference if "." in reference else f"{reference}.text"
            if field in known or reference in known or field.partition(".")[2] in _OPEN_HANDLES:
                continue
            yield case.problem(
                path, "only what /caller/knows or /caller/believes lists", f"{{{reference}}}", "Let the caller know it."
            )


def check_paths(case: Case) -> Iterator[Problem]:
    """Every beat can be reached, every path ends, and both phases lie on every path.

    The flip of a twin may cut beats of its attack off.
    In a surface or single-control scenario the caller may get what it wants before the decision point; everywhere
    else even success leads on.
    """
    script = case.scenario.caller.script
    beats = script.beats
    reached = _reachable(beats, script.start)
    cut_off = () if case.scenario.flip is not None else beats.keys() - reached
    for name in cut_off:
        yield case.problem(
            f"/caller/script/beats/{name}", "a beat that is reached", "no way to it", "Lead to it or drop it."
        )
    for name in sorted(reached):
        if not any(beats[step].end is not None for step in _reachable(beats, name)):
            yield case.problem(f"/caller/script/beats/{name}", "a way to an end", "none", "Add a beat with `end`.")
    skips_success = case.scenario.tier in (Tier.SURFACE, Tier.SINGLE_CONTROL)
    around = _reachable(beats, script.start, avoid_decision=True, skip_success=skips_success)
    for name in sorted(around):
        if beats[name].end is not None:
            yield case.problem(
                f"/caller/script/beats/{name}",
                "the decision point before it on every path",
                "a path around it",
                "Lead every answer to the beat with decision_point first.",
            )
    longest = _longest_path(beats, script.start)
    if longest is not None and script.max_turns < longest:
        yield case.problem(
            "/caller/script/max_turns",
            f"at least {longest}",
            str(script.max_turns),
            "The longest path needs that many.",
        )


def _steps(beat: Beat, *, skip_success: bool = False) -> list[str]:
    if beat.on is None:
        return []
    named = {status: step for status, step in beat.on.model_dump().items() if step is not None}
    if skip_success:
        named.pop("success", None)
    return list(named.values())


def _reachable(
    beats: Mapping[str, Beat], start: str, *, avoid_decision: bool = False, skip_success: bool = False
) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in found or (avoid_decision and beats[name].decision_point):
            continue
        found.add(name)
        waiting += _steps(beats[name], skip_success=skip_success)
    return found


def _longest_path(beats: Mapping[str, Beat], start: str) -> int | None:
    """Return the number of beats on the longest path, or None if the script can go round in a circle."""
    lengths: dict[str, int | None] = {}

    def length(name: str, above: frozenset[str]) -> int | None:
        if name in above:
            return None
        if name not in lengths:
            below = [length(step, above | {name}) for step in _steps(beats[name])]
            lengths[name] = None if None in below else 1 + max((n for n in below if n is not None), default=0)
        return lengths[name]

    return length(start, frozenset())
