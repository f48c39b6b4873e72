"""The part of a plain file in which the lines of a time range stand, where its times ascend: looked at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from assistant.intake.models import Block, Codec, Source
from assistant.tui.filters.models import Filter, Kind
from assistant.tui.filters.sieve import Sieve
from assistant.tui.logs.bytefile import PlainFile
from assistant.tui.logs.writing import Writing
from assistant.tui.merged.strand import MICRO, Strand

BLOCK = 4 * 1024 * 1024
BESIDE = 64 * 1024
"""Bytes before and behind the part that belong to it, as neighbouring lines may stand in another order."""
WHOLE = 8 * 1024 * 1024
"""Bytes up to which a file is read as a whole at once."""


@dataclass(frozen=True, slots=True)
class Window:
    """Offsets from which, and before which, lines are looked at first."""

    begin: int = 0
    end: int = 0


def window_of(source: Source, writing: Writing, filters: Sequence[Filter]) -> Window:
    """Where the times stand that are asked for; empty where there is no such part, or no use in looking there first."""
    times = [one for one in filters if one.kind is Kind.TIME and not one.negated]
    since = max((one.since for one in times if one.since is not None), default=-inf)
    until = min((one.until for one in times if one.until is not None), default=inf)
    if not times or source.member is not None or source.codec is not Codec.PLAIN or not writing.timed:
        return Window()
    file = PlainFile(source.path, source.name)
    try:
        if file.size <= WHOLE:
            return Window()
        strand = Strand(0, source, file, writing)
        begin = 0 if since == -inf else strand.lines.start_of(max(0, strand.find(round(since * MICRO)) - BESIDE))
        last = file.size if until == inf else strand.find(round(until * MICRO) + 1) + BESIDE
        end = file.size if last >= file.size else strand.lines.start_of(last)
        return Window(begin, max(begin, end))
    finally:
        file.close()


def blocks_in(source: Source, window: Window, sieve: Sieve, writing: Writing) -> Iterator[Block]:
    """The blocks of a part of a plain file. Their line numbers count from its begin."""
    file = PlainFile(source.path, source.name)
    try:
        above = Strand(0, source, file, writing).time_above(window.begin)
        sieve.begin_after(None if above is None else above / MICRO)
        at = window.begin
        while at < window.end and (data := file.read(at, min(BLOCK, window.end - at))):
            data = data[: data.rfind(b"\n") + 1] or data
            yield Block(source, data, at, 1, last=False)
            at += len(data)
    finally:
        file.close()
