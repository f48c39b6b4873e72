"""A process of its own that counts or searches the lines of one source, so that the screen never waits for it.

It is told what to do by one JSON object on standard input, and answers on standard output with records of 17 bytes: a
letter and two integers. `P` offset, lines: how far it is. `H` offset, line: a line that matches. `E` offset, lines: the
end, with the lines that there are. `X`: the source cannot be read. Where it is told to follow, it goes on with what is
appended to the file, and tells every end anew. It ends by itself when nobody reads any more.
"""

from __future__ import annotations

import json
import os
import select
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import re2

from assistant.intake.models import Block, Codec, Source, Unread
from assistant.intake.reader import read_blocks

RECORD = struct.Struct("<cqq")
BLOCK = 4 * 1024 * 1024
MOST = 2_000_000
"""Matching lines that are told; more are only counted."""
POLL = 200
"""Milliseconds between two looks at a file that may grow."""


def task(source: Source, pattern: str | None, follow: bool = False) -> bytes:
    """What the process is told."""
    return json.dumps(
        {"path": os.fsdecode(source.path), "name": source.name, "codec": source.codec.value, "member": source.member,
         "archive": source.archive, "group": source.group, "part": source.part, "pattern": pattern, "follow": follow}
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
    pattern, follow = told.pop("pattern"), told.pop("follow")
    source = Source(id=0, **{**told, "path": Path(told["path"]), "codec": Codec(told["codec"])})
    reach = Reach(compiled(pattern) if pattern else None)
    try:
        for records in _told(source, reach, follow):
            sys.stdout.buffer.write(records)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


@dataclass(slots=True)
class Reach:
    """How far one search, or one count, has come."""

    regex: re2._Regexp[bytes] | None
    told: int = 0
    last: int = -1
    """Where the last line begins that was told."""
    begin: int = 0
    """Where the line begins whose end has not come yet; the end of the file where there is none."""
    number: int = 1
    """Number of that line."""
    end: int = 0
    """Offset of the first byte that was not looked at."""

    def records(self, data: bytes, offset: int, line: int) -> bytes:
        """Looks at a stretch that begins with a line."""
        found = b"".join(self._hits(data, offset, line)) if self.regex is not None else b""
        whole = data.rfind(b"\n") + 1
        self.begin, self.end = offset + whole, offset + len(data)
        self.number = line + data.count(b"\n")
        return found + RECORD.pack(b"P", self.end, self.number)

    def ended(self, letter: bytes = b"E") -> bytes:
        """Tells the end."""
        return RECORD.pack(letter, self.end, self.number - 1 + (self.end > self.begin))

    def _hits(self, data: bytes, offset: int, number: int) -> Iterator[bytes]:
        at = 0
        assert self.regex is not None
        while self.told < MOST and at < len(data) and (found := self.regex.search(data, at)):
            start = data.rfind(b"\n", 0, found.start()) + 1
            number += data.count(b"\n", at, start)
            if offset + start > self.last:
                self.told, self.last = self.told + 1, offset + start
                yield RECORD.pack(b"H", offset + start, number)
            end = data.find(b"\n", max(found.end(), start))
            if end < 0:
                return
            at, number = end + 1, number + 1


def _told(source: Source, reach: Reach, follow: bool) -> Iterator[bytes]:
    problems: list[Unread] = []
    block: Block
    for block in read_blocks(source, problems.append, block_bytes=BLOCK):
        yield reach.records(block.data, block.offset, block.line)
    yield reach.ended(b"X" if problems else b"E")
    if follow and not problems:
        yield from _arriving(source.path, reach)


def _arriving(path: Path, reach: Reach) -> Iterator[bytes]:
    """What is appended to a plain file, for as long as somebody reads what is told. A shortened file ends it."""
    with path.open("rb", buffering=0) as file:
        while not _left():
            if os.fstat(file.fileno()).st_size < reach.end:
                return
            while len(data := os.pread(file.fileno(), BLOCK, reach.begin)) > reach.end - reach.begin:
                yield reach.records(data, reach.begin, reach.number)
                if reach.end - reach.begin >= BLOCK:
                    # One line longer than what is read at once: the rest counts as a line that goes on.
                    reach.begin = reach.end
                yield reach.ended()


def _left() -> bool:
    """Waits a little; whether nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(POLL))


if __name__ == "__main__":
    sys.exit(main())
