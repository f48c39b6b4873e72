"""The last step of a scan: common clock, attempts, writers, and times for lines that carry none."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from assistant.events.models import Record
from assistant.intake.clock import Skew, estimate_skew, of_nodes
from assistant.intake.identity import resolve
from assistant.intake.launchers import Fact
from assistant.intake.models import Source, Stream
from assistant.intake.origins import origins

SHARED_MARKS = 200
"""Marks of a source that are compared with those of the others."""


def skew_of(marks: pl.DataFrame, sources: Sequence[Source] = ()) -> Skew:
    """How far the sources' clocks are apart, from the marks they share; others on the same node have its clock."""
    timed = marks.filter(pl.col("time").is_not_null()).group_by("source", maintain_order=True).head(SHARED_MARKS)
    if timed["source"].n_unique() < 2:
        return Skew()
    keys = timed.select("source", "kind", "dialect", "iteration", "total", "stage", "time")
    events: dict[int, list[tuple[tuple[object, ...], float]]] = {}
    for source, *what, time in keys.iter_rows():
        events.setdefault(source, []).append((tuple(what), time))
    return of_nodes(estimate_skew(events), {s: origin.node for s, origin in origins(sources).items()}, events)


def on_common_clock(marks: pl.DataFrame, skew: Skew) -> pl.DataFrame:
    """The marks with their times corrected."""
    if not skew.ahead:
        return marks
    lead = pl.col("source").replace_strict(skew.ahead, default=0.0, return_dtype=pl.Float64)
    return marks.with_columns(pl.col("time") - lead)


class Clockwork:
    """Gives records their corrected time, or that of their source's nearest timed line where their stream's is older.

    In a file that many ranks write, a line without a time was written after the timed lines that stand above it,
    whoever wrote those.
    """

    def __init__(self, marks: pl.DataFrame, records: Iterable[Record], skew: Skew) -> None:
        self._skew = skew
        seen: dict[int, list[tuple[int, float]]] = {}
        timed = marks.filter(pl.col("time").is_not_null()).select("source", "line", "time")
        for source, line, time in timed.iter_rows():
            seen.setdefault(source, []).append((line, time))
        for record in records:
            if record.own_time and record.time is not None:
                seen.setdefault(record.source, []).append((record.line, self._common(record.source, record.time)))
        self._known = {source: _by_line(pairs) for source, pairs in seen.items()}

    def _common(self, source: int, time: float) -> float:
        return time - self._skew.ahead.get(source, 0.0)

    def set(self, record: Record) -> Record:
        """The record on the common clock."""
        own = None if record.time is None else self._common(record.source, record.time)
        if record.own_time:
            return replace(record, time=own)
        lines, times = self._known.get(record.source, ([], []))
        at = bisect_right(lines, record.line) - 1
        above = times[at] if at >= 0 else None
        known = [time for time in (own, above) if time is not None]
        return replace(record, time=max(known, default=None))


def _by_line(pairs: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """Lines and their times, in line order."""
    ordered = sorted(pairs)
    return [line for line, _ in ordered], [time for _, time in ordered]


def writers(
    streams: Sequence[Stream], sources: Sequence[Source], facts: Sequence[Fact], skew: Skew
) -> tuple[Stream, ...]:
    """The streams with node, rank and device, their times on the common clock."""
    corrected = [
        replace(
            stream,
            first_time=skew.corrected(stream.first_source, stream.first_time),
            last_time=skew.corrected(stream.last_source, stream.last_time),
        )
        for stream in streams
    ]
    return resolve(corrected, sources, facts)
