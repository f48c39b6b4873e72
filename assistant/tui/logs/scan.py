"""The near side of the process that counts or searches lines: what it has found so far. Knows no screen."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from io import BufferedReader

from assistant.intake.models import Source
from assistant.tui.logs.process import WorkerProcess, following, preceding
from assistant.tui.logs.worker import RECORD, task

NEAR = 64 * 1024
"""Bytes between two known places, at least, of what is appended bit by bit."""


class LogScan:
    """Starts the process and takes its records in a thread. With `follow` it goes on with what is appended."""

    def __init__(self, source: Source, pattern: str | None = None, *, follow: bool = False) -> None:
        self.pattern = pattern
        self.hits = array("q")
        """Offsets at which matching lines begin."""
        self.lines = array("q")
        """Their numbers."""
        self.at = 0
        """Offset up to which it has come."""
        self.done = False
        """The end was reached; of a file that is followed, at least once."""
        self.failed = False
        self._offsets = array("q", [0])
        self._numbers = array("q", [1])
        self._total = 0
        told = task(source, pattern, follow)
        self.process = WorkerProcess("assistant.tui.logs.worker", told, self._take, self._ended)

    def near(self, offset: int) -> tuple[int, int]:
        """The last known (offset, line number) at or before an offset."""
        at = bisect_right(self._offsets, offset) - 1
        return self._offsets[at], self._numbers[at]

    def place(self, number: int) -> tuple[int, int]:
        """The last known (offset, line number) at or before a line number."""
        at = bisect_right(self._numbers, number) - 1
        return self._offsets[at], self._numbers[at]

    @property
    def total(self) -> int | None:
        """Lines of the source, once all are counted."""
        return self._total if self.done and not self.pattern else None

    def after(self, offset: int) -> int | None:
        """The next matching line behind an offset, as far as is known."""
        return following(self.hits, offset)

    def before(self, offset: int) -> int | None:
        """The last matching line before an offset, as far as is known."""
        return preceding(self.hits, offset)

    def wait(self, seconds: float) -> bool:
        """Waits for the end; whether it came."""
        return self.process.wait(seconds)

    def stop(self) -> None:
        """Ends the process."""
        self.process.stop()

    def _take(self, out: BufferedReader) -> None:
        while len(data := out.read(RECORD.size)) == RECORD.size:
            self._note(*RECORD.unpack(data))

    def _ended(self) -> None:
        self.failed = not self.done or self.failed
        self.done = True

    def _note(self, kind: bytes, offset: int, number: int) -> None:
        if kind == b"H":
            self.lines.append(number)
            self.hits.append(offset)
        elif kind == b"P":
            if not self.done or offset - self._offsets[-1] >= NEAR:
                self._numbers.append(number)
                self._offsets.append(offset)
            self.at = offset
        else:
            self.failed = kind == b"X"
            self._total = number
            self.done = True
