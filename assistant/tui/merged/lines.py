"""The lines of several sources as one sequence by corrected time, merged only around where one is. No screen."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import islice

from assistant.tui.filters.scan import Passing, Sifting
from assistant.tui.logs.lines import LogLine
from assistant.tui.merged.strand import Strand, key_of, moment_in, number_in, offset_in


class MergedLines:
    """All lines of the strands. Their offsets are keys."""

    def __init__(self, strands: Sequence[Strand]) -> None:
        self.strands = strands
        self._by_number = {strand.number: strand for strand in strands}

    def laid(self, key: int, tell: Callable[[int], None]) -> MergedLines:
        """The same strands around another place: its line and its moment. May take a while; tells how many it has."""
        moment, number, offset = moment_in(key), number_in(key), offset_in(key)
        fresh = [Strand(one.number, one.source, one.file, one.writing) for one in self.strands]
        for done, strand in enumerate(fresh, 1):
            strand.lay(offset if strand.number == number else strand.find(moment), moment)
            tell(done)
        return MergedLines(fresh)

    def strand(self, key: int) -> Strand | None:
        """The strand of a key."""
        return self._by_number.get(number_in(key))

    def held(self, key: int) -> int | None:
        """The key here of the line of a key, whose moment may be another; None where it was not read."""
        strand = self.strand(key)
        return None if strand is None else strand.holds(offset_in(key))

    def line(self, key: int) -> LogLine:
        """The line of a key."""
        return self._by_number[number_in(key)].line(key)

    def start_of(self, offset: int) -> int:
        """The key of the last line at or before a key, else of the first."""
        found = [key for strand in self.strands if (key := strand.up_to(offset)) is not None]
        return max(found) if found else next(heapq.merge(*(one.from_key(offset) for one in self.strands)), offset)

    def forward(self, offset: int, count: int) -> list[LogLine]:
        """Lines from a key on."""
        keys = heapq.merge(*(strand.from_key(offset) for strand in self.strands))
        return [self.line(key) for key in islice(keys, count)]

    def backward(self, offset: int, count: int) -> list[LogLine]:
        """Lines before a key."""
        keys = heapq.merge(*(strand.before_key(offset) for strand in self.strands), reverse=True)
        return [self.line(key) for key in islice(keys, count)][::-1]


class Ordered:
    """The keys of what a process has found in the strands so far, ascending."""

    def __init__(self, sifting: Sifting, strands: Sequence[Strand], pattern: str | None = None) -> None:
        self.pattern = pattern
        self.at = 0
        self._sifting = sifting
        self._numbers = [strand.number for strand in strands]
        self._taken = [0] * len(strands)
        self._keys: list[int] = []

    @property
    def hits(self) -> Sequence[int]:
        """The keys that are known now. Lines whose time is not known are left out."""
        fresh: list[int] = []
        for place, finds in enumerate(self._sifting.finds):
            begin, end = self._taken[place], min(len(finds.hits), len(finds.times))
            if begin < end:
                self._taken[place], number = end, self._numbers[place]
                pairs = zip(finds.times[begin:end], finds.hits[begin:end], strict=True)
                fresh += [key_of(time, number, offset) for time, offset in pairs if time >= 0]
        if fresh:
            self._keys += fresh
            self._keys.sort()
        return self._keys

    @property
    def done(self) -> bool:
        """All sources were looked through."""
        return self._sifting.done

    @property
    def failed(self) -> bool:
        """Some source could not be looked through to its end."""
        return self._sifting.failed or self._sifting.unread > 0

    def after(self, offset: int) -> int | None:
        """The next key behind a key, once all sources were looked through: before, an earlier one may be missing."""
        keys = self.hits if self.done else ()
        at = bisect_right(keys, offset)
        return keys[at] if at < len(keys) else None

    def before(self, offset: int) -> int | None:
        """The last key before a key, once all sources were looked through."""
        keys = self.hits if self.done else ()
        at = bisect_left(keys, offset)
        return keys[at - 1] if at > 0 else None

    def stop(self) -> None:
        """Ends the process."""
        self._sifting.stop()


class ChosenMerged:
    """Only some lines of merged sources, by their keys; the list may still grow."""

    def __init__(self, lines: MergedLines, ordered: Passing) -> None:
        self._lines, self._ordered = lines, ordered

    def start_of(self, offset: int) -> int:
        """The key of the last chosen line at or before a key, else of the first."""
        keys = self._ordered.hits
        return keys[max(0, bisect_right(keys, offset) - 1)] if keys else offset

    def forward(self, offset: int, count: int) -> list[LogLine]:
        """Chosen lines from a key on."""
        keys = self._ordered.hits
        at = bisect_left(keys, offset)
        return [self._lines.line(key) for key in keys[at : at + count]]

    def backward(self, offset: int, count: int) -> list[LogLine]:
        """Chosen lines before a key."""
        keys = self._ordered.hits
        at = bisect_left(keys, offset)
        return [self._lines.line(key) for key in keys[max(0, at - count) : at]]
