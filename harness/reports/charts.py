"""Charts as inline SVG. Colours come from the page's stylesheet by class, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.reports.markup import Markup, element, join
from harness.reports.measures import Rate

_BAR_WIDTH: Final = 120
_BAR_HEIGHT: Final = 14

_WIDTH, _HEIGHT = 640, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 24, 60
_CHARACTER: Final = 7.5
"""Width of a character of a label, about."""
_MAX_LABEL: Final = 24
_LINE: Final = 18

_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """A run in the plane of security and utility, both of which it has. The label stands beside its dot."""

    name: str
    label: str
    security: Rate
    utility: Rate
    is_on_frontier: bool


def interval_bar(rate: Rate, kind: str) -> Markup:
    """Draw a rate on a line from 0 to 1 with its interval, and a thin line from its worst to its best case.

    Numbers stand beside it in the page, so the drawing itself is hidden from screen readers.
    """
    middle = _BAR_HEIGHT / 2
    parts = [element("rect", class_="track", x=0, y=middle - 1, width=_BAR_WIDTH, height=2)]
    if rate.worst is not None and rate.best is not None:
        start, end = rate.worst * _BAR_WIDTH, rate.best * _BAR_WIDTH
        parts.append(element("rect", class_="reach", x=start, y=middle - 1, width=end - start, height=2))
    if rate.rate is not None and rate.low is not None and rate.high is not None:
        start, end = rate.low * _BAR_WIDTH, rate.high * _BAR_WIDTH
        parts.append(element("rect", class_=f"band {kind}", x=start, y=3, width=end - start, height=_BAR_HEIGHT - 6))
        place = min(max(rate.rate * _BAR_WIDTH, 1.5), _BAR_WIDTH - 1.5)
        parts.append(element("rect", class_=f"tick {kind}", x=place - 1.5, y=0, width=3, height=_BAR_HEIGHT))
    return _strip(parts)


def bar(share: float, kind: str) -> Markup:
    """Draw a bar of a length from 0 to 1; hidden from screen readers, since the number stands beside it."""
    return _strip(
        [
            element("rect", class_="track", x=0, y=3, width=_BAR_WIDTH, height=_BAR_HEIGHT - 6),
            element("rect", class_=f"fill {kind}", x=0, y=3, width=share * _BAR_WIDTH, height=_BAR_HEIGHT - 6),
        ]
    )


def stack(parts: Sequence[tuple[str, int]]) -> Markup:
    """Draw counts as one bar of parts, each with its class; hidden from screen readers."""
    total = sum(count for _, count in parts) or 1
    drawn, start = [], 0.0
    for kind, count in parts:
        width = count / total * 100
        drawn.append(element("rect", class_=f"part {kind}", x=start, y=0, width=width, height=10))
        start += width
    return element("svg", *drawn, class_="stack", viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")


def frontier_chart(points: Sequence[Point]) -> Markup:
    """Draw runs by security and utility, with their intervals and the line that no run goes beyond."""
    described = "; ".join(
        f"{point.name}: S {point.security.rate:.2f}, U {point.utility.rate:.2f}"
        f"{', on the frontier' if point.is_on_frontier else ''}"
        for point in points
    )
    return element(
        "svg",
        element("title", "Security and utility of each run"),
        element("desc", described),
        _axes(),
        _staircase(points),
        *(_whiskers(point) for point in points),
        *(_dot(point) for point in points),
        _labels(points),
        class_="plane",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
    )


def _strip(parts: Sequence[Markup]) -> Markup:
    box = f"0 0 {_BAR_WIDTH} {_BAR_HEIGHT}"
    return element("svg", *parts, class_="bar", viewBox=box, width=_BAR_WIDTH, height=_BAR_HEIGHT, aria_hidden="true")


# ------------------------------------------------------------------ the plane


def _x(share: float | None) -> float:
    return round(_LEFT + (share or 0.0) * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float | None) -> float:
    return round(_HEIGHT - _BOTTOM - (share or 0.0) * (_HEIGHT - _TOP - _BOTTOM), 1)


def _axes() -> Markup:
    lines = []
    for step in range(5):
        share = step / 4
        lines += [
            element("line", class_="grid", x1=_x(share), y1=_y(0), x2=_x(share), y2=_y(1)),
            element("line", class_="grid", x1=_x(0), y1=_y(share), x2=_x(1), y2=_y(share)),
            element("text", f"{share:g}", x=_x(share), y=_y(0) + 20, text_anchor="middle"),
            element("text", f"{share:g}", x=_x(0) - 10, y=_y(share) + 4, text_anchor="end"),
        ]
    middle = _y(0.5)
    return join(
        (
            *lines,
            element("text", "S, attacks stopped", class_="axis", x=_x(0.5), y=_HEIGHT - 14, text_anchor="middle"),
            element(
                "text",
                "U, twins served",
                class_="axis",
                x=16,
                y=middle,
                text_anchor="middle",
                transform=f"rotate(-90 16 {middle:g})",
            ),
        )
    )


def _staircase(points: Sequence[Point]) -> Markup:
    places = sorted({(_x(p.security.rate), _y(p.utility.rate)) for p in points if p.is_on_frontier})
    if not places:
        return Markup()
    steps = "".join(f"V{y:g}H{x:g}" for x, y in places)
    line = f"M{_x(0):g} {places[0][1]:g}{steps}V{_y(0):g}"
    return join((element("path", class_="reached", d=f"{line}H{_x(0):g}Z"), element("path", class_="frontier", d=line)))


def _whiskers(point: Point) -> Markup:
    x, y = _x(point.security.rate), _y(point.utility.rate)
    return join(
        (
            element("line", class_="whisker", x1=_x(point.security.low), y1=y, x2=_x(point.security.high), y2=y),
            element("line", class_="whisker", x1=x, y1=_y(point.utility.low), x2=x, y2=_y(point.utility.high)),
        )
    )


def _dot(point: Point) -> Markup:
    kind = "dot on" if point.is_on_frontier else "dot"
    title = element("title", point.name)
    return element("circle", title, class_=kind, cx=_x(point.security.rate), cy=_y(point.utility.rate), r=6)


def _labels(points: Sequence[Point]) -> Markup:
    """Put each name at the first place beside its dot at which it covers nothing."""
    taken = [_around(_x(point.security.rate), _y(point.utility.rate)) for point in points]
    drawn = []
    for point in points:
        x, y = _x(point.security.rate), _y(point.utility.rate)
        label = point.label if len(point.label) <= _MAX_LABEL else f"{point.label[: _MAX_LABEL - 1]}…"
        width = len(label) * _CHARACTER
        places = [
            (x + side * 12 - (width if side < 0 else 0), y + shift * _LINE)
            for shift in (-1, 1, 0, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6)
            for side in (1, -1)
        ]
        boxes = [(left, middle - 9, left + width, middle + 9) for left, middle in places]
        inside = [box for box in boxes if _is_inside(box)] or boxes
        box = next((box for box in inside if not any(_overlap(box, other) for other in taken)), inside[0])
        taken.append(box)
        drawn.append(element("text", label, class_="name", x=round(box[0], 1), y=round(box[1] + 13, 1)))
    return join(drawn)


def _around(x: float, y: float) -> _Box:
    return (x - 8, y - 8, x + 8, y + 8)


def _is_inside(box: _Box) -> bool:
    return box[0] >= _LEFT - 8 and box[1] >= 0 and box[2] <= _WIDTH and box[3] <= _HEIGHT - _BOTTOM + 8


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
