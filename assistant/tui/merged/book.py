"""Several open logs as one: what is searched, filtered and cited in all of them. Knows no screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from assistant.intake.models import Source
from assistant.pipeline import Examination
from assistant.tui.filters.models import Filter, text_filter
from assistant.tui.filters.scan import Search, Sifting
from assistant.tui.filters.typed import Around, around
from assistant.tui.filters.worker import Sifted
from assistant.tui.logs.book import ALARM, LogBook, holds
from assistant.tui.logs.bytefile import ByteFile
from assistant.tui.logs.lines import Lines, LogLine
from assistant.tui.logs.worker import compiled
from assistant.tui.logs.writing import Writer, Writing
from assistant.tui.merged.lines import ChosenMerged, MergedLines, Ordered
from assistant.tui.merged.strand import MICRO, Strand, key_of, moment_in, number_in, offset_in

KEPT = 4_096
"""Lines whose writers are remembered."""
LOOKED = 8
"""Files whose state is asked for at once."""


class LockedFile:
    """A packed file that two threads read: one may look for a place while the other draws."""

    instant = False

    def __init__(self, file: ByteFile) -> None:
        self._file, self._lock = file, Lock()

    @property
    def stop(self) -> bool:
        """Whether a long read is to end early."""
        return self._file.stop

    @stop.setter
    def stop(self, value: bool) -> None:
        self._file.stop = value

    @property
    def size(self) -> int | None:
        """Unpacked bytes, once the end was seen."""
        return self._file.size

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes."""
        with self._lock:
            return self._file.read(offset, count)

    def trouble(self) -> str:
        """What has become of the file."""
        return self._file.trouble()

    def close(self) -> None:
        """Gives it back."""
        self._file.stop = True
        with self._lock:
            self._file.close()


class Files:
    """The files of a merged view, as one."""

    instant = True
    size = None

    def __init__(self, files: Sequence[tuple[str, ByteFile]]) -> None:
        self._files = files
        self._next = 0
        self._trouble: dict[str, str] = {}

    @property
    def stop(self) -> bool:
        """Whether long reads are to end early."""
        return any(file.stop for _, file in self._files)

    @stop.setter
    def stop(self, value: bool) -> None:
        for _, file in self._files:
            file.stop = value

    def read(self, offset: int, count: int) -> bytes:
        """Nothing: bytes belong to one file."""
        return b""

    def trouble(self) -> str:
        """What has become of one of the files; a few are asked each time."""
        for _ in range(min(LOOKED, len(self._files))):
            name, file = self._files[self._next % len(self._files)]
            self._next += 1
            if said := file.trouble():
                self._trouble[name] = said
        first = next(iter(self._trouble.items()), None)
        more = f" (and {len(self._trouble) - 1} more)" if len(self._trouble) > 1 else ""
        return f"{first[0]}: {first[1]}{more}" if first else ""

    def close(self) -> None:
        """Closes all."""
        for _, file in self._files:
            file.close()


