"""List a zip archive: by its directory, or by walking the members where the directory is lost.

Only the list comes from `zipfile`. The data is unpacked by `codecs`, so that a damaged member still gives its good part
and a bomb meets the same limits as everywhere.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from assistant.intake.codecs import DEFLATE, UnpackedStream, unpacked
from assistant.intake.files import ByteStream, FileStream, Window
from assistant.intake.limits import DEFAULT_LIMITS, KIB, MIB, Limits
from assistant.intake.models import Codec

LONGEST_DIRECTORY = 256 * MIB
"""A directory of more bytes is not loaded: it would take gigabytes of memory."""
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_LOCAL_MARK = b"PK\x03\x04"
_METHODS: dict[int, Codec | str] = {
    zipfile.ZIP_STORED: Codec.PLAIN,
    zipfile.ZIP_DEFLATED: DEFLATE,
    zipfile.ZIP_BZIP2: Codec.BZIP2,
    93: Codec.ZSTD,
}
_ENCRYPTED = 1
_STREAMED = 8
"""Flag: sizes stand behind the data, not in the local header."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One member of a zip archive."""

    name: str
    size: int
    """Unpacked bytes as claimed."""
    packed: int
    header: int
    """Position of its local header."""
    method: int
    why_not: str | None
    folder: bool = False
    checksum: int | None = None
    """CRC-32 of the unpacked bytes, where the directory tells it."""


def list_zip(path: Path, most: int = DEFAULT_LIMITS.sources) -> tuple[list[ZipMember], str | None]:
    """All members, and what is wrong with the archive. Raises OSError where the file cannot be opened."""
    try:
        with _binary(path) as file:
            if _directory_size(file) > LONGEST_DIRECTORY:
                return [], "its directory is too large to be loaded"
            with zipfile.ZipFile(file) as archive:
                return [_from_directory(info) for info in archive.infolist()], None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, EOFError) as error:
        members = list(islice(_walk(path), most))
        return members, f"its directory is lost ({error}): read member by member up to the damage"


def _binary(path: Path) -> BinaryIO:
    FileStream(path).close()
    return open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")


def _directory_size(file: BinaryIO) -> int:
    """Size of the central directory as the end record claims, 0 where there is none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 64 * KIB - 22))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    claimed = struct.unpack("<I", tail[at + 12 : at + 16])[0] if at >= 0 and len(tail) - at >= 16 else 0
    large = tail.rfind(b"PK\x06\x06")
    if claimed == 0xFFFFFFFF and 0 <= large <= len(tail) - 48:
        claimed = struct.unpack("<Q", tail[large + 40 : large + 48])[0]
    return int(claimed)


def _from_directory(info: zipfile.ZipInfo) -> ZipMember:
    why = None
    if info.flag_bits & _ENCRYPTED:
        why = "encrypted"
    elif info.compress_type not in _METHODS:
        why = f"packed with zip method {info.compress_type}, which is not read"
    return ZipMember(
        name=info.filename,
        size=info.file_size,
        packed=info.compress_size,
        header=info.header_offset,
        method=info.compress_type,
        why_not=why,
        folder=info.is_dir(),
        checksum=info.CRC,
    )


def _walk(path: Path) -> Iterator[ZipMember]:
    """Members by their local headers, from the start, as long as one follows another."""
    stream = FileStream(path)
    try:
        at = 0
        while (member := _local(stream, at)) is not None:
            start = stream.position
            end = _data_end(stream, member)
            found = (stream.size if end is None else end) - start
            yield replace(member, packed=member.packed if member.packed >= 0 else found)
            if end is None:
                return
            at = _next_header(stream, end)
    finally:
        stream.close()


def _local(stream: FileStream, at: int) -> ZipMember | None:
    stream.position = at
    block = stream.read(_LOCAL.size)
    if len(block) < _LOCAL.size or not block.startswith(_LOCAL_MARK):
        return None
    _, _, flags, method, _, _, _, packed, size, name_length, extra = _LOCAL.unpack(block)
    raw = stream.read(name_length)
    stream.skip(extra)
    name = raw.decode("utf-8" if flags & 0x800 else "cp437", "surrogateescape")
    why = "encrypted" if flags & _ENCRYPTED else None if method in _METHODS else f"packed with zip method {method}"
    known = packed if not flags & _STREAMED and packed != 0xFFFFFFFF else -1
    return ZipMember(name, size, known, at, method, why, name.endswith("/"))


def _data_end(stream: FileStream, member: ZipMember) -> int | None:
    """Where the member's data ends; the stream stands at its start. None where the end is lost."""
    start = stream.position
    if member.packed >= 0:
        return start + member.packed if start + member.packed <= stream.size else None
    if member.method != zipfile.ZIP_DEFLATED:
        return None
    data = UnpackedStream(stream, DEFLATE)
    while data.read(MIB):
        pass
    return None if data.damage else stream.position - len(data.rest())


def _next_header(stream: FileStream, end: int) -> int:
    """Pass over a data descriptor (12 to 24 bytes) if one stands between two members."""
    stream.position = end
    found = stream.read(64).find(_LOCAL_MARK)
    return end + max(found, 0)


def open_zip_member(file: FileStream, member: ZipMember, limits: Limits = DEFAULT_LIMITS) -> ByteStream:
    """The member's bytes. The archive's FileStream is moved, not closed, and serves one member at a time."""
    head = _local(file, member.header)
    if head is None:
        broken = Window(file, 0)
        broken.damage = "its header in the archive is broken"
        return broken
    data = Window(file, min(member.packed, file.size), "the archive")
    plain = unpacked(data, _METHODS[member.method], limits)
    return plain if member.checksum is None else Checked(plain, member.checksum)


class Checked:
    """A stream whose CRC-32 is compared at its end, if it was read without skipping."""

    def __init__(self, inner: ByteStream, checksum: int) -> None:
        self.damage: str | None = None
        self.position = 0
        self._inner = inner
        self._expected: int | None = checksum
        self._checksum = 0

    def read(self, size: int) -> bytes:
        data = self._inner.read(size)
        self.position += len(data)
        self.damage = self._inner.damage
        if self._expected is not None:
            self._checksum = zlib.crc32(data, self._checksum)
            if len(data) < size and not self.damage and self._checksum != self._expected:
                self.damage = "its checksum is wrong: bytes are damaged somewhere"
        return data

    def skip(self, size: int) -> int:
        self._expected = None
        step = self._inner.skip(size)
        self.position += step
        self.damage = self._inner.damage
        return step

    def close(self) -> None:
        self._inner.close()
