"""Pictures of recorded cells, as PNG and SVG: bars of protocols, curves over epsilon, rankings of models.

Nothing is drawn where there is no number; a note stands in its place.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tabular_bench.cell import Attacked
from tabular_bench.protocol import PRESETS, ProtocolName
from tabular_bench.registry import Record
from tabular_bench.reports import drawing
from tabular_bench.reports.building import ATTACKED, AVERAGE_PRECISION, Sheet, ours
from tabular_bench.reports.cells import PROTOCOLS, Cells, Place, Setting, Source, main_settings, sorted_models
from tabular_bench.reports.document import Value
from tabular_bench.reports.rankings import ranking

Kind = Literal["bars", "epsilon", "ranking"]
FileFormat = Literal["png", "svg"]

KINDS: Final[tuple[Kind, ...]] = ("bars", "epsilon", "ranking")
FEASIBLE_SUCCESS: Final = "attack.feasible_success_rate"

_PANELS_ACROSS: Final = 2
_BARS: Final = (
    ("clean", drawing.GREY, ""),
    ("A", drawing.VERMILION, "///"),
    ("B", drawing.ORANGE, "..."),
    ("C1", drawing.SKY, "\\\\\\"),
    ("C2", drawing.BLUE, ""),
)
_LINES: Final[dict[ProtocolName, str]] = {"A": "-", "B": ":", "C1": "--", "C2": "-."}
_WHO: Final[dict[Attacked, str]] = {"positives": "fraud attacked", "both": "both classes attacked"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """What `draw` left on disk.

    Attributes
    ----------
    files
        In the order in which they were written.
    notes
        What was not drawn, and why.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Picture:
    """One picture, not yet drawn: its name, the setting that tells it from others of that name, and how to draw it."""

    name: str
    setting: str
    make: Callable[[], Any]

    def stem(self, pictures: Sequence[_Picture]) -> str:
        """Return the name of its files among all pictures of its kind."""
        if sum(other.name == self.name for other in pictures) == 1:
            return self.name
        return f"{self.name}_{hashlib.sha256(self.setting.encode()).hexdigest()[:6]}"


