"""A process of its own that filters the lines of some sources, so that the screen never waits for it.

It is told what to do by one JSON object on standard input, and answers on standard output with records of 17 bytes: a
letter and two integers. `S` number: what follows is of that source. `T` microseconds: the time of the line told next,
-1 where it has none. `H` offset, line: a line that passes. `P` offset, lines: how far it is. `E`: the end of the
source. `X`: the source cannot be read. Where a time is asked for, the part in which it should stand comes first. Of a
single source it goes on with what is appended. It ends by itself when nobody reads.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assistant.errors import RootrankError
from assistant.intake.models import Block, Codec, Source, Unread
from assistant.intake.reader import read_blocks
from assistant.tui.filters import models as filtering
from assistant.tui.filters.models import Filter
from assistant.tui.filters.sieve import Passed, Sieve
from assistant.tui.filters.window import Window, blocks_in, window_of
from assistant.tui.logs import writing as ways
from assistant.tui.logs.writing import Writing

RECORD = np.dtype([("kind", "S1"), ("a", "<i8"), ("b", "<i8")])
BLOCK = 4 * 1024 * 1024
MOST = 2_000_000
"""Passing lines that are told; more are left out."""
POLL = 200
"""Milliseconds between two looks at a file that may grow."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """A source that is to be filtered."""

    source: Source
    writing: Writing
    records: tuple[int, ...] = ()
    """Offsets of the records that the diagnosis took to indicate a failure."""


def task(items: Sequence[Sifted], filters: Sequence[Filter], *, timed: bool, follow: bool) -> bytes:
    """What the process is told."""
    sources = [
        {"path": os.fsdecode(one.source.path), "name": one.source.name, "codec": one.source.codec.value,
         "member": one.source.member, "archive": one.source.archive, "group": one.source.group,
         "part": one.source.part, "writing": ways.told(one.writing), "records": one.records}
        for one in items
    ]  # fmt: skip
    told = {"sources": sources, "filters": filtering.told(filters), "timed": timed, "follow": follow}
    return json.dumps(told, ensure_ascii=True).encode()


def main() -> int:
    """Does one task."""
    told: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    chosen = filtering.heard(told["filters"])
    try:
        budget = Budget(MOST)
        jobs = [_job(number, each, chosen, told["timed"]) for number, each in enumerate(told["sources"])]
        for job in jobs:
            for data in _first(job, chosen, budget):
                _tell(records(b"S", [job.source.id]) + data)
        for job in jobs:
            _tell(records(b"S", [job.source.id]))
            for data in _sifted(job, told["follow"], budget):
                _tell(data)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


@dataclass(slots=True)
class Job:
    """The work on one source."""

    source: Source
    writing: Writing
    make: Callable[[], Sieve]
    timed: bool
    window: Window = field(default_factory=Window)
    """What was looked at first."""


def _job(number: int, told: dict[str, Any], filters: Sequence[Filter], timed: bool) -> Job:
    writing, known = ways.heard(told.pop("writing")), told.pop("records")
    source = Source(id=number, **{**told, "path": Path(told["path"]), "codec": Codec(told["codec"])})
    return Job(source, writing, lambda: Sieve(filters, writing, timed=timed, records=known), timed)


def _first(job: Job, filters: Sequence[Filter], budget: Budget) -> Iterator[bytes]:
    """What passes in the part of the source in which the times that are asked for should stand."""
    sieve = job.make()
    with suppress(RootrankError):
        window = Window() if sieve.nothing else window_of(job.source, job.writing, filters)
        for block in blocks_in(job.source, window, sieve, job.writing) if window.end > window.begin else ():
            yield _hits(sieve.passing(block), job, budget)
            job.window = Window(window.begin, block.offset + len(block.data))


def _tell(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@dataclass(slots=True)
class Budget:
    """How many lines may still be told."""

    left: int


def records(kind: bytes, first: Sequence[int], second: Sequence[int] | None = None) -> bytes:
    """Records of one letter."""
    found = np.zeros(len(first), dtype=RECORD)
    found["kind"], found["a"] = kind, first
    if second is not None:
        found["b"] = second
    return found.tobytes()


def _sifted(job: Job, follow: bool, budget: Budget) -> Iterator[bytes]:
    problems: list[Unread] = []
    source, sieve = job.source, job.make()
    whole, last, number = 0, -1, 1
    for block in () if sieve.nothing else read_blocks(source, problems.append, block_bytes=BLOCK):
        passed = sieve.passing(block)
        last = max(last, int(passed.offsets[-1]) if len(passed.offsets) else -1)
        yield _hits(passed, job, budget)
        end = block.offset + len(block.data)
        whole, number = block.offset + block.data.rfind(b"\n") + 1, block.line + block.data.count(b"\n")
        yield records(b"P", [end], [number])
        if budget.left <= 0:
            break
    yield records(b"X" if problems else b"E", [0])
    if follow and not problems and not sieve.nothing:
        yield from _arriving(job, sieve, whole, number, last, budget)


def _hits(passed: Passed, job: Job, budget: Budget, after: int = -1) -> bytes:
    """The lines that passed, behind an offset, but those that were told before."""
    timed, offsets = job.timed, passed.offsets
    fresh = (offsets > after) & ((offsets < job.window.begin) | (offsets >= job.window.end))
    chosen = np.flatnonzero(fresh)[: budget.left]
    budget.left -= len(chosen)
    rows = np.zeros((len(chosen), 1 + timed), dtype=RECORD)
    rows["kind"][:, -1], rows["a"][:, -1], rows["b"][:, -1] = b"H", passed.offsets[chosen], passed.numbers[chosen]
    if timed:
        times = passed.times[chosen]
        rows["kind"][:, 0] = b"T"
        rows["a"][:, 0] = np.where(np.isnan(times), -1, np.nan_to_num(times) * 1e6).astype(np.int64)
    return rows.tobytes()


def _arriving(job: Job, sieve: Sieve, begin: int, number: int, last: int, budget: Budget) -> Iterator[bytes]:
    """What is appended to a plain file, for as long as somebody reads what is told. A shortened file ends it."""
    source, poll = job.source, select.poll()
    poll.register(sys.stdout.fileno(), 0)
    with source.path.open("rb", buffering=0) as file:
        seen = begin
        while not poll.poll(POLL):
            size = os.fstat(file.fileno()).st_size
            if size < seen:
                return
            data = os.pread(file.fileno(), BLOCK, begin) if size > seen else b""
            whole = data.rfind(b"\n") + 1
            seen = max(seen, begin + len(data))
            if not whole:
                continue
            passed = sieve.passing(Block(source, data[:whole], begin, number, last=False))
            yield _hits(passed, job, budget, after=last) + records(b"P", [begin + whole], [number])
            last = max(last, int(passed.offsets[-1]) if len(passed.offsets) else -1)
            begin, number, seen = begin + whole, number + data.count(b"\n"), begin + whole


if __name__ == "__main__":
    sys.exit(main())
