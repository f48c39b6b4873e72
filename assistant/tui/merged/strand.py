"""One source within a merged view: its lines around a moment, each with a key that orders it among all. No screen.

A key is one number: the time on the common clock, then the source, then the offset. Lines keep the order of their file:
one whose time lies before that of the line above it, or that has none, takes the time of the line above.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import isnan

from assistant.intake.models import Source
from assistant.tui.logs.bytefile import ByteFile
from assistant.tui.logs.lines import FileLines, LogLine
from assistant.tui.logs.writing import Writing

MICRO = 1_000_000
OFFSET_BITS, NUMBER_BITS = 52, 12
OFFSETS = (1 << OFFSET_BITS) - 1
NUMBERS = (1 << NUMBER_BITS) - 1
CHUNK = 8
"""Lines that are read at once: few, since many sources come to the end of what was read of them at the same time."""
NEAR = 4 * 1024
"""Bytes between two probes below which a place is looked for line by line."""
STEP = 1024 * 1024
"""Bytes between two probes in a packed file, which is read in its order."""
JUMP = 3600 * MICRO
"""A time so much later or earlier than the lines beside it is believed only where the next ones agree."""
LOOK = 5
UP = 512
"""Lines that are looked through for a time."""


def key_of(moment: int, number: int, offset: int) -> int:
    """The key of a line: microseconds, number of its source, offset."""
    return (((moment << NUMBER_BITS) | number) << OFFSET_BITS) | offset


def offset_in(key: int) -> int:
    """The offset that a key holds."""
    return key & OFFSETS


NOBODY = NUMBERS
"""A number that no source has: the key of a moment alone."""


def number_in(key: int) -> int:
    """The source's number that a key holds."""
    return (key >> OFFSET_BITS) & NUMBERS


def moment_in(key: int) -> int:
    """The microseconds that a key holds."""
    return key >> (OFFSET_BITS + NUMBER_BITS)


