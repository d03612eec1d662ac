"""What all pictures share: size, colours, captions, and files that are the same for the same records.

Figures are made without the state of ``matplotlib.pyplot``, and settings hold for one picture only. Colours are those
of Okabe and Ito, which people with any colour vision tell apart; hatches and markers say the same without colour.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tabular_bench.errors import InputError
from tabular_bench.reports.cells import TRIVIAL, sorted_models

WIDTH_INCHES: Final = 7.2
DOTS_PER_INCH: Final = 200
MISSING: Final = "n/a"
_CAPTION_COLUMNS: Final = 130
_LINE_INCHES: Final = 0.145

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"),
)
GREY: Final = "#777777"
_MODEL_COLOURS: Final = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")

_SETTINGS: Final[dict[str, Any]] = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "fraudbench",
}


@contextmanager
def settings() -> Iterator[None]:
    """Draw with the settings of this module, and leave those of the process as they were."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def new_figure(rows: int, columns: int, row_inches: float, caption: str, legend_rows: int = 1) -> tuple[Any, Any]:
    """Return a figure and its panels, with room for a legend above and the caption below.

    Parameters
    ----------
    rows, columns
        Of panels.
    row_inches
        Height of a row of panels with its labels.
    caption
        Written below.
    legend_rows
        Lines that the legend needs.

    Returns
    -------
    tuple
        The figure, and an array of shape ``(rows, columns)`` of axes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    lines = textwrap.wrap(caption, _CAPTION_COLUMNS)
    top, bottom = 0.06 + 0.2 * legend_rows, 0.08 + _LINE_INCHES * len(lines)
    height = rows * row_inches + top + bottom
    inside = (0, bottom / height, 1, 1 - (top + bottom) / height)
    layout = ConstrainedLayoutEngine(rect=inside, hspace=0.06, wspace=0.04)
    figure = Figure(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    figure.text(0.012, 0.05 / height, "\n".join(lines), fontsize=7, color="#333333", va="bottom", linespacing=1.25)
    return figure, axes


def add_legend(figure: Any, handles: Sequence[Any], columns: int) -> None:
    """Put a legend on top of a figure.

    Parameters
    ----------
    figure
        Of `new_figure`.
    handles
        With labels.
    columns
        How many stand in a line.
    """
    figure.legend(
        handles=handles,
        loc="upper center",
        ncols=columns,
        frameon=False,
        bbox_to_anchor=(0.5, 1.0),
        borderaxespad=0.1,
        handlelength=1.8,
        columnspacing=1.4,
    )


def model_styles(models: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour and marker of each model; trivial ones are grey.

    Parameters
    ----------
    models
        Every model of a picture.
    """
    styles: dict[str, dict[str, Any]] = {}
    own = [model for model in sorted_models(models) if model not in TRIVIAL]
    for place, model in enumerate(own):
        colour = _MODEL_COLOURS[place % len(_MODEL_COLOURS)]
        styles[model] = {"color": colour, "marker": _MARKERS[place % len(_MARKERS)]}
    for place, model in enumerate(model for model in sorted_models(models) if model in TRIVIAL):
        styles[model] = {"color": GREY, "marker": _MARKERS[place % len(_MARKERS)]}
    return styles


def save(figure: Any, path: Path) -> None:
    """Write a figure; the same figure gives the same bytes.

    Parameters
    ----------
    figure
        Of `new_figure`.
    path
        Ends in ``.png`` or ``.svg``.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata=metadata)
    except OSError as error:
        raise InputError(f"{path}: the picture cannot be written: {error.strerror or error}") from None
