"""Points in a packed file at which unpacking can go on, so that nobody waits for all that lies before. Knows no screen.

A gzip decoder can be copied in the middle of its data; of zstd, bzip2 and xz only the begins of frames are points.
"""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import zstandard

from assistant.intake.models import Codec

INPUT = 64 * 1024
ZSTD_INPUT = 2 * 1024
"""A few bytes of zstd may ask for a great output, which cannot be bounded: it is fed little at a time."""
OUTPUT = 256 * 1024
SPACING = 4 * 1024 * 1024
MOST = 256
"""Points that are kept; a decoder's state takes about 40 KiB. Where there are more, every second one goes."""


class Cursor(Protocol):
    """Reads on from a position in the unpacked bytes."""

    position: int

    def read(self, count: int) -> bytes:
        """The next bytes: `count` of them but at the end."""
        ...

    def close(self) -> None:
        """Gives it back."""
        ...


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


class Points:
    """The points of one file: unpacked offset, packed offset, and the decoder's state."""

    def __init__(self, path: Path, codec: Codec) -> None:
        self.path, self.codec = path, codec
        self._offsets: list[int] = [0]
        self._places: list[tuple[int, zlib._Decompress | None]] = [(0, None)]
        self._spacing = SPACING

    def before(self, offset: int) -> tuple[int, int, zlib._Decompress | None]:
        """The last point at or before an unpacked offset."""
        at = bisect_right(self._offsets, offset) - 1
        place, state = self._places[at]
        return self._offsets[at], place, state.copy() if state is not None else None

    def offer(self, offset: int, place: int, state: zlib._Decompress | None) -> None:
        """Takes a point, where the last one is far enough behind."""
        if offset < self._offsets[-1] + self._spacing:
            return
        self._offsets.append(offset)
        self._places.append((place, state.copy() if state is not None else None))
        if len(self._offsets) > MOST:
            self._spacing *= 2
            self._offsets, self._places = self._offsets[::2], self._places[::2]


class PointCursor:
    """Unpacks from the nearest point on. Broken data counts as the end."""

    def __init__(self, points: Points, offset: int) -> None:
        self._points = points
        self._fd = os.open(points.path, os.O_RDONLY | os.O_CLOEXEC)
        self.position, self._place, state = points.before(offset)
        self._gzip = state
        self._other: _Decoder | None = None
        self._spare = b""
        self._ended = False

    def read(self, count: int) -> bytes:
        """The next bytes."""
        parts: list[bytes] = []
        while count > 0 and not (self._ended and not self._spare):
            if not self._spare:
                self._spare = self._more()
            piece, self._spare = self._spare[:count], self._spare[count:]
            parts.append(piece)
            self.position, count = self.position + len(piece), count - len(piece)
        return b"".join(parts)

    def close(self) -> None:
        """Closes the file."""
        with suppress(OSError):
            os.close(self._fd)

    def _more(self) -> bytes:
        try:
            return self._inflated() if self._points.codec == Codec.GZIP else self._decoded()
        except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError, zstandard.ZstdError):
            self._ended = True
            return b""

    def _inflated(self) -> bytes:
        if self._gzip is None or self._gzip.eof:
            self._gzip = zlib.decompressobj(31)
        data = os.pread(self._fd, INPUT, self._place)
        if not data or not data.strip(b"\0"):
            self._ended = True
            return b""
        output = self._gzip.decompress(data, OUTPUT)
        self._place += len(data) - len(self._gzip.unconsumed_tail) - len(self._gzip.unused_data)
        self._points.offer(self.position + len(output), self._place, None if self._gzip.eof else self._gzip)
        return output

    def _decoded(self) -> bytes:
        """Of formats whose decoder cannot be copied: points are the begins of frames."""
        if self._other is None or self._other.eof:
            self._points.offer(self.position, self._place, None)
            self._other = _decoder(self._points.codec)
        zstd = self._points.codec == Codec.ZSTD
        needs = zstd or getattr(self._other, "needs_input", True)
        data = os.pread(self._fd, ZSTD_INPUT if zstd else INPUT, self._place) if needs else b""
        if needs and not data:
            self._ended = True
            return b""
        decompress = self._other.decompress  # type: ignore[attr-defined]
        output: bytes = decompress(data) if zstd else decompress(data, OUTPUT)
        self._place += len(data) - (len(self._other.unused_data) if self._other.eof else 0)
        return output


def _decoder(codec: Codec) -> _Decoder:
    if codec == Codec.BZIP2:
        return bz2.BZ2Decompressor()
    if codec == Codec.XZ:
        return lzma.LZMADecompressor(memlimit=512 * 1024 * 1024)
    return zstandard.ZstdDecompressor().decompressobj()
