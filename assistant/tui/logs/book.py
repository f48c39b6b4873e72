"""One open log: its bytes, its lines, what is counted, searched and cited in it. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from assistant.case.models import Case, Evidence
from assistant.intake.models import Source
from assistant.pipeline import Examination
from assistant.tui.filters.models import FilterList
from assistant.tui.filters.scan import Passing, Search, Sifting
from assistant.tui.filters.typed import Around, around
from assistant.tui.filters.worker import Sifted
from assistant.tui.logs.bytefile import ByteFile, open_bytes
from assistant.tui.logs.lines import ChosenLines, FileLines, Lines, LogLine
from assistant.tui.logs.scan import LogScan
from assistant.tui.logs.worker import compiled
from assistant.tui.logs.writers import Scribe
from assistant.tui.logs.writing import Writing
from assistant.tui.merged.strand import Strand

Found = Callable[[], int | None]
"""Asks whether a line was found by now."""
NEAR = 8 * 1024 * 1024
"""Bytes over which line numbers are counted at once; what is farther away waits for the counting process."""
ALARM = (
    r"\b(error|exception|fatal|critical|panic|abort(ed)?|killed|traceback|out of memory|segmentation fault|xid)\b"
    r"|runtimeerror|timed out"
)
"""Lines that `next error` stops at."""


@dataclass(slots=True)
class LogBook:
    """A source that is being looked at."""

    source: Source
    file: ByteFile
    anchors: list[tuple[int, int]] = field(default_factory=lambda: [(0, 1)])
    """Places whose offset and line number are both known."""
    cited: list[int] = field(default_factory=list)
    """Offsets of cited lines, ascending."""
    events: list[int] = field(default_factory=list)
    """Offsets of failure-indicating records, ascending."""
    count: LogScan | None = None
    search: Search | None = None
    alarms: Search | None = None
    filters: FilterList = field(default_factory=FilterList)
    passing: Passing | None = None
    """What the filters that are on let pass so far; None where all lines are shown."""
    scribe: Callable[[], Scribe] | None = None
    """Knows how sources write. The first call may take a second."""
    case: Case | None = None
    anew: bool = False
    """The file took the place of the one that was read: lines of the same number are others."""
    closed: bool = False

    @property
    def all(self) -> FileLines:
        """Every line."""
        return FileLines(self.file)

    @property
    def lines(self) -> Lines:
        """The lines that are shown."""
        return self.all if self.passing is None else ChosenLines(self.all, self.passing.hits)

    def begin_counting(self) -> None:
        """Starts the process that counts lines; from another thread, since starting one may wait for the disk."""
        if self.count is None and not self.closed:
            self.count = self._scan()
            if self.closed:
                self.count.stop()

    def look_for(self, pattern: str) -> None:
        """Starts a search in place of the one before; an empty pattern ends it. Raises ValueError."""
        if pattern:
            compiled(pattern)
        if self.search is not None and self.search is not self.passing:
            self.search.stop()
        self.search = self._scan(pattern) if pattern else None

    @property
    def writing(self) -> Writing:
        """How the source writes. The first call may take a second."""
        if self.scribe is None:
            self.scribe = lambda: Scribe([self.source], None)
        return self.scribe().of([(self.source, self.file)])[0]

    def around(self, line: LogLine | None) -> Around:
        """What filters that are typed at a line are understood from. The first call may take a second."""
        writing = self.writing
        strand = Strand(0, self.source, self.file, writing)
        moment = None if line is None else strand.time_at(line.offset)
        return around(self.case, set(writing.writers.values()), moment, line.text if line else "")

    def refilter(self) -> None:
        """Starts what the filters that are on need, in place of what ran before. May take a second: in a thread."""
        before, active = self.passing, self.filters.active
        if not active or self.closed:
            self.passing = None
        elif len(active) == 1 and active[0].simple:
            known = self.search is not None and self.search.pattern == active[0].pattern
            self.passing = self.search if known else self._scan(active[0].pattern)
        else:
            item = Sifted(self.source, self.writing, tuple(self.events))
            self.passing = Sifting([item], active, follow=self.file.instant)
        if before is not None and before not in (self.passing, self.search):
            before.stop()
        if self.closed and self.passing is not None:
            self.passing.stop()

    def data(self, line: LogLine, most: int) -> bytes:
        """The bytes of a line."""
        return self.file.read(line.offset, min(line.length, most))

    def cites(self, line: LogLine) -> bool:
        """Whether the line is cited."""
        return holds(self.cited, line)

    def indicates(self, line: LogLine) -> bool:
        """Whether the line belongs to a failure-indicating event."""
        return holds(self.events, line)

    def alarming(self) -> Search:
        """The search for lines that look like errors, started when it is first wanted."""
        if self.alarms is None:
            self.alarms = self._scan(ALARM)
        return self.alarms

    def _scan(self, pattern: str | None = None) -> LogScan:
        """A plain file may still grow: what is appended is counted and searched, too."""
        return LogScan(self.source, pattern, follow=self.file.instant)

    def number(self, offset: int) -> int | None:
        """Number of the line that begins at an offset; None while it is not known."""
        known = list(self.anchors)
        if self.count is not None:
            known.append(self.count.near(offset))
        if not self.file.instant:
            known = [place for place in known if abs(place[0] - offset) < NEAR // 8]
        nearest = min(known, key=lambda place: abs(place[0] - offset), default=None)
        return None if nearest is None else self.all.number_near(offset, nearest, NEAR)

    def offset_of(self, number: int) -> int | None:
        """Where the line of a number begins; None while counting has not come so far, or where there is none."""
        if self.count is None:
            return None
        offset, known = self.count.place(number)
        if not self.count.done and offset >= self.count.at:
            return None
        while known < number and (data := self.file.read(offset, NEAR // 8)):
            wanted = number - known
            if data.count(b"\n") < wanted:
                known, offset = known + data.count(b"\n"), offset + len(data)
                continue
            at = -1
            for _ in range(wanted):
                at = data.find(b"\n", at + 1)
            return offset + at + 1
        return offset if known == number else None

    def close(self) -> None:
        """Ends everything that runs for it."""
        self.closed = True
        for scan in (self.count, self.search, self.alarms, self.passing):
            if scan is not None:
                scan.stop()
        self.file.close()


def holds(offsets: list[int], line: LogLine) -> bool:
    """Whether one of some ascending offsets lies in a line."""
    at = bisect_left(offsets, line.offset)
    return at < len(offsets) and offsets[at] < max(line.end, line.offset + 1)


def open_book(
    source: Source, case: Case, seen: Examination | None, further: Iterable[Evidence] = (),
    scribe: Callable[[], Scribe] | None = None,
) -> LogBook:  # fmt: skip
    """Opens a source with what is known of it. Raises NothingFound where it is gone."""
    book = LogBook(source, open_bytes(source), scribe=scribe, case=case)
    items = [item for item in (*case.evidence, *further) if item.source == source.name]
    book.anchors += [(item.offset, item.line) for item in items]
    book.cited = sorted({item.offset for item in items})
    book.events = sorted({*book.cited, *_indicated(seen, source)})
    return book


def open_anew(book: LogBook) -> LogBook:
    """The file that has the name of an open log now, searched for the same. What was cited were lines of the other.

    Raises NothingFound where it is gone.
    """
    fresh = LogBook(
        book.source, open_bytes(book.source), filters=book.filters, scribe=book.scribe, case=book.case, anew=True
    )
    if book.search is not None and book.search.pattern:
        fresh.look_for(book.search.pattern)
    return fresh


def _indicated(seen: Examination | None, source: Source) -> list[int]:
    if seen is None:
        return []
    scan = seen.reading.scan
    ids = {one.id for one in scan.sources if one.name == source.name}
    return [one.record.offset for one in scan.indicators if one.record.source in ids]


def neighbour(offsets: list[int], start: int, end: int, step: int) -> int | None:
    """The next offset behind a line, or the last one before it."""
    at = bisect_left(offsets, end) if step > 0 else bisect_right(offsets, start - 1) - 1
    return offsets[at] if 0 <= at < len(offsets) else None


def writer_of(seen: Examination | None, source: Source) -> tuple[str | None, int | None]:
    """Node and rank of a source that has one writer only."""
    if seen is None:
        return None, None
    streams = [stream for stream in seen.reading.scan.streams if stream.group == source.group]
    nodes, ranks = {stream.node for stream in streams}, {stream.rank for stream in streams}
    return (nodes.pop() if len(nodes) == 1 else None), (ranks.pop() if len(ranks) == 1 else None)