def draw(
    registries: Iterable[Iterable[Record]],
    folder: Path,
    *,
    kinds: Sequence[Kind] = KINDS,
    formats: Sequence[FileFormat] = ("png", "svg"),
    origin: str = "",
) -> Drawn:
    """Draw recorded cells.

    Parameters
    ----------
    registries
        As for `Cells`.
    folder
        Takes the files; those of the same name are replaced.
    kinds
        Which pictures.
    formats
        Of each picture.
    origin
        What the registries are called, for the captions.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    cells = Cells(registries)
    files, notes = [], []
    with drawing.settings():
        for kind in kinds:
            pictures = _PICTURES[kind](cells, origin)
            if not pictures:
                notes.append(f"{kind}: {_NEEDS[kind]}")
            for picture in pictures:
                figure = picture.make()
                for suffix in formats:
                    path = folder / f"{picture.stem(pictures)}.{suffix}"
                    drawing.save(figure, path)
                    files.append(path)
    return Drawn(tuple(files), tuple(notes))


def _bars(cells: Cells, origin: str) -> list[_Picture]:
    """Return a picture for each attack, preset and choice of attacked rows: clean and robust PR-AUC by protocol."""
    pictures = []
    for name in cells.attacks:
        for setting in main_settings(cells.settings([name])):
            for attacked in Sheet(cells, setting, name).attacked:
                if _has_numbers(cells, setting, attacked):
                    pictures.append(
                        _Picture(
                            _name("bars", setting, attacked),
                            str(setting),
                            lambda s=setting, a=attacked: _draw_bars(cells, s, a, origin),  # type: ignore[misc]
                        )
                    )
    return pictures


def _draw_bars(cells: Cells, setting: Setting, attacked: Attacked, origin: str) -> Any:
    sheet = Sheet(cells, setting, setting.attack)
    sources = [source for source in sheet.sources if _models(cells, setting, source, attacked)]
    caption = (
        f"PR-AUC on clean rows and under each protocol, mean and standard deviation over seeds. "
        f"{_setting_told(cells, setting, attacked)}, epsilon {setting.epsilon:g} ({setting.norm}). "
        f"{_origin_told(sources, origin)} {drawing.MISSING}: no such number is recorded. "
        f"{_reading_told(setting)}"
    )
    rows = -(-len(sources) // _PANELS_ACROSS)
    figure, axes = drawing.new_figure(rows, min(len(sources), _PANELS_ACROSS), 2.1, caption)
    panels = list(axes.flat)
    for panel, source in zip(panels, sources, strict=False):
        _draw_bar_panel(panel, sheet, source, attacked)
    highest = max(panel.get_ylim()[1] for panel in panels[: len(sources)])
    for panel in panels[: len(sources)]:
        panel.set_ylim(0, min(1.0, highest))
    for panel in panels[len(sources) :]:
        panel.set_axis_off()
    for row in axes:
        row[0].set_ylabel("PR-AUC")
    drawing.add_legend(figure, [_patch(*bar) for bar in _BARS], len(_BARS))
    return figure


def _draw_bar_panel(panel: Any, sheet: Sheet, source: Source, attacked: Attacked) -> None:
    models = _models(sheet.cells, sheet.setting, source, attacked)
    width = 0.8 / len(_BARS)
    for place, model in enumerate(models):
        for shift, (bar, colour, hatch) in enumerate(_BARS):
            x = place + (shift - (len(_BARS) - 1) / 2) * width
            value = _bar_value(sheet, source, model, bar, attacked)
            if value.mean is None:
                panel.annotate(
                    drawing.MISSING,
                    (x, 0),
                    xytext=(0, 2),
                    textcoords="offset points",
                    rotation=90,
                    ha="center",
                    fontsize=6,
                    color=drawing.GREY,
                )
                continue
            panel.bar(
                x,
                value.mean,
                width * 0.92,
                color=colour,
                hatch=hatch,
                edgecolor="white" if hatch else colour,
                linewidth=0,
            )
            if value.deviation is not None:
                panel.errorbar(x, value.mean, value.deviation, color="black", linewidth=0.8, capsize=1.5)
    panel.set_xticks(range(len(models)), models, rotation=20 if len(models) > 4 else 0)
    panel.set_xlim(-0.6, len(models) - 0.4)
    panel.set_title(f"{source.title} ({source.provenance})", loc="left")
    _grid(panel)


def _bar_value(sheet: Sheet, source: Source, model: str, bar: str, attacked: Attacked) -> Value:
    if bar == "clean":
        return sheet.clean(source, model, attacked)
    protocol = next(name for name in PROTOCOLS if name == bar)
    return ours(sheet.cells, Place(sheet.setting, source, model, protocol, attacked), AVERAGE_PRECISION)


def _epsilon(cells: Cells, origin: str) -> list[_Picture]:
    """Return a picture for each setting that has cells at two epsilons or more: success and PR-AUC over epsilon."""
    families: dict[tuple[str, str], list[Setting]] = {}
    for setting in cells.settings(cells.attacks):
        families.setdefault((setting.without_epsilon, setting.norm), []).append(setting)
    pictures = []
    for settings in families.values():
        for attacked in ATTACKED:
            if _curves(cells, settings, attacked):
                pictures.append(
                    _Picture(
                        _name("epsilon", settings[0], attacked),
                        f"{settings[0].without_epsilon} {settings[0].norm}",
                        lambda k=settings, a=attacked: _draw_epsilon(cells, k, a, origin),  # type: ignore[misc]
                    )
                )
    return pictures


def _draw_epsilon(cells: Cells, settings: Sequence[Setting], attacked: Attacked, origin: str) -> Any:
    from matplotlib.lines import Line2D

    curves = _curves(cells, settings, attacked)
    sources = [source for source in cells.sources if any(source == known for known, _ in curves)]
    styles = drawing.model_styles([model for _, model in curves])
    caption = (
        "Above: feasible flips as a share of the rows classified rightly. Below: robust PR-AUC. Mean over seeds, the "
        f"band is one standard deviation. {_setting_told(cells, settings[0], attacked)}; epsilon in the "
        f"{settings[0].norm} norm. {_origin_told(sources, origin)} Lines break where no number is recorded. "
        f"{_reading_told(settings[0])}"
    )
    figure, axes = drawing.new_figure(2, len(sources), 1.75, caption, legend_rows=1 if len(styles) <= 4 else 2)
    protocols: set[ProtocolName] = set()
    for column, source in enumerate(sources):
        for model in [model for known, model in curves if known == source]:
            for protocol in PROTOCOLS:
                for row, path in enumerate((FEASIBLE_SUCCESS, AVERAGE_PRECISION)):
                    places = [Place(setting, source, model, protocol, attacked) for setting in settings]
                    if _draw_curve(axes[row][column], cells, places, path, styles[model]):
                        protocols.add(protocol)
        axes[0][column].set_title(f"{source.title} ({source.provenance})", loc="left")
        axes[1][column].set_xlabel("epsilon")
        for panel in axes[:, column]:
            _grid(panel)
    highest = min(1.0, max(panel.get_ylim()[1] for panel in axes[1]))
    for upper, lower in axes.T:
        # A little below 0, where many curves lie.
        upper.set_ylim(-0.03, 1.03)
        lower.set_ylim(-0.03 * highest, 1.03 * highest)
    axes[0][0].set_ylabel("feasible success rate")
    axes[1][0].set_ylabel("robust PR-AUC")
    handles = [Line2D([], [], color="#444444", linestyle=s, label=p) for p, s in _LINES.items() if p in protocols]
    handles += [Line2D([], [], linestyle="", markersize=4.5, label=model, **style) for model, style in styles.items()]
    drawing.add_legend(figure, handles, len(handles) if len(styles) <= 4 else -(-len(handles) // 2))
    return figure


def _curves(cells: Cells, settings: Sequence[Setting], attacked: Attacked) -> list[tuple[Source, str]]:
    """Return the data sets and models that have numbers at two epsilons or more."""
    counted = Counter(
        (source, model)
        for setting in settings
        for source in cells.sources
        for model in _models(cells, setting, source, attacked)
    )
    return [curve for curve, count in counted.items() if count > 1]


def _draw_curve(panel: Any, cells: Cells, places: Sequence[Place], path: str, style: dict[str, Any]) -> bool:
    """Draw the stretches of a curve that have numbers; tell whether there were any."""
    line = _LINES[places[0].protocol]
    stretch: list[tuple[float, float, float]] = []
    drawn = False
    for place in [*places, None]:
        value = Value() if place is None else ours(cells, place, path)
        if place is not None and value.mean is not None:
            stretch.append((place.setting.epsilon, value.mean, value.deviation or 0.0))
            continue
        if stretch:
            drawn = True
            x, y, d = zip(*stretch, strict=True)
            panel.plot(x, y, linestyle=line, markersize=3.5, linewidth=1.3, **style)
            low = [a - b for a, b in zip(y, d, strict=True)]
            high = [a + b for a, b in zip(y, d, strict=True)]
            panel.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)
        stretch = []
    return drawn


def _ranking(cells: Cells, origin: str) -> list[_Picture]:
    """Return a picture for each setting with two models under two protocols: who is how robust under which."""
    pictures = []
    for setting in main_settings(cells.settings(cells.attacks)):
        for attacked in Sheet(cells, setting, setting.attack).attacked:
            if _slopes(cells, setting, attacked):
                pictures.append(
                    _Picture(
                        _name("ranking", setting, attacked),
                        str(setting),
                        lambda s=setting, a=attacked: _draw_ranking(cells, s, a, origin),  # type: ignore[misc]
                    )
                )
    return pictures


def _slopes(cells: Cells, setting: Setting, attacked: Attacked) -> dict[Source, dict[ProtocolName, dict[str, Value]]]:
    """Return the models in order, by data set and protocol, where at least two can be compared over two protocols."""
    found = {}
    for source in Sheet(cells, setting, setting.attack).sources:
        orders = {name: ranking(cells, setting, source, name, attacked) for name in PROTOCOLS}
        orders = {name: order for name, order in orders.items() if order}
        if len(orders) > 1 and max(map(len, orders.values())) > 1:
            found[source] = orders
    return found


def _draw_ranking(cells: Cells, setting: Setting, attacked: Attacked, origin: str) -> Any:
    from matplotlib.lines import Line2D

    slopes = _slopes(cells, setting, attacked)
    models = [model for orders in slopes.values() for order in orders.values() for model in order]
    styles = drawing.model_styles(models)
    caption = (
        f"Models in the order of their mean robust PR-AUC (the numbers) under each protocol, the most robust on top. "
        f"{_setting_told(cells, setting, attacked)}, epsilon {setting.epsilon:g} ({setting.norm}). "
        f"{_origin_told(list(slopes), origin)} A model without a number under a protocol has no mark there."
    )
    deepest = max(len(order) for orders in slopes.values() for order in orders.values())
    rows = -(-len(slopes) // _PANELS_ACROSS)
    figure, axes = drawing.new_figure(rows, min(len(slopes), _PANELS_ACROSS), 0.75 + 0.36 * deepest, caption)
    panels = list(axes.flat)
    for panel, (source, orders) in zip(panels, slopes.items(), strict=False):
        _draw_slope_panel(panel, source, orders, styles)
    for panel in panels[len(slopes) :]:
        panel.set_axis_off()
    handles = [Line2D([], [], linewidth=1.6, markersize=5, label=model, **style) for model, style in styles.items()]
    drawing.add_legend(figure, handles, min(len(handles), 7))
    return figure


def _draw_slope_panel(
    panel: Any, source: Source, orders: dict[ProtocolName, dict[str, Value]], styles: dict[str, dict[str, Any]]
) -> None:
    names = list(orders)
    deepest = max(len(order) for order in orders.values())
    for model in {model: None for order in orders.values() for model in order}:
        places = [(x, list(orders[name]).index(model) + 1) for x, name in enumerate(names) if model in orders[name]]
        x, y = zip(*places, strict=True)
        panel.plot(x, y, linewidth=1.6, markersize=5, **styles[model])
        for column, rank in places:
            mean = orders[names[column]][model].mean or 0.0
            panel.annotate(
                f"{mean:.3f}",
                (column, rank),
                xytext=(0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            )
    panel.set_xticks(range(len(names)), names)
    panel.set_xlim(-0.35, len(names) - 0.65)
    panel.set_ylim(deepest + 0.4, 0.35)
    panel.set_yticks(range(1, deepest + 1))
    panel.set_ylabel("rank")
    panel.set_title(f"{source.title} ({source.provenance})", loc="left")


_PICTURES: Final[dict[Kind, Callable[[Cells, str], list[_Picture]]]] = {
    "bars": _bars,
    "epsilon": _epsilon,
    "ranking": _ranking,
}
_NEEDS: Final[dict[Kind, str]] = {
    "bars": "no cell has a robust PR-AUC",
    "epsilon": "no setting has cells at two epsilons or more",
    "ranking": "no setting has two models under two protocols",
}


def _models(cells: Cells, setting: Setting, source: Source, attacked: Attacked) -> list[str]:
    """Return the models of which a cell without defence has a robust PR-AUC."""
    return sorted_models(
        place.model
        for place in cells.places(setting)
        if (place.source, place.attacked, place.defence) == (source, attacked, "none")
        and ours(cells, place, AVERAGE_PRECISION).mean is not None
    )


def _has_numbers(cells: Cells, setting: Setting, attacked: Attacked) -> bool:
    return any(_models(cells, setting, source, attacked) for source in cells.sources)


def _setting_told(cells: Cells, setting: Setting, attacked: Attacked) -> str:
    seeds = cells.seeds(setting)
    return f"{setting.without_epsilon}, {_WHO[attacked]}, n = {len(seeds)} seed{'' if len(seeds) == 1 else 's'}"


def _reading_told(setting: Setting) -> str:
    if PRESETS[setting.preset].reverts_infeasible:
        return "B scores infeasible rows in their clean form."
    return "B leaves infeasible rows out, which makes fraud rarer: its PR-AUC is not comparable with the others."


def _origin_told(sources: Sequence[Source], origin: str) -> str:
    origins = sorted({source.provenance for source in sources})
    told = f"; cells from {origin}" if origin else ""
    return f"Rows {' and '.join(origins)}{told}."


def _name(kind: Kind, setting: Setting, attacked: Attacked) -> str:
    return re.sub(r"[^a-z0-9]+", "_", f"{kind} {setting.attack_name} {setting.preset} {attacked}".lower()).strip("_")


def _grid(panel: Any) -> None:
    panel.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    panel.set_axisbelow(True)


def _patch(label: str, colour: str, hatch: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, hatch=hatch, edgecolor="white" if hatch else colour, linewidth=0, label=label)
