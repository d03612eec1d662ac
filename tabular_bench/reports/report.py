"""The whole report, from records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tabular_bench.errors import UnknownName
from tabular_bench.registry import Record
from tabular_bench.reports import descriptions, findings, rankings, tables
from tabular_bench.reports.building import Sheet
from tabular_bench.reports.cells import TRIVIAL, Cells, main_settings
from tabular_bench.reports.document import Report, Table
from tabular_bench.reports.published import ATTACKS, CITATION


@dataclass(frozen=True, slots=True)
class Stand:
    """One published table about attacked detectors.

    Attributes
    ----------
    title
        What it shows.
    attack
        The published attack whose cells stand in it.
    build
        Makes it for one setting.
    """

    title: str
    attack: str
    build: Callable[[Sheet], list[Table]]


ATTACKED: Final = {
    "V": Stand("Clean and robust PR-AUC", "CAPGD", tables.clean_and_robust),
    "VI": Stand("Protocols compared", "CAPGD", tables.protocols),
    "VII": Stand("Model families", "Square", tables.model_families),
    "VIII": Stand("Attack by decisions", "HopSkipJump", tables.by_decisions),
    "IX": Stand("Order of the model families", "Square", rankings.ranking_changes),
    "X": Stand("Defences", "CAPGD", tables.defences),
}
NUMBERS: Final = ("II", "III", "IV", *ATTACKED)
"""The tables of a report."""


def make_report(
    registries: Iterable[Iterable[Record]], sources: Sequence[str] = (), only: Iterable[str] = ()
) -> Report:
    """Make the report of some registries.

    Parameters
    ----------
    registries
        As for `Cells`.
    sources
        What they are called.
    only
        Numbers of tables; none for all. Findings are reported with all tables alone.

    Raises
    ------
    UnknownName
        If there is no table of a number.
    """
    wanted = list(only) or list(NUMBERS)
    for name in wanted:
        if name not in NUMBERS:
            raise UnknownName("table", name, NUMBERS)
    cells = Cells(registries)
    return Report(
        sources=tuple(sources),
        records={str(status): count for status, count in cells.statuses.items()},
        provenance=_provenance(cells),
        published=CITATION,
        notes=tuple(_notes(cells)),
        tables=tuple(table for name in NUMBERS if name in wanted for table in _tables(cells, name)),
        findings=tuple(findings.evaluate(cells)) if set(wanted) == set(NUMBERS) else (),
    )


def _tables(cells: Cells, number: str) -> list[Table]:
    if number == "II":
        return [descriptions.datasets(cells)]
    if number == "III":
        return [descriptions.coverage(cells)]
    if number == "IV":
        return [descriptions.protocols()]
    stand = ATTACKED[number]
    every = cells.settings(ATTACKS[stand.attack])
    if not every:
        known = " or ".join(ATTACKS[stand.attack])
        return [Table(number=number, title=stand.title, notes=(f"The registry has no cell with the attack {known}.",))]
    sheets = [Sheet(cells, setting, stand.attack) for setting in main_settings(every)]
    if number == "X":
        sheets += _other_defences(cells)
    return [table for sheet in sheets for table in stand.build(sheet)]


def _other_defences(cells: Cells) -> list[Sheet]:
    """Return the settings of other attacks than Table X's in which there is a detector with a defence."""
    return [
        Sheet(cells, setting, attack)
        for attack in ("Square", "HopSkipJump")
        for setting in main_settings(cells.settings(ATTACKS[attack]))
        if any(place.defence != "none" for place in cells.places(setting))
    ]


def _provenance(cells: Cells) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(source.dataset for source in cells.sources)
    return {name: tuple(s.provenance for s in cells.sources if s.dataset == name) for name in names}


def _notes(cells: Cells) -> Iterable[str]:
    by_origin = {
        origin: [source.title for source in cells.sources if source.provenance == origin]
        for origin in ("generated", "real", "packaged")
    }
    told = "; ".join(f"{origin}: {', '.join(names)}" for origin, names in by_origin.items() if names)
    yield f"Our rows are {told or 'of unknown origin'}. The published numbers are of the real tables."
    yield "Our numbers are means and sample standard deviations over seeds; (n=1) and the like where fewer gave one."
    if len(cells.codes) > 1:
        yield f"The cells were computed by {len(cells.codes)} versions of the code; run the grid again for one."
    if not any(cells.has_detector(source, model) for source in cells.sources for model in TRIVIAL):
        yield (
            f"No trivial detector ({', '.join(TRIVIAL)}) is among the cells, so nothing shows what a detector that "
            "looks at nothing would get."
        )
    settings = cells.settings(cells.attacks)
    shown = {s for stand in ATTACKED.values() for s in main_settings(cells.settings(ATTACKS[stand.attack]))}
    hidden = [setting for setting in settings if setting not in shown and not setting.is_transfer]
    if hidden:
        yield (
            f"Cells of {len(hidden)} further settings stand in no published table: {'; '.join(map(str, hidden[:8]))}"
            + ("; ..." if len(hidden) > 8 else ".")
        )