@dataclass(slots=True)
class MergedBook(LogBook):
    """Logs that are looked at together. Offsets of lines are keys (`strand`)."""

    books: list[LogBook] = field(default_factory=list)
    """By the number of the strand."""
    merged: MergedLines = field(default_factory=lambda: MergedLines(()))
    corrected: bool = False
    """Clocks were compared."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Sources that are not shown, and why."""
    writers: dict[int, Writer] = field(default_factory=dict)
    numbered: tuple[int, int | None] = (-1, None)
    """The line whose number was asked for last."""
    known: dict[int, int] = field(default_factory=dict)
    """How many places of a log have numbers that others told."""

    @property
    def lines(self) -> Lines:
        """The lines that are shown."""
        return self.merged if self.passing is None else ChosenMerged(self.merged, self.passing)

    def begin_counting(self) -> None:
        """Lines are counted only where a number is asked for."""

    def look_for(self, pattern: str) -> None:
        """Starts a search in place of the one before; an empty pattern ends it. Raises ValueError."""
        if pattern:
            compiled(pattern)
        if self.search is not None:
            self.search.stop()
        self.search = self._sift([text_filter(pattern)], pattern) if pattern else None

    def alarming(self) -> Search:
        """The search for lines that look like errors."""
        if self.alarms is None:
            self.alarms = self._sift([text_filter(ALARM)], ALARM)
        return self.alarms

    def refilter(self) -> None:
        """Starts what the filters that are on need."""
        before, active = self.passing, self.filters.active
        self.passing = self._sift(active) if active and not self.closed else None
        if before is not None:
            before.stop()

    def _sift(self, filters: Sequence[Filter], pattern: str | None = None) -> Ordered:
        strands = self.merged.strands
        items = [Sifted(one.source, one.writing, tuple(self.books[one.number].events)) for one in strands]
        return Ordered(Sifting(items, filters, timed=True), strands, pattern)

    def around(self, line: LogLine | None) -> Around:
        """What filters that are typed at a line are understood from."""
        known: set[Writer] = set()
        for strand in self.merged.strands:
            known |= set(strand.writing.writers.values()) or {strand.writing.path}
        return around(self.case, known, moment_in(line.offset) if line else None, line.text if line else "")

    def book_of(self, line: LogLine) -> LogBook:
        """The log that a line belongs to."""
        return self.books[number_in(line.offset)]

    def local(self, line: LogLine) -> LogLine:
        """A line as its own log has it."""
        offset = offset_in(line.offset)
        return LogLine(offset, offset + line.end - line.offset, line.data, line.length)

    def number(self, offset: int) -> int | None:
        """Number of a line in its own log; None while it is not known."""
        if self.numbered[0] == offset and self.numbered[1] is not None:
            return self.numbered[1]
        book, place = self.books[number_in(offset)], offset_in(offset)
        found = book.number(place)
        self.numbered = (offset, found)
        if found is not None:
            # The next line that is asked for is near this one: its number is counted from here.
            kept = self.known.setdefault(number_in(offset), len(book.anchors))
            book.anchors[kept:] = [(place, found)]
        return found

    def data(self, line: LogLine, most: int) -> bytes:
        """The bytes of a line."""
        return self.book_of(line).data(self.local(line), most)

    def cites(self, line: LogLine) -> bool:
        """Whether the line is cited."""
        return holds(self.book_of(line).cited, self.local(line))

    def indicates(self, line: LogLine) -> bool:
        """Whether the line belongs to a failure-indicating event."""
        return holds(self.book_of(line).events, self.local(line))

    def writer(self, line: LogLine) -> Writer:
        """Who wrote a line."""
        if line.offset not in self.writers:
            strand = self.merged.strand(line.offset)
            if len(self.writers) >= KEPT:
                self.writers.clear()
            self.writers[line.offset] = strand.writing.wrote([line.data])[0] if strand else (None, None)
        return self.writers[line.offset]

    def lay(self, key: int, tell: Callable[[int], None]) -> MergedLines:
        """The same logs around another place; the caller puts it into `merged`. May take a while."""
        return self.merged.laid(key, tell)

    def place_in(self, name: str, offset: int) -> int | None:
        """The key of a line of one of the logs, by its name; None where it is not among them or has no time."""
        for strand in self.merged.strands:
            if strand.source.name == name and (moment := strand.time_at(offset)) is not None:
                return key_of(moment, strand.number, offset)
        return None

    def note_places(self, seen: Examination | None) -> None:
        """Puts what is cited, and the failure-indicating records, into the order of time. Reads cited places."""
        moments = _recorded(seen)
        for strand in self.merged.strands:
            book = self.books[strand.number]
            for offset in book.cited:
                if (moment := strand.time_at(offset)) is not None:
                    self.cited.append(key_of(moment, strand.number, offset))
            for offset in book.events:
                if (time := moments.get((strand.source.name, offset))) is not None:
                    self.events.append(key_of(round(time * MICRO), strand.number, offset))
        self.cited.sort()
        self.events = sorted({*self.events, *self.cited})

    def close(self) -> None:
        """Ends everything that runs for it."""
        self.closed = True
        for scan in (self.search, self.alarms, self.passing):
            if scan is not None:
                scan.stop()
        for book in self.books:
            book.close()


def _recorded(seen: Examination | None) -> dict[tuple[str, int], float]:
    """Times of the failure-indicating records on the common clock, by source and offset."""
    if seen is None:
        return {}
    names = {source.id: source.name for source in seen.reading.scan.sources}
    records = (one.record for one in seen.reading.scan.indicators)
    return {(names[one.source], one.offset): one.time for one in records if one.time is not None}


def merge_books(
    books: Iterable[LogBook], writings: Iterable[Writing], *, corrected: bool, left_out: Iterable[tuple[str, str]]
) -> MergedBook:
    """One book of several open logs. Those that show no time are left out: they have no place among the others."""
    gone = list(left_out)
    kept: list[LogBook] = []
    strands: list[Strand] = []
    for book, writing in zip(books, writings, strict=True):
        if not writing.timed:
            gone.append((book.source.name, "no times"))
            book.close()
            continue
        if not book.file.instant:
            book.file = LockedFile(book.file)
        strands.append(Strand(len(kept), book.source, book.file, writing))
        kept.append(book)
    files = Files([(book.source.name, book.file) for book in kept])
    source = (
        Source(id=-1, name=f"{len(kept)} logs", path=kept[0].source.path) if kept else Source(-1, "no logs", Path())
    )
    case = kept[0].case if kept else None
    return MergedBook(
        source, files, books=kept, merged=MergedLines(strands), corrected=corrected, left_out=gone, case=case
    )
