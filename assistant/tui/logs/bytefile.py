"""Bytes of a source by their offset in the unpacked stream: what the log viewer reads through. Knows no screen.

Plain files are read with `pread`, never mapped: a map of a file that shrinks ends the process. Packed files are read
through points at which unpacking can go on; the points are found while reading.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from assistant.errors import NothingFound
from assistant.intake.access import open_each
from assistant.intake.files import ByteStream
from assistant.intake.models import Codec, Source, Unread
from assistant.tui.logs.seekpoints import Cursor, PointCursor, Points

BLOCK = 256 * 1024
CACHED = 128
"""Unpacked blocks that are kept."""
HEAD = 512
"""Bytes at the begin of a plain file by which one sees that it was written anew."""


class ByteFile(Protocol):
    """Reads anywhere."""

    instant: bool
    """Reading costs no more than the disk: it may be done while a person waits for a key to act."""
    stop: bool
    """Set from another thread, it ends a long read early."""

    @property
    def size(self) -> int | None:
        """Bytes, where known; grows with a file that is still written."""
        ...

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer at the end, and where the file cannot be read any more: `trouble` says so."""
        ...

    def trouble(self) -> str:
        """What has become of the file since it was opened, in words; empty where nothing has."""
        ...

    def close(self) -> None:
        """Gives it back."""
        ...


class PlainFile:
    """A file on disk."""

    instant = True
    stop = False

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise _gone(name, error) from None
        self._first = os.fstat(self._fd)
        self._largest = self._first.st_size
        self._unreadable = ""
        self._head = self.read(0, HEAD)
        self._written_anew = False

    @property
    def size(self) -> int:
        """Bytes it has now; where its disk is gone, what it had."""
        try:
            now = os.fstat(self._fd).st_size
        except OSError as error:
            self._unreadable = _why(error)
            return self._largest
        self._largest = max(self._largest, now)
        return now

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes."""
        parts: list[bytes] = []
        try:
            while count > 0 and (data := os.pread(self._fd, count, max(0, offset))):
                parts.append(data)
                offset, count = offset + len(data), count - len(data)
        except OSError as error:
            self._unreadable = _why(error)
        return b"".join(parts)

    def trouble(self) -> str:
        """Whether it was removed, replaced or shortened; once it was, that stays so."""
        if self._unreadable:
            return f"the file cannot be read any more: {self._unreadable}"
        self._written_anew = self._written_anew or self.size < self._largest or not self._begins_as_before()
        if self._written_anew:
            return "the file was shortened or written anew while it was open"
        try:
            now = os.stat(self._path)
        except OSError:
            return "the file was removed; what was open can still be read"
        if (now.st_ino, now.st_dev) != (self._first.st_ino, self._first.st_dev):
            return "another file has this name now (rotated); the one that was opened is shown"
        return ""

    def _begins_as_before(self) -> bool:
        """A file that was shortened and has grown again between two looks gives itself away by its begin."""
        now = self.read(0, HEAD)
        same, self._head = now.startswith(self._head), max(now, self._head, key=len)
        return same

    def close(self) -> None:
        """Closes it; whoever reads later reads nothing, and never another file of that number."""
        descriptor, self._fd = self._fd, -1
        with suppress(OSError):
            os.close(descriptor)


class PackedFile:
    """A packed file, or a member of an archive, unpacked as far as it is looked at."""

    instant = False

    def __init__(self, source: Source) -> None:
        self._source = source
        self._points = Points(source.path, source.codec) if source.member is None else None
        self._cursor: Cursor | None = None
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._end: int | None = None
        self._stat = _stat(source.path)
        if self._stat is None:
            raise _gone(source.name, FileNotFoundError())
        self._unreadable = ""
        self.stop = False

    @property
    def size(self) -> int | None:
        """Unpacked bytes, once the end was seen."""
        return self._end

    @property
    def reached(self) -> int:
        """How far unpacking has come at the moment."""
        return self._cursor.position if self._cursor else 0

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` unpacked bytes; unpacks what lies before where no point is near."""
        offset = max(0, offset)
        parts: list[bytes] = []
        while count > 0:
            block = self._block(offset // BLOCK)
            piece = block[offset % BLOCK : offset % BLOCK + count]
            if not piece:
                break
            parts.append(piece)
            offset, count = offset + len(piece), count - len(piece)
        return b"".join(parts)

    def trouble(self) -> str:
        """Whether it was removed or replaced."""
        if self._unreadable:
            return f"the file cannot be read any more: {self._unreadable}"
        now = _stat(self._source.path)
        if now is None:
            return "the file was removed"
        return "" if now == self._stat else "the file was changed while it was open"

    def close(self) -> None:
        """Gives back what is open."""
        if self._cursor is not None:
            self._cursor.close()
            self._cursor = None

    def _block(self, number: int) -> bytes:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        start = number * BLOCK
        if self._end is not None and start >= self._end:
            return b""
        try:
            cursor = self._at(start)
        except OSError as error:
            self._unreadable = _why(error)
            return b""
        while not self.stop:
            here = cursor.position
            data = cursor.read(BLOCK - here % BLOCK)
            if len(data) < BLOCK - here % BLOCK:
                self._end = cursor.position
            if not data:
                return b""
            if here % BLOCK == 0:
                self._keep(here // BLOCK, data)
            if here <= start < here + len(data):
                return data
        return b""

    def _at(self, start: int) -> Cursor:
        """A cursor at a block's begin, or before it: the one that stands there, or one from a point that is nearer."""
        here = self._cursor
        if here is not None and here.position <= start and here.position % BLOCK == 0 and self._nearest(start, here):
            return here
        self.close()
        self._cursor = PointCursor(self._points, start) if self._points else MemberCursor(self._source)
        if skip := -self._cursor.position % BLOCK:
            _skipped(self._cursor, skip)
        return self._cursor

    def _nearest(self, start: int, cursor: Cursor) -> bool:
        return self._points is None or self._points.before(start)[0] <= cursor.position

    def _keep(self, number: int, data: bytes) -> None:
        self._blocks[number] = data
        while len(self._blocks) > CACHED:
            self._blocks.popitem(last=False)


class MemberCursor:
    """Reads a member of an archive from its begin."""

    def __init__(self, source: Source) -> None:
        self.position = 0
        self._opened: Iterator[tuple[Source, ByteStream]] = open_each([source], _unreported)
        found = next(self._opened, None)
        if found is None:
            raise FileNotFoundError(source.name)
        self._stream = found[1]

    def read(self, count: int) -> bytes:
        """The next bytes: `count` of them but at the end."""
        data = self._stream.read(count)
        self.position += len(data)
        return data

    def close(self) -> None:
        """Closes the archive."""
        if (close := getattr(self._opened, "close", None)) is not None:
            close()


def open_bytes(source: Source) -> ByteFile:
    """Opens a source. Raises NothingFound where it is gone."""
    if source.member is None and source.codec == Codec.PLAIN:
        return PlainFile(source.path, source.name)
    return PackedFile(source)


def _skipped(cursor: Cursor, count: int) -> None:
    while count > 0 and (data := cursor.read(count)):
        count -= len(data)


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _gone(name: str, error: OSError) -> NothingFound:
    return NothingFound(
        f"{name} cannot be opened: {_why(error)}", hint="the lines that the case cites are kept with it"
    )


def _unreported(_: Unread) -> None:
    """What cannot be read shows as the end of the file."""
