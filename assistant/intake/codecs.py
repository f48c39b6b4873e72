"""Unpacking as a stream. The codec is told by magic bytes, never by the file's extension."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Protocol

import zstandard

from assistant.intake.files import ByteStream, skip_by_reading
from assistant.intake.limits import DEFAULT_LIMITS, KIB, MIB, Limits
from assistant.intake.models import Codec

OUTPUT_STEP = MIB
INPUT_STEP = 64 * KIB
XZ_MEMORY = 512 * MIB
DEFLATE = "deflate"
"""The raw deflate of zip members; it has no magic bytes and is no `Codec` of a file."""

_STEPS = {Codec.BZIP2: 16 * KIB, Codec.XZ: 16 * KIB, Codec.ZSTD: 2 * KIB}
"""Input per call. zstandard has no bound on its output: 4 bytes may ask for 128 KiB, so it is fed little at a time."""
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")


def codec_of(head: bytes) -> Codec:
    """How a file that starts with `head` is packed; PLAIN where nothing known stands there."""
    if head.startswith(b"\x1f\x8b\x08"):
        return Codec.GZIP
    if head.startswith(b"\xfd7zXZ\x00"):
        return Codec.XZ
    if head.startswith(b"BZh") and head[4:10] in _BZIP2_BLOCKS:
        return Codec.BZIP2
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return Codec.ZSTD
    return Codec.PLAIN


class Unpacker(Protocol):
    """What bz2 and lzma offer; zlib and zstandard are brought into the same shape."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Inflate:
    """zlib in the shape of an Unpacker; after an error it still gives what came before the damage."""

    def __init__(self, window_bits: int) -> None:
        self._inner = zlib.decompressobj(window_bits)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._full and not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        before = self._inner.copy()
        data = self._inner.unconsumed_tail + data
        try:
            output = self._inner.decompress(data, max_length)
        except zlib.error as error:
            raise _Damaged(str(error), _salvaged(before, data, max_length)) from error
        self._full = len(output) == max_length
        return output


class _Damaged(Exception):
    """Packed data is broken; `output` is what could still be had."""

    def __init__(self, why: str, output: bytes) -> None:
        super().__init__(why)
        self.output = output


def _salvaged(inner: zlib._Decompress, data: bytes, max_length: int) -> bytes:
    output = b""
    for index in range(len(data)):
        try:
            output += inner.decompress(data[index : index + 1], max_length)
        except zlib.error:
            break
    return output[:max_length]


class _Zstandard:
    """A zstandard frame in the shape of an Unpacker."""

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor().decompressobj()
        self._spare = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof and not self._spare

    @property
    def needs_input(self) -> bool:
        return not self._spare

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data and not self._inner.eof:
            self._spare += self._inner.decompress(data)
        output, self._spare = self._spare[:max_length], self._spare[max_length:]
        return output


def _unpacker(codec: Codec | str) -> Unpacker:
    if codec == Codec.GZIP:
        return _Inflate(31)
    if codec == DEFLATE:
        return _Inflate(-15)
    if codec == Codec.BZIP2:
        return bz2.BZ2Decompressor()
    if codec == Codec.XZ:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    return _Zstandard()


_ERRORS = (_Damaged, OSError, EOFError, ValueError, lzma.LZMAError, zstandard.ZstdError)


class UnpackedStream:
    """The unpacked bytes of a packed stream: members one after another, bounded in memory, ratio and size."""

    def __init__(self, inner: ByteStream, codec: Codec | str, limits: Limits = DEFAULT_LIMITS) -> None:
        self.damage: str | None = None
        self.position = 0
        self._inner = inner
        self._codec = codec
        self._limits = limits
        self._unpacker = _unpacker(codec)
        self._step = _STEPS.get(codec, INPUT_STEP) if isinstance(codec, Codec) else INPUT_STEP
        self._input = b""
        self._used = 0
        self._begun = False
        self._taken = 0
        self._ended = False

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        missing = size
        while missing > 0 and not self._ended:
            data = self._next(min(missing, OUTPUT_STEP))
            if data:
                parts.append(data)
                missing -= len(data)
                self.position += len(data)
                self._check_limits()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def skip(self, size: int) -> int:
        return skip_by_reading(self, size)

    def close(self) -> None:
        self._inner.close()

    def rest(self) -> bytes:
        """What was taken from the packed stream behind the end of the data."""
        return self._unpacker.unused_data + self._input[self._used :]

    def _next(self, size: int) -> bytes:
        """Some output; empty does not mean the end, `_ended` does."""
        if self._unpacker.eof:
            self._next_member()
            return b""
        packed = self._packed() if self._unpacker.needs_input else b""
        starved = self._unpacker.needs_input and not packed
        self._begun = self._begun or bool(packed)
        try:
            output = self._unpacker.decompress(packed, size)
        except _ERRORS as error:
            self._end(f"broken {self._codec} data after {self.position:,} bytes: {_words(error)}")
            return error.output if isinstance(error, _Damaged) else b""
        if starved and not output and not self._unpacker.eof:
            self._end(self._inner.damage or f"ends in the middle of its {self._codec} data")
        return output

    def _packed(self) -> bytes:
        if self._used >= len(self._input):
            self._input, self._used = self._inner.read(INPUT_STEP), 0
            self._taken += len(self._input)
        piece = self._input[self._used : self._used + self._step]
        self._used += len(piece)
        return piece

    def _next_member(self) -> None:
        """Go on behind the end of a member: with the next one, or to the end (zip members have no next)."""
        if self._codec == DEFLATE:
            self._end(None)
            return
        self._input, self._used = self.rest().lstrip(b"\0"), 0
        while len(self._input) < 10 and (more := self._inner.read(INPUT_STEP)):
            self._taken += len(more)
            self._input = (self._input + more).lstrip(b"\0")
        if not self._input:
            self._end(self._inner.damage)
        elif codec_of(self._input) == self._codec:
            self._unpacker = _unpacker(self._codec)
        else:
            self._end(f"something that is not {self._codec} follows after {self.position:,} bytes")

    def _check_limits(self) -> None:
        packed = self._taken - (len(self._input) - self._used)
        limits = self._limits
        if self.position > limits.member_bytes:
            self._end(f"stopped: unpacks to more than {limits.member_bytes:,} bytes")
        elif self.position > limits.ratio_after and self.position > limits.ratio * max(packed, 1):
            self._end(f"stopped: unpacks to more than {limits.ratio:,} times its size, like a decompression bomb")

    def _end(self, why: str | None) -> None:
        self._ended = True
        self.damage = self.damage or why


def _words(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.split(": ", 1)[-1]


def unpacked(inner: ByteStream, codec: Codec | str, limits: Limits = DEFAULT_LIMITS) -> ByteStream:
    """`inner` itself where nothing is packed, else its unpacked bytes."""
    return inner if codec == Codec.PLAIN else UnpackedStream(inner, codec, limits)
