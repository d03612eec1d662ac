"""Tables II to IV: the data sets, what was covered, and what the protocols are."""

from __future__ import annotations

from typing import Final

from tabular_bench.datasets.registry import DATASETS as KNOWN
from tabular_bench.protocol import PRESETS, Protocol
from tabular_bench.reports.building import LABELS, keep, labels, published, published_column, summarise, words
from tabular_bench.reports.cells import PROTOCOLS, Cells, Missing, Source, number
from tabular_bench.reports.document import Column, Row, Table, Value
from tabular_bench.reports.published import ATTACKS

_READINGS: Final = {
    "A": "how far scores can be pushed if nothing has to stay valid",
    "B": "how many rows of that attack pass a filter; little of it says that a model is safe",
    "C1": "what an attacker reaches who keeps rows valid while attacking",
    "C2": "the same, moving only what an attacker can change",
}


def datasets(cells: Cells) -> Table:
    """Return Table II: the data sets, by what the records say and what is published.

    Parameters
    ----------
    cells
        The registries.
    """
    rows = []
    for source in cells.sources:
        values: dict[str, Value | None] = dict(labels(source))
        values |= _counts(cells, source)
        spec = KNOWN.get(source.dataset)
        if spec is not None:
            values["raw_features"] = _whole(len(spec.declared.features) or None)
        for metric in ("rows", "raw_features", "processed_features", "positives_pct"):
            values[f"{metric}_published"] = published("II", metric, source.dataset)
        rows.append(Row(values=keep(values)))
    columns = (
        LABELS["dataset"],
        LABELS["provenance"],
        Column(name="test_rows", title="Test rows", decimals=0),
        Column(name="evaluated_rows", title="Evaluated rows", decimals=0),
        Column(name="positives_pct", title="Fraud %, evaluated", decimals=2),
        published_column("positives_pct", "Fraud %", 2),
        published_column("rows", "Rows", 0),
        Column(name="raw_features", title="Features", decimals=0),
        published_column("raw_features", "Features", 0),
        published_column("processed_features", "Encoded", 0),
    )
    notes = (
        "generated: drawn here to the schema of the real table; real: from files of the user; packaged: carried by a "
        "library. Published numbers are always of the real tables.",
        "The released code has 37,048 test rows of Sparkov, a fiftieth of 1,852,394: both of its files, not the one "
        "whose rows are in print.",
        "Test rows are a fifth of the sample (a tenth of the table, by default). Where an attack is given at most so "
        "many rows, the evaluated ones are a stratified draw of them, and the largest such draw is shown.",
    )
    return Table(number="II", title="Data sets", columns=columns, rows=tuple(rows), notes=notes)


def coverage(cells: Cells) -> Table:
    """Return Table III: under which protocols each attack has been run, with the constraints of each data set.

    Parameters
    ----------
    cells
        The registries.
    """
    columns = [
        LABELS["dataset"],
        LABELS["provenance"],
        Column(name="relations", title="Relations", decimals=0),
        published_column("constraints", "Constraints"),
        published_column("projection", "Projection"),
    ]
    for attack in cells.attacks:
        columns.append(Column(name=f"{attack}_coverage", title=attack))
    for printed in ATTACKS:
        columns.append(published_column(f"{printed.lower()}_coverage", printed))
    rows = []
    for source in cells.sources:
        values: dict[str, Value | None] = dict(labels(source))
        spec = KNOWN.get(source.dataset)
        if spec is not None:
            values["relations"] = _whole(len(spec.declared.catalogue.relations))
        for metric in ("constraints", "projection"):
            values[f"{metric}_published"] = published("III", metric, source.dataset)
        for attack in cells.attacks:
            values[f"{attack}_coverage"] = _covered(cells, source, attack)
        for printed in ATTACKS:
            values[f"{printed.lower()}_coverage_published"] = published(
                "III", "coverage", source.dataset, attack=printed
            )
        rows.append(Row(values=keep(values)))
    notes = (
        "Ours: the protocols of which a cell is finished, and the number of finished cells. Relations are those of the "
        "catalogue; bounds, whole numbers, one-hot blocks and mutability are checked besides.",
    )
    return Table(
        number="III",
        title="Constraints, and protocols covered by each attack",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=notes,
    )


def protocols() -> Table:
    """Return Table IV: how constraints and capability enter, under each preset."""
    columns = (
        LABELS["protocol"],
        Column(name="projects", title="Constraints in the loop"),
        Column(name="masks", title="Capability mask"),
        Column(name="filters", title="Filtered afterwards"),
        *(Column(name=f"scored_{preset}", title=f"Scored, preset {preset}") for preset in sorted(PRESETS)),
        Column(name="tells", title="Tells"),
    )
    rows = []
    for name in PROTOCOLS:
        shape = Protocol(name)
        values = {
            "protocol": words(name),
            "projects": words(_yes(shape.projects)),
            "masks": words(_yes(shape.masks)),
            "filters": words(_yes(shape.filters)),
            "tells": words(_READINGS[name]),
        }
        for preset in PRESETS:
            values[f"scored_{preset}"] = words(_scored(Protocol(name, PRESETS[preset])))
        rows.append(Row(values=values))
    notes = (
        "The four protocols share data, split, model, budget and seed. Published C stands for C1 and C2.",
        "As attacked: every attacked row in its attacked form. Turned back: rows that are not accepted in their clean "
        "form. Left out: rows that are not accepted are not scored.",
    )
    return Table(number="IV", title="Protocols", columns=columns, rows=tuple(rows), notes=notes)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _scored(protocol: Protocol) -> str:
    if protocol.filters:
        return "turned back" if protocol.preset.reverts_infeasible else "left out"
    return "turned back" if protocol.projects and protocol.preset.checks_ball else "as attacked"


def _whole(count: int | None) -> Value | None:
    return None if count is None else Value(mean=float(count))


def _counts(cells: Cells, source: Source) -> dict[str, Value | None]:
    """Return the rows and the share of fraud, of the largest draw of rows there is."""
    finished = [
        record
        for record in cells.records
        if record.measured and (record.spec.dataset, record.measured.provenance) == (source.dataset, source.provenance)
    ]
    if not finished:
        why = Value(missing={"no finished cell": ()})
        return dict.fromkeys(("test_rows", "evaluated_rows", "positives_pct"), why)

    def evaluated(found: float | Missing) -> float:
        return -1.0 if isinstance(found, Missing) else found

    largest = max(finished, key=lambda record: evaluated(number(record, "clean.rows")))
    rows, positives = number(largest, "clean.rows"), number(largest, "clean.positives")
    share: float | Missing
    if isinstance(rows, Missing) or isinstance(positives, Missing):
        share = Missing("the record does not count rows")
    else:
        share = 100 * positives / rows if rows else Missing("no row was evaluated")
    found = {"test_rows": number(largest, "rows.test"), "evaluated_rows": rows, "positives_pct": share}
    return {name: summarise({largest.seed: value}) for name, value in found.items()}


def _covered(cells: Cells, source: Source, attack: str) -> Value:
    done = [
        (place.protocol, sum(record.status == "done" for record in cells.at(place).values()))
        for setting in cells.settings([attack])
        for place in cells.places(setting)
        if place.source == source
    ]
    counted = sum(count for _, count in done)
    if not counted:
        return Value(missing={"no finished cell": ()})
    names = [name for name in PROTOCOLS if any(protocol == name and count for protocol, count in done)]
    return words(f"{' '.join(names)} ({counted})")
