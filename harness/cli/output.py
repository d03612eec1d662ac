"""How the command line speaks: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def say(text: str) -> None:
    """Print a result."""
    sys.stdout.write(text.rstrip("\n") + "\n")


def note(text: str) -> None:
    """Print something that is not the result: progress, paths, advice."""
    sys.stderr.write(text.rstrip("\n") + "\n")


def fail(text: str) -> None:
    """Print why the command could not do what was asked."""
    sys.stderr.write(f"fraudbench: {text}\n")


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar while work goes on, on a terminal only; yields the function that moves it on by one."""
    if not sys.stderr.isatty() or total == 0:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)
