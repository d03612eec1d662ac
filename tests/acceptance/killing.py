"""A run with models that is killed at random moments and gone on with, again and again."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

from harness.runs.folder import RunFolder
from tests.acceptance.cli import COMMAND, episodes, grades
from tests.acceptance.provided import in_process
from tests.provider.server import Provider


def start(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_calls(provider: Provider, count: int) -> None:
    """Wait until a provider has had so many calls."""
    end = time.monotonic() + 60
    while len(provider.chats) < count:
        assert time.monotonic() < end, "the run did not get that far"
        time.sleep(0.005)


def kill_again_and_again(provider: Provider, cwd: Path, run: tuple[object, ...], kills: int, *how: object) -> int:
    """Play a run uninterrupted and one that is killed so often, and assert that they end alike.

    Parameters
    ----------
    run
        The command without ``--out`` and ``--resume``.
    kills
        How often; each comes after a random number of further calls, so that about half are made by the last.
    how
        Further options of the runs that are killed.

    Returns
    -------
    int
        Calls that were paid twice: those of episodes in flight at any of the kills.
    """
    in_process(*run, "--out", "whole", cwd=cwd)
    calls = len(provider.chats)
    provider.clear()
    provider.think_s = 0.03
    moments = random.Random(7)
    lost = 0
    for kill in range(kills):
        before = len(provider.chats)
        process = start(*run, *how, "--out", "run", *(["--resume"] if kill else []), cwd=cwd)
        # Once little is left the run may end of itself.
        wanted = before + moments.randint(1, calls // (kills + 1))
        while len(provider.chats) < wanted and process.poll() is None:
            time.sleep(moments.uniform(0.0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        time.sleep(0.2)
        lost = len(provider.chats) - _calls_of_whole_episodes(cwd / "run")
    in_process(*run, "--out", "run", "--resume", cwd=cwd)
    assert episodes(cwd / "run") == episodes(cwd / "whole")
    assert grades(cwd / "run") == grades(cwd / "whole")
    assert len(provider.chats) == calls + lost, "only what was in flight is paid twice"
    return lost


def _calls_of_whole_episodes(run: Path) -> int:
    """Count the calls that will not be made again: those of stored episodes, and of stored grades."""
    if not run.exists():
        return 0
    folder = RunFolder(run)
    stored = {record.episode_id for record in folder.records()}
    graded = {f"{name} (grading)" for name in folder.grades()}
    lines = {line.episode_id: len(line.calls) for line in folder.model_calls()}
    return sum(count for name, count in lines.items() if name in stored | graded)
