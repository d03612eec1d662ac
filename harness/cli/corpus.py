"""`fraudbench corpus`: search, show and check the policy documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.output import say

app = typer.Typer(help="Search, show and check the policy corpus.", no_args_is_help=True, rich_markup_mode=None)

DomainName = Annotated[str, typer.Option("--domain", help="Whose corpus.")]
CorpusRoot = Annotated[
    Path | None, typer.Option("--corpus", help="Folder of the corpora. By default the one that comes with fraudbench.")
]


@app.command("search")
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    domain: DomainName = "banking",
    corpus: CorpusRoot = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many documents.")] = 10,
) -> None:
    """Search the corpus as an agent under the condition `bm25` would."""
    from harness.resources import data_root
    from harness.retrieval.conditions import make_condition
    from harness.retrieval.corpus import load_corpus

    condition = make_condition("bm25", load_corpus(corpus or data_root("corpus"), domain))
    for hit in condition.knowledge(()).search(query, limit):
        say(f"{hit.document_id:40} {hit.title}\n    {hit.extract}")


@app.command("show")
def show(
    document_id: Annotated[str, typer.Argument(help="The document's id.")],
    domain: DomainName = "banking",
    corpus: CorpusRoot = None,
) -> None:
    """Show one document as an agent reads it."""
    from harness.errors import UnknownName
    from harness.resources import data_root
    from harness.retrieval.corpus import load_corpus

    documents = load_corpus(corpus or data_root("corpus"), domain).documents
    if document_id not in documents:
        raise UnknownName("document", document_id, documents)
    say(documents[document_id].page_text())


@app.command("check")
def check(
    domains: Annotated[
        list[str] | None, typer.Option("--domain", help="Whose corpus; by default every domain's.", show_default=False)
    ] = None,
    corpus: CorpusRoot = None,
) -> None:
    """Check the corpus: front matter, every rule stated exactly once, facts in the text, versions, tool names.

    Exit status 1 if anything is wrong.
    """
    from domains.kit.domain import load_domain
    from harness.cli.names import names_of
    from harness.resources import data_root
    from harness.retrieval.check import check_folder

    root = corpus or data_root("corpus")
    chosen = domains or sorted(path.name for path in root.iterdir() if path.is_dir())
    problems = [problem for name in chosen for problem in check_folder(root, name, names_of(load_domain(name)))]
    for problem in problems:
        say(str(problem))
    if problems:
        say(f"{len(problems)} problem(s) in the corpus.")
        raise typer.Exit(1)
    say(f"The corpus is sound ({', '.join(chosen)}).")
