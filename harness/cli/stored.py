"""Stored runs with what belongs to them: their scenarios, their corpora, their summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import UnknownName
from harness.reports.summary import Summary, summarise_folder
from harness.resources import data_root
from harness.retrieval.corpus import Corpus, load_corpus
from harness.runs.folder import RunFolder
from harness.runs.record import EpisodeRecord
from harness.runs.stage import Stage


def corpora_of(domains: Iterable[str], corpus_root: Path | None) -> list[Corpus]:
    """Return the corpora of some domains."""
    return [load_corpus(corpus_root or data_root("corpus"), domain) for domain in sorted(domains)]


def stage_of(stored: RunFolder, corpus_root: Path | None) -> Stage:
    """Build what the episodes of a stored run share."""
    return Stage(stored.config, stored.library().scenarios, corpus_root or data_root("corpus"))


def summaries_of(folders: Sequence[Path]) -> list[Summary]:
    """Summarise some runs."""
    stored = [RunFolder(folder) for folder in folders]
    return [summarise_folder(folder) for folder in stored]


def find_record(stored: RunFolder, name: str) -> EpisodeRecord:
    """Return the episode of this id, or the first of the scenario of this id.

    Raises
    ------
    UnknownName
        If there is neither.
    """
    found: dict[str, EpisodeRecord] = {}
    for record in stored.records():
        if record.episode_id == name:
            return record
        found.setdefault(record.scenario_id, record)
    if name not in found:
        raise UnknownName("episode or scenario of this run", name, found)
    return found[name]
