"""Models that play the suite: a provider on this machine, and the roles of its episodes recorded in process."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from domains.kit.domain import load_domain
from domains.kit.tools import Actor
from harness.callers.model import END_CALL, caller_prompt, steps_of
from harness.cli.grading import grader_for, judged_grader
from harness.cli.main import main
from harness.cli.stored import corpora_of
from harness.episode.events import Said
from harness.models.build import Models
from harness.models.config import ModelsConfig, read_models
from harness.models.retry import Clock
from harness.resources import data_root
from harness.runs.engine import RunResult, resolve_config, run
from harness.runs.executors import Threads
from harness.runs.folder import RunFolder
from harness.runs.record import EpisodeRecord
from harness.scenario.files import Library, load_library
from harness.scenario.instance import Instance, instantiate
from harness.verdict import Grade
from tests.acceptance.playing import outcome
from tests.provider.behaviours import judge
from tests.provider.protocol import Behaviour
from tests.provider.recorded import Recorded, steps
from tests.provider.server import Provider, serving

AGENT, CALLER, JUDGE = "agent-1", "caller-1", "judge-1"
USUAL = {"agent": AGENT, "caller": CALLER, "judge": JUDGE}

HASTY = Clock(sleep=lambda seconds: time.sleep(min(seconds, 0.02)))
"""A clock by which the pauses between tries are short."""


@dataclass(frozen=True)
class Sample:
    """Episodes of a reference agent in process, their grades, and the parts that play them again.

    Attributes
    ----------
    agent, caller
        One side of all of them.
    """

    library: Library
    records: Mapping[str, EpisodeRecord]
    grades: Mapping[str, Grade]
    agent: Behaviour
    caller: Behaviour

    @property
    def behaviours(self) -> dict[str, Behaviour]:
        """Every part that a run can ask for."""
        return {AGENT: self.agent, CALLER: self.caller, JUDGE: judge()}


@cache
def sample(*names: str, agent: str = "oracle") -> Sample:
    """Play scenarios with a reference agent; without names, all that come with the package."""
    library = load_library([data_root("tasks")])
    if names:
        library.scenarios = {name: library.scenarios[name] for name in names}
    config = resolve_config(library, name="sample", agent=agent)
    grader = grader_for(*corpora_of(config.corpus_hash, None))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        run(config, library, path, grader=grader)
        records = {record.scenario_id: record for record in RunFolder(path).records()}
        grades = {line.episode_id.partition("/")[0]: line.grade for line in RunFolder(path).grades().values()}
    agents, callers = Recorded(), Recorded(is_added=lambda text: text.startswith("(The desk "))
    for name, record in records.items():
        scenario = library.scenarios[name]
        instance = instantiate(scenario, load_domain(scenario.domain), 0)
        agents.add(steps(record.events))
        callers.add(_caller_side(record, instance), system=caller_prompt(instance))
    return Sample(library, records, {name: grade for name, grade in grades.items() if grade}, agents, callers)


def _caller_side(record: EpisodeRecord, instance: Instance) -> Any:
    names = [beat.name for beat in steps_of(instance)]

    def words(said: Said) -> str:
        beat = said.note.beat if said.note else ""
        return f"[{names.index(beat) + 1}] {said.text}" if beat in names else said.text

    return steps(record.events, Actor.CALLER, words=words, end_tool=END_CALL.name)


@contextmanager
def provided(found: Sample, others: Mapping[str, Behaviour] | None = None, **settings: Any) -> Iterator[Provider]:
    """Serve the parts of a sample, and others by the names of their models."""
    with serving({**found.behaviours, **(others or {})}, **settings) as provider:
        yield provider


def models_of(url: str, *roles: str, **settings: Any) -> ModelsConfig:
    """Let the named roles be played at an address; ``judge=name`` names a model of its own."""
    given: dict[str, Any] = {"judge": []}
    for role in roles:
        name, _, model = role.partition("=")
        part = {"model": f"openai/{model or USUAL[name]}", "base_url": url, **settings}
        if name == "judge":
            given["judge"].append(part)
        else:
            given[name] = part
    return read_models(None, given)


def play(
    found: Sample,
    config: ModelsConfig,
    path: Path,
    *,
    only: Sequence[str] | None = None,
    models: Models | None = None,
    workers: int = 8,
    **how: Any,
) -> RunResult:
    """Play scenarios of a sample with models, as `fraudbench run` does."""
    resolved = resolve_config(found.library, name="models", agent="oracle", tasks=only, models=config)
    grader = grader_for(*corpora_of(resolved.corpus_hash, None))
    return run(
        resolved,
        found.library,
        path,
        grader=grader,
        judged=judged_grader(grader, config, one_by_one=False),
        executor=Threads(workers),
        models=models or Models(config, clock=HASTY),
        **how,
    )


def outcomes(path: Path) -> dict[str, tuple[object, ...]]:
    """Return what the grades of a run say, by scenario; each episode is there once."""
    return {
        name.partition("/")[0]: outcome(line.grade) for name, line in RunFolder(path).grades().items() if line.grade
    }


def models_file(folder: Path, url: str, *roles: str, **settings: Any) -> Path:
    """Write a configuration in which the named roles are played at an address."""
    lines = []
    for role in roles:
        name, _, model = role.partition("=")
        model = model or USUAL[name]
        lines += [f"[[{name}]]" if name == "judge" else f"[{name}]", f'model = "openai/{model}"', f'base_url = "{url}"']
        lines += [f"{key} = {_toml(value)}" for key, value in settings.items()]
    file = folder / "models.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    return json.dumps(value)


def in_process(*arguments: object, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, which has the provider library loaded already."""
    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["fraudbench", *map(str, arguments)]
    code: Any = 0
    try:
        with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = argv
    assert code == status, out.getvalue() + err.getvalue()
    return subprocess.CompletedProcess(list(map(str, arguments)), code, out.getvalue(), err.getvalue())
