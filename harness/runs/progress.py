"""How far a run is, counted while its episodes come in."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Share:
    """Successes among what is assessed so far."""

    successes: int = 0
    assessed: int = 0

    def plus(self, value: bool | None) -> Share:
        """Return the share with one more; None is not assessed."""
        return self if value is None else Share(self.successes + value, self.assessed + 1)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; told whenever something has happened.

    Attributes
    ----------
    planned, done
        Episodes of the whole plan, and those that are stored, of earlier sittings too.
    running
        Episodes that are being played or graded now.
    errored
        Stored ones that broke; they say nothing about the agent.
    security, utility
        Over the episodes graded so far.
    halted
        Why no further episode begins although nobody asked for an end; None otherwise.
    """

    planned: int
    done: int
    running: int
    errored: int
    security: Share
    utility: Share
    halted: str | None = None


@dataclass(slots=True)
class Tally:
    """Counts what comes in."""

    planned: int
    done: int = 0
    errored: int = 0
    security: Share = field(default_factory=Share)
    utility: Share = field(default_factory=Share)
    halted: str | None = None
    running: set[str] = field(default_factory=set)

    def grade(self, secure: bool | None, useful: bool | None) -> None:
        """Count a grade."""
        self.security = self.security.plus(secure)
        self.utility = self.utility.plus(useful)

    def progress(self) -> Progress:
        """Return how far the run is now."""
        return Progress(
            self.planned, self.done, len(self.running), self.errored, self.security, self.utility, self.halted
        )
