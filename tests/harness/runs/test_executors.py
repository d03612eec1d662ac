"""Executors: every result once, whatever happens to a task; and nothing goes on once nobody asks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from harness.runs import executors
from harness.runs.executors import Executor, Lost, Processes, Serial, Threads

EXECUTORS = {
    "serial": Serial(),
    "processes": Processes(3),
    "threads": Threads(3),
    "threads of processes": Processes(5, 2),
}


def twice(task: int) -> Iterator[int]:
    yield task
    yield -task


def failing(task: int) -> Iterator[int]:
    yield task
    if task == 2:
        raise LookupError("two")


def dying(task: int) -> Iterator[int]:
    yield task
    if task % 2:
        os._exit(7)


def leaving(task: int) -> Iterator[int]:
    yield task
    sys.exit("enough")


def meeting(task: Path) -> Iterator[bool]:
    """Wait until four of a kind are there at once."""
    task.touch()
    deadline = time.monotonic() + 30
    while len(list(task.parent.iterdir())) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    yield len(list(task.parent.iterdir())) == 4


def dying_after_others_began(task: int) -> Iterator[int]:
    yield task
    time.sleep(0.2)
    if task == 2:
        os._exit(7)


def lingering(task: int) -> Iterator[int]:
    threading.Thread(target=time.sleep, args=(60,)).start()
    yield task


def marking(task: str) -> Iterator[str]:
    yield "began"
    time.sleep(0.5)
    Path(task).touch()


def asking_about_control_c(task: int) -> Iterator[tuple[bool, bool]]:
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    is_held_back = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield is_ignored, is_held_back


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_every_result_comes_once(executor: Executor) -> None:
    found = list(executor.run(twice, range(1, 8), Event()))
    assert sorted(found) == sorted([*range(1, 8), *range(-7, 0)])
    for task in range(1, 8):
        assert found.index(task) < found.index(-task)
    assert list(executor.run(twice, [], Event())) == []


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_a_task_that_fails_is_reported_and_the_others_go_on(executor: Executor) -> None:
    found = list(executor.run(failing, range(5), Event()))
    assert sorted(item for item in found if isinstance(item, int)) == [0, 1, 2, 3, 4]
    assert [item for item in found if isinstance(item, Lost)] == [Lost(2, "LookupError: two")]


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_a_task_that_asks_python_to_exit_is_reported(executor: Executor) -> None:
    found = list(executor.run(leaving, range(3), Event()))
    assert sorted(str(item) for item in found if isinstance(item, Lost)) == [
        str(Lost(task, "SystemExit: enough")) for task in range(3)
    ]


def test_processes_have_as_many_tasks_at_a_time_as_there_are_workers(tmp_path: Path) -> None:
    tasks = [tmp_path / str(number) for number in range(4)]
    assert list(Processes(4, 2).run(meeting, tasks, Event())) == [True] * 4


def test_a_process_that_dies_loses_what_its_threads_had_in_hand_and_is_replaced() -> None:
    found = list(Processes(4, 2).run(dying_after_others_began, range(12), Event()))
    lost = [item for item in found if isinstance(item, Lost)]
    assert 1 <= len(lost) <= 2
    assert 2 in {item.task for item in lost}
    assert {item.reason for item in lost} == {"the worker process ended in the middle of it (exit status 7)"}
    assert {item.task if isinstance(item, Lost) else item for item in found} == set(range(12))


def test_no_further_task_begins_once_an_end_is_asked_for() -> None:
    stop = Event()
    found = []
    for item in Processes(4, 2).run(twice, range(1, 100), stop):
        stop.set()
        found.append(item)
    begun = {item for item in found if isinstance(item, int) and item > 0}
    assert sorted(map(str, found)) == sorted(map(str, (*begun, *(-task for task in begun))))
    assert 4 <= len(begun) < 50


def test_workers_that_die_are_replaced() -> None:
    found = list(Processes(2).run(dying, range(8), Event()))
    lost = [item for item in found if isinstance(item, Lost)]
    assert sorted(item.task for item in lost) == [1, 3, 5, 7]
    assert {item.reason for item in lost} == {"the worker process ended in the middle of it (exit status 7)"}
    assert sorted(item for item in found if isinstance(item, int)) == list(range(8))


def test_workers_end_when_nobody_asks_for_more(tmp_path: Path) -> None:
    results = Processes(2).run(marking, [str(tmp_path / "a"), str(tmp_path / "b")], Event())
    assert next(results) == "began"
    results.close()
    time.sleep(0.7)
    assert list(tmp_path.iterdir()) == []


def telling_who(task: int) -> Iterator[tuple[int, int]]:
    time.sleep(0.01)
    yield os.getpid(), task


def test_each_worker_has_neighbouring_tasks_until_it_helps_others() -> None:
    tasks_of: dict[int, list[int]] = {}
    for result in Processes(3).run(telling_who, range(12), Event()):
        assert not isinstance(result, Lost)
        tasks_of.setdefault(result[0], []).append(result[1])
    assert sorted(tasks[0] for tasks in tasks_of.values()) == [0, 4, 8]
    assert sorted(task for tasks in tasks_of.values() for task in tasks) == list(range(12))
    for tasks in tasks_of.values():
        own = [task for task in tasks if task // 4 == tasks[0] // 4]
        assert own == sorted(own)


def test_workers_that_do_not_go_are_made_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_GRACE_S", 0.1)
    started = time.monotonic()
    assert sorted(map(str, Processes(2).run(lingering, range(4), Event()))) == ["0", "1", "2", "3"]
    assert time.monotonic() - started < 30


def test_workers_leave_control_c_to_their_parent() -> None:
    assert list(Processes(2).run(asking_about_control_c, range(3), Event())) == [(True, False)] * 3
    assert list(Serial().run(asking_about_control_c, [0], Event())) == [(False, False)]
