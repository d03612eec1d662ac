"""The worked pair of tasks/README.md is sound, and breaking any field of it is reported with file and path."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.checks.run import check_library
from harness.cli.grading import grader_for
from harness.errors import ScenarioError
from harness.resources import data_root
from harness.scenario.files import load_library

README = data_root("tasks") / "README.md"


def worked(name: str) -> dict[str, Any]:
    found = re.search(rf"<!-- worked-{name} -->\n```json\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"tasks/README.md has no worked {name}"
    scenario: dict[str, Any] = json.loads(found[1])
    return scenario


def write(folder: Path, attack: dict[str, Any], twin: dict[str, Any]) -> Path:
    (folder / "attack.json").write_text(json.dumps(attack))
    (folder / "twin.json").write_text(json.dumps(twin))
    return folder


def test_the_worked_pair_is_admitted(tmp_path: Path) -> None:
    folder = write(tmp_path, worked("attack"), worked("twin"))
    report = check_library(load_library([folder], lenient=True), data_root("corpus"), grader_for, range(2))
    assert report.problems == ()


def fields(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field of the format; what stands below free-form objects belongs to the domain."""
    free = ("cast", "args", "becomes", "insert", "to", "references")
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "to":
                continue
            yield (*path, key)
            if key not in free:
                yield from fields(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from fields(item, (*path, place))


def broken(scenario: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    """Put a value of a wrong type where the path leads."""
    scenario = copy.deepcopy(scenario)
    target: Any = scenario
    for part in path[:-1]:
        target = target[part]
    old = target[path[-1]]
    target[path[-1]] = ["wrong"] if isinstance(old, str | int | dict) and not isinstance(old, bool) else {"wrong": 1}
    return scenario


@pytest.mark.parametrize("path", list(fields(worked("attack"))), ids=lambda path: ".".join(map(str, path)))
def test_each_broken_field_of_the_attack_is_named(path: tuple[str | int, ...], tmp_path: Path) -> None:
    write(tmp_path, broken(worked("attack"), path), worked("twin"))
    with pytest.raises(ScenarioError) as caught:
        load_library([tmp_path])
    assert caught.value.file.endswith("attack.json")
    assert "/" + "/".join(map(str, path)).split("/args")[0] in caught.value.path or caught.value.path in str(path)


@pytest.mark.parametrize("path", list(fields(worked("twin"))), ids=lambda path: ".".join(map(str, path)))
def test_each_broken_field_of_the_twin_is_named(path: tuple[str | int, ...], tmp_path: Path) -> None:
    twin = broken(worked("twin"), path)
    if path == ("kind",):
        twin["kind"] = "cousin"
    write(tmp_path, worked("attack"), twin)
    with pytest.raises(ScenarioError) as caught:
        load_library([tmp_path])
    assert caught.value.file.endswith("twin.json")


@pytest.mark.parametrize("name", list(worked("attack")))
def test_each_missing_part_of_the_attack_is_named(name: str, tmp_path: Path) -> None:
    attack = worked("attack")
    del attack[name]
    write(tmp_path, attack, worked("twin"))
    if name == "split":
        load_library([tmp_path])
        return
    with pytest.raises(ScenarioError) as caught:
        load_library([tmp_path])
    assert caught.value.file.endswith(("attack.json", "twin.json"))
