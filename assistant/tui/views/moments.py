"""The line of time: what happened when, and how pace and loss went. Knows no screen."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from assistant.patterns.pace import steps_of
from assistant.pipeline import Examination
from assistant.tools.desk import Desk
from assistant.tools.moments import Moment, moments_of
from assistant.tui.views.heat import moment

SIGNS = (
    ("initiating", "▼"),
    ("cascade", "x"),
    ("teardown", "t"),
    ("checkpoint", "C"),
    ("attempt", "A"),
    ("iteration", "i"),
)
"""What stands on the line for a moment, the most telling first where several share a column."""
OTHER = "·"
POINTS = 2_000
"""Values of a chart; more are thinned evenly."""


@dataclass(frozen=True, slots=True)
class Line:
    """Everything that the screen of time shows."""

    moments: list[Moment]
    durations: list[float]
    """Seconds of the iterations, in order."""
    losses: list[float]


def line_of(desk: Desk, seen: Examination | None) -> Line:
    """The moments in order, and the charts where logs are at hand."""
    found = sorted(moments_of(desk), key=lambda one: (one.time, one.text))
    seen = seen or desk.__dict__.get("examination")
    if seen is None:
        return Line(found, [], [])
    scan = seen.reading.scan
    _, steps = steps_of(scan)
    durations = [float(value) for value in steps["duration"]] if steps.height else []
    own = scan.marks.filter(pl.col("loss").is_not_null() & pl.col("loss").is_finite())
    first = own["stream"].min()
    losses = [float(value) for value in own.filter(pl.col("stream") == first)["loss"]] if own.height else []
    return Line(found, _thinned(durations), _thinned(losses))


def axis(moments: list[Moment], columns: int) -> str:
    """All moments on one line, by time."""
    timed = [(when, sign(one)) for one in moments if (when := moment(one.time)) is not None]
    if not timed:
        return ""
    start, end = min(when for when, _ in timed), max(when for when, _ in timed)
    cells = ["─"] * columns
    order = [mark for _, mark in SIGNS]
    for when, mark in sorted(timed, key=lambda pair: -order.index(pair[1]) if pair[1] in order else -99):
        at = int((when - start) / (end - start) * (columns - 1)) if end > start else 0
        cells[at] = mark
    return "".join(cells)


def sign(one: Moment) -> str:
    """What stands for a moment."""
    return next((mark for word, mark in SIGNS if word in one.text.split("[")[0].lower()), OTHER)


def _thinned(values: list[float]) -> list[float]:
    step = max(1, -(-len(values) // POINTS))
    return values[::step]
