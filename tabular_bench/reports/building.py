"""Columns and values of tables, out of cells and published values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tabular_bench.metrics.seeds import over_seeds
from tabular_bench.protocol import ProtocolName
from tabular_bench.reports.cells import PROTOCOLS, TRIVIAL, Cells, Missing, Place, Setting, Source, sorted_models
from tabular_bench.reports.document import Attacked, Column, Row, Table, Value
from tabular_bench.reports.published import DATASETS, MODELS, find_published

AVERAGE_PRECISION: Final = "robust.average_precision"
ATTACKED: Final[tuple[Attacked, ...]] = ("positives", "both")
ATTACKED_TITLES: Final[Mapping[Attacked, str]] = {"positives": "fraud", "both": "both"}

LABELS: Final = {
    "dataset": Column(name="dataset", title="Data set", source="label"),
    "provenance": Column(name="provenance", title="Rows", source="label"),
    "model": Column(name="model", title="Model", source="label"),
    "defence": Column(name="defence", title="Defence", source="label"),
    "protocol": Column(name="protocol", title="Protocol", source="label"),
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One quantity of a table: ours for each way to attack, and the published one beside.

    Attributes
    ----------
    name
        For programs, and in ``published.csv`` if it is there.
    title
        For people.
    path
        In the metrics of a record.
    decimals
        As in `Column`.
    attacked
        For which choices of attacked rows it is shown.
    """

    name: str
    title: str
    path: str
    decimals: int = 3
    attacked: tuple[Attacked, ...] = ATTACKED

    def columns(self, attacked: Iterable[Attacked], prefix: str = "", with_published: bool = True) -> list[Column]:
        """Return the columns of the measure.

        Parameters
        ----------
        attacked
            Which choices of attacked rows the table has cells of.
        prefix
            Set before names and titles, where a table has the measure several times.
        with_published
            Whether to add the published one.
        """
        name, title = f"{prefix}{self.name}", f"{prefix.replace('_', ' ')}{self.title}"
        ours = [
            Column(
                name=f"{name}_{which}",
                title=f"{title} ({ATTACKED_TITLES[which]})",
                decimals=self.decimals,
                attacked=which,
            )
            for which in self.attacked
            if which in attacked
        ]
        if not with_published:
            return ours
        return [*ours, published_column(name, title, self.decimals)]


def published_column(name: str, title: str, decimals: int = 3) -> Column:
    """Return the column of a published value.

    Parameters
    ----------
    name, title
        Of the measure.
    decimals
        As in `Column`.
    """
    return Column(name=f"{name}_published", title=f"{title} (published)", source="published", decimals=decimals)


CLEAN: Final = Measure("clean_pr_auc", "Clean PR-AUC", "clean.average_precision")


def summarise(numbers: Mapping[int, float | Missing]) -> Value:
    """Return mean and deviation over seeds, and why seeds are missing.

    Parameters
    ----------
    numbers
        By seed.
    """
    spread = over_seeds(None if isinstance(value, Missing) else value for value in numbers.values())
    missing: dict[str, list[int]] = defaultdict(list)
    for seed, value in numbers.items():
        if isinstance(value, Missing):
            missing[value.reason].append(seed)
    return Value(
        mean=spread.mean,
        deviation=spread.deviation,
        seeds=spread.seeds,
        missing={reason: tuple(seeds) for reason, seeds in missing.items()},
    )


def ours(cells: Cells, place: Place, path: str) -> Value:
    """Return a measured number over the seeds of its table, marked where it is saturated.

    Parameters
    ----------
    cells
        The registries.
    place
        Where it stands.
    path
        In the metrics of a record.
    """
    value = summarise(cells.numbers(place, path))
    if path == AVERAGE_PRECISION and value.mean is not None and cells.is_saturated(place):
        return value.model_copy(update={"marks": ("saturated",)})
    return value


def words(text: str) -> Value:
    """Return a value that is words.

    Parameters
    ----------
    text
        Any.
    """
    return Value(text=text)


def published(
    table: str, metric: str, dataset: str, *, model: str = "", protocol: str = "", attack: str = ""
) -> Value | None:
    """Return a value in print as one of a table, None if that table does not have it; a dash in print is blank.

    Parameters
    ----------
    table, metric
        As for `find_published`.
    dataset
        By our name.
    model, protocol, attack
        By their published names.
    """
    found = find_published(
        table, metric, dataset=DATASETS.get(dataset, ""), model=model, protocol=protocol, attack=attack
    )
    if found is None:
        return None
    if found.mean is None and found.text is None:
        return Value(missing={"a dash in print": ()})
    return Value(mean=found.mean, deviation=found.deviation, text=found.text)


