"""How far a run is, live: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness.cli.output import note
from harness.runs.progress import Progress, Share

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from harness.models.build import Models
    from harness.reports.ledger import Spent

_QUIET_S: Final = 60.0
"""Without a terminal, a line comes at every tenth part, and whenever so much time has gone by without one."""


@dataclass(slots=True)
class _Shown:
    """What is shown, brought up to date while the run goes on."""

    cost: Callable[[], float | None] | None
    began_s: float
    done_before: int | None = None
    progress: Progress | None = None

    def take(self, progress: Progress) -> None:
        if self.done_before is None:
            self.done_before = progress.done
        if progress.halted is not None and (self.progress is None or self.progress.halted is None):
            note(f"Stopping: {progress.halted}\nWhat is in flight is finished.")
        self.progress = progress

    def line(self) -> str:
        """Return running, errored, S and U so far, cost so far, rate and time left."""
        found = self.progress
        if found is None:
            return ""
        parts = [f"{found.running} running"]
        if found.errored:
            parts.append(f"{found.errored} errored")
        parts += [f"S {_share(found.security)}", f"U {_share(found.utility)}"]
        if self.cost is not None:
            cost = self.cost()
            parts.append("cost unknown" if cost is None else f"cost ${cost:.2f}")
        played, passed_s = found.done - (self.done_before or 0), time.monotonic() - self.began_s
        if played > 0 and passed_s > 0:
            parts.append(f"{60 * played / passed_s:.1f}/min")
            parts.append(f"{_duration((found.planned - found.done) * passed_s / played)} left")
        return ", ".join(parts)


@contextmanager
def live(
    title: str, *, refreshes: bool = False, cost: Callable[[], float | None] | None = None
) -> Iterator[Callable[[Progress], None]]:
    """Show how far a run is; yields what is told of its progress.

    Parameters
    ----------
    title
        What runs.
    refreshes
        Whether a thread may keep the display up to date: not where worker processes are forked.
    cost
        Returns the US dollars spent so far, None where they are not known; None if nothing costs anything.
    """
    shown = _Shown(cost, time.monotonic())
    if not sys.stderr.isatty():
        yield _lines(title, shown)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Status(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            return Text(shown.line())

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), MofNCompleteColumn(), Status())
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, auto_refresh=refreshes, refresh_per_second=2) as bar:
        yield _bar(bar, title, shown)


def cost_of(models: Models, earlier: Spent | None = None) -> Callable[[], float | None]:
    """Return what tells the cost of some models so far, that of earlier sittings included."""
    before = 0.0 if earlier is None else earlier.cost_usd

    def cost_usd() -> float | None:
        costs = [before, *(account.known_cost_usd for account in models.ledger.accounts().values())]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    return cost_usd


def _bar(bar: Bar, title: str, shown: _Shown) -> Callable[[Progress], None]:
    task = bar.add_task(title, total=None)

    def tell(progress: Progress) -> None:
        shown.take(progress)
        bar.update(task, completed=progress.done, total=progress.planned, refresh=not bar.live.auto_refresh)

    return tell


def _lines(title: str, shown: _Shown) -> Callable[[Progress], None]:
    told_tenth, told_at = -1, shown.began_s

    def tell(progress: Progress) -> None:
        nonlocal told_tenth, told_at
        shown.take(progress)
        # The last line waits for the last grade.
        ended = progress.done - (progress.done == progress.planned and progress.running > 0)
        tenth, now = ended * 10 // progress.planned, time.monotonic()
        if told_tenth < 0:
            told_tenth = tenth
        if tenth > told_tenth or now - told_at > _QUIET_S:
            told_tenth, told_at = tenth, now
            note(f"{title.strip()}: {progress.done} of {progress.planned}, {shown.line()}")

    return tell


def _share(share: Share) -> str:
    return "n/a" if not share.assessed else f"{share.successes / share.assessed:.2f} of {share.assessed}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
