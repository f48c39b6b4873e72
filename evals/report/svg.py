"""Small plots as SVG text: bars with intervals, and points against a diagonal. No plotting library is needed.

Colours come in pairs that stay apart for the colour-blind (Okabe and Ito); text is left to the reader's fonts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from evals.scorers.intervals import Interval

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
FONT = "font-family='system-ui, sans-serif' font-size='12'"
INK, GRID = "#333333", "#dddddd"


@dataclass(frozen=True, slots=True)
class Point:
    """A share from 0 to 1 with its interval; None where there is none."""

    value: float | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One colour: a value for each group."""

    name: str
    points: tuple[Point, ...]


def bars(title: str, groups: Sequence[str], series: Sequence[Series], *, note: str = "") -> str:
    """Horizontal bars, a block for each group, a bar for each series in it."""
    left, width, thick = 230, 420, 16
    block = thick * len(series) + 14
    height = 70 + block * len(groups) + 20 * len(series)
    body = [_text(10, 22, title, weight="bold"), *_scale(left, width, 40, 40 + block * len(groups))]
    for at, group in enumerate(groups):
        top = 46 + at * block
        body.append(_text(left - 8, top + block / 2 - 4, group, anchor="end"))
        for row, one in enumerate(series):
            body += _bar(one.points[at], left, top + row * thick, width, thick - 3, COLOURS[row % len(COLOURS)])
    bottom = 66 + block * len(groups)
    for row, one in enumerate(series):
        body.append(_box(left, bottom + 20 * row - 9, 12, 12, COLOURS[row % len(COLOURS)]))
        body.append(_text(left + 18, bottom + 20 * row + 1, one.name))
    return _svg(left + width + 70, height + 20, [*body, _text(10, height + 10, note)] if note else body)


def _bar(point: Point, left: float, top: float, width: float, thick: float, colour: str) -> list[str]:
    if point.value is None:
        return [_text(left + 4, top + thick - 2, "-")]
    drawn = [_box(left, top, max(1.0, width * point.value), thick, colour)]
    if point.interval is not None:
        low, high = (left + width * bound for bound in point.interval)
        middle = top + thick / 2
        drawn += [_line(low, middle, high, middle), _line(low, middle - 4, low, middle + 4)]
        drawn.append(_line(high, middle - 4, high, middle + 4))
    return [*drawn, _text(left + width + 8, top + thick - 2, f"{100 * point.value:.1f} %")]


def _scale(left: float, width: float, top: float, bottom: float) -> list[str]:
    marks = []
    for tenth in range(0, 11, 2):
        x = left + width * tenth / 10
        marks += [_line(x, top, x, bottom, GRID), _text(x, bottom + 14, f"{10 * tenth}", anchor="middle")]
    return marks


def columns(title: str, groups: Sequence[str], points: Sequence[Point], targets: Sequence[float | None]) -> str:
    """Upright bars with a tick where each should be."""
    left, top, height, step = 50.0, 40.0, 220.0, 110.0
    body = [_text(10, 22, title, weight="bold")]
    for tenth in range(0, 11, 2):
        y = top + height * (1 - tenth / 10)
        body += [
            _line(left, y, left + step * len(groups), y, GRID),
            _text(left - 6, y + 4, f"{10 * tenth}", anchor="end"),
        ]
    for at, (group, point, target) in enumerate(zip(groups, points, targets, strict=True)):
        x = left + step * at + 30
        body.append(_text(x + 25, top + height + 18, group, anchor="middle"))
        if point.value is not None:
            body.append(_box(x, top + height * (1 - point.value), 50, height * point.value, COLOURS[0]))
        if point.interval is not None:
            low, high = (top + height * (1 - bound) for bound in point.interval)
            body.append(_line(x + 25, low, x + 25, high))
        if target is not None:
            y = top + height * (1 - target)
            body.append(_line(x - 8, y, x + 58, y, COLOURS[5], 2.5))
    return _svg(left + step * len(groups) + 20, top + height + 40, body)


def _svg(width: float, height: float, body: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' {FONT}>"
    return "\n".join([head, f"<rect width='{width:.0f}' height='{height:.0f}' fill='white'/>", *body, "</svg>", ""])


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    place = f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-weight='{weight}'"
    return f"<text {place} fill='{INK}'>{escape(text)}</text>"


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{colour}'/>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = INK, thick: float = 1.0) -> str:
    ends = f"x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'"
    return f"<line {ends} stroke='{colour}' stroke-width='{thick}'/>"
