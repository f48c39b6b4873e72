"""Read sources as blocks of whole lines, in bounded memory, with true line numbers and offsets.

Lines are counted by newlines alone, as editors count them. Where a stretch longer than a block holds no newline but
carriage returns, a block ends behind one of those and the next block starts on the same line number. A line of more
than `Limits.line_bytes` is cut; its block ends right behind the cut, so that within a block every offset is true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assistant.intake.access import Report, open_each
from assistant.intake.files import ByteStream, FileStream
from assistant.intake.limits import DEFAULT_LIMITS, MIB, Budget, Limits
from assistant.intake.lines import clean_cut, count_lines, first_long, line_end
from assistant.intake.models import Block, Source, Unread

BLOCK_BYTES = 16 * MIB


def read_blocks(
    source: Source, report: Report, *, block_bytes: int = BLOCK_BYTES, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Block]:
    """The blocks of one source. Whatever is wrong with it is told to `report`, after the blocks that could be had."""
    return read_many([source], report, block_bytes=block_bytes, limits=limits)


def read_many(
    sources: Sequence[Source], report: Report, *, block_bytes: int = BLOCK_BYTES, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Block]:
    """The blocks of several sources, one source after another, each archive opened once.

    Order: as given, but that members of a packed tar come in the archive's order; parts of one rotated set always come
    oldest first. The last block of each source has `last` set. A source without a byte gives no block.
    """
    budget = Budget(limits)
    for source, stream in open_each(sources, report, limits):
        yield from _with_last(_Cutter(source, stream, block_bytes, limits, budget).blocks())
        if budget.left < 0:
            why = f"stopped here: more than {limits.total_bytes:,} bytes together; the rest is not read"
            report(Unread(source.name, why))
            return
        if stream.damage:
            report(Unread(source.name, stream.damage))


def _with_last(blocks: Iterator[Block]) -> Iterator[Block]:
    held = next(blocks, None)
    for block in blocks:
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield replace(held, last=True)


class _Cutter:
    """Cuts the stream of one source into blocks."""

    def __init__(self, source: Source, stream: ByteStream, block_bytes: int, limits: Limits, budget: Budget) -> None:
        self._source = source
        self._stream = stream
        self._block_bytes = block_bytes
        self._limit = limits.line_bytes
        self._budget = budget
        self._line = 1
        self._offset = 0
        """Of the first byte that is in no block yet."""
        self._ended = False

    def blocks(self) -> Iterator[Block]:
        rest = b""
        while not self._ended:
            data = rest + self._read(self._block_bytes)
            start = 0
            while (long := first_long(data, start, self._limit))[1]:
                block, data, start = self._cut_line(data, start, long[0])
                yield block
            cut = len(data) if self._ended else clean_cut(data, start)
            if cut > start:
                yield self._block(data[start:cut])
            rest = data[cut:]

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        within = self._budget.take(len(data))
        self._ended = len(data) < size or not within
        return data

    def _block(self, data: bytes) -> Block:
        block = Block(self._source, data, self._offset, self._line, last=False)
        self._line += count_lines(data)
        self._offset += len(data)
        return block

    def _cut_line(self, data: bytes, start: int, at: int) -> tuple[Block, bytes, int]:
        """A block from `start` to the kept part of the long line at `at`; then the data and where to go on in it.

        Nothing is kept of a hole, a run of NUL bytes.
        """
        whole = self._block(data[start:at])
        kept = data[at : at + self._limit]
        if hole := not kept.strip(b"\0"):
            kept = b""
        data, end, skipped = self._line_rest(data, at + self._limit, hole=hole)
        length = self._limit + skipped
        line = self._line
        block = replace(whole, data=whole.data + kept + b"\n", cut=((line, length),))
        ending = data[end : end + 1]
        step = 2 if data[end : end + 2] == b"\r\n" else 1 if ending in (b"\n", b"\r") else 0
        self._line += data.count(b"\n", end, end + step)
        self._offset += length + step
        return block, data, end + step

    def _line_rest(self, data: bytes, at: int, *, hole: bool) -> tuple[bytes, int, int]:
        """Pass over the rest of a long line: the data in hand then, where the line ends in it, bytes passed over.

        A hole ends where the NULs end: the text behind it is a line of its own.
        """
        skipped = 0
        while True:
            end = _hole_end(data, at) if hole else line_end(data, at)
            if end >= 0:
                return data, end, skipped + end - at
            skipped += len(data) - at
            if self._ended:
                return b"", 0, skipped
            if hole:
                skipped += self._jump()
            data, at = self._read(MIB), 0

    def _jump(self) -> int:
        """Pass over a hole that the file system knows, without reading its NULs."""
        if not isinstance(self._stream, FileStream):
            return 0
        return self._stream.skip(self._stream.data_start() - self._stream.position)


def _hole_end(data: bytes, at: int) -> int:
    rest = len(data[at:].lstrip(b"\0"))
    return len(data) - rest if rest else -1
