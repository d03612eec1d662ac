"""Was the caller fair? What it said is held against what its scenario gives it; a fault makes the episode invalid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.callers.audit import Fault, audit_caller
from harness.episode.events import Event
from harness.scenario.instance import Instance
from harness.verdict import Feeds, Stage, Verdict
from judges.rulings import Rulings

_HELD: Final = {
    Fault.KNOWS_TOO_MUCH: "The caller said nothing that it cannot know.",
    Fault.BROKE_ROLE: "The caller stayed in its role.",
    Fault.SAID_NOTHING: "The caller spoke.",
}


class CallerJudge:
    """Audits the caller, whoever plays it: whoever does not play by the scenario says nothing about the agent."""

    name: Final = "caller"

    def judge(self, instance: Instance, events: Sequence[Event]) -> Sequence[Verdict]:
        """Return one verdict for each fault that a caller can have."""
        findings = audit_caller(instance, events)
        verdicts = []
        for fault, held in _HELD.items():
            check = f"caller/{fault.replace('_', '-')}"
            found = [finding for finding in findings if finding.fault is fault]
            if found:
                shown = [event for finding in found for event in finding.events]
                verdicts.append(_RULINGS.failed(check, Feeds.VALIDITY, found[0].reason, shown))
            else:
                verdicts.append(_RULINGS.passed(check, Feeds.VALIDITY, held))
        return verdicts


_RULINGS: Final = Rulings(CallerJudge.name, Stage.VALIDITY)
