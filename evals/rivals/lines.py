"""The lines of a job with who wrote them and when: the same start for every rival.

Unpacking, and whose a file or label is (`[default3]:` is a local rank, `[rank3]:` a global one), come from Rootrank's
own reading, so that no rival loses because it cannot open a file or map a rank. What it makes of the lines is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assistant.intake.dialects import Dialects, load_dialects
from assistant.intake.models import Source, Stream, Unread, WriterKind
from assistant.intake.prefixes import read_labels
from assistant.intake.reader import read_many
from assistant.pipeline import Options, Reading, read
from evals.rivals.moment import moment, report_moment

LONGEST = 8192
"""Characters of a line that are looked at."""
_ABOUT = re.compile(r"^\s+rank\s+: (\d{1,9}) \(local_rank: \d+\)")
_NEXT_ABOUT = re.compile(r"^(?:\[\d+\]:\s*$|[-=]{20}|\S+Error\b)")
_LABEL = re.compile(r"^(?:\s*(?:\[[A-Za-z]+\d+\]:|\d+:\s|\[[A-Za-z]+ ?\d+\])\s?)+")


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote a line; None where that cannot be told."""

    node: str | None = None
    rank: int | None = None
    kind: WriterKind = WriterKind.MIXED


@dataclass(frozen=True, slots=True)
class Line:
    """One line, decoded, without its newline."""

    source: str
    number: int
    text: str
    writer: Writer
    time: float | None
    """Its own time, or that of the nearest earlier line of its source that has one; UTC epoch seconds."""
    own_time: bool = False
    stamped: bool = False
    """The source is a worker's error report: its time is when that worker gave up."""


@dataclass(frozen=True, slots=True)
class JobLog:
    """A job that has been read once."""

    reading: Reading
    dialects: Dialects
    year: int

    def lines(self) -> Iterator[Line]:
        """Every line, source after source, in the order of their names."""
        writers = Writers(self.reading.scan.streams, self.dialects)
        trouble: list[Unread] = []
        source, time, stamped = None, None, False
        for block in read_many(self.reading.discovery.sources, trouble.append):
            if block.source != source:
                source, time, stamped = block.source, None, block.source.name.endswith(".json")
                writers.forget()
            for step, raw in enumerate(block.data.split(b"\n")[: _count(block.data)]):
                text = raw[:LONGEST].decode("utf-8", "replace").rstrip("\r")
                own = report_moment(text) if stamped else moment(text, self.year)
                time = own if own is not None else time
                writer = writers.of(block.source, text)
                yield Line(block.source.name, block.line + step, text, writer, time, own is not None, stamped)


def open_job(job: Path) -> JobLog:
    """Reads the job under a folder.

    Raises InputError where nothing can be read.
    """
    reading = read([str(job)], Options())
    times = [stream.last_time for stream in reading.scan.streams if stream.last_time is not None]
    year = datetime.fromtimestamp(max(times), UTC).year if times else datetime.now(UTC).year
    return JobLog(reading, load_dialects(), year)


def _count(data: bytes) -> int:
    """How many lines a block holds; one without a newline at its end counts."""
    return data.count(b"\n") + (not data.endswith(b"\n"))


class Writers:
    """Looks up the writer of a line by its source and the label at its start.

    A launcher's lines about one failed rank, in its failure block, are given that rank.
    """

    def __init__(self, streams: tuple[Stream, ...], dialects: Dialects) -> None:
        self._prefixes = dialects.prefixes
        self._by_group: dict[str, dict[str, Writer]] = {}
        self._known: dict[tuple[str, str], Writer] = {}
        self._about: int | None = None
        for stream in streams:
            writer = Writer(stream.node, stream.rank, stream.kind)
            self._by_group.setdefault(stream.group, {})[stream.key] = writer

    def forget(self) -> None:
        """Another source begins."""
        self._about = None

    def of(self, source: Source, text: str) -> Writer:
        """Of the next line of a source."""
        writer = self._labelled(source, text)
        if writer.rank is not None:
            return writer
        if about := _ABOUT.match(text):
            self._about = int(about[1])
        elif _NEXT_ABOUT.match(text):
            self._about = None
        return writer if self._about is None else Writer(writer.node, self._about, WriterKind.LAUNCHER)

    def _labelled(self, source: Source, text: str) -> Writer:
        label = _LABEL.match(text)
        key = (source.group, label.group() if label else "")
        if key not in self._known:
            self._known[key] = self._look_up(*key)
        return self._known[key]

    def _look_up(self, group: str, label: str) -> Writer:
        writers = self._by_group.get(group, {})
        if len(writers) == 1:
            return next(iter(writers.values()))
        parts = [part for _, part in read_labels(label + "x", self._prefixes).parts if part]
        for name in (";".join(parts), *reversed(parts), ""):
            if name in writers:
                return writers[name]
        return Writer()
