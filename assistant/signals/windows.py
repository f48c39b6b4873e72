"""Where in the sources launchers speak, and the lines around those places, read once more from disk.

The scan keeps whole records only up to a size, and a launcher's block with the tracebacks of eight ranks is larger. So
the scan tells where to look, and the lines are read again. Bounded: lines a source, lines beyond an anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from assistant.events.models import Scan
from assistant.intake.models import Source
from assistant.signals.lines import Line

BEFORE = 60
"""Lines before an anchor: an agent stops its other workers before it says which one failed."""
AFTER = 600
"""Lines after an anchor: a block with the tracebacks of eight ranks; each of its records is an anchor again."""


def anchors(scan: Scan, words: re.Pattern[str]) -> dict[int, list[tuple[int, int]]]:
    """(line, offset) of the records and templates that hold the words, sorted, by source."""
    found: dict[int, set[tuple[int, int]]] = {}
    for indicator in scan.indicators:
        record = indicator.record
        if words.search(record.text):
            found.setdefault(record.source, set()).add((record.line, record.offset))
    for tail in scan.tails.values():
        for record in tail:
            if words.search(record.text):
                found.setdefault(record.source, set()).add((record.line, record.offset))
    for source, line, offset in _from_templates(scan, words):
        found.setdefault(source, set()).add((line, offset))
    return {source: sorted(places) for source, places in sorted(found.items())}


def _from_templates(scan: Scan, words: re.Pattern[str]) -> Iterator[tuple[int, int, int]]:
    wanted = [number for number, template in enumerate(scan.templates) if words.search(template.text)]
    rows = scan.counts.filter(pl.col("template").is_in(wanted))
    for end in ("first", "last"):
        yield from rows.select(f"{end}_source", f"{end}_line", f"{end}_offset").iter_rows()


def read_lines(source: Source, places: list[tuple[int, int]]) -> Iterator[Line]:
    """The lines around the places, in order and without repetition."""
    data = source.path.read_bytes()
    starts = [line for line, _ in places]
    offset = 0
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if any(start - BEFORE <= number <= start + AFTER for start in starts):
            yield Line(source.id, number, offset, raw.decode("utf-8", "replace").rstrip("\r"))
        offset += len(raw) + 1


def read_head(source: Source, size: int) -> Iterator[Line]:
    """The lines of the first `size` bytes."""
    offset = 0
    for number, raw in enumerate(source.path.read_bytes()[:size].split(b"\n"), start=1):
        yield Line(source.id, number, offset, raw.decode("utf-8", "replace"))
        offset += len(raw) + 1
