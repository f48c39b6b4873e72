"""Lines around an offset, forward and backward, however long the file and however long a line. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.tui.logs.bytefile import ByteFile

CHUNK = 64 * 1024
REACH = 1024 * 1024
"""Bytes that are looked through for the end of a line; a longer line is shown in pieces of that length."""
SHOWN = 16 * 1024
"""Bytes of a line that are decoded to be shown."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line, or one piece of a very long one."""

    offset: int
    end: int
    """Where the next one begins."""
    data: bytes
    """Its first bytes."""
    length: int
    """Bytes without the line end."""

    @property
    def text(self) -> str:
        """As it is shown; broken UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def cut(self) -> int:
        """Bytes that are not in `text`."""
        return self.length - len(self.data)


class Lines(Protocol):
    """A sequence of lines that is walked by offset."""

    def start_of(self, offset: int) -> int:
        """Begin of the line that holds an offset, or of the nearest one shown."""
        ...

    def forward(self, offset: int, count: int) -> list[LogLine]:
        """Lines from the one that begins at `offset` on."""
        ...

    def backward(self, offset: int, count: int) -> list[LogLine]:
        """Lines before the one that begins at `offset`, in the order of the file."""
        ...


class FileLines:
    """All lines of a file."""

    def __init__(self, file: ByteFile) -> None:
        self._file = file

    def start_of(self, offset: int) -> int:
        """Begin of the line that holds an offset."""
        low, at = max(0, offset - REACH), offset
        while at > low:
            start = max(low, at - CHUNK)
            found = self._file.read(start, at - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            at = start
        return low

    def forward(self, offset: int, count: int) -> list[LogLine]:
        """Lines from an offset on."""
        found: list[LogLine] = []
        data, start = b"", offset
        while len(found) < count:
            end = data.find(b"\n", offset - start)
            if end < 0 and len(data) - (offset - start) < REACH:
                more = self._file.read(start + len(data), CHUNK)
                if more:
                    data, start = data[offset - start :] + more, offset
                    continue
            if offset - start >= len(data):
                return found
            stop = start + end if end >= 0 else min(start + len(data), offset + REACH)
            line = data[offset - start : stop - start]
            found.append(_line(offset, stop + (1 if end >= 0 else 0), line))
            offset = found[-1].end
        return found

    def backward(self, offset: int, count: int) -> list[LogLine]:
        """Lines before an offset."""
        found: list[LogLine] = []
        while offset > 0 and len(found) < count:
            before = self._file.read(max(0, offset - CHUNK), min(offset, CHUNK))
            base = offset - len(before)
            # All whole lines of this stretch at once; the first one may have begun earlier.
            cuts = [base + at + 1 for at in _ends(before[:-1])]
            starts = cuts or [self.start_of(offset - 1)]
            for start in reversed(starts[-(count - len(found)) :]):
                data = before[start - base : offset - base] if start >= base else self._file.read(start, offset - start)
                found.append(_line(start, offset, data.removesuffix(b"\n")))
                offset = start
            if not before:
                break
        return found[::-1]

    def number_near(self, offset: int, known: tuple[int, int], reach: int) -> int | None:
        """Number of the line at `offset`, counted from a known (offset, number); None where that is too far away."""
        at, number = known
        low, high = min(at, offset), max(at, offset)
        if high - low > reach:
            return None
        count = 0
        while low < high and (data := self._file.read(low, min(REACH, high - low))):
            count += data.count(b"\n")
            low += len(data)
        return number + count if at <= offset else number - count


class ChosenLines:
    """Only some lines of a file, by the offsets at which they begin; the list may still grow."""

    def __init__(self, lines: FileLines, offsets: Sequence[int]) -> None:
        self._lines, self._offsets = lines, offsets

    def start_of(self, offset: int) -> int:
        """Begin of the last chosen line at or before an offset, else of the first."""
        if not self._offsets:
            return 0
        return self._offsets[max(0, bisect_right(self._offsets, offset) - 1)]

    def forward(self, offset: int, count: int) -> list[LogLine]:
        """Chosen lines from an offset on."""
        at = bisect_left(self._offsets, offset)
        return [line for begin in self._offsets[at : at + count] for line in self._lines.forward(begin, 1)]

    def backward(self, offset: int, count: int) -> list[LogLine]:
        """Chosen lines before an offset."""
        at = bisect_left(self._offsets, offset)
        return [line for begin in self._offsets[max(0, at - count) : at] for line in self._lines.forward(begin, 1)]


def _line(offset: int, end: int, data: bytes) -> LogLine:
    data = data.removesuffix(b"\r")
    return LogLine(offset, end, data[:SHOWN], len(data))


def _ends(data: bytes) -> list[int]:
    found: list[int] = []
    at = data.find(b"\n")
    while at >= 0:
        found.append(at)
        at = data.find(b"\n", at + 1)
    return found
