"""The line of time: what happened when, and how pace and loss went. Knows no screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from assistant.case.models import Case
from assistant.case.vocabulary import Role
from assistant.events.models import Scan
from assistant.intake.models import MarkKind
from assistant.patterns.losses import loss_curve
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
    ("iteration", "═"),
)
"""What stands on the line for a moment, the most telling first where several share a column."""
OTHER, NOTHING = "·", "─"
POINTS = 2_000
"""Values of a chart; more are thinned evenly."""
_ROLES = {Role.INITIATING: "▼", Role.CASCADE: "x", Role.TEARDOWN: "t"}

_T = TypeVar("_T")
Timed = tuple[float, str]
"""When, and the sign that stands for it."""
Value = tuple[int | None, float]
"""Iteration, where it is known, and what was measured."""


@dataclass(frozen=True, slots=True)
class Line:
    """Everything that the screen of time shows."""

    moments: list[Moment]
    timed: list[Timed]
    """Everything that has a place on the line of time."""
    durations: list[Value]
    """Seconds of the iterations, in order."""
    losses: list[Value]


def line_of(desk: Desk, seen: Examination | None) -> Line:
    """The moments in order, and what the logs hold besides, where they are at hand."""
    found = sorted(moments_of(desk), key=lambda one: (one.time, one.text))
    seen = seen or desk.__dict__.get("examination")
    if seen is None:
        return Line(found, timed(found), [], [])
    scan = seen.reading.scan
    _, steps = steps_of(scan)
    durations: list[Value] = [(n, float(value)) for n, value in steps.select("iteration", "duration").iter_rows()]
    whole = [*timed(found), *_marks(scan), *_events(scan, desk.case)]
    return Line(found, whole, _every(durations), _every(loss_curve(scan)))


def timed(moments: Iterable[Moment]) -> list[Timed]:
    """The moments that have a readable time."""
    return [(when, sign(one)) for one in moments if (when := moment(one.time)) is not None]


def _marks(scan: Scan) -> Iterator[Timed]:
    """Every iteration and every checkpoint."""
    own = scan.marks.filter(pl.col("time").is_not_null())
    for kind, mark in ((MarkKind.ITERATION, "═"), (MarkKind.CHECKPOINT, "C")):
        times = own.filter(pl.col("kind") == kind.value)["time"].sort()
        yield from ((float(when), mark) for when in _every(times.to_list()))


def _events(scan: Scan, case: Case) -> Iterator[Timed]:
    """Every failure event, by its role."""
    signs = {event.id: _ROLES[event.role] for event in case.events if event.role in _ROLES}
    for one in scan.indicators:
        record = one.record
        mark = signs.get(scan.templates[record.template].id) if record.template >= 0 else None
        if mark is not None and record.time is not None:
            yield record.time, mark


def span_of(found: Sequence[Timed]) -> tuple[float, float] | None:
    """The first and the last time."""
    return (min(when for when, _ in found), max(when for when, _ in found)) if found else None


def axis(found: Sequence[Timed], columns: int) -> str:
    """All of it on one line, by time."""
    span = span_of(found)
    if span is None:
        return ""
    start, end = span
    cells = [NOTHING] * columns
    order = {mark: at for at, (_, mark) in enumerate(SIGNS)}
    for when, mark in sorted(found, key=lambda pair: -order.get(pair[1], len(order))):
        cells[int((when - start) / (end - start) * (columns - 1)) if end > start else 0] = mark
    return "".join(cells)


def sign(one: Moment) -> str:
    """What stands for a moment."""
    return next((mark for word, mark in SIGNS if word in one.text.split("[")[0].lower()), OTHER)


def _every(values: list[_T]) -> list[_T]:
    step = max(1, -(-len(values) // POINTS))
    return values[::step]
