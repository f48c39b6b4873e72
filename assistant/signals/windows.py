"""Where in the sources launchers speak, and the lines around those places, read once more from disk.

The scan keeps records only up to a size, and a launcher's block with the tracebacks of eight ranks is larger. So the
scan tells where to look, and the bytes around are read again: each archive once, and no more than a bounded amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import polars as pl

from assistant.events.models import Record, Scan
from assistant.intake.access import open_each
from assistant.intake.dialects import load_dialects
from assistant.intake.envelopes import FEWEST, sniff_envelope, unwrap
from assistant.intake.files import ByteStream
from assistant.intake.models import Dialect, Source
from assistant.signals.lines import LONGEST, Line

BEFORE = 128 * 1024
"""Bytes before an anchor: the other failures of a block stand before the one it calls the root cause."""
AFTER = 256 * 1024
"""Bytes after an anchor: a block with the tracebacks of some dozens of ranks."""
MOST = 64 * 1024 * 1024
"""Bytes read from all sources together; a job of a thousand launchers writes a tenth of it."""
Place = tuple[int, int]
"""Line number and byte offset."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of bytes of which one line's number is known."""

    start: int
    end: int
    anchor: Place


def anchors(scan: Scan, words: re.Pattern[str]) -> dict[int, list[Place]]:
    """Where the records and templates stand that hold the words, sorted, by source; a rotated log goes on behind it."""
    found: dict[int, set[Place]] = {}
    for record in known_records(scan):
        if words.search(record.text):
            found.setdefault(record.source, set()).add((record.line, record.offset))
    for source, line, offset in _from_templates(scan, words):
        found.setdefault(source, set()).add((line, offset))
    for before, after in pairwise(scan.sources):
        if before.id in found and after.group == before.group and after.part > before.part:
            found.setdefault(after.id, set()).add((1, 0))
    return {source: sorted(places) for source, places in sorted(found.items())}


def known_records(scan: Scan) -> Iterator[Record]:
    """The records whose text the scan kept."""
    for indicator in scan.indicators:
        yield indicator.record
    for tail in scan.tails.values():
        yield from tail


def _from_templates(scan: Scan, words: re.Pattern[str]) -> Iterator[tuple[int, int, int]]:
    wanted = [number for number, template in enumerate(scan.templates) if words.search(template.text)]
    rows = scan.counts.filter(pl.col("template").is_in(wanted))
    for end in ("first", "last"):
        yield from rows.select(f"{end}_source", f"{end}_line", f"{end}_offset").iter_rows()


def read_around(sources: Iterable[Source], places: dict[int, list[Place]]) -> dict[int, tuple[Line, ...]]:
    """The lines around the places, in order and each once, by source; what cannot be opened any more is left out."""
    wanted = [source for source in sources if places.get(source.id)]
    found: dict[int, tuple[Line, ...]] = {}
    left = MOST
    for source, stream in open_each(wanted, lambda _: None):
        lines: list[Line] = []
        for span in _spans(places[source.id]):
            if left > 0:
                data = _bytes(stream, span)
                left -= len(data)
                lines += _lines(source.id, span, data)
        found[source.id] = tuple(_messages(lines))
    return found


_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_WRAPPED = re.compile(r"\{|[0-9]{4}-[0-9]{2}-[0-9]{2}T\S{1,40} (?:stdout|stderr) [FP]")
SAMPLE = 30
"""Lines from which it is judged what a collector wrapped around them."""


def _messages(lines: list[Line]) -> Iterable[Line]:
    """The lines without colours and without what a collector wrapped around them; numbers and offsets stay."""
    lines = [replace(line, text=_ESCAPES.sub("", line.text)) if "\x1b" in line.text else line for line in lines]
    wrapped = [line.text for line in lines if _WRAPPED.match(line.text)]
    envelope = sniff_envelope(wrapped[:SAMPLE], load_dialects().envelopes) if len(wrapped) >= FEWEST else None
    if envelope is None:
        return lines
    return [replace(line, text=text) for line in _unwrapped(envelope, lines) for text in line.text.split("\n")]


def _unwrapped(envelope: Dialect, lines: Iterable[Line]) -> Iterator[Line]:
    """The messages, joined where the collector had cut one into several lines."""
    begun: Line | None = None
    for line in lines:
        inner = unwrap(envelope, line.text)
        whole = replace(begun or line, text=((begun.text if begun else "") + inner.message)[:LONGEST])
        begun = whole if inner.partial else None
        if begun is None:
            yield whole
    if begun is not None:
        yield begun


def _spans(places: list[Place]) -> list[Span]:
    spans: list[Span] = []
    for line, offset in sorted(places, key=lambda place: place[1]):
        start, end = max(0, offset - BEFORE), offset + AFTER
        if spans and start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, end, spans[-1].anchor)
        else:
            spans.append(Span(start, end, (line, offset)))
    return spans


def _bytes(stream: ByteStream, span: Span) -> bytes:
    while stream.position < span.start and stream.skip(span.start - stream.position):
        pass
    return stream.read(min(MOST, span.end - span.start)) if stream.position == span.start else b""


def _lines(source: int, span: Span, data: bytes) -> Iterator[Line]:
    """The whole lines of the bytes; the first counts only where it begins the source."""
    number = span.anchor[0] - data.count(b"\n", 0, span.anchor[1] - span.start)
    offset = span.start
    for position, raw in enumerate(data.split(b"\n")):
        if position or not span.start:
            text = raw.decode("utf-8", "replace").rstrip("\r")
            yield Line(source, number + position, offset, text)
        offset += len(raw) + 1
