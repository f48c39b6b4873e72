"""What happened in each iteration: the order of its events, as one of few distinct shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.counts import Events
from assistant.events.pieces import Ints
from assistant.events.thinning import LAST, ThinnedTable

LONGEST = 200
"""Events of an iteration that are kept."""
MOST_ROWS = 10_000
"""Evenly chosen iterations that are kept over all streams ..."""
LAST_ROWS = 20_000
"""... besides the last ones of each stream: about so many over all streams, but at least FEWEST_LAST of each."""
FEWEST_LAST = 10
MOST_SHAPES = 60_000
"""Shapes that are held before those that no kept iteration has are dropped."""

Hashes = NDArray[np.uint64]
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_POWERS: Hashes = np.cumprod(np.full(LONGEST, 0x9E3779B97F4A7C15, dtype=np.uint64), dtype=np.uint64)

SCHEMA: dict[str, pl.DataType] = {
    "stream": pl.Int32(),
    "iteration": pl.Int64(),
    "sequence": pl.Int32(),
    "line": pl.Int64(),
    "ordinal": pl.Int64(),
    "pinned": pl.Boolean(),
}


class SequenceTable:
    """Cuts each stream's events into iterations and keeps their distinct orders."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        """Shapes as 32-bit numbers; tuples of Python numbers would take eight times the room."""
        self._shape_of: dict[int, int] = {}
        self._open: dict[int, _Runs] = {}
        """The iteration at the end of each stream's events so far."""
        self._closed: dict[int, int] = {}
        """Iterations closed so far, per stream."""
        self._rows = ThinnedTable(SCHEMA, MOST_ROWS)

    def add(self, events: Events) -> None:
        """Take the events of a batch."""
        known = np.flatnonzero(events.iteration >= 0)
        if len(known):
            new = _Runs(*(each[known] for each in (events.stream, events.iteration, events.mask, events.line)))
            self._take(self._behind_open(new).collapsed())

    def table(self) -> pl.DataFrame:
        """One row per stream and kept iteration; `sequence` is an index into `shapes`."""
        if self._open:
            runs = _Runs.joined([self._open[stream] for stream in sorted(self._open)])
            begin = runs.begins()
            self._close(runs, begin, np.concatenate([begin[1:], [len(runs.stream)]]))
            self._drop_shapes()
        self._open.clear()
        return self._rows.table().sort("stream", "ordinal")

    def shapes(self) -> Iterator[list[int]]:
        """The masked forms of each shape, consecutive repeats collapsed."""
        return (np.frombuffer(packed, dtype=np.int32).tolist() for packed in self._packed)

    def _behind_open(self, new: _Runs) -> _Runs:
        held = [self._open[stream] for stream in np.unique(new.stream).tolist() if stream in self._open]
        return _Runs.joined([*held, new]) if held else new

    def _take(self, runs: _Runs) -> None:
        begin = runs.begins()
        end = np.concatenate([begin[1:], [len(runs.stream)]])
        of_run = runs.stream[begin]
        last = np.ones(len(begin), dtype=np.bool_)
        last[:-1] = of_run[1:] != of_run[:-1]
        self._close(runs, begin[~last], end[~last])
        for run in np.flatnonzero(last).tolist():
            stop = min(int(end[run]), int(begin[run]) + LONGEST)
            self._open[int(of_run[run])] = runs.part(slice(int(begin[run]), stop))

    def _close(self, runs: _Runs, begin: Ints, end: Ints) -> None:
        if not len(begin):
            return
        stream = runs.stream[begin]
        part = pl.DataFrame(
            {
                "stream": stream,
                "iteration": runs.iteration[begin],
                "sequence": self._shapes(runs.mask, begin, end),
                "line": runs.line[begin],
                "ordinal": self._ordinals(stream),
                "pinned": np.zeros(len(begin), dtype=np.bool_),
            }
        )
        self._rows.last = max(FEWEST_LAST, min(LAST, LAST_ROWS // len(self._closed)))
        self._rows.add(part.cast(SCHEMA))  # type: ignore[arg-type]
        if len(self._packed) > MOST_SHAPES:
            self._drop_shapes()

    def _drop_shapes(self) -> None:
        """Thin the iterations and number the shapes that are left anew."""
        self._rows.thin()
        table = self._rows.table()
        used = table["sequence"].unique().sort().to_list()
        number = {old: new for new, old in enumerate(used)}
        self._packed = [self._packed[old] for old in used]
        self._shape_of = {digest: number[old] for digest, old in self._shape_of.items() if old in number}
        renumbered = table["sequence"].replace_strict(number, return_dtype=pl.Int32)
        self._rows.replace(table.with_columns(renumbered.alias("sequence")))

    def _ordinals(self, stream: Ints) -> Ints:
        first = np.searchsorted(stream, stream)
        base = [self._closed.get(each, 0) for each in stream[np.unique(first)].tolist()]
        ordinal: Ints = np.arange(len(stream)) - first + np.repeat(base, np.unique(first, return_counts=True)[1])
        for each, number in zip(stream.tolist(), ordinal.tolist(), strict=True):
            self._closed[each] = number + 1
        return ordinal

    def _shapes(self, mask: Ints, begin: Ints, end: Ints) -> Ints:
        """The number of each run's shape."""
        hashes = _hashes(mask, begin, np.minimum(end, begin + LONGEST))
        distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        numbers = np.zeros(len(distinct), dtype=np.int64)
        for index in np.argsort(first).tolist():
            run = int(first[index])
            begins, ends = int(begin[run]), min(int(end[run]), int(begin[run]) + LONGEST)
            numbers[index] = self._number(int(distinct[index]), mask[begins:ends])
        return numbers[inverse]

    def _number(self, digest: int, mask: Ints) -> int:
        number = self._shape_of.get(digest)
        if number is None:
            number = self._shape_of[digest] = len(self._packed)
            self._packed.append(mask.astype(np.int32).tobytes())
        return number


def _hashes(mask: Ints, begin: Ints, end: Ints) -> Hashes:
    length = end - begin
    offset = np.cumsum(length) - length
    position = np.arange(int(length.sum())) - np.repeat(offset, length)
    mixed = (mask[np.repeat(begin, length) + position].astype(np.uint64) + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    return np.add.reduceat(mixed * _POWERS[position], offset)


@dataclass(frozen=True, slots=True)
class _Runs:
    """Events within iterations, in parallel, sorted by stream."""

    stream: Ints
    iteration: Ints
    mask: Ints
    line: Ints

    def part(self, rows: slice | NDArray[np.bool_] | Ints) -> _Runs:
        return _Runs(
            self.stream[rows].copy(), self.iteration[rows].copy(), self.mask[rows].copy(), self.line[rows].copy()
        )

    @staticmethod
    def joined(parts: list[_Runs]) -> _Runs:
        """Earlier parts first within each stream."""
        names = ("stream", "iteration", "mask", "line")
        whole = _Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
        return whole.part(np.argsort(whole.stream, kind="stable"))

    def _borders(self) -> NDArray[np.bool_]:
        border = np.ones(len(self.stream), dtype=np.bool_)
        border[1:] = (self.stream[1:] != self.stream[:-1]) | (self.iteration[1:] != self.iteration[:-1])
        return border

    def begins(self) -> Ints:
        """Where each iteration starts."""
        return np.flatnonzero(self._borders())

    def collapsed(self) -> _Runs:
        """Without consecutive repeats of the same masked form."""
        fresh = self._borders()
        fresh[1:] |= self.mask[1:] != self.mask[:-1]
        return self.part(fresh)
