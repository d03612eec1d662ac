"""How a judge words its verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.verdict import Feeds, Stage, Standing, Verdict


@dataclass(frozen=True, slots=True)
class Rulings:
    """Makes the verdicts of one judge.

    Attributes
    ----------
    judge
        The judge's name.
    stage
        The stage of its checks.
    """

    judge: str
    stage: Stage = Stage.DETERMINISTIC

    def passed(self, check: str, feeds: Feeds, reason: str, events: Iterable[int] = ()) -> Verdict:
        """Return a pass."""
        return self._verdict(check, feeds, Standing.PASS, reason, events)

    def failed(self, check: str, feeds: Feeds, reason: str, events: Iterable[int] = ()) -> Verdict:
        """Return a fail."""
        return self._verdict(check, feeds, Standing.FAIL, reason, events)

    def ungraded(self, check: str, feeds: Feeds, reason: str, events: Iterable[int] = ()) -> Verdict:
        """Return that the check could not be decided; the reason says what is missing."""
        return self._verdict(check, feeds, Standing.UNGRADED, reason, events)

    def _verdict(self, check: str, feeds: Feeds, standing: Standing, reason: str, events: Iterable[int]) -> Verdict:
        return Verdict(
            check=check,
            stage=self.stage,
            feeds=feeds,
            standing=standing,
            reason=reason,
            events=tuple(dict.fromkeys(events)),
            judge=self.judge,
        )
