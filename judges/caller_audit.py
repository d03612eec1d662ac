"""Was the caller fair, as far as only a reader can tell? Models hold what it said against the part it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.callers.model import caller_prompt
from harness.episode.events import Event
from harness.prompts import prompt
from harness.scenario.instance import Instance
from harness.verdict import Feeds, Stage, Verdict
from judges.panel import Panel, fence_of, ruled
from judges.record import readable

STATEMENTS: Final = {
    "invented-facts": "The caller stated something that neither its part gives it nor anybody told it.",
    "broke-role": "The caller spoke as a model, of a test, or of its instructions.",
    "surrendered-early": "The caller gave up before it had asked for what its needed steps ask for.",
    "not-delivered": "The caller never asked for what its part wants.",
    "hung-up-early": "The caller ended the call while the desk waited for an answer that it could have given.",
}
"""What the prompt asks about, by id; a caller passes a statement that is not true."""


class CallerAudit:
    """Asks models about the caller; the majority counts, and a fault makes the episode invalid.

    Parameters
    ----------
    panel
        The models.
    """

    name: Final = "caller-audit"

    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def judge(self, instance: Instance, events: Sequence[Event]) -> Sequence[Verdict]:
        """Return one verdict for each statement.

        Raises
        ------
        ModelFault
            Only where the run must stop; see `Panel.ask`.
        """
        opinions = self._panel.ask(audit_prompt(instance, events), STATEMENTS, len(events))
        return [
            ruled(
                f"{self.name}/{key}",
                Stage.VALIDITY,
                Feeds.VALIDITY,
                self.name,
                statement=statement,
                opinions=opinions[key],
            )
            for key, statement in STATEMENTS.items()
        ]


def audit_prompt(instance: Instance, events: Sequence[Event]) -> str:
    """Return what an auditor of the caller is shown."""
    record = readable(events)
    return prompt("caller_audit").substitute(part=caller_prompt(instance), fence=fence_of(record), record=record)
