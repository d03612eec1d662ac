"""`fraudbench grade`: grade stored episodes anew, by rules and by models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.exits import HALTED, INCOMPLETE
from harness.cli.options import (
    AuditCallers,
    Cassette,
    CorpusRoot,
    Folder,
    Judges,
    MaxCost,
    MaxMinutes,
    MaxTokens,
    ModelsFile,
    OneByOne,
    Record,
    Selector,
    TasksRoot,
)
from harness.cli.output import alert, note

if TYPE_CHECKING:
    from harness.models.config import ModelsConfig
    from harness.runs.folder import RunFolder

_THREADS = 8


def grade(
    folder: Folder,
    judge: Judges = None,
    one_by_one: OneByOne = False,
    audit_callers: AuditCallers = False,
    config: ModelsFile = None,
    tasks: Selector = None,
    workers: Annotated[int, typer.Option(min=1, help="Episodes that models judge at a time.")] = _THREADS,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    record: Record = False,
    cassette: Cassette = None,
    tasks_root: TasksRoot = None,
    corpus: CorpusRoot = None,
) -> None:
    """Grade the stored episodes of a run anew, without playing any conversation again.

    With --judge or judges in --config, models decide the statements that only a reader can; without, what models
    said before is kept. The scenarios are those kept with the run; name others with --tasks-root, to let corrected
    expectations take effect. A grading with models that was cut off goes on when the same command is given again.
    Limits of cost, tokens and time are for this sitting.
    """
    from harness.cli.grading import grader_for, judged_grader
    from harness.cli.live import cost_of, live
    from harness.cli.reporting import print_report
    from harness.cli.roles import resolve_roles
    from harness.cli.selection import narrow
    from harness.cli.stored import corpora_of
    from harness.errors import RunError
    from harness.models.budget import Budget
    from harness.models.build import Models
    from harness.models.config import ModelsConfig
    from harness.runs.executors import Serial, threads_for
    from harness.runs.folder import RunFolder
    from harness.runs.grading import grade_run
    from harness.scenario.files import load_library
    from judges.kept import KeepingGrader

    stored = RunFolder(folder)
    chosen = ModelsConfig(judge=resolve_roles(judges=judge or (), config=config).models.judge)
    if config is not None and not chosen.judge:
        raise RunError(f"{config}: expected a model that judges ([[judge]]), found none; or name one with --judge")
    library = load_library(tasks_root) if tasks_root else stored.library()
    corpora = corpora_of(stored.config.corpus_hash, corpus)
    grader = grader_for(*corpora, retrieval=stored.config.retrieval)
    kept = {name: line.grade for name, line in stored.grades().items() if line.grade is not None}
    judged = judged_grader(grader, chosen, one_by_one=one_by_one, audits_callers=audit_callers, kept=kept)
    models = None
    if judged is not None:
        models = Models(chosen, budget=Budget(max_cost, max_tokens, max_minutes), cassette=cassette)
    with live("grading", refreshes=True, cost=None if models is None else cost_of(models)) as tell:
        result = grade_run(
            folder,
            library,
            KeepingGrader(grader, kept),
            judged=judged,
            models=models,
            only=None if tasks is None else narrow(library, tasks).scenarios.keys(),
            conditions=_conditions(stored, chosen, one_by_one=one_by_one, audits_callers=audit_callers),
            executor=Serial() if models is None else threads_for(workers),
            records_traffic=record,
            progress=tell,
            interrupted=lambda: alert("Finishing what is in flight; Ctrl-C again stops at once."),
        )
    for episode, why in result.lost.items():
        note(f"{episode} came to no grade: {why}")
    nothing_graded = print_report([folder], "table")
    note(f"{result.graded} of {result.asked} episodes graded.")
    if not result.is_complete:
        note("The same command goes on from there.")
    if result.halted is not None:
        note(f"The grading stopped before its end: {result.halted}")
        raise typer.Exit(HALTED)
    if not result.is_complete or nothing_graded:
        raise typer.Exit(INCOMPLETE)


def _conditions(
    stored: RunFolder, models: ModelsConfig, *, one_by_one: bool, audits_callers: bool
) -> dict[str, object]:
    """Return what the grades depend on beside scenarios and code."""
    from harness.prompts import prompt_hashes
    from harness.runs.config import asked_of

    return {
        "judges": [asked_of(judge) for judge in models.judge],
        "one_by_one": one_by_one,
        "audits_callers": audits_callers,
        "prompts": prompt_hashes(),
        "corpus": dict(stored.config.corpus_hash),
        "resample": stored.config.resample,
    }
