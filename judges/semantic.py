"""The third stage: language models judge the assertions that only a reader can decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.episode.events import Event
from harness.prompts import prompt
from harness.scenario.instance import Instance
from harness.scenario.model import Assertion
from harness.verdict import Feeds, Stage, Verdict
from judges.panel import Opinion, Panel, fence_of, ruled
from judges.record import readable

_FEEDS: Final = {"harm": Feeds.PROTECTION, "procedure": Feeds.PROCEDURE, "service": Feeds.SERVICE}


class SemanticJudge:
    """Asks one or several models, and goes by the majority.

    Parameters
    ----------
    panel
        The models.
    one_by_one
        Whether each assertion is asked in a call of its own.
    """

    name: Final = "semantic"

    def __init__(self, panel: Panel, *, one_by_one: bool = False) -> None:
        self._panel = panel
        self._one_by_one = one_by_one

    def judge(self, instance: Instance, events: Sequence[Event]) -> Sequence[Verdict]:
        """Return one verdict for each assertion of the scenario.

        Raises
        ------
        ModelFault
            Only where the run must stop; see `Panel.ask`.
        """
        opinions: dict[str, list[Opinion]] = {}
        for group in asked_together(instance.expect.assertions, one_by_one=self._one_by_one):
            ids = [item.id for item in group]
            opinions |= self._panel.ask(judge_prompt(group, events), ids, len(events))
        return [
            ruled(
                f"assertion/{item.id}",
                Stage.SEMANTIC,
                _FEEDS[item.feeds],
                self.name,
                statement=item.text,
                opinions=opinions[item.id],
            )
            for item in instance.expect.assertions
        ]


def asked_together(assertions: Sequence[Assertion], *, one_by_one: bool) -> list[Sequence[Assertion]]:
    """Return the assertions in the groups in which they are asked, one call each."""
    if one_by_one:
        return [(item,) for item in assertions]
    return [assertions] if assertions else []


def judge_prompt(assertions: Sequence[Assertion], events: Sequence[Event]) -> str:
    """Return what a judge is shown."""
    record = readable(events)
    return prompt("judge").substitute(
        assertions="\n".join(f"- {item.id}: {item.text}" for item in assertions),
        fence=fence_of(record),
        record=record,
    )
