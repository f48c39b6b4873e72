"""Lets lines pass that all filters hold for, block by block of one source. Knows no screen.

What is quick and lets little pass is asked first; times and writers are read only on the lines that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import re2
from numpy.typing import NDArray

from assistant.events.pieces import blob, stretches, uncoloured
from assistant.intake.models import Block
from assistant.tui.filters.levels import LEVELS, UNSAID, goes_on, level_of, telling
from assistant.tui.filters.models import Filter, Kind
from assistant.tui.logs.worker import compiled
from assistant.tui.logs.writing import Writing

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
UP = 500
"""Lines that are looked back for a time."""
SPARSE = 8
"""One line in so many is few enough to be looked at one by one."""
ORDER = (Kind.NODE, Kind.RANK, Kind.TEXT, Kind.EVENT, Kind.LEVEL, Kind.TIME)


@dataclass(frozen=True, slots=True)
class Passed:
    """Lines of a block that passed."""

    offsets: Ints
    numbers: Ints
    times: Floats
    """Of the line or of the line before it; NaN where there is none, and everywhere unless times were asked for."""


class Sieve:
    """The filters, applied to the blocks of one source in their order."""

    def __init__(
        self, filters: Sequence[Filter], writing: Writing, *, timed: bool = False, records: Sequence[int] = ()
    ) -> None:
        self._filters = sorted(filters, key=lambda one: (ORDER.index(one.kind), one.negated))
        self._writing, self._timed = writing, timed
        self._records = np.asarray(sorted(records), dtype=np.int64)
        self._time = float("nan")
        """Of the last line of the blocks before."""
        self._bad: dict[int, bool] = {}
        """Whether that line was of the levels looked for, by the filter's place."""
        self._regexes = [None if one.pattern is None else compiled(one.pattern) for one in self._filters]

    @property
    def nothing(self) -> bool:
        """Whether no line of the source can pass, because all are of another writer."""
        sole = self._writing.sole
        return sole is not None and not all(one.takes(sole) for one in self._filters if _of_writers(one))

    def begin_after(self, time: float | None) -> None:
        """Begins in the middle of a source, behind a line of that time."""
        self._time = float("nan") if time is None else time

    def passing(self, block: Block) -> Passed:
        """The lines of a block that pass."""
        lines = _Lines(block, self._writing)
        keep: Bools = np.ones(len(lines.starts), dtype=np.bool_)
        for place, one in enumerate(self._filters):
            if keep.any() or one.kind is Kind.LEVEL:
                keep &= self._holds(place, one, lines, keep) != (one.negated and not _of_writers(one))
        at = np.flatnonzero(keep)
        times = self._times(lines, at) if self._timed else np.full(len(at), np.nan)
        if self._timed or any(one.kind is Kind.TIME for one in self._filters):
            self._time = float(self._times(lines, np.array([len(lines.starts) - 1]))[0]) if len(keep) else self._time
        return Passed(lines.starts[at] + block.offset, at + block.line, times)

    def _holds(self, place: int, one: Filter, lines: _Lines, keep: Bools) -> Bools:
        if _of_writers(one):
            return self._wrote(one, lines, keep)
        if one.kind is Kind.LEVEL:
            return self._level(place, one, lines)
        if one.kind is Kind.TIME:
            return self._timely(one, lines, keep)
        if one.records:
            return np.isin(lines.starts + lines.offset, self._records)
        regex = self._regexes[place]
        assert regex is not None
        return _matching(regex, lines, keep)

    def _wrote(self, one: Filter, lines: _Lines, keep: Bools) -> Bools:
        if (sole := self._writing.sole) is not None:
            return np.full(len(keep), one.takes(sole))
        found = np.zeros(len(keep), dtype=np.bool_)
        at = np.flatnonzero(keep)
        keys = pl.Series("key", self._writing.keys(lines.texts(at)), dtype=pl.String)
        takes = {key: one.takes(self._writing.writer(key)) for key in keys.unique().to_list()}
        found[at] = keys.replace_strict(takes, return_dtype=pl.Boolean).to_numpy()
        return found

    def _level(self, place: int, one: Filter, lines: _Lines) -> Bools:
        """Lines of the level, or a worse one: those are looked for that are the fewer."""
        below = one.level <= UNSAID
        wanted = range(one.level) if below else range(one.level, len(LEVELS))
        found = np.zeros(len(lines.starts), dtype=np.bool_)
        if wanted:
            regex = telling(wanted)
            for line in _hits(regex, lines).tolist():
                found[line] = level_of(lines.line(line)) in wanted
            self._bad[place] = _extended(found, lines, before=self._bad.get(place, False))
        return ~found if below else found

    def _timely(self, one: Filter, lines: _Lines, keep: Bools) -> Bools:
        found = np.zeros(len(keep), dtype=np.bool_)
        at = np.flatnonzero(keep)
        times = self._times(lines, at)
        since, until = (-np.inf if one.since is None else one.since), (np.inf if one.until is None else one.until)
        with np.errstate(invalid="ignore"):
            found[at] = (times >= since) & (times <= until)
        return found

    def _times(self, lines: _Lines, at: Ints) -> Floats:
        """Times of some lines, each its own or that of the line before it."""
        if len(at) * SPARSE > len(lines.starts):
            known = lines.all_times()
            index = np.maximum.accumulate(np.where(np.isnan(known), -1, np.arange(len(known))))[at]
            return np.where(index >= 0, known[np.maximum(index, 0)], self._time)
        own = self._writing.times([lines.line(line) for line in at.tolist()])
        for place in np.flatnonzero(np.isnan(own)).tolist():
            own[place] = self._above(lines, int(at[place]))
        return own

    def _above(self, lines: _Lines, line: int) -> float:
        for above in range(line - 1, max(-1, line - UP), -1):
            if (time := self._writing.time(lines.line(above))) is not None:
                return time
        return self._time


