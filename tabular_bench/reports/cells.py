"""Records, indexed by what tables ask for. What cannot be found has a reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tabular_bench.budget import Norm
from tabular_bench.cell import Attacked, CellSpec
from tabular_bench.metrics.ranking import is_saturated
from tabular_bench.protocol import ProtocolName
from tabular_bench.registry import Record, Status
from tabular_bench.reports.published import DATASETS, EPSILON, MODELS
from tabular_bench.threat import TRANSFERS

PROTOCOLS: Final[tuple[ProtocolName, ...]] = ("A", "B", "C1", "C2")
TRIVIAL: Final = ("never", "always", "random", "largest_first")
NO_CELL: Final = "no cell in the registry"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all cells of one table share.

    Attributes
    ----------
    attack
        With its hyper-parameters, as the cells name it.
    preset
        ``strict`` or ``published``.
    threat
        The name of the threat model.
    epsilon, norm, max_switches, max_queries
        As in `tabular_bench.budget.Budget`.
    max_rows
        At most so many rows are attacked; None for all.
    """

    attack: str
    preset: str
    threat: str
    epsilon: float
    norm: Norm
    max_switches: int
    max_queries: int | None
    max_rows: int | None

    @classmethod
    def of(cls, cell: CellSpec) -> Setting:
        """Return what a cell shares with the others of its table.

        Parameters
        ----------
        cell
            Any.
        """
        budget = cell.budget
        return cls(
            attack=cell.attack,
            preset=cell.preset,
            threat=cell.threat,
            epsilon=budget.epsilon,
            norm=budget.norm,
            max_switches=budget.max_switches,
            max_queries=budget.max_queries,
            max_rows=cell.max_rows,
        )

    @property
    def attack_name(self) -> str:
        """The attack without hyper-parameters."""
        return self.attack.partition("(")[0].strip()

    @property
    def is_transfer(self) -> bool:
        """Whether the attack was made against another detector than the one that is measured."""
        return self.threat in TRANSFERS

    @property
    def has_published_budget(self) -> bool:
        """Whether the ball is the published one."""
        return self.norm == "linf" and self.epsilon == EPSILON

    def __str__(self) -> str:
        return f"{self.without_epsilon}, epsilon {self.epsilon:g} ({self.norm})"

    @property
    def without_epsilon(self) -> str:
        """The setting in words, but for the ball."""
        switches = f"{self.max_switches} switch{'' if self.max_switches == 1 else 'es'}"
        queries = "" if self.max_queries is None else f", {self.max_queries} queries"
        rows = "every row" if self.max_rows is None else f"at most {self.max_rows} rows"
        return f"{self.attack}, preset {self.preset}, {self.threat}, {rows}, {switches}{queries}"

    @property
    def order(self) -> tuple[Any, ...]:
        """Sorts settings: the published reading last, larger budgets later."""
        return (
            self.preset == "published",
            self.attack,
            self.threat,
            self.norm,
            self.epsilon,
            self.max_switches,
            self.max_queries is None,
            self.max_queries or 0,
            self.max_rows is None,
            self.max_rows or 0,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """A data set and where its rows come from; rows of different origin are never averaged.

    Attributes
    ----------
    dataset
        Its name.
    provenance
        ``generated``, ``real`` or ``packaged``; ``unknown`` where no cell of it was finished.
    """

    dataset: str
    provenance: str

    @property
    def title(self) -> str:
        """The name that tables show: that in print, where there is one."""
        return DATASETS.get(self.dataset, self.dataset)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number stands; together with a seed it is one cell.

    Attributes
    ----------
    setting
        What it shares with its table.
    source
        The data set.
    model, protocol, attacked, defence
        As in `tabular_bench.cell.CellSpec`.
    """

    setting: Setting
    source: Source
    model: str
    protocol: ProtocolName
    attacked: Attacked
    defence: str = "none"


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no number.

    Attributes
    ----------
    reason
        One line.
    """

    reason: str


class Cells:
    """The cells of some registries.

    Parameters
    ----------
    registries
        Each the records of one file, in the order in which they were written. In a file, the last record of a cell
        counts. Over files, the last finished one does, separately by where the rows come from.
    """

    def __init__(self, registries: Iterable[Iterable[Record]]) -> None:
        self.records = _latest(registries)
        self._cells: dict[Place, dict[int, Record]] = defaultdict(dict)
        self._settings: dict[Setting, None] = {}
        origins = _origins(self.records)
        for record in self.records:
            cell = record.spec
            setting = Setting.of(cell)
            self._settings[setting] = None
            found = [record.measured.provenance] if record.measured else origins[cell.dataset]
            for provenance in found:
                source = Source(cell.dataset, provenance)
                place = Place(setting, source, cell.model, cell.protocol, cell.attacked, cell.defence)
                self._cells[place].setdefault(cell.seed, record)
        self.sources = sorted({place.source for place in self._cells}, key=_source_order)

    @property
    def statuses(self) -> dict[Status, int]:
        """How many cells there are by status."""
        counted = Counter(record.status for record in self.records)
        every: tuple[Status, ...] = ("done", "failed", "not_applicable")
        return {status: counted[status] for status in every}

    @property
    def codes(self) -> set[str]:
        """The digests of the code that finished them."""
        return {record.code for record in self.records if record.status == "done"}

    def settings(self, attacks: Collection[str]) -> list[Setting]:
        """Return the settings of some attacks, in the order of tables.

        Parameters
        ----------
        attacks
            Names without hyper-parameters.
        """
        return sorted((s for s in self._settings if s.attack_name in attacks), key=lambda s: s.order)

    @property
    def attacks(self) -> list[str]:
        """The names of all attacks, without hyper-parameters."""
        return sorted({setting.attack_name for setting in self._settings})

    def places(self, setting: Setting) -> list[Place]:
        """Return every place of a setting that has a cell, of whatever status.

        Parameters
        ----------
        setting
            One of `settings`.
        """
        return [place for place in self._cells if place.setting == setting]

    def seeds(self, setting: Setting) -> tuple[int, ...]:
        """Return the seeds that a table of this setting is over.

        Parameters
        ----------
        setting
            One of `settings`.
        """
        return tuple(sorted({seed for place in self.places(setting) for seed in self._cells[place]}))

    def at(self, place: Place) -> Mapping[int, Record]:
        """Return the records of a place by seed, of whatever status.

        Parameters
        ----------
        place
            Any; one that has no cell gives none.
        """
        return self._cells.get(place, {})

    def numbers(self, place: Place, path: str) -> dict[int, float | Missing]:
        """Return a number of a place for every seed of its setting.

        Parameters
        ----------
        place
            Any.
        path
            In `tabular_bench.registry.Measured.metrics`, dotted: ``robust.average_precision``.
        """
        records = self.at(place)
        return {
            seed: number(records[seed], path) if seed in records else Missing(NO_CELL)
            for seed in self.seeds(place.setting)
        }

    def clean(self, place: Place, path: str) -> dict[int, float | Missing]:
        """Return a number of the clean rows that are evaluated in a place; no attack and protocol has a part in it.

        Where the place itself has none, any other cell of the same detector and the same choice of rows gives it.

        Parameters
        ----------
        place
            Any.
        path
            Below ``clean``: ``average_precision``.
        """
        found = self.numbers(place, f"clean.{path}")
        for other, records in self._cells.items():
            if not any(isinstance(value, Missing) for value in found.values()):
                break
            if _same_detector(place, other):
                for seed, value in found.items():
                    if isinstance(value, Missing) and seed in records:
                        found[seed] = _first_number(value, number(records[seed], f"clean.{path}"))
        return found

    def is_saturated(self, place: Place) -> bool:
        """Tell whether the robust average precision sits on its floor on some seed.

        Parameters
        ----------
        place
            Any.
        """
        return any(_is_saturated(record) for record in self.at(place).values())

    def has_detector(self, source: Source, model: str) -> bool:
        """Tell whether any cell of a data set is of that model.

        Parameters
        ----------
        source
            The data set.
        model
            Its name.
        """
        return any(place.source == source and place.model == model for place in self._cells)

    def flags(self, source: Source, model: str, defence: str) -> dict[str, str]:
        """Return what disqualifies a detector on a data set, on whichever seed.

        Parameters
        ----------
        source
            The data set.
        model, defence
            The detector.
        """
        found: dict[str, str] = {}
        for place, records in self._cells.items():
            if (place.source, place.model, place.defence) == (source, model, defence):
                for record in records.values():
                    found |= record.measured.flags if record.measured else {}
        return found


def number(record: Record, path: str) -> float | Missing:
    """Return a number of a record, or why it has none.

    Parameters
    ----------
    record
        Of whatever status.
    path
        As for `Cells.numbers`.
    """
    if record.measured is None:
        state = "not applicable" if record.status == "not_applicable" else "failed"
        return Missing(f"{state}: {record.error or 'without a word why'}")
    value: Any = record.measured.metrics
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, int | float):
        return float(value)
    return Missing(record.measured.blanks.get(path, f"the record has no number for {path}"))


