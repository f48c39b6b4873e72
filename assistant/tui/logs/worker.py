"""A process of its own that counts or searches the lines of one source, so that the screen never waits for it.

It is told what to do by one JSON object on standard input, and answers on standard output with records of 17 bytes: a
letter and two integers. `P` offset, lines: how far it is. `H` offset, line: a line that matches. `E`: the end. `X`: the
source cannot be read. It ends by itself when nobody reads any more.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import re2

from assistant.intake.models import Block, Codec, Source, Unread
from assistant.intake.reader import read_blocks

RECORD = struct.Struct("<cqq")
BLOCK = 4 * 1024 * 1024
MOST = 2_000_000
"""Matching lines that are told; more are only counted."""


def task(source: Source, pattern: str | None) -> bytes:
    """What the process is told."""
    return json.dumps(
        {"path": os.fsdecode(source.path), "name": source.name, "codec": source.codec.value, "member": source.member,
         "archive": source.archive, "group": source.group, "part": source.part, "pattern": pattern}
    ).encode()  # fmt: skip


def compiled(pattern: str) -> re2._Regexp[bytes]:
    """An expression of the RE2 subset over bytes; without a capital letter it ignores case. Raises ValueError."""
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = pattern != pattern.lower()
    try:
        return re2.compile(b"(?m)" + pattern.encode("utf-8", "surrogateescape"), options)
    except re2.error as error:
        raise ValueError(str(error)) from None


def main() -> int:
    """Does one task."""
    told: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    pattern = told.pop("pattern")
    source = Source(id=0, **{**told, "path": Path(told["path"]), "codec": Codec(told["codec"])})
    problems: list[Unread] = []
    out = sys.stdout.buffer
    try:
        for records in _records(source, compiled(pattern) if pattern else None, problems):
            out.write(records)
            out.flush()
        out.write(RECORD.pack(b"X" if problems else b"E", 0, 0))
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _records(source: Source, regex: re2._Regexp[bytes] | None, problems: list[Unread]) -> Iterator[bytes]:
    told = 0
    for block in read_blocks(source, problems.append, block_bytes=BLOCK):
        found = b"".join(_hits(block, regex, MOST - told)) if regex is not None else b""
        told += len(found) // RECORD.size
        end, lines = block.offset + len(block.data), block.line + block.data.count(b"\n")
        yield found + RECORD.pack(b"P", end, lines)


def _hits(block: Block, regex: re2._Regexp[bytes], most: int) -> Iterator[bytes]:
    data, at, number = block.data, 0, block.line
    while most > 0 and at < len(data) and (found := regex.search(data, at)):
        start = data.rfind(b"\n", 0, found.start()) + 1
        number += data.count(b"\n", at, start)
        yield RECORD.pack(b"H", block.offset + start, number)
        end = data.find(b"\n", max(found.end(), start))
        if end < 0:
            return
        at, number, most = end + 1, number + 1, most - 1


if __name__ == "__main__":
    sys.exit(main())