def _of_writers(one: Filter) -> bool:
    return one.kind in (Kind.NODE, Kind.RANK)


_ASCII = bytes(range(128)) + b"?" * 128


class _Lines:
    """The lines of a block: where each begins and ends."""

    def __init__(self, block: Block, writing: Writing) -> None:
        self.data, self.offset, self._writing = block.data, block.offset, writing
        ends = np.flatnonzero(np.frombuffer(block.data, dtype=np.uint8) == 10)
        if block.data and not block.data.endswith(b"\n"):
            ends = np.append(ends, len(block.data))
        self.ends: Ints = ends
        self.starts: Ints = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        self._times: Floats | None = None

    def line(self, number: int) -> bytes:
        """One line's first bytes."""
        start = int(self.starts[number])
        return self.data[start : min(int(self.ends[number]), start + self._writing.looked_at)]

    def texts(self, at: Ints) -> pl.Series:
        """Some lines, decoded."""
        if len(at) * SPARSE <= len(self.starts) or b"\x1b" in self.data or b"\0" in self.data:
            lines = (uncoloured(self.line(line)).decode("utf-8", "replace") for line in at.tolist())
            return pl.Series(list(lines), dtype=pl.String)
        length = np.minimum(self.ends[at] - self.starts[at], self._writing.looked_at)
        if self.data.isascii():
            return stretches(blob(self.data), self.starts[at], length).cast(pl.String)
        counts = np.concatenate([[0], np.cumsum(np.frombuffer(self.data, dtype=np.uint8) >= 0x80)])
        wide = np.flatnonzero(counts[self.starts[at] + length] > counts[self.starts[at]])
        found = stretches(blob(self.data.translate(_ASCII)), self.starts[at], length).cast(pl.String)
        return found.scatter(wide, [self.line(line).decode("utf-8", "replace") for line in at[wide].tolist()])

    def all_times(self) -> Floats:
        """The times that stand on the lines."""
        if self._times is None:
            self._times = self._writing.bulk_times(self.texts(np.arange(len(self.starts))))
        return self._times


def _hits(regex: re2._Regexp[bytes], lines: _Lines) -> Ints:
    """Numbers of the lines in which something is found, ascending."""
    data, at, found = lines.data, 0, []
    while at >= 0 and (match := regex.search(data, at)) and match.start() < len(data):
        found.append(match.start())
        at = data.find(b"\n", match.start()) + 1 or -1
    return np.searchsorted(lines.starts, found, side="right") - 1


def _matching(regex: re2._Regexp[bytes], lines: _Lines, keep: Bools) -> Bools:
    found = np.zeros(len(keep), dtype=np.bool_)
    few = np.flatnonzero(keep)
    if len(few) * SPARSE > len(keep):
        found[_hits(regex, lines)] = True
        return found
    for line in few.tolist():
        found[line] = regex.search(lines.data[int(lines.starts[line]) : int(lines.ends[line])]) is not None
    return found


def _extended(found: Bools, lines: _Lines, *, before: bool) -> bool:
    """Lines that go on one that is found are found, too; whether the last line is."""
    carried = [0] if before and len(found) and not found[0] else []
    for line in [*carried, *(np.flatnonzero(found) + 1).tolist()]:
        while line < len(found) and not found[line]:
            text = lines.line(line)
            if level_of(text) is not None or not goes_on(text):
                break
            found[line] = True
            line += 1
    return bool(found[-1]) if len(found) else before
