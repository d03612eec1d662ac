"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(help="The folder of a run.")]
TasksRoot = Annotated[
    list[Path] | None,
    typer.Option("--tasks-root", help="Folder or file of scenarios. By default those that come with fraudbench."),
]
CorpusRoot = Annotated[
    Path | None, typer.Option("--corpus", help="Folder of the corpora. By default the one that comes with fraudbench.")
]
Selector = Annotated[
    str | None,
    typer.Option("--tasks", help="Ids, patterns, mechanisms or tiers, comma-separated; or a path to scenarios."),
]

AgentUrl = Annotated[
    str | None,
    typer.Option("--agent-url", help="Address of an OpenAI-compatible endpoint that plays the agent.", metavar="URL"),
]
AgentModel = Annotated[
    str | None, typer.Option("--agent-model", help="The name of the model at --agent-url.", metavar="NAME")
]
AgentHttp = Annotated[
    str | None,
    typer.Option(
        "--agent-http", help="Address of an agent that runs its own loop and calls the tools back.", metavar="URL"
    ),
]
CallerName = Annotated[
    str | None,
    typer.Option(
        "--caller",
        help="scripted, or a model as provider/name. By default the one in --config, or scripted.",
        show_default=False,
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge", help="A model as provider/name; several give a majority. By default those in --config, or none."
    ),
]
OneByOne = Annotated[
    bool, typer.Option("--one-by-one", help="Ask judges for each statement in a call of its own, not for all in one.")
]
AuditCallers = Annotated[
    bool,
    typer.Option("--audit-callers", help="Ask judges as well whether the caller played its part; a fault is invalid."),
]
ModelsFile = Annotated[
    Path | None,
    typer.Option("--config", help="TOML file with the models of each role, their parameters, addresses and limits."),
]
MaxCost = Annotated[float | None, typer.Option("--max-cost", min=0, help="US dollars after which no call is made.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens after which no call is made.")]
MaxMinutes = Annotated[
    float | None, typer.Option("--max-minutes", min=0, help="Minutes of this sitting after which no call is made.")
]
ProcessCount = Annotated[
    int | None,
    typer.Option(
        "--processes",
        min=1,
        help="Processes that share the threads of --workers, since a provider's library can keep one process busy. By "
        "default one for every 32 threads, and no more than there are processors.",
        show_default=False,
    ),
]
Record = Annotated[
    bool, typer.Option("--record", help="Keep all traffic with providers in the run, to play it again without them.")
]
Cassette = Annotated[
    Path | None, typer.Option("--cassette", help="A recorded run that stands in for every provider.", metavar="DIR")
]
