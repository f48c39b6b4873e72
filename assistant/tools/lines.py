"""Lines of a source by number, and lines that match an expression: read in pieces, never the whole file at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from assistant.case.models import Evidence
from assistant.errors import NothingFound, UsageError
from assistant.intake.access import open_each
from assistant.intake.limits import KIB, MIB
from assistant.intake.models import Block, Source, Unread
from assistant.intake.reader import read_many
from assistant.tools.desk import Desk, place_id

PIECE = MIB
LONGEST = 4 * KIB
"""Bytes of one line that are kept; `FOUND_LINE` marks what was cut."""
REGEX_LIMIT = 1000
"""Characters of an expression that is accepted."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a source."""

    number: int
    offset: int
    text: str


def lines_between(desk: Desk, source: Source, first: int, last: int) -> list[Line]:
    """The lines from `first` to `last` (1-based, inclusive), as many of them as there are.

    Raises NothingFound where the source cannot be opened or has fewer than `first` lines.
    """
    number, offset = _anchor(desk, source, first)
    for _, stream in open_each([source], _unreported):
        stream.skip(offset)
        found = list(_numbered(_pieces(stream.read), number, offset, first, last))
        if found:
            return found
    raise NothingFound(f"{source.name} has no line {first} any more", hint="it may have been rotated or shortened")


def _pieces(read: object) -> Iterator[bytes]:
    assert callable(read)
    while data := read(PIECE):
        yield data


def _numbered(pieces: Iterator[bytes], number: int, offset: int, first: int, last: int) -> Iterator[Line]:
    rest = b""
    for piece in pieces:
        data = rest + piece
        at = 0
        while (end := data.find(b"\n", at)) >= 0:
            if number >= first:
                yield Line(number, offset + at, _decoded(data[at:end]))
            at, number = end + 1, number + 1
            if number > last:
                return
        rest, offset = data[at:], offset + at
        if len(rest) > 64 * PIECE:
            rest = rest[:LONGEST]
    if rest and first <= number <= last:
        yield Line(number, offset, _decoded(rest))


def _anchor(desk: Desk, source: Source, line: int) -> tuple[int, int]:
    """The nearest earlier place whose line number and offset are both known: reading starts there."""
    known = [(item.line, item.offset) for item in desk.case.evidence if item.source == source.name]
    marks = desk.examination.reading.scan.marks
    own = marks.filter((marks["source"] == source.id) & (marks["line"] <= line)).tail(1)
    known += list(own.select("line", "offset").iter_rows())
    return max((place for place in known if place[0] <= line), default=(1, 0))


@dataclass(frozen=True, slots=True)
class Matches:
    """Matching lines: the first ones, and how many there are in all."""

    lines: tuple[tuple[Source, Line], ...]
    total: int


def matching(sources: Sequence[Source], expression: str, limit: int) -> Matches:
    """Lines that match an expression of the RE2 subset, in order of source and line; at most `limit` are kept.

    Raises UsageError for an expression that is no such one.
    """
    regex = _compiled(expression)
    kept: list[tuple[Source, Line]] = []
    total = 0
    for block in read_many(sources, _unreported, block_bytes=4 * MIB):
        for line in _in_block(block, regex):
            total += 1
            if len(kept) < limit:
                kept.append((block.source, line))
    return Matches(tuple(kept), total)


def _in_block(block: Block, regex: re2._Regexp[bytes]) -> Iterator[Line]:
    data, at, number = block.data, 0, block.line
    while found := regex.search(data, at):
        start = data.rfind(b"\n", 0, found.start()) + 1
        end = data.find(b"\n", found.end())
        end = len(data) if end < 0 else end
        number += data.count(b"\n", at, start)
        yield Line(number, block.offset + start, _decoded(data[start:end]))
        at, number = end + 1, number + 1
        if at >= len(data):
            return


def _compiled(expression: str) -> re2._Regexp[bytes]:
    if len(expression) > REGEX_LIMIT:
        raise UsageError(f"the expression is longer than {REGEX_LIMIT} characters", hint="search for a part of it")
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_nl = False
    try:
        # Dots and anchors stay within a line; the text is searched as bytes, so that broken UTF-8 hides nothing.
        return re2.compile(b"(?m)" + expression.encode(), options)
    except re2.error as error:
        problem = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        hint = "use plain words, or RE2 syntax (no look-around, no back-references)"
        raise UsageError(f"not an expression: {problem}", hint=hint) from error


def evidence_of(desk: Desk, source: Source, line: Line) -> Evidence:
    """A line as evidence: the case's own where it has this line, else under its place."""
    known = desk.at(source.name, line.number)
    if known is not None:
        return known
    node, rank = _writer(desk, source)
    return Evidence(
        id=place_id(source.name, line.number), source=source.name, line=line.number, offset=line.offset,
        text=line.text, node=node, rank=rank,
    )  # fmt: skip


def _writer(desk: Desk, source: Source) -> tuple[str | None, int | None]:
    """Node and rank of a source that has one writer only."""
    streams = [stream for stream in desk.examination.reading.scan.streams if stream.group == source.group]
    nodes, ranks = {stream.node for stream in streams}, {stream.rank for stream in streams}
    return (nodes.pop() if len(nodes) == 1 else None), (ranks.pop() if len(ranks) == 1 else None)


def _decoded(data: bytes) -> str:
    return data[:LONGEST].rstrip(b"\r").decode("utf-8", "replace")


def _unreported(_: Unread) -> None:
    """What cannot be read is listed in the case already."""
