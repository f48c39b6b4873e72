"""The times of some rows: read where they stand, else carried from the nearest earlier timed row of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.kinds import Kind
from assistant.events.layout import Layout
from assistant.events.pieces import Ints, Pieces, stretches

Floats = NDArray[np.float64]
HEAD_BYTES = 256


@dataclass(frozen=True, slots=True)
class Times:
    """Times of the rows in `row` (sorted). NaN: the stream has no earlier time in this batch."""

    row: Ints
    seconds: Floats
    own: NDArray[np.bool_]
    """The time stands on the row itself."""

    def of(self, rows: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """Times of some rows, and whether they are their own; NaN for rows whose time was not asked for."""
        if not len(self.row):
            return np.full(len(rows), np.nan), np.zeros(len(rows), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.row, rows), len(self.row) - 1)
        found = self.row[at] == rows
        return np.where(found, self.seconds[at], np.nan), found & self.own[at]

    def take(self, keep: NDArray[np.bool_]) -> Times:
        """Times after rows were dropped."""
        kept = keep[self.row]
        return Times((np.cumsum(keep) - 1)[self.row[kept]], self.seconds[kept], self.own[kept])


def no_times() -> Times:
    """For a batch without rows."""
    return Times(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_))


def read_times(
    pieces: Pieces, flags: NDArray[np.int64], first: Ints, need: Ints, layouts: Sequence[Layout], known: Floats | None
) -> Times:
    """Times of the rows in `need`.

    Args:
        first: for each row the first row of its segment.
        layouts: parallel to the batch's blocks.
        known: times that envelopes gave, NaN elsewhere.
    """
    timed = (flags & int(Kind.TIMED)) != 0
    if known is not None:
        timed |= ~np.isnan(known)
    rows = np.arange(len(flags))
    latest = np.maximum.accumulate(np.where(timed, rows, -1))[need]
    latest[latest < first[need]] = -1
    sites = np.unique(latest[latest >= 0])
    if not len(sites):
        return Times(need, np.full(len(need), np.nan), np.zeros(len(need), np.bool_))
    seconds = _parsed(pieces, sites, layouts, known)
    own = ~np.isnan(seconds)
    seconds = _carried(seconds, first[sites])
    at = np.searchsorted(sites, np.maximum(latest, 0))
    at = np.minimum(at, len(sites) - 1)
    return Times(need, np.where(latest >= 0, seconds[at], np.nan), (latest == need) & own[at])


def _parsed(pieces: Pieces, sites: Ints, layouts: Sequence[Layout], known: Floats | None) -> Floats:
    seconds = np.full(len(sites), np.nan) if known is None else known[sites].copy()
    block = pieces.block[sites]
    order = np.argsort(block, kind="stable")
    borders = np.searchsorted(block[order], np.arange(len(layouts) + 1))
    begin = 0
    for index, layout in enumerate(layouts):
        last = index + 1 == len(layouts)
        if not last and layouts[index + 1].times == layout.times:
            continue
        chosen = order[borders[begin] : borders[index + 1]]
        begin = index + 1
        chosen = chosen[np.isnan(seconds[chosen])]
        if len(chosen) and layout.times.dialects:
            rows = sites[chosen]
            heads = stretches(pieces.buffer, pieces.start[rows], _head_lengths(pieces, rows)).cast(pl.String)
            seconds[chosen] = layout.times.parse_series(heads).fill_null(float("nan")).to_numpy()
    return seconds


def _head_lengths(pieces: Pieces, rows: Ints) -> Ints:
    """Lengths of short heads, not ending inside a character."""
    length = np.minimum(pieces.length[rows], HEAD_BYTES)
    array = np.frombuffer(pieces.text, dtype=np.uint8)
    for _ in range(3):
        end = pieces.start[rows] + length
        inside = (length < pieces.length[rows]) & (length > 0)
        inside[inside] = (array[end[inside]] & 0xC0) == 0x80
        if not inside.any():
            break
        length = length - inside
    return length


def _carried(seconds: Floats, first: Ints) -> Floats:
    """Unreadable times take the earlier one of the same segment."""
    index = np.where(np.isnan(seconds), -1, np.arange(len(seconds)))
    index = np.maximum.accumulate(index)
    sound = (index >= 0) & (first[np.maximum(index, 0)] == first)
    return np.where(sound, seconds[np.maximum(index, 0)], np.nan)
