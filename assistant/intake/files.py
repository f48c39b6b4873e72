"""Bytes of files on disk, read with positional reads: no shared offset, no memory map, no blocking on pipes."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Protocol

from assistant.intake.limits import MIB

SKIP_BYTES = MIB
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotAFile(OSError):
    """The path is a pipe, socket or device; its text is the reason in words."""


class ByteStream(Protocol):
    """Bytes in order. Damage never raises: what can be had is returned, then the end, and `damage` says why."""

    damage: str | None
    """Why the end came early, in words; None while all is well."""
    position: int
    """Bytes delivered or skipped so far."""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end."""

    def skip(self, size: int) -> int:
        """Pass over up to `size` bytes; returns how many."""

    def close(self) -> None:
        """Give the file back."""


def kind_of(mode: int) -> str | None:
    """What a file that must not be opened is, in words; None for an ordinary file."""
    return _KINDS.get(stat.S_IFMT(mode))


def reason_of(error: OSError) -> str:
    """An operating-system error in plain words with what to do about it."""
    if isinstance(error, NotAFile):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return "vanished, or was never there"
    if isinstance(error, PermissionError):
        return "permission denied: make it readable for this user"
    return f"cannot be read: {os.strerror(error.errno) if error.errno else error}"


class FileStream:
    """An ordinary file up to the size it had when it was opened, so that a growing file still ends.

    Raises OSError (NotAFile for pipes and devices) on opening only.
    """

    def __init__(self, path: Path) -> None:
        self.damage: str | None = None
        self.position = 0
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        status = os.fstat(self._fd)
        self.size = status.st_size
        self.identity = (status.st_dev, status.st_ino)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise NotAFile(f"{kind_of(status.st_mode) or 'a folder'}, not a file")

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        missing = size
        while missing > 0 and (data := self._pread(missing)):
            parts.append(data)
            missing -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pread(self, size: int) -> bytes:
        wanted = min(size, self.size - self.position)
        if wanted <= 0 or self.damage:
            return b""
        try:
            data = os.pread(self._fd, wanted, self.position)
        except OSError as error:
            self.damage = f"stopped after {self.position:,} bytes: {reason_of(error)}"
            return b""
        self.position += len(data)
        if not data:
            self.damage = f"shrank while it was read: {self.position:,} of {self.size:,} bytes were left"
        return data

    def skip(self, size: int) -> int:
        step = max(0, min(size, self.size - self.position))
        self.position += step
        return step

    def data_start(self) -> int:
        """Where the first stored bytes at or after the position are: beyond a hole, as `copytruncate` leaves one."""
        try:
            return os.lseek(self._fd, self.position, os.SEEK_DATA)
        except (OSError, AttributeError):
            return self.position

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Window:
    """The next `size` bytes of another stream, as a stream of its own: an archive member."""

    def __init__(self, inner: ByteStream, size: int, what: str = "the archive") -> None:
        self.damage: str | None = None
        self.position = 0
        self.size = size
        self._inner = inner
        self._what = what

    def read(self, size: int) -> bytes:
        wanted = min(size, self.size - self.position)
        data = self._inner.read(wanted) if wanted > 0 else b""
        self._moved(len(data), wanted)
        return data

    def skip(self, size: int) -> int:
        wanted = max(0, min(size, self.size - self.position))
        step = self._inner.skip(wanted)
        self._moved(step, wanted)
        return step

    def _moved(self, got: int, wanted: int) -> None:
        self.position += got
        if got < wanted:
            why = f" ({self._inner.damage})" if self._inner.damage else ""
            self.damage = f"{self._what} is cut: {self.position:,} of {self.size:,} bytes are there{why}"

    def close(self) -> None:
        self._inner.close()


class Peeked:
    """A stream whose first bytes were read already and are given again."""

    def __init__(self, head: bytes, inner: ByteStream) -> None:
        self.position = 0
        self._head = head
        self._inner = inner

    @property
    def damage(self) -> str | None:
        return self._inner.damage

    @damage.setter
    def damage(self, why: str | None) -> None:
        self._inner.damage = why

    def read(self, size: int) -> bytes:
        data, self._head = self._head[:size], self._head[size:]
        if len(data) < size:
            data += self._inner.read(size - len(data))
        self.position += len(data)
        return data

    def skip(self, size: int) -> int:
        step = min(size, len(self._head))
        self._head = self._head[step:]
        step += self._inner.skip(size - step)
        self.position += step
        return step

    def close(self) -> None:
        self._inner.close()


def skip_by_reading(stream: ByteStream, size: int) -> int:
    """Pass over bytes of a stream that cannot jump."""
    left = size
    while left > 0 and (data := stream.read(min(left, SKIP_BYTES))):
        left -= len(data)
    return size - left
