"""`fraudbench run` and `fraudbench demo`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli.exits import HALTED, INCOMPLETE
from harness.cli.options import (
    AgentHttp,
    AgentModel,
    AgentUrl,
    AuditCallers,
    CallerName,
    Cassette,
    CorpusRoot,
    Judges,
    MaxCost,
    MaxMinutes,
    MaxTokens,
    ModelsFile,
    OneByOne,
    ProcessCount,
    Record,
    Selector,
    TasksRoot,
)
from harness.cli.output import alert, note, say

if TYPE_CHECKING:
    from harness.cli.roles import Roles
    from harness.models.build import Models
    from harness.reports.ledger import Spent
    from harness.runs.config import RunConfig
    from harness.runs.engine import RunResult
    from harness.runs.executors import Executor
    from harness.scenario.files import Library

REFERENCE = ("complier", "refuser", "myopic", "oracle")
"""The agents of the bracket table, in its order."""

_THREADS = 8
_CONFIGURED = "By default the one in --config, or "


def run(
    agent: Annotated[
        str | None,
        typer.Option(
            help="A model as provider/name, your own agent as package.module:factory, or complier, refuser, myopic, "
            f"oracle. {_CONFIGURED}oracle.",
            show_default=False,
        ),
    ] = None,
    agent_url: AgentUrl = None,
    agent_model: AgentModel = None,
    agent_http: AgentHttp = None,
    caller: CallerName = None,
    judge: Judges = None,
    one_by_one: OneByOne = False,
    audit_callers: AuditCallers = False,
    config: ModelsFile = None,
    retrieval: Annotated[str, typer.Option(help="How the agent finds its rules: oracle, bm25, none or full.")] = "bm25",
    tasks: Selector = None,
    suite: Annotated[str | None, typer.Option(help="Only this suite: core or chain.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only attacks or only twins: attack or twin.")] = None,
    domain: Annotated[str | None, typer.Option(help="Only scenarios of this domain.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Episodes of each scenario.")] = 1,
    seed: Annotated[int, typer.Option(help="For agents that draw; models get a seed by --config only.")] = 0,
    resample: Annotated[int, typer.Option(help="Draw every cast afresh; 0 plays the published instances.")] = 0,
    history: Annotated[
        Literal["full", "latest"],
        typer.Option(help="full, or latest to hide everything before the caller's latest turn."),
    ] = "full",
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Episodes at a time: {_THREADS} threads by default where they wait for models or a served agent, "
            "else 1 process.",
            show_default=False,
        ),
    ] = None,
    processes: ProcessCount = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    record: Record = False,
    cassette: Cassette = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run. By default a new one below runs/.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate calls, tokens and cost; call and write nothing.")
    ] = False,
    tasks_root: TasksRoot = None,
    corpus: CorpusRoot = None,
) -> None:
    """Play scenarios with an agent and grade every episode.

    Prints security (attacks stopped), utility (legitimate requests served) and what stands beside them. Ctrl-C
    finishes what is in flight, a second one stops at once; both go on with --resume. Exit status 0 if every planned
    episode was played, 3 if some were not, if a provider broke some off or if nothing could be graded, 4 if a
    provider refused the run or its budget was spent, 2 if it could not be started.
    """
    from harness.cli.roles import resolve_roles
    from harness.cli.selection import select_scenarios
    from harness.errors import RunError

    if resume and out is None:
        raise RunError("--resume needs --out, the folder of the run to go on with")
    roles = resolve_roles(
        agent=agent,
        caller=caller,
        judges=judge or (),
        config=config,
        agent_url=agent_url,
        agent_model=agent_model,
        agent_http=agent_http,
    )
    if not roles.have_models:
        _refuse_without_models(
            max_cost=max_cost is not None,
            max_tokens=max_tokens is not None,
            max_minutes=max_minutes is not None,
            record=record,
            cassette=cassette is not None,
        )
    library = select_scenarios(tasks_root, selector=tasks, suite=suite, kind=kind, domain=domain)
    play = Play(
        retrieval=retrieval,
        trials=trials,
        seed=seed,
        resample=resample,
        history=history,
        corpus_root=corpus,
        one_by_one=one_by_one,
        audits_callers=audit_callers,
        workers=workers,
        processes=processes,
        resume=resume,
        max_cost=max_cost,
        max_tokens=max_tokens,
        max_minutes=max_minutes,
        record=record,
        cassette=cassette,
    )
    if dry_run:
        from harness.cli.estimates import print_estimate

        print_estimate(play.config(library, roles, "dry-run"), library, corpus)
        return
    _end(play(library, roles, out))


def demo(
    out: Annotated[
        Path | None, typer.Option(help="Folder for the four runs. By default a new one below runs/.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play episodes.")] = 2,
) -> None:
    """Play the whole suite with the four reference agents and print the bracket table; no key is needed.

    The complier does whatever is asked, the refuser nothing, the myopic agent forgets what came before, and the
    oracle applies every written rule. A sound suite lies between them.
    """
    from datetime import UTC, datetime

    from harness.cli.reporting import brackets, render, write_page
    from harness.cli.roles import resolve_roles
    from harness.cli.selection import select_scenarios

    library = select_scenarios(None)
    root = out or Path("runs") / f"demo-{datetime.now(tz=UTC):%Y%m%d-%H%M%S}"
    folders = []
    for name in REFERENCE:
        result = Play(workers=workers)(library, resolve_roles(agent=name), root / name)
        folders.append(result.folder)
        if not result.is_complete:
            raise typer.Exit(INCOMPLETE)
    say(brackets(folders))
    path = root / "report.md"
    path.write_text(render(folders, "markdown"), encoding="utf-8")
    note(f"Runs: {root}")
    note(f"Report: {path}")
    write_page(folders, root / "report.html")
    note(f"Look into an episode: fraudbench view {folders[-1]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """How a run is played; call it to play one."""

    retrieval: str = "bm25"
    trials: int = 1
    seed: int = 0
    resample: int = 0
    history: Literal["full", "latest"] = "full"
    corpus_root: Path | None = None
    one_by_one: bool = False
    audits_callers: bool = False
    workers: int | None = None
    processes: int | None = None
    resume: bool = False
    max_cost: float | None = None
    max_tokens: int | None = None
    max_minutes: float | None = None
    record: bool = False
    cassette: Path | None = None

    def config(self, library: Library, roles: Roles, name: str) -> RunConfig:
        """Resolve what is to be played."""
        from harness.runs.engine import resolve_config

        return resolve_config(
            library,
            name=name,
            agent=roles.agent,
            caller=roles.caller,
            models=roles.models,
            one_by_one=self.one_by_one,
            audits_callers=self.audits_callers,
            retrieval=self.retrieval,
            trials=self.trials,
            seed=self.seed,
            resample=self.resample,
            history=self.history,
            corpus_root=self.corpus_root,
        )

    def __call__(self, library: Library, roles: Roles, out: Path | None) -> RunResult:
        """Play a run, show how far it is, and say what kept it from its end."""
        from datetime import UTC, datetime

        from harness.cli.grading import grader_for, judged_grader
        from harness.cli.live import cost_of, live
        from harness.cli.stored import corpora_of
        from harness.reports.ledger import spent
        from harness.runs.engine import run as play
        from harness.runs.executors import Threads
        from harness.runs.folder import RunFolder, default_folder

        name = roles.agent if roles.models.agent is None else roles.models.agent.model
        folder = out or default_folder(Path("runs"), name, datetime.now(tz=UTC).date())
        config = self.config(library, roles, folder.name)
        grader = grader_for(*corpora_of(config.corpus_hash, self.corpus_root), retrieval=self.retrieval)
        judged = judged_grader(grader, roles.models, one_by_one=self.one_by_one, audits_callers=self.audits_callers)
        earlier = spent(RunFolder(folder).model_calls() if self.resume else ())
        models = self._models(roles, earlier)
        executor = self._executor(waits=models is not None or roles.agent_is_remote)
        with live(
            f"{name:10}",
            refreshes=isinstance(executor, Threads),
            cost=None if models is None else cost_of(models, earlier),
        ) as tell:
            result = play(
                config,
                library,
                folder,
                grader=grader,
                judged=judged,
                executor=executor,
                resume=self.resume,
                progress=tell,
                corpus_root=self.corpus_root,
                models=models,
                records_traffic=self.record,
                interrupted=lambda: alert("Finishing what is in flight; Ctrl-C again stops at once."),
            )
        for episode, why in result.lost.items():
            note(f"{episode} came to no end: {why}")
        return result

    def _executor(self, *, waits: bool) -> Executor:
        from harness.errors import RunError
        from harness.runs.executors import executor_for, processes_for, threads_for

        if waits:
            workers = self.workers or _THREADS
            return threads_for(workers, self.processes or processes_for(workers))
        if self.processes is not None:
            raise RunError(
                "--processes shares out threads that wait for models or a served agent, and this run has none: "
                "--workers is the number of its processes"
            )
        return executor_for(self.workers or 1)

    def _models(self, roles: Roles, earlier: Spent) -> Models | None:
        from harness.models.budget import Budget
        from harness.models.build import Models
        from harness.models.contract import Usage

        if not roles.have_models:
            return None
        budget = Budget(self.max_cost, self.max_tokens, self.max_minutes)
        budget.spend(Usage(earlier.tokens, 0, earlier.known_cost_usd))
        return Models(roles.models, seed=self.seed, budget=budget, cassette=self.cassette)


def _refuse_without_models(**asked: bool) -> None:
    """Refuse options that mean nothing where no model plays a role.

    Raises
    ------
    RunError
        Naming the first of them.
    """
    from harness.errors import RunError

    for name, is_asked in asked.items():
        if is_asked:
            raise RunError(
                f"--{name.replace('_', '-')} is about calls of models, and no model plays a role in this run"
            )


def _end(result: RunResult) -> None:
    """Print the report of a run and end with its exit status."""
    from harness.cli.reporting import print_report

    nothing_graded = print_report([result.folder], "table")
    note(f"Run folder: {result.folder}")
    if result.halted is not None:
        note(f"The run stopped before its end: {result.halted}")
    elif result.is_interrupted:
        note("Stopped as asked.")
    if result.broken_off:
        note(f"Providers broke {result.broken_off} episodes off; they are errored, and played again with --resume.")
    unfinished = not result.is_complete or result.broken_off > 0
    if unfinished:
        note(f"Go on with the same command and --out {result.folder} --resume")
    if result.halted is not None:
        raise typer.Exit(HALTED)
    if unfinished or nothing_graded:
        raise typer.Exit(INCOMPLETE)
