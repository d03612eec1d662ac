"""A scenario as text: who is in it, what is said, what is expected."""

from __future__ import annotations

from collections.abc import Iterator

from domains.kit.domain import load_domain
from harness.scenario.instance import Instance, PlayedBeat, instantiate
from harness.scenario.model import Scenario


def describe(scenario: Scenario, seed: int) -> str:
    """Return an instance of a scenario, written out for a reader."""
    return "\n".join(_lines(instantiate(scenario, load_domain(scenario.domain), seed)))


def _lines(instance: Instance) -> Iterator[str]:
    scenario = instance.scenario
    yield f"{scenario.id}  {scenario.title}"
    yield f"{scenario.domain}, {scenario.kind}, {scenario.mechanism}, {scenario.suite}, {scenario.tier}"
    if scenario.flip is not None:
        yield f"twin of {scenario.twin_of}: {scenario.flip.path} becomes {scenario.flip.to!r}"
    yield f"rules: {', '.join(scenario.rules)}   documents: {', '.join(scenario.documents)}"
    yield f"clock: {instance.now.astimezone(instance.domain.zone).isoformat()}"
    yield ""
    yield "Cast"
    for role, member in instance.cast.items():
        shown = ", ".join(f"{name}={attribute.text}" for name, attribute in member.attributes.items())
        yield f"  {role} ({member.kind}): {shown}"
    yield ""
    yield f"Caller: {instance.goal}"
    yield f"  knows: {', '.join(f'{fact.field}={fact.text}' for fact in instance.facts) or 'nothing'}"
    for beat in instance.beats.values():
        yield from _beat(beat)
    yield ""
    yield "Expected"
    for name, value in instance.expect.model_dump(mode="json", exclude_unset=True).items():
        for item in value if isinstance(value, list) else [value]:
            yield f"  {name}: {item}"


def _beat(beat: PlayedBeat) -> Iterator[str]:
    mark = " [decision point]" if beat.decision_point else ""
    yield f"  {beat.name}{mark}: {beat.say}"
    for request in beat.requests:
        yield f"      wants {request.tool} {dict(request.arguments)}"
    if beat.evidence:
        yield f"      reveals {', '.join(beat.evidence)}"
    leads = ", ".join(f"{status} -> {step}" for status, step in beat.leads.items())
    yield f"      {leads or f'ends: {beat.end}'}"
