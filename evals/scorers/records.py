"""The raw records of a job: its lines, joined as a reader would join them, for every tool alike.

A record is a line with what hangs on it: the frames and the error of a traceback, a native stack, a launcher's block.
Lines are joined within one source and one writer's label, by the project's own rules for what continues a record.
Nothing here asks the fault library, so no tool is favoured by knowing what a line means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.collapse import relaxed
from assistant.events.forms import describe_kinds
from assistant.events.kinds import Kind
from assistant.events.masks import IDS, replaced
from assistant.events.records import HEADS, Step, advance, opening

LONGEST = 8_192
"""Characters of a line that are looked at."""
LABEL = re.compile(
    r"^(?:\[rank[0-9]{1,6}\]: ?|\[[a-z]{1,20}[0-9]{1,6}\]:|\[[0-9]{1,6},[0-9]{1,6}\]<[a-z]{1,9}>: ?|[0-9]{1,6}: )+"
)
"""What launchers put before each line of a shared stream: `[default3]:`, `[rank3]: `, `[1,3]<stderr>: `, `3: `."""
TIME = r"^.{0,60}?\b[0-9]+:[0-9]+:[0-9]+"
INTERESTING = int(HEADS | Kind.FRAME | Kind.LAST_ERROR | Kind.ATTACHED | Kind.EQUALS | Kind.DASHES)

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Record:
    """A record's lines (1-based), the first of them and the one that names the error."""

    source: str
    lines: tuple[int, ...]
    head: str
    key: str
    """The exception line of a traceback, else the first line."""
    masked: str
    """The key line without what varies from line to line."""


@dataclass(frozen=True, slots=True)
class _Line:
    source: str
    number: int
    text: str
    bare: str
    """Without the writer's label."""
    label: str


def records_of(job: Path) -> list[Record]:
    """All records of all files under a folder, in the order of file names and lines."""
    lines = [line for file in files_of(job) for line in _lines(job, file) if line.bare.strip()]
    flags, masked = _described([line.bare for line in lines])
    made: list[Record] = []
    for rows in _by_writer(lines):
        made += (_record(lines, masked, taken, key) for taken, key in _joined(rows, flags))
    return sorted(made, key=lambda record: (record.source, record.lines))


def files_of(job: Path) -> list[Path]:
    """Every file of a job. What is no text gives odd records, which no label matches."""
    return sorted(path for path in job.rglob("*") if path.is_file() and not path.is_symlink())


def _lines(job: Path, file: Path) -> Iterator[_Line]:
    source = file.relative_to(job).as_posix()
    for number, data in enumerate(file.read_bytes().split(b"\n"), start=1):
        text = data[:LONGEST].decode(errors="replace").rstrip("\r")
        label = LABEL.match(text)
        yield _Line(source, number, text, text[label.end() :] if label else text, label[0] if label else "")


def _described(texts: list[str]) -> tuple[list[int], list[str]]:
    """For each text the clues by which records are joined, and its masked form; both found once for each kind."""
    kinds = replaced(pl.Series("text", texts, dtype=pl.String).str.replace_all(r"[0-9]+", "0"), IDS)
    table = pl.DataFrame({"kind": kinds})
    distinct = table.unique(maintain_order=True).with_row_index("at")
    clues, masked = describe_kinds(distinct["kind"])
    clues = clues | (distinct["kind"].str.contains(relaxed(TIME).pattern).to_numpy() * int(Kind.TIMED))
    at = table.join(distinct, on="kind", how="left", maintain_order="left")["at"].to_list()
    return [int(clues[i]) for i in at], [masked[i] for i in at]


def _by_writer(lines: list[_Line]) -> list[list[int]]:
    rows: dict[tuple[str, str], list[int]] = {}
    for at, line in enumerate(lines):
        rows.setdefault((line.source, line.label), []).append(at)
    return list(rows.values())


def _joined(rows: list[int], flags: list[int]) -> Iterator[tuple[list[int], int]]:
    """The rows of each record of one writer, and its key row. What a record skips becomes records of its own."""
    at, previous = 0, 0
    taken: set[int] = set()
    while at < len(rows):
        if at in taken:
            at += 1
            continue
        members, key = _walk(rows, flags, at, previous) if _may_join(rows, flags, at) else ([at], at)
        taken.update(members)
        yield [rows[member] for member in members], rows[key]
        previous = flags[rows[at]]
        at += 1


def _may_join(rows: list[int], flags: list[int], at: int) -> bool:
    around = flags[rows[at]] | (flags[rows[at + 1]] if at + 1 < len(rows) else 0) | (flags[rows[at - 1]] if at else 0)
    return bool(around & INTERESTING)


def _walk(rows: list[int], flags: list[int], first: int, previous: int) -> tuple[list[int], int]:
    walk, members, key = opening(flags[rows[first]], previous), [first], first
    for at in range(first + 1, len(rows)):
        step = advance(walk, flags[rows[at]])
        if step is Step.END:
            break
        if step is not Step.SKIP:
            members.append(at)
            key = at if step is Step.KEY else key
        if step is Step.LAST:
            break
    return members, key


def _record(lines: list[_Line], masked: list[str], rows: list[int], key: int) -> Record:
    head = lines[rows[0]]
    return Record(head.source, tuple(lines[row].number for row in rows), head.text, lines[key].text, masked[key])
