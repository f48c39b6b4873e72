"""Which of two records came first.

Time decides where both have one and the gap is wider than clocks can be trusted; within one source its own order
decides; otherwise nobody knows, and the answer is None. File position never orders records of different sources.
"""

from __future__ import annotations

from collections.abc import Iterable

from assistant.diagnosis.models import Exhibit
from assistant.events.models import Record

CLOCK_TOLERANCE = 0.5
"""Seconds within which the clocks of two hosts are taken to agree after skew correction."""


def earlier(a: Record, b: Record) -> bool | None:
    """Whether `a` came before `b`; None where the logs do not tell."""
    if a.source == b.source and a.stream == b.stream:
        return a.order < b.order
    if a.time is not None and b.time is not None and abs(a.time - b.time) > CLOCK_TOLERANCE:
        return a.time < b.time
    if a.source == b.source:
        return (a.line, a.offset) < (b.line, b.offset)
    return None


def sort_key(record: Record) -> tuple[float, int, int, int]:
    """A total, stable order: timed records by time, the rest after them by source and line."""
    time = record.time if record.time is not None else float("inf")
    return (time, record.source, record.line, record.offset)


def in_order(exhibits: Iterable[Exhibit]) -> list[Exhibit]:
    """Exhibits in the total order."""
    return sorted(exhibits, key=lambda exhibit: sort_key(exhibit.record))
