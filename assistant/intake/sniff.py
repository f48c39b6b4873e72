"""Is it a log? Decided by content: the first bytes after unpacking, whatever the name says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from tarfile import HeaderError, TarInfo

from assistant.intake.codecs import codec_of, unpacked
from assistant.intake.files import ByteStream, FileStream, Peeked
from assistant.intake.limits import DEFAULT_LIMITS, MIB, Limits
from assistant.intake.models import Codec

EMPTY = "empty"
BINARY = "binary"
ONLY_NULS = "holds only NUL bytes"
UTF16 = "UTF-16 text is not read: convert it with iconv -t UTF-8"
PACKED = "packed in a way that is not read: unpack it first"
JOURNAL = "a systemd journal is not read: export it with journalctl --file NAME -o short-iso"

CONTROL_SHARE = 0.03
"""Random bytes have 10 % of these control characters, text has next to none; measured without the NULs."""
NUL_SHARE = 0.15
"""Text may hold stray NULs, numbers and records hold many. Runs are holes and not counted."""
_NUL_RUN = re.compile(rb"\x00{8,}")
_CONTROLS = bytes(code for code in range(32) if code not in b"\0\a\b\t\n\v\f\r\x1b") + b"\x7f"

_MAGIC = (
    (re.compile(rb"\x80[\x02-\x05][\x95}\](ctKJGNUX\x8c\x88\x89.]"), "binary (Python pickle)"),
    (re.compile(rb"\x7fELF"), "binary (ELF program or core dump)"),
    (re.compile(rb"\x89PNG|GIF8|\xff\xd8\xff|RIFF|II\*\x00|MM\x00\*"), "binary (picture or sound)"),
    (re.compile(rb"%PDF-"), "binary (PDF)"),
    (re.compile(rb"SQLite format 3\x00"), "binary (SQLite)"),
    (re.compile(rb"\x93NUMPY|\x89HDF|PAR1|ARROW1|MMIDIDX|GGUF|Obj\x01"), "binary (data set or weights)"),
    (re.compile(rb".{7}\x00\{\"", re.S), "binary (safetensors)"),
    (re.compile(rb"LPKSHHRH"), JOURNAL),
    (re.compile(rb"7z\xbc\xaf|Rar!\x1a|\x04\x22\x4d\x18|\x1f\x9d"), PACKED),
    (re.compile(rb"\xff\xfe(?!\x00\x00)|\xfe\xff"), UTF16),
)


@dataclass(frozen=True, slots=True)
class Look:
    """What the first bytes tell."""

    codec: Codec
    """How it is packed."""
    archive: str | None
    """`tar` or `zip`, where it holds members."""
    why_not: str | None
    """Why it is not read as a log; None for text and for archives."""


def look(stream: ByteStream, limits: Limits = DEFAULT_LIMITS) -> Look:
    """Judge a stream by its start; the stream is used up to where the judgement needed it."""
    head = stream.read(limits.sniff_bytes)
    codec = codec_of(head)
    plain = unpacked(Peeked(head, stream), codec, limits)
    start = head if codec == Codec.PLAIN else plain.read(limits.sniff_bytes)
    archive = archive_of(start, codec)
    if archive:
        return Look(codec, archive, None)
    if start and not start.strip(b"\0"):
        start = _behind_hole(stream if codec == Codec.PLAIN else plain, limits)
    if not start:
        return Look(codec, None, plain.damage or EMPTY)
    return Look(codec, None, why_not_text(start))


def _behind_hole(stream: ByteStream, limits: Limits) -> bytes:
    """What stands behind the NULs that a stream begins with; a NUL where nothing does within reach."""
    if isinstance(stream, FileStream):
        stream.skip(stream.data_start() - stream.position)
    passed = 0
    while passed < limits.hole_bytes and (data := stream.read(MIB)):
        passed += len(data)
        if start := data.lstrip(b"\0"):
            return (start + stream.read(limits.sniff_bytes))[: limits.sniff_bytes]
    return b"\0"


def archive_of(start: bytes, codec: Codec) -> str | None:
    """`tar` or `zip`, if unpacked bytes begin like one."""
    if codec == Codec.PLAIN and start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    block = start[:512]
    if len(block) < 512 or not block.strip(b"\0"):
        return None
    try:
        TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except HeaderError:
        return None
    return "tar"


def why_not_text(start: bytes) -> str | None:
    """Why bytes are no log text, or None if they are. Runs of NUL bytes (holes after a crash) do not count."""
    for magic, words in _MAGIC:
        if magic.match(start):
            return words
    text = start.replace(b"\0", b"")
    if not text:
        return ONLY_NULS
    if _alternates(start, len(start) - len(text)):
        return UTF16
    if len(text) < len(start) and _scattered_nuls(start):
        return BINARY
    controls = len(text) - len(text.translate(None, _CONTROLS))
    return BINARY if controls > CONTROL_SHARE * len(text) else None


def _alternates(start: bytes, nuls: int) -> bool:
    """Every second byte is NUL: ASCII in UTF-16 without a byte-order mark."""
    if nuls < len(start) * 0.4 or len(start) < 8:
        return False
    halves = (start[0::2].count(0), start[1::2].count(0))
    return max(halves) > 0.45 * len(start) and min(halves) < 0.05 * len(start)


def _scattered_nuls(start: bytes) -> bool:
    solid = _NUL_RUN.sub(b"", start)
    return solid.count(0) > NUL_SHARE * len(solid)
