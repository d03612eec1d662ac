"""Models in the order of what an attack leaves them, and Table IX: where two protocols order them differently."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from tabular_bench.protocol import ProtocolName
from tabular_bench.reports import footnotes
from tabular_bench.reports.building import (
    ATTACKED_TITLES,
    AVERAGE_PRECISION,
    LABELS,
    Sheet,
    keep,
    labels,
    ours,
    published,
    published_column,
    words,
)
from tabular_bench.reports.cells import TRIVIAL, Cells, Place, Setting, Source, sorted_models
from tabular_bench.reports.document import Attacked, Column, Row, Table, Value
from tabular_bench.reports.published import MODELS

_COMPARED: Final[tuple[ProtocolName, ProtocolName]] = ("A", "B")


def ranking(
    cells: Cells, setting: Setting, source: Source, protocol: ProtocolName, attacked: Attacked
) -> dict[str, Value]:
    """Return the models without defence that have a robust PR-AUC, the most robust first; trivial ones are left out.

    Parameters
    ----------
    cells
        The registries.
    setting
        Of an attack.
    source, protocol, attacked
        Where.
    """
    return _ordered(cells, setting, source, protocol, attacked, trivial=False)


def describe_change(before: list[str], after: list[str]) -> str:
    """Say how the order of models changes from one protocol to another.

    Parameters
    ----------
    before, after
        The same models, the most robust first; at least two.
    """
    if before == after:
        return "no change"
    if before[0] == after[0]:
        return "lower-rank change"
    if before[0] == after[-1] and before[-1] == after[0]:
        return "top-bottom reversal"
    return "top change"


def ranking_changes(sheet: Sheet) -> list[Table]:
    """Return Table IX: the order of models under Protocols A and B.

    Parameters
    ----------
    sheet
        Of an attack by scores.
    """
    rows = []
    for source in sheet.sources:
        values: dict[str, Value | None] = dict(labels(source))
        for which in sheet.attacked:
            values |= _orders(sheet.cells, sheet.setting, source, which)
        for protocol in _COMPARED:
            values[f"{protocol}_order_published"] = _published_best(source, protocol)
        values["change_published"] = published("IX", "rank_change", source.dataset, protocol="A->B", attack="Square")
        rows.append(Row(values=keep(values)))
    columns = [LABELS["dataset"], LABELS["provenance"]]
    for which in sheet.attacked:
        names = {f"{protocol}_order": f"Order under {protocol}" for protocol in _COMPARED}
        names |= {"change": "Change", "trivial": "Best trivial, A"}
        columns += [
            Column(name=f"{name}_{which}", title=f"{title} ({ATTACKED_TITLES[which]})", attacked=which)
            for name, title in names.items()
        ]
    columns += [published_column(f"{protocol}_order", f"Best under {protocol}") for protocol in _COMPARED]
    columns.append(published_column("change", "Change"))
    title = "Order of the model families under Protocols A and B, no defence"
    return [sheet.table("IX", title, columns, rows, (footnotes.RANKING, footnotes.BOTH_ATTACKED))]


def _published_best(source: Source, protocol: ProtocolName) -> Value | None:
    found = (
        published("IX", "best_model", source.dataset, model=model, protocol=protocol, attack="Square")
        for model in MODELS.values()
    )
    return next((value for value in found if value is not None), None)


def _orders(cells: Cells, setting: Setting, source: Source, attacked: Attacked) -> dict[str, Value]:
    """Return the order under each protocol, of the models that both have, and the change."""
    first, second = (ranking(cells, setting, source, protocol, attacked) for protocol in _COMPARED)
    common = first.keys() & second.keys()
    orders = [[model for model in order if model in common] for order in (first, second)]
    values = {}
    none = Value(missing={"no model has a number under A and B": ()})
    for protocol, order, found in zip(_COMPARED, orders, (first, second), strict=True):
        values[f"{protocol}_order_{attacked}"] = words(_chain(order, found)) if order else none
    few = Value(missing={"fewer than two models to be ordered": ()})
    values[f"change_{attacked}"] = words(describe_change(*orders)) if len(common) > 1 else few
    trivial = _ordered(cells, setting, source, "A", attacked, trivial=True)
    best = next(iter(trivial.items()), None)
    values[f"trivial_{attacked}"] = (
        Value(missing={"no trivial detector was attacked": ()})
        if best is None
        else words(f"{best[0]} {best[1].mean:.3f}")
    )
    return values


def _chain(order: list[str], found: dict[str, Value]) -> str:
    """Write models in their order, those with the same number as equals."""
    text = order[0]
    for before, model in pairwise(order):
        text += f" {'=' if found[before].mean == found[model].mean else '>'} {model}"
    return text


def _ordered(
    cells: Cells, setting: Setting, source: Source, protocol: ProtocolName, attacked: Attacked, *, trivial: bool
) -> dict[str, Value]:
    models = sorted_models(
        place.model
        for place in cells.places(setting)
        if place.source == source and place.defence == "none" and (place.model in TRIVIAL) == trivial
    )
    values = {
        model: ours(cells, Place(setting, source, model, protocol, attacked), AVERAGE_PRECISION) for model in models
    }
    known = [(model, value) for model, value in values.items() if value.mean is not None]
    return dict(sorted(known, key=lambda pair: -(pair[1].mean or 0.0)))
