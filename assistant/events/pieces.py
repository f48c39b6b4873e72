"""Cuts a batch into pieces of lines: newlines and carriage returns both separate, only newlines count lines.

The text that later steps read is cleaned (terminal escapes and NUL bytes removed, broken UTF-8 replaced); line numbers
and byte offsets always belong to the raw bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.batch import Batch

Ints = NDArray[np.int64]

LONGEST = 64 << 10
"""Bytes of a piece that are looked at; the rest of a longer one is ignored."""

_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])?|\x00+")


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a batch in their order. Arrays run in parallel."""

    text: bytes
    """The cleaned bytes; valid UTF-8 within each piece."""
    buffer: pl.Series
    """The same as a Polars value."""
    start: Ints
    """Where a piece starts in `text`."""
    length: Ints
    """Its bytes in `text`, at most LONGEST."""
    raw_start: Ints
    """Where it starts in the batch's raw bytes."""
    raw_length: Ints
    block: Ints
    """Index of its block within the batch."""
    line: Ints
    """1-based line number in its source."""
    offset: Ints
    """Byte offset in its source."""
    broken: dict[int, int]
    """Pieces that were not valid UTF-8, per block."""

    def strings(self, rows: Ints | None = None) -> pl.Series:
        """The text of all or some pieces as a Polars column."""
        start = self.start if rows is None else self.start[rows]
        length = self.length if rows is None else self.length[rows]
        return stretches(self.buffer, start, length).cast(pl.String)

    def take(self, keep: NDArray[np.bool_] | Ints) -> Pieces:
        """Only some of the pieces."""
        names = ("start", "length", "raw_start", "raw_length", "block", "line", "offset")
        return replace(self, **{name: getattr(self, name)[keep] for name in names})


def cut(batch: Batch) -> Pieces:
    """All pieces of a batch that are not empty."""
    breaks, is_newline = _breaks(batch.data)
    raw_start, raw_length = _spans(breaks)
    text, start, length = _clean(batch.data, breaks, raw_start, raw_length)
    block = np.searchsorted(batch.begins, raw_start, side="right") - 1
    line = _line_numbers(batch, raw_start, is_newline, block)
    offset = _offsets(batch, raw_start, block)
    pieces = Pieces(text, blob(text), start, length, raw_start, raw_length, block, line, offset, {})
    return _shortened(_repaired(pieces.take(length > 0)))


def blob(data: bytes) -> pl.Series:
    """A buffer as a Polars value, made once, because Polars copies bytes given as a literal each time."""
    return pl.Series([data], dtype=pl.Binary)


def stretches(buffer: pl.Series, start: Ints, length: Ints) -> pl.Series:
    """The given stretches of a buffer as a Polars column of bytes."""
    frame = pl.DataFrame({"start": start, "length": length})
    return frame.select(text=pl.lit(buffer).bin.slice(pl.col("start"), pl.col("length")))["text"]


def _breaks(data: bytes) -> tuple[Ints, NDArray[np.bool_]]:
    array = np.frombuffer(data, dtype=np.uint8)
    hits = array == 10
    if b"\r" in data:
        hits |= array == 13
    breaks = np.flatnonzero(hits)
    return breaks, array[breaks] == 10


def _spans(breaks: Ints) -> tuple[Ints, Ints]:
    start = np.empty_like(breaks)
    start[0] = 0
    start[1:] = breaks[:-1] + 1
    return start, breaks - start


def uncoloured(data: bytes) -> bytes:
    """The bytes without terminal escapes and NUL bytes."""
    return _ESCAPES.sub(b"", data) if b"\x1b" in data or b"\x00" in data else data


def _clean(data: bytes, breaks: Ints, start: Ints, length: Ints) -> tuple[bytes, Ints, Ints]:
    if b"\x1b" not in data and b"\x00" not in data:
        return data, start, length
    text = _ESCAPES.sub(b"", data)
    return text, *_spans(_breaks(text)[0])


def _line_numbers(batch: Batch, start: Ints, is_newline: NDArray[np.bool_], block: Ints) -> Ints:
    before: Ints = np.cumsum(is_newline) - is_newline
    at_begin: Ints = before[np.searchsorted(start, batch.begins)]
    first = np.asarray([each.line for each in batch.blocks], dtype=np.int64)
    return (first - at_begin)[block] + before


def _offsets(batch: Batch, start: Ints, block: Ints) -> Ints:
    base = np.asarray([each.offset for each in batch.blocks], dtype=np.int64) - batch.begins
    return base[block] + start


def _repaired(pieces: Pieces) -> Pieces:
    """Turns the bytes of undecodable pieces that are not ASCII into question marks, so that positions stay."""
    if pieces.text.isascii() or _decodes(pieces.text):
        return pieces
    high = np.frombuffer(pieces.text, dtype=np.uint8) >= 0x80
    counts = np.concatenate([[0], np.cumsum(high)])
    suspicious = np.flatnonzero(counts[pieces.start + pieces.length] > counts[pieces.start])
    text = bytearray(pieces.text)
    broken: dict[int, int] = {}
    for index in suspicious.tolist():
        begin = int(pieces.start[index])
        end = begin + int(pieces.length[index])
        if not _decodes(bytes(text[begin:end])):
            text[begin:end] = text[begin:end].translate(_QUESTION)
            block = int(pieces.block[index])
            broken[block] = broken.get(block, 0) + 1
    return replace(pieces, text=bytes(text), buffer=blob(bytes(text)), broken=broken)


_QUESTION = bytes(range(128)) + b"?" * 128


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shortened(pieces: Pieces) -> Pieces:
    """Long pieces end at a character border below LONGEST."""
    length = pieces.length.copy()
    for index in np.flatnonzero(length > LONGEST).tolist():
        end = int(pieces.start[index]) + LONGEST
        while pieces.text[end] & 0xC0 == 0x80:
            end -= 1
        length[index] = end - int(pieces.start[index])
    return replace(pieces, length=length)