def labels(source: Source, **others: str) -> dict[str, Value]:
    """Return the labels of a row.

    Parameters
    ----------
    source
        Its data set.
    **others
        Further labels by the name of their column.
    """
    named = {"dataset": source.title, "provenance": source.provenance, **others}
    return {name: words(text) for name, text in named.items()}


def keep(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the values that there are.

    Parameters
    ----------
    values
        By column; None for an empty place.
    """
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is needed to build the tables of one setting.

    Attributes
    ----------
    cells
        The registries.
    setting
        What all cells of the table share.
    attack
        What the attack is called in print.
    """

    cells: Cells
    setting: Setting
    attack: str

    @cached_property
    def attacked(self) -> tuple[Attacked, ...]:
        """The choices of attacked rows that there are cells of, in the order of columns."""
        found = {place.attacked for place in self._places}
        return tuple(which for which in ATTACKED if which in found)

    @cached_property
    def sources(self) -> list[Source]:
        """The data sets that there are cells of, in the order of tables."""
        found = {place.source for place in self._places}
        return [source for source in self.cells.sources if source in found]

    def protocols(self, source: Source | None = None) -> list[ProtocolName]:
        """Return the protocols that there are cells of.

        Parameters
        ----------
        source
            On that data set alone.
        """
        found = {place.protocol for place in self._places if source in (None, place.source)}
        return [name for name in PROTOCOLS if name in found]

    def pairs(self, source: Source) -> set[tuple[str, str]]:
        """Return the models and defences that there are cells of.

        Parameters
        ----------
        source
            The data set.
        """
        return {(place.model, place.defence) for place in self._places if place.source == source}

    def trivial(self, source: Source) -> list[str]:
        """Return the trivial models that a data set has any cell of, under whatever attack.

        Parameters
        ----------
        source
            The data set.
        """
        return [model for model in TRIVIAL if self.cells.has_detector(source, model)]

    def models(self, source: Source, wanted: Iterable[str]) -> list[str]:
        """Return the models of a table's rows.

        Parameters
        ----------
        source
            The data set.
        wanted
            Stand in the table in any case; the others if a cell of this setting is finished, or if they are trivial.
        """
        finished = {
            place.model
            for place in self._places
            if (place.source, place.defence) == (source, "none")
            and any(record.measured for record in self.cells.at(place).values())
        }
        return sorted_models([*wanted, *finished, *self.trivial(source)])

    def beside(
        self, table: str, measure: Measure, source: Source, model: str, protocol: ProtocolName, prefix: str = ""
    ) -> dict[str, Value | None]:
        """Return a measure for each choice of attacked rows, and the published one.

        Parameters
        ----------
        table
            A Roman number.
        measure
            Of a detector without defence.
        source, model, protocol
            Where.
        prefix
            Set before the names of the columns.
        """
        values: dict[str, Value | None] = {
            f"{prefix}{measure.name}_{which}": ours(
                self.cells, Place(self.setting, source, model, protocol, which), measure.path
            )
            for which in self.attacked
        }
        values[f"{prefix}{measure.name}_published"] = published(
            table,
            measure.name,
            source.dataset,
            model=MODELS.get(model, "none"),
            protocol=protocol,
            attack=self.attack,
        )
        return values

    def clean(self, source: Source, model: str, attacked: Attacked, defence: str = "none") -> Value:
        """Return the clean average precision of a detector, over the seeds of the setting.

        Parameters
        ----------
        source, model
            Where.
        attacked
            Decides which rows are evaluated where not all are.
        defence
            Its name.
        """
        place = Place(self.setting, source, model, "A", attacked, defence)
        return summarise(self.cells.clean(place, "average_precision"))

    def all_clean(self, source: Source, model: str, defence: str = "none") -> dict[str, Value]:
        """Return the values of the columns of the clean average precision.

        Parameters
        ----------
        source, model, defence
            Where.
        """
        return {f"{CLEAN.name}_{which}": self.clean(source, model, which, defence) for which in self.attacked}

    def row(self, source: Source, values: Mapping[str, Value | None], model: str, defence: str = "none") -> Row:
        """Return a row of a detector, with its flags.

        Parameters
        ----------
        source
            The data set.
        values
            By column; None for an empty place.
        model, defence
            The detector.
        """
        return Row(values=keep(values), flags=self.cells.flags(source, model, defence))

    def table(
        self, number: str, title: str, columns: Iterable[Column], rows: Iterable[Row], notes: Iterable[str]
    ) -> Table:
        """Return a table of the setting.

        Parameters
        ----------
        number, title, columns, rows, notes
            As in `Table`.
        """
        return Table(
            number=number,
            title=title,
            setting=str(self.setting),
            seeds=self.cells.seeds(self.setting),
            columns=tuple(columns),
            rows=tuple(rows),
            notes=tuple(notes),
        )

    @cached_property
    def _places(self) -> list[Place]:
        return self.cells.places(self.setting)
