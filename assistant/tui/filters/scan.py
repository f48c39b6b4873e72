"""The near side of the process that filters lines: what has passed so far, source by source. Knows no screen."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from io import BufferedReader
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.tui.filters.models import Filter
from assistant.tui.filters.worker import MOST, RECORD, Sifted, task
from assistant.tui.logs.process import WorkerProcess, following, preceding

CHUNK = RECORD.itemsize * 4096
Rows = NDArray[np.void]


class Passing(Protocol):
    """Lines of one source that pass, as far as is known."""

    @property
    def hits(self) -> Sequence[int]:
        """Offsets at which they begin, ascending."""
        ...

    @property
    def at(self) -> int:
        """Offset up to which the source was looked through."""
        ...

    @property
    def done(self) -> bool:
        """All of it was looked through."""
        ...

    @property
    def failed(self) -> bool:
        """It could not be looked through to its end."""
        ...

    def stop(self) -> None:
        """Ends the search for more."""
        ...


class Search(Passing, Protocol):
    """A search by one expression."""

    @property
    def pattern(self) -> str | None:
        """What is looked for."""
        ...

    def after(self, offset: int) -> int | None:
        """The next line found behind an offset, as far as is known."""
        ...

    def before(self, offset: int) -> int | None:
        """The last line found before an offset, as far as is known."""
        ...


class Finds:
    """What has passed of one source."""

    def __init__(self) -> None:
        self.hits = array("q")
        """Offsets at which passing lines begin; ascending, where no times were asked for."""
        self.times = array("q")
        """Their times in microseconds, -1 where unknown, if they were asked for."""
        self.at = 0
        """Offset up to which the source was looked through."""
        self.done = False
        self.failed = False

    def after(self, offset: int) -> int | None:
        """The next passing line behind an offset, as far as is known."""
        return following(self.hits, offset)

    def before(self, offset: int) -> int | None:
        """The last passing line before an offset, as far as is known."""
        return preceding(self.hits, offset)


class Sifting:
    """Starts the process and takes its records in a thread."""

    def __init__(
        self, items: Sequence[Sifted], filters: Sequence[Filter], *, timed: bool = False, follow: bool = False
    ) -> None:
        self.filters = tuple(filters)
        self.finds = [Finds() for _ in items]
        self.done = not items
        self.failed = False
        """The process ended before its task did."""
        self._current = 0
        self._stopped = False
        told = task(items, filters, timed=timed, follow=follow)
        self._process = WorkerProcess("assistant.tui.filters.worker", told, self._take, self._ended)

    @property
    def count(self) -> int:
        """Lines that have passed so far, of all sources."""
        return sum(len(one.hits) for one in self.finds)

    @property
    def hits(self) -> array[int]:
        """Offsets of the passing lines of the first source."""
        return self.finds[0].hits

    @property
    def at(self) -> int:
        """Offset up to which the first source was looked through."""
        return self.finds[0].at

    @property
    def full(self) -> bool:
        """More lines pass than are kept."""
        return self.count >= MOST

    @property
    def seen(self) -> int:
        """Bytes that were looked through."""
        return sum(one.at for one in self.finds)

    @property
    def unread(self) -> int:
        """Sources that could not be looked through to their end."""
        return sum(one.failed for one in self.finds)

    def wait(self, seconds: float) -> bool:
        """Waits for the process to end; whether it did. One that follows a file goes on."""
        return self._process.wait(seconds)

    def stop(self) -> None:
        """Ends the process."""
        self._stopped = True
        self._process.stop()

    def _take(self, out: BufferedReader) -> None:
        rest = b""
        while data := out.read1(CHUNK):
            rest += data
            whole = len(rest) - len(rest) % RECORD.itemsize
            self._note(np.frombuffer(rest[:whole], dtype=RECORD))
            rest = rest[whole:]

    def _ended(self) -> None:
        self.failed = not self._stopped and not all(one.done for one in self.finds)
        self.done = True

    def _note(self, rows: Rows) -> None:
        """Takes some records: runs of passing lines as a whole, the others one by one."""
        kinds = rows["kind"]
        others = np.flatnonzero((kinds != b"H") & (kinds != b"T"))
        begin = 0
        for place in [*others.tolist(), len(rows)]:
            self._pass(rows[begin:place])
            if place < len(rows):
                self._other(bytes(kinds[place]), int(rows["a"][place]))
            begin = place + 1

    def _pass(self, rows: Rows) -> None:
        finds = self.finds[self._current]
        finds.times.frombytes(rows["a"][rows["kind"] == b"T"].tobytes())
        hits = rows["a"][rows["kind"] == b"H"]
        if len(hits) and finds.hits and int(hits[0]) < finds.hits[-1] and not finds.times:
            # What stands before the part that was looked at first.
            both = np.concatenate([np.frombuffer(finds.hits, dtype=np.int64), hits])
            finds.hits = array("q", np.sort(both).tobytes())
        else:
            finds.hits.frombytes(hits.tobytes())

    def _other(self, kind: bytes, value: int) -> None:
        if kind == b"S":
            self._current = value
            return
        finds = self.finds[self._current]
        if kind == b"P":
            finds.at = value
            return
        finds.failed = kind == b"X"
        finds.done = True
        self.done = self.done or all(one.done for one in self.finds)
