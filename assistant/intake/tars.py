"""Walk a tar archive as a stream: headers are read by `tarfile`, everything around them is bounded here.

`tarfile` itself reads extension headers of any claimed size into memory and ends silently at a broken header.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from tarfile import (
    BLOCKSIZE,
    GNUTYPE_LONGLINK,
    GNUTYPE_LONGNAME,
    GNUTYPE_SPARSE,
    SOLARIS_XHDTYPE,
    XGLTYPE,
    XHDTYPE,
    HeaderError,
    TarInfo,
)

from assistant.intake.files import ByteStream
from assistant.intake.limits import MIB
from assistant.intake.numerals import whole

LONGEST_HEADER = MIB
LARGEST_SIZE = 1 << 62
_PAX = (XHDTYPE, SOLARIS_XHDTYPE)
_EXTENSIONS = (*_PAX, XGLTYPE, GNUTYPE_LONGNAME, GNUTYPE_LONGLINK)


@dataclass(frozen=True, slots=True)
class TarMember:
    """One member, its data next in the stream."""

    name: str
    """As it stands in the archive (undecodable bytes as surrogates)."""
    size: int
    start: int
    """Position of the data in the unpacked archive."""
    why_not: str | None
    """Why it has no bytes to read: a link, a device, a sparse map; None for a file."""
    folder: bool = False


class TarWalk:
    """Iterate over the members of an unpacked tar stream. `damage` says, at the end, why it ended early."""

    def __init__(self, stream: ByteStream) -> None:
        self.damage: str | None = None
        self._stream = stream
        self._block = b""
        """The header read last."""

    def __iter__(self) -> Iterator[TarMember]:
        extension: dict[str, str] = {}
        while (info := self._header()) is not None:
            if info.type in _EXTENSIONS:
                extension |= self._extension(info)
                continue
            if info.type == GNUTYPE_SPARSE:
                self._pass_sparse_map()
            member = _member(info, extension, self._stream.position)
            extension = {}
            yield member
            padded = -(-member.size // BLOCKSIZE) * BLOCKSIZE if not member.folder else 0
            if not self._go_to(member.start + padded):
                return

    def _header(self) -> TarInfo | None:
        if self.damage:
            return None
        block = self._block = self._stream.read(BLOCKSIZE)
        if len(block) == BLOCKSIZE and not block.strip(b"\0"):
            return None
        if len(block) < BLOCKSIZE:
            self.damage = self._stream.damage or "ends without its end mark: members may be missing"
            return None
        try:
            return TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except HeaderError as error:
            self.damage = f"broken header at byte {self._stream.position - BLOCKSIZE:,} ({error}): what follows is lost"
            return None

    def _extension(self, info: TarInfo) -> dict[str, str]:
        """Long names and pax records; global ones carry nothing that is needed here."""
        start = self._stream.position
        data = self._stream.read(info.size) if 0 <= info.size <= LONGEST_HEADER else b""
        if not self._go_to(start + -(-info.size // BLOCKSIZE) * BLOCKSIZE):
            return {}
        if info.type == GNUTYPE_LONGNAME:
            return {"path": data.rstrip(b"\0").decode("utf-8", "surrogateescape")}
        return _pax_records(data) if info.type in _PAX else {}

    def _pass_sparse_map(self) -> None:
        """Old GNU sparse members: more blocks of the map follow while a flag in the block before says so."""
        more = self._block[482]
        while more:
            block = self._stream.read(BLOCKSIZE)
            more = block[504] if len(block) == BLOCKSIZE else 0

    def _go_to(self, position: int) -> bool:
        missing = position - self._stream.position
        if missing < 0 or self._stream.skip(missing) < missing:
            self.damage = self._stream.damage or "is cut: members may be missing"
        return self.damage is None


def _member(info: TarInfo, extension: dict[str, str], start: int) -> TarMember:
    name = extension.get("GNU.sparse.name") or extension.get("path", info.name)
    stated = whole(extension.get("size"), LARGEST_SIZE)
    size = info.size if stated is None else stated
    sparse = info.type == GNUTYPE_SPARSE or any(key.startswith("GNU.sparse.") for key in extension)
    if info.isdir():
        return TarMember(name, 0, start, None, folder=True)
    if sparse:
        return TarMember(name, size, start, "a sparse member: unpack the archive and give the folder")
    if info.issym() or info.islnk():
        return TarMember(name, 0, start, "a link inside an archive")
    if info.ischr() or info.isblk() or info.isfifo():
        return TarMember(name, 0, start, "a device or pipe inside an archive")
    return TarMember(name, max(size, 0), start, None)


def _pax_records(data: bytes) -> dict[str, str]:
    """`<length> <key>=<value>\\n`, repeated; stops at the first that does not fit."""
    records = {}
    while (space := data.find(b" ", 0, 20)) > 0 and data[:space].isdigit():
        length = int(data[:space])
        key, equals, value = data[space + 1 : length - 1].partition(b"=")
        if not equals or length <= space:
            break
        records[key.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
        data = data[length:]
    return records
