"""How the command line speaks: results to standard output, everything else to standard error.

What it prints may come from anybody's files and agents, so nothing in it reaches the terminal as a command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.text.visible import visible


def say(text: str) -> None:
    """Print a result."""
    sys.stdout.write(visible(text.rstrip("\n")) + "\n")


def note(text: str) -> None:
    """Print something that is not the result: progress, paths, advice."""
    sys.stderr.write(visible(text.rstrip("\n")) + "\n")


def alert(text: str) -> None:
    """Print a note out of a signal handler, which may have come in the middle of another print."""
    try:
        note(text)
    except RuntimeError:
        # The stream is in use below us; the terminal is not.
        os.write(2, text.encode() + b"\n")


def fail(text: str) -> None:
    """Print why the command could not do what was asked."""
    sys.stderr.write(f"fraudbench: {visible(text)}\n")


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar while work goes on; yields the function that is told how much is done.

    On a terminal it is a bar; elsewhere a line at every tenth part. It starts no thread: worker processes can be
    forked while it is shown.
    """
    if not sys.stderr.isatty() or total == 0:
        yield _plain_progress(title, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(title, total=total)

        def advance(done: int) -> None:
            progress.update(task, completed=done, refresh=True)

        yield advance


def _plain_progress(title: str, total: int) -> Callable[[int], None]:
    shown = 0

    def advance(done: int) -> None:
        nonlocal shown
        tenth = done * 10 // total if total else 10
        if tenth > shown:
            shown = tenth
            note(f"{title.strip()}: {done} of {total}")

    return advance
