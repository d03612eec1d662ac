"""Tables V to VIII and X: attacked detectors, ours beside the published values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tabular_bench.protocol import ProtocolName
from tabular_bench.reports import footnotes
from tabular_bench.reports.building import (
    AVERAGE_PRECISION,
    CLEAN,
    LABELS,
    Measure,
    Sheet,
    labels,
    ours,
    published,
    published_column,
    summarise,
)
from tabular_bench.reports.cells import Missing, Place, Source, sorted_models
from tabular_bench.reports.document import Attacked, Column, Table, Value
from tabular_bench.reports.published import DEFENDED, MODELS

ROBUST: Final = Measure("robust_pr_auc", "PR-AUC", AVERAGE_PRECISION)
DROP: Final = Measure("pr_auc_drop_pct", "Drop %", "", decimals=1)
FEASIBLE: Final = Measure("aggregate_feasibility", "Feasible", "attack.feasibility")
FLIPPED: Final = Measure("flipped", "Flips", "attack.flipped", decimals=1)
FEASIBLE_FLIPPED: Final = Measure("feasible_flipped", "Feasible flips", "attack.feasible_flipped", decimals=1)
FSR: Final = Measure("fsr", "FSR", "attack.filtered_success_rate")
ATTACKED_ROWS: Final = Measure("attacked", "Attacked", "attack.attacked", decimals=0)
TIME: Final = Measure("time_s", "Seconds", "attack.runtime_s", decimals=1)

NETWORK: Final = "mlp"
TREES: Final = "xgboost"


def clean_and_robust(sheet: Sheet) -> list[Table]:
    """Return Table V: what an attack without constraints takes from a detector without defence.

    Parameters
    ----------
    sheet
        Of a gradient attack.
    """
    rows = []
    for source in sheet.sources:
        for model in sheet.models(source, [NETWORK]):
            printed = MODELS.get(model, "none")
            values: dict[str, Value | None] = dict(labels(source, model=model))
            values |= sheet.all_clean(source, model)
            values[f"{CLEAN.name}_published"] = published(
                "V", CLEAN.name, source.dataset, model=printed, protocol="clean", attack="none"
            )
            values |= sheet.beside("V", ROBUST, source, model, "A")
            values |= {f"{DROP.name}_{which}": _drop(sheet, source, model, which) for which in sheet.attacked}
            values[f"{DROP.name}_published"] = published(
                "V", DROP.name, source.dataset, model=printed, protocol="A", attack="CAPGD"
            )
            rows.append(sheet.row(source, values, model))
    columns = [
        *_labels("model"),
        *CLEAN.columns(sheet.attacked),
        *ROBUST.columns(sheet.attacked),
        *DROP.columns(sheet.attacked),
    ]
    notes = (footnotes.BOTH_ATTACKED, footnotes.CAPGD, footnotes.CLIPPED, footnotes.DROP)
    return [sheet.table("V", "Clean and robust PR-AUC under Protocol A, no defence", columns, rows, notes)]


def protocols(sheet: Sheet) -> list[Table]:
    """Return Table VI in two parts: the protocols compared by ranking and by feasibility.

    Parameters
    ----------
    sheet
        Of a gradient attack.
    """
    counted = (ATTACKED_ROWS, FEASIBLE, FEASIBLE_FLIPPED, FSR)
    ranked_rows, counted_rows = [], []
    for source in sheet.sources:
        trivial = sheet.trivial(source)
        for model in sheet.models(source, [NETWORK]):
            if model in trivial:
                continue
            for protocol in sheet.protocols(source):
                named = labels(source, model=model, protocol=protocol)
                ranked = named | sheet.beside("VI", ROBUST, source, model, protocol)
                ranked_rows.append(sheet.row(source, ranked, model))
                values = named | _all_beside(sheet, "VI", counted, source, model, protocol)
                counted_rows.append(sheet.row(source, values, model))
    named_columns = _labels("model", "protocol")
    return [
        sheet.table(
            "VI",
            "Protocols compared: robust PR-AUC, no defence",
            [*named_columns, *ROBUST.columns(sheet.attacked)],
            ranked_rows,
            (footnotes.BOTH_ATTACKED, footnotes.CAPGD, footnotes.READING_OF_B),
        ),
        sheet.table(
            "VI",
            "Protocols compared: feasibility and flips, no defence",
            [*named_columns, *_columns(sheet, counted)],
            counted_rows,
            (
                footnotes.FLIPPED,
                footnotes.COUNTS,
                footnotes.BLOCKS,
                footnotes.NO_SWITCHES,
                footnotes.INSTALMENT,
                footnotes.FSR,
            ),
        ),
    ]


def model_families(sheet: Sheet) -> list[Table]:
    """Return Table VII in two parts: an attack by scores on every model.

    Parameters
    ----------
    sheet
        Of an attack that asks for scores alone.
    """
    shown = [name for name in sheet.protocols() if name not in "AB"]
    counted = (ATTACKED_ROWS, FEASIBLE, FLIPPED, TIME)
    ranked_rows, counted_rows = [], []
    for source in sheet.sources:
        for model in sheet.models(source, MODELS):
            ranked: dict[str, Value | None] = dict(labels(source, model=model))
            ranked |= sheet.all_clean(source, model)
            for protocol in ("A", "B", *shown):
                ranked |= sheet.beside("VII", ROBUST, source, model, protocol, f"{protocol}_")
            ranked_rows.append(sheet.row(source, ranked, model))
            values = labels(source, model=model) | _all_beside(sheet, "VII", counted, source, model, "A")
            counted_rows.append(sheet.row(source, values, model))
    ranked_columns = [*_labels("model"), *_clean_columns(sheet)]
    for protocol in ("A", "B", *shown):
        ranked_columns += ROBUST.columns(sheet.attacked, f"{protocol}_", with_published=protocol in "AB")
    return [
        sheet.table(
            "VII",
            "Model families: robust PR-AUC by protocol, no defence",
            ranked_columns,
            ranked_rows,
            (footnotes.BOTH_ATTACKED, footnotes.SQUARE, footnotes.READING_OF_B),
        ),
        sheet.table(
            "VII",
            "Model families: feasibility, flips and time under Protocol A, no defence",
            [*_labels("model"), *_columns(sheet, counted)],
            counted_rows,
            (footnotes.FLIPPED, footnotes.COUNTS, footnotes.BLOCKS, footnotes.TIME),
        ),
    ]


def by_decisions(sheet: Sheet) -> list[Table]:
    """Return Table VIII: an attack by decisions on the trees.

    Parameters
    ----------
    sheet
        Of an attack that asks for decisions alone.
    """
    rows = []
    for source in sheet.sources:
        for model in sheet.models(source, [TREES]):
            values = labels(source, model=model) | sheet.beside("VIII", ROBUST, source, model, "A")
            values |= sheet.all_clean(source, model)
            values["n_seeds_published"] = published(
                "VIII",
                "n_seeds",
                source.dataset,
                model=MODELS.get(model, "none"),
                protocol="A",
                attack=sheet.attack,
            )
            rows.append(sheet.row(source, values, model))
    columns = [
        *_labels("model"),
        *_clean_columns(sheet),
        *ROBUST.columns(sheet.attacked),
        published_column("n_seeds", "Seeds", 0),
    ]
    notes = (footnotes.BOTH_ATTACKED, footnotes.HOPSKIPJUMP)
    title = "Attack by decisions: robust PR-AUC under Protocol A, no defence"
    return [sheet.table("VIII", title, columns, rows, notes)]


def defences(sheet: Sheet) -> list[Table]:
    """Return Table X: defences under the protocol that is nearest to deployment, A where there are no constraints.

    The ensemble is given the rows that fool a network, as in print, where there are cells of that.

    Parameters
    ----------
    sheet
        Of a gradient attack, for the published table; of any other attack, for defended detectors beside it.
    """
    is_published = sheet.attack == "CAPGD"
    rows = []
    for source in sheet.sources:
        protocol: ProtocolName = "A" if source.dataset == "ccfd" else "C2"
        for model, defence in _defended(sheet, source) if is_published else _other_defended(sheet, source):
            places = {which: _deployed(sheet, source, model, protocol, which, defence) for which in sheet.attacked}
            is_transfer = any(place.setting.is_transfer for place in places.values())
            told = "A (transfer)" if is_transfer else protocol
            values: dict[str, Value | None] = dict(labels(source, model=model, defence=defence, protocol=told))
            values |= sheet.all_clean(source, model, defence)
            for which, place in places.items():
                values[f"{ROBUST.name}_{which}"] = ours(sheet.cells, place, ROBUST.path)
            if is_published:
                values[f"{ROBUST.name}_published"] = _published_defence(source, model, defence, protocol)
            rows.append(sheet.row(source, values, model, defence))
    columns = [*_labels("model", "defence", "protocol"), *_clean_columns(sheet)]
    columns += ROBUST.columns(sheet.attacked, with_published=is_published)
    notes = [footnotes.ENSEMBLE, footnotes.BOTH_ATTACKED, footnotes.DEFENCES, footnotes.CAPGD]
    return [
        sheet.table(
            "X",
            f"Defences under the deployment protocol: robust PR-AUC{'' if is_published else ', another attack'}",
            columns,
            rows,
            notes if is_published else [footnotes.BOTH_ATTACKED],
        )
    ]


def _deployed(
    sheet: Sheet, source: Source, model: str, protocol: ProtocolName, attacked: Attacked, defence: str
) -> Place:
    if (model, defence) == ("ensemble", "none"):
        setting = replace(sheet.setting, threat=f"transfer_{NETWORK}")
        transferred = Place(setting, source, model, "A", attacked)
        if sheet.cells.at(transferred):
            return transferred
    return Place(sheet.setting, source, model, protocol, attacked, defence)


def _published_defence(source: Source, model: str, defence: str, protocol: ProtocolName) -> Value | None:
    """Return a value of Table X, marked where it is not what the table says."""
    printed = DEFENDED.get((model, defence.partition("=")[0]), "none")
    value = published("X", ROBUST.name, source.dataset, model=printed, protocol=protocol, attack="CAPGD")
    if value is None or printed != "Ensemble":
        return value
    return value.model_copy(update={"marks": ("transfer_under_A",)})


def _labels(*names: str) -> list[Column]:
    return [LABELS[name] for name in ("dataset", "provenance", *names)]


def _clean_columns(sheet: Sheet) -> list[Column]:
    return CLEAN.columns(sheet.attacked, with_published=False)


def _columns(sheet: Sheet, measures: Iterable[Measure]) -> list[Column]:
    return [
        column
        for measure in measures
        for column in measure.columns(sheet.attacked, with_published=measure is not ATTACKED_ROWS)
    ]


def _all_beside(
    sheet: Sheet, table: str, measures: Iterable[Measure], source: Source, model: str, protocol: ProtocolName
) -> dict[str, Value | None]:
    values: dict[str, Value | None] = {}
    for measure in measures:
        values |= sheet.beside(table, measure, source, model, protocol)
    return values


def _drop(sheet: Sheet, source: Source, model: str, attacked: Attacked) -> Value:
    place = Place(sheet.setting, source, model, "A", attacked)
    clean, robust = sheet.cells.clean(place, "average_precision"), sheet.cells.numbers(place, AVERAGE_PRECISION)
    return summarise({seed: _relative(clean[seed], robust[seed]) for seed in robust})


def _relative(clean: float | Missing, robust: float | Missing) -> float | Missing:
    if isinstance(robust, Missing):
        return robust
    if isinstance(clean, Missing):
        return clean
    return 100 * (robust - clean) / clean if clean else Missing("the clean PR-AUC is 0")


def _defended(sheet: Sheet, source: Source) -> list[tuple[str, str]]:
    """Return the published pairs of model and defence, further defences that have a cell, and trivial models.

    A variant of a published defence stands in its place where the defence itself has no cell.
    """
    pairs = sheet.pairs(source)
    further = sorted(pair for pair in pairs if pair[1] != "none" and pair not in DEFENDED)
    replaced = {(model, defence.partition("=")[0]) for model, defence in further} - pairs
    standing = [pair for pair in DEFENDED if pair not in replaced]
    return [*standing, *further, *((model, "none") for model in sheet.trivial(source))]


def _other_defended(sheet: Sheet, source: Source) -> list[tuple[str, str]]:
    """Return the pairs of each model that has a cell with a defence, and trivial models."""
    defended = {model for model, defence in sheet.pairs(source) if defence != "none"}
    pairs = sorted(pair for pair in sheet.pairs(source) if pair[0] in defended)
    pairs.sort(key=lambda pair: pair[1] != "none")
    by_model = [pair for model in sorted_models(defended) for pair in pairs if pair[0] == model]
    return [*by_model, *((model, "none") for model in sheet.trivial(source))] if by_model else []
