"""The result of `fraudbench tabular score`: tables for people, CSV and JSON for programs, a folder that keeps them."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.reports.tables import Table, markdown
from tabular_bench.errors import InputError
from tabular_bench.metrics.ranking import Ranking
from tabular_bench.registry import code_hash, library_versions
from tabular_bench.schema import Feature
from tabular_bench.score.ready import ReadyModel
from tabular_bench.score.run import AttackScore, CleanScore, Score, ScoreOptions, as_json
from tabular_bench.score.table import UserTable

FORMAT: Final = 1


@dataclass(frozen=True, eq=False)
class ScoreResult:
    """What was asked for and what was found.

    Attributes
    ----------
    model, table, options
        What was measured, and how.
    found
        The numbers.
    """

    model: ReadyModel
    table: UserTable
    options: ScoreOptions
    found: Score

    def rendered(self, format: str) -> str:
        """Return the result as ``table``, ``markdown``, ``csv`` or ``json``."""
        if format == "json":
            return json.dumps(self.as_json(), indent=2, allow_nan=False)
        if format == "csv":
            return self.as_csv()
        tables = [self._clean(), self._attacks(), self._failures(), self._columns()]
        if format == "markdown":
            notes = "\n".join(f"* {markdown(note)}" for note in self.notes)
            return "\n".join([f"# {markdown(self.title)}", "", notes, "", *(table.as_markdown() for table in tables)])
        return "\n".join([self.title, "", *self.notes, "", *(table.as_text() for table in tables[:3])])

    def write(self, folder: Path) -> None:
        """Keep the result in every format.

        Raises
        ------
        InputError
            If the folder cannot be written to.
        """
        contents = {
            "result.json": self.rendered("json") + "\n",
            "result.md": self.rendered("markdown"),
            "attacks.csv": self.as_csv(),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in contents.items():
                (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{folder}: cannot be written to: {error.strerror}") from None

    @property
    def title(self) -> str:
        """Detector and table."""
        return f"{self.model.source} ({self.model.kind}) on {self.table.files[0]['file']}"

    @property
    def notes(self) -> list[str]:
        """Sentences: what the numbers are of, and what was taken for what."""
        labels, options, found = self.table.labels, self.options, self.found
        rows, positives = found.evaluated
        budget = options.budget
        reference = self.table.files[1]["file"] if self.table.reference else "the scored rows"
        inferred = sum(how == "inferred" for _, how in self.table.columns)
        return [
            f"{len(labels)} rows, {int(labels.sum())} of them fraud. Every row is a test row: nothing is trained here.",
            f"Attacked: {found.attacked} rows ({options.attacked}) of the {rows} evaluated, {positives} of them fraud.",
            f"Preset {options.preset}; epsilon {budget.epsilon:g} ({budget.norm}) in deviations of {reference}; "
            f"at most {budget.max_switches} switch(es) and {budget.max_queries or 'any number of'} questions a row; "
            f"seed {options.seed}.",
            f"{len(self.table.columns)} features, {inferred} of them inferred (result.md lists them); "
            f"{len(self.table.problem.constraints.relations)} relations.",
            *self.table.notes,
            *found.notes,
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values: numbers that do not exist are null, with a reason under ``blanks``."""
        table = self.table
        return {
            "format": FORMAT,
            "detector": {
                "source": self.model.source,
                "kind": self.model.kind,
                "sha256": self.model.digest,
                "columns": list(self.model.names) if self.model.names is not None else None,
            },
            "table": {
                "files": list(table.files),
                "rows": len(table.labels),
                "positives": int(table.labels.sum()),
                "reference": "another table" if table.reference else "the scored rows",
                "features": [_feature(feature, how) for feature, how in table.columns],
                "relations": {relation.label: relation.text for relation in table.problem.constraints.relations},
            },
            "options": as_json(self.options) | {"threshold": str(self.options.threshold)},
            "notes": self.notes,
            "found": as_json(self.found),
            "code": code_hash(),
            "versions": library_versions(),
        }

    def as_csv(self) -> str:
        """Return one line for each attack and protocol; a number that does not exist is empty."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*_CSV_HEADER, "reason"])
        for entry in self.found.attacks:
            writer.writerow([_plain(value) for value in (*_numbers(entry), entry.reason or _blank_reason(entry))])
        return stream.getvalue()

    def _clean(self) -> Table:
        header = ("detector", "PR-AUC", "ROC-AUC", "recall at 1 % FPR", "recall at 0.1 % FPR", "flags")
        rows = tuple((entry.detector, *_ranks(entry.ranking), _flags(entry)) for entry in self.found.clean)
        reasons = [f"{entry.detector}: {entry.reason}" for entry in self.found.clean if entry.reason]
        flagged = [
            f"{entry.detector}: {name}: {detail}"
            for entry in self.found.clean[:1]
            for name, detail in entry.flags.items()
        ]
        return Table("Clean rows", header, rows, (*reasons, *flagged))

    def _attacks(self) -> Table:
        header = (
            "attack",
            "protocol",
            "flipped",
            "feasible flipped",
            "success",
            "feasible success",
            "PR-AUC",
            "of",
            "queries a row",
        )
        rows, notes = [], []
        for entry in self.found.attacks:
            metrics, robust = entry.metrics, entry.robust
            if metrics is None or robust is None:
                rows.append((entry.attack, entry.protocol, *["-"] * 7))
                notes.append(f"{entry.attack}, {entry.protocol}: {entry.status.replace('_', ' ')}: {entry.reason}")
                continue
            rows.append(
                (
                    entry.attack,
                    entry.protocol,
                    str(metrics.flipped),
                    str(metrics.feasible_flipped),
                    _percent(metrics.success_rate),
                    _percent(metrics.feasible_success_rate),
                    _number(robust.average_precision) + (" *" if robust.saturated else ""),
                    _READINGS[entry.reading] if entry.reading else "-",
                    _number(metrics.queries_per_row, 1),
                )
            )
            notes += [f"{entry.attack}, {entry.protocol}: no {name}: {why}" for name, why in _shown_blanks(entry)]
        clean = _number(self.found.evaluated_clean.average_precision)
        if any(entry.robust is not None and entry.robust.saturated for entry in self.found.attacks):
            notes.append("* on the floor for this share of fraud: attacks that reach it cannot be told apart by it")
        return Table(f"Under attack (clean PR-AUC of the evaluated rows: {clean})", header, tuple(rows), tuple(notes))

    def _failures(self) -> Table:
        # A and B judge the same rows.
        shown = [entry for entry in self.found.attacks if entry.metrics and entry.metrics.failures]
        of_a = {entry.attack for entry in shown if entry.protocol == "A"}
        rows = tuple(
            (f"{entry.attack}, {entry.protocol}", ", ".join(f"{name} {count}" for name, count in failures.items()))
            for entry in shown
            for failures in [entry.metrics.failures if entry.metrics else {}]
            if not (entry.protocol == "B" and entry.attack in of_a)
        )
        note = () if rows else ("No attacked row failed a check.",)
        return Table("What attacked rows failed: checks, and in how many rows", ("attack", "checks"), rows, note)

    def _columns(self) -> Table:
        rows = tuple((f.name, how, f.kind, *_bounds(f), f.mutability, f.unit or "-") for f, how in self.table.columns)
        return Table("Features", ("feature", "known", "kind", "lower", "upper", "mutability", "unit"), rows)


_READINGS: Final = {
    "as_attacked": "all rows as attacked",
    "reverted": "refused rows reverted",
    "feasible_only": "accepted rows only",
}
_CSV_HEADER: Final = (
    "attack protocol status attacked clean_errors flipped feasible_flipped successes success_rate "
    "feasible_success_rate filtered_success_rate feasibility queries_per_row queries_per_success runtime_s "
    "reading average_precision roc_auc saturated"
).split()


def _numbers(entry: AttackScore) -> list[Any]:
    of_metrics = [getattr(entry.metrics, name, None) for name in _CSV_HEADER[3:15]]
    of_ranking = [getattr(entry.robust, name, None) for name in _CSV_HEADER[16:]]
    return [entry.attack, entry.protocol, entry.status, *of_metrics, entry.reading, *of_ranking]


def _blank_reason(entry: AttackScore) -> str:
    return "; ".join(f"no {name}: {why}" for name, why in _shown_blanks(entry))


def _shown_blanks(entry: AttackScore) -> list[tuple[str, str]]:
    blanks = dict(entry.metrics.blanks if entry.metrics else {}) | dict(entry.robust.blanks if entry.robust else {})
    shown = ("success_rate", "feasible_success_rate", "average_precision")
    return [(name.replace("_", " "), why) for name, why in blanks.items() if name in shown]


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _ranks(ranking: Ranking | None) -> tuple[str, str, str, str]:
    if ranking is None:
        return "-", "-", "-", "-"
    first, second = ranking.recall_at.values()
    return _number(ranking.average_precision), _number(ranking.roc_auc), _number(first), _number(second)


def _flags(entry: CleanScore) -> str:
    return ", ".join(entry.flags) or "-"


def _feature(feature: Feature, how: str) -> dict[str, Any]:
    described = {name: getattr(feature, name) for name in ("name", "kind", "mutability", "unit")}
    bounds = {name: bound if math.isfinite(bound) else None for name, bound in _raw_bounds(feature)}
    return described | bounds | {"categories": list(feature.categories), "known": how}


def _raw_bounds(feature: Feature) -> tuple[tuple[str, float], tuple[str, float]]:
    return ("lower", feature.lower), ("upper", feature.upper)


def _bounds(feature: Feature) -> tuple[str, str]:
    if feature.kind == "category":
        return f"{len(feature.categories)} values", "-"
    lower, upper = (f"{bound:g}" if math.isfinite(bound) else "-" for _, bound in _raw_bounds(feature))
    return lower, upper


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.1f} %"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