def main_settings(settings: Iterable[Setting]) -> list[Setting]:
    """Keep the settings of direct attacks with the published ball; with any ball where none has that.

    Parameters
    ----------
    settings
        Of one or several attacks.
    """
    found = [setting for setting in settings if not setting.is_transfer]
    return [setting for setting in found if setting.has_published_budget] or found


def sorted_models(models: Iterable[str]) -> list[str]:
    """Sort models: the published ones, then others, then the trivial ones.

    Parameters
    ----------
    models
        Names.
    """
    order = (*MODELS, "")
    return sorted(
        set(models),
        key=lambda name: (
            TRIVIAL.index(name) + 1 if name in TRIVIAL else 0,
            order.index(name) if name in order else len(order),
            name,
        ),
    )


def _first_number(value: float | Missing, other: float | Missing) -> float | Missing:
    return other if isinstance(value, Missing) and not isinstance(other, Missing) else value


def _same_detector(place: Place, other: Place) -> bool:
    """Tell whether clean numbers of one place are those of the other: same detector, and same rows to score."""

    def wanted(of: Place) -> tuple[Any, ...]:
        # Which rows are drawn depends on who is attacked; where none are drawn, all are evaluated.
        drawn = None if of.setting.max_rows is None else (of.setting.max_rows, of.attacked)
        return of.source, of.model, of.defence, drawn

    return wanted(place) == wanted(other)


def _is_saturated(record: Record) -> bool:
    parts = [number(record, f"robust.{name}") for name in ("average_precision", "positives", "rows")]
    average, positives, rows = (None if isinstance(part, Missing) else part for part in parts)
    if average is None or not positives or rows is None:
        return False
    return is_saturated(average, int(positives), int(rows - positives))


def _latest(registries: Iterable[Iterable[Record]]) -> list[Record]:
    finished: dict[tuple[str, str], Record] = {}
    unfinished: dict[str, Record] = {}
    for records in registries:
        for record in {record.key: record for record in records}.values():
            if record.measured is None:
                unfinished[record.key] = record
            else:
                finished[record.key, record.measured.provenance] = record
    done = {key for key, _ in finished}
    return [*finished.values(), *(record for key, record in unfinished.items() if key not in done)]


def _origins(records: Iterable[Record]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for record in records:
        found[record.spec.dataset] |= {record.measured.provenance} if record.measured else set()
    return {dataset: sorted(known) or ["unknown"] for dataset, known in found.items()}


def _source_order(source: Source) -> tuple[int, str, str]:
    names = list(DATASETS)
    place = names.index(source.dataset) if source.dataset in names else len(names)
    return place, source.dataset, source.provenance
