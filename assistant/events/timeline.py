"""Which iteration and stage ran when a record was written, for streams that announce them and for those that do not."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.models import Record
from assistant.intake.models import MarkKind


@dataclass(frozen=True, slots=True)
class _Track:
    """Values by a growing position (order, line or time)."""

    position: NDArray[np.float64]
    value: pl.Series
    time: NDArray[np.float64]

    def last(self, position: float | None) -> tuple[int | str, float] | None:
        """The value announced last at or before a position, and when (NaN: unknown)."""
        if position is None:
            return None
        at = int(np.searchsorted(self.position, position, side="right")) - 1
        return (self.value[at], float(self.time[at])) if at >= 0 else None


Tracks = dict[int, _Track]


class Timeline:
    """Answers from the marks of the whole job."""

    def __init__(self, marks: pl.DataFrame) -> None:
        iterations = marks.filter((pl.col("kind") == str(MarkKind.ITERATION)) & pl.col("iteration").is_not_null())
        stages = marks.filter(pl.col("stage").is_not_null())
        self._own = frozenset(iterations["stream"].unique().to_list())
        self._iterations = _tables(iterations, "iteration")
        self._stages = _tables(stages, "stage")

    def place(self, record: Record) -> Record:
        """The record with its stage, and with an iteration where its own stream announces none."""
        own = record.stream in self._own
        stage = self._ask(self._stages, record, own=own)
        iteration = record.iteration if own else self._ask(self._iterations, record, own=False)
        return replace(
            record,
            stage=None if stage is None else str(stage),
            iteration=None if iteration is None else int(iteration),
        )

    def _ask(self, tables: tuple[Tracks, Tracks, Tracks], record: Record, *, own: bool) -> int | str | None:
        """What the stream itself says; where it announces no iterations, the latest of stream, source and job."""
        by_stream, by_source, by_time = tables
        found = _last(by_stream, record.stream, record.order)
        if own and found is not None:
            return found[0]
        above = _last(by_source, record.source, record.line)
        # A source holds its streams' own marks too, so what it announced last is at least as late as the stream's own.
        answers = [above or found, _last(by_time, 0, record.time)]
        known = [answer for answer in answers if answer is not None]
        if not known:
            return None
        return max(known, key=lambda answer: -np.inf if np.isnan(answer[1]) else answer[1])[0]


def _last(tracks: Tracks, key: int, position: float | None) -> tuple[int | str, float] | None:
    track = tracks.get(key)
    return track.last(position) if track else None


def _tables(marks: pl.DataFrame, value: str) -> tuple[Tracks, Tracks, Tracks]:
    timed = marks.filter(pl.col("time").is_not_null()).with_columns(pl.lit(0).alias("job"))
    return (
        _tracks(marks, "stream", "order", value),
        _tracks(marks, "source", "line", value),
        _tracks(timed, "job", "time", value),
    )


def _tracks(marks: pl.DataFrame, by: str, position: str, value: str) -> Tracks:
    """Slices of columns that are converted once: a job may have thousands of streams."""
    ordered = marks.sort(by, position, maintain_order=True)
    keys = ordered[by].cast(pl.Int64).to_numpy()
    positions = ordered[position].cast(pl.Float64).to_numpy()
    times = ordered["time"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    values = ordered[value]
    cuts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    return {
        int(keys[begin]): _Track(positions[begin:end], values[begin:end], times[begin:end])
        for begin, end in itertools.pairwise(cuts)
        if end > begin
    }