class Strand:
    """A source's lines, read as far as they are walked."""

    def __init__(self, number: int, source: Source, file: ByteFile, writing: Writing) -> None:
        self.number, self.source, self.file, self.writing = number, source, file, writing
        self.lines = FileLines(file)
        self.keys: list[int] = []
        """Of the lines that were read, ascending; so are their offsets."""
        self._floor = self._ceiling = 0
        self._begin = self._end = 0

    def lay(self, offset: int, moment: int) -> None:
        """Begins anew at an offset, whose line is of a moment in microseconds."""
        self.keys = []
        self._begin = self._end = offset
        first = self._times(self.lines.forward(offset, 1))
        self._floor, self._ceiling = moment, max(moment, first[0] or 0) if first else moment

    def holds(self, offset: int) -> int | None:
        """The key of the line that begins at an offset, if it was read."""
        at = bisect_left(self.keys, offset, key=offset_in)
        return self.keys[at] if at < len(self.keys) and offset_in(self.keys[at]) == offset else None

    def line(self, key: int) -> LogLine:
        """The line of a key, at that key's place."""
        found = self.lines.forward(offset_in(key), 1)
        if not found:
            return LogLine(key, key + 1, "⚠ this line is gone".encode(), 21)
        line = found[0]
        return LogLine(key, key + line.end - line.offset, line.data, line.length)

    def from_key(self, key: int) -> Iterator[int]:
        """Keys at or behind a key, ascending."""
        while (not self.keys or self.keys[0] >= key) and self._grow_up():
            pass
        at = bisect_left(self.keys, key)
        while at < len(self.keys) or self._grow_down():
            yield self.keys[at]
            at += 1

    def before_key(self, key: int) -> Iterator[int]:
        """Keys before a key, descending."""
        while (not self.keys or self.keys[-1] < key) and self._grow_down():
            pass
        at = bisect_left(self.keys, key)
        while True:
            if at == 0:
                known = len(self.keys)
                if not self._grow_up():
                    return
                at = len(self.keys) - known
            at -= 1
            yield self.keys[at]

    def up_to(self, key: int) -> int | None:
        """The last key at or before a key."""
        return next(self.before_key(key + 1), None)

    def _grow_down(self) -> bool:
        found = self.lines.forward(self._end, CHUNK)
        if not found:
            return False
        self._end = found[-1].end
        own = self._times(found)
        for place, line in enumerate(found):
            time = own[place]
            if time is not None and time > self._floor:
                more = self._beyond(1) if time - self._floor >= JUMP else ()
                self._floor = time if _believed(time, self._floor, [*own[place + 1 :], *more], 1) else self._floor
            self.keys.append(key_of(self._floor, self.number, line.offset))
        return True

    def _grow_up(self) -> bool:
        found = self.lines.backward(self._begin, CHUNK)
        if not found:
            return False
        self._begin = found[0].offset
        carried = self._carried(found)
        fresh: list[int] = []
        for place in range(len(found) - 1, -1, -1):
            time = carried[place]
            if time is not None and time < self._ceiling:
                more = self._beyond(-1) if self._ceiling - time >= JUMP else ()
                before = [*carried[:place][::-1], *more]
                self._ceiling = time if _believed(time, self._ceiling, before, -1) else self._ceiling
            fresh.append(key_of(self._ceiling, self.number, found[place].offset))
        self.keys[:0] = fresh[::-1]
        return True

    def _beyond(self, step: int) -> list[int | None]:
        """Times of the next lines that were not read yet, in the order in which one comes to them."""
        if step > 0:
            return self._times(self.lines.forward(self._end, 2 * CHUNK))
        return self._times(self.lines.backward(self._begin, 2 * CHUNK))[::-1]

    def _times(self, lines: Sequence[LogLine]) -> list[int | None]:
        times = self.writing.times([line.data for line in lines]).tolist()
        return [None if isnan(time) or time < 0 else round(time * MICRO) for time in times]

    def _carried(self, lines: Sequence[LogLine]) -> list[int | None]:
        """Times of lines, those without one that of the line above."""
        own = self._times(lines)
        if own and own[0] is None:
            own[0] = self.time_above(lines[0].offset)
        for place in range(1, len(own)):
            time, before = own[place], own[place - 1]
            following = [*own[place + 1 :], self._ceiling]
            if time is None or (before is not None and time > before and not _believed(time, before, following, 1)):
                own[place] = before
        return own

    def time_above(self, offset: int) -> int | None:
        """The time of the nearest line above an offset that has one."""
        looked = 0
        while looked < UP and (found := self.lines.backward(offset, 64)):
            if (time := next((time for time in reversed(self._times(found)) if time is not None), None)) is not None:
                return time
            offset, looked = found[0].offset, looked + len(found)
        return None

    def time_at(self, offset: int) -> int | None:
        """The time of the line that begins at an offset, or of the line above it."""
        found = self.lines.forward(offset, 1)
        own = self._times(found)[0] if found else None
        return self.time_above(offset) if own is None else own

    def find(self, moment: int) -> int:
        """Where the lines of a moment begin: in a file whose times ascend, the first line that is not older."""
        low, high = (0, self.file.size or 0) if self.file.instant else self._stride(moment)
        while high - low > NEAR:
            middle = (low + high) // 2
            start = max(low, self.lines.start_of(middle))
            found = self._timed(start, high)
            if found is None or found[1] >= moment:
                high = middle
            else:
                low = max(found[0], low + 1)
        return self._first_at(low, moment)

    def _stride(self, moment: int) -> tuple[int, int]:
        """Between which offsets of a packed file the moment lies: it is unpacked from its begin."""
        low = 0
        while not self.file.stop and self.file.read(low + STEP, 1):
            found = self._timed(self.lines.start_of(low + STEP), low + 2 * STEP)
            if found is not None and found[1] >= moment:
                break
            low += STEP
        return low, low + STEP

    def _first_at(self, offset: int, moment: int) -> int:
        """The first line from an offset on that is of the moment or later; the end where there is none."""
        at = self.lines.start_of(offset)
        while found := self.lines.forward(at, 4 * CHUNK):
            times = self._times([*found, *self.lines.forward(found[-1].end, 2 * CHUNK)])
            for place, line in enumerate(found):
                time = times[place]
                if time is not None and time >= moment and _believed(time, moment, times[place + 1 :], 1):
                    return line.offset
            at = found[-1].end
            if at > offset + STEP:
                break
        return at

    def _timed(self, start: int, limit: int) -> tuple[int, int] | None:
        """Offset and time of the first line from `start` on that has one, not beyond a limit."""
        looked = 0
        while looked < UP and start < limit and (found := self.lines.forward(start, 8)):
            for line in found:
                if (time := self.writing.time(line.data)) is not None:
                    return line.offset, round(time * MICRO)
            start, looked = found[-1].end, looked + len(found)
        return None


def _believed(time: int, beside: int, following: Sequence[int | None], step: int) -> bool:
    """Whether a time that is far from the line beside it is borne out by most of those that follow."""
    if abs(time - beside) < JUMP:
        return True
    next_ones = [one for one in following if one is not None][:LOOK]
    agreeing = sum((one - time) * step > -JUMP for one in next_ones)
    return agreeing * 2 >= len(next_ones)
