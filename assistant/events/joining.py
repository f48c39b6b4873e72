"""Joins the rows of a batch into records, stream by stream, and carries what is still open over to the next batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assistant.events.kinds import Kind
from assistant.events.pieces import Ints
from assistant.events.prepare import Prepared, Segment
from assistant.events.records import HEADS, Step, Walk, advance, opening
from assistant.events.streams import RAW_BYTES, Line, Open, StreamState


@dataclass(frozen=True, slots=True)
class Joined:
    """A record of several rows of one batch."""

    rows: list[int]
    key: int
    """Row of the key line."""


@dataclass(slots=True)
class Rows:
    """A prepared batch with what the merge knows of its rows."""

    batch: Prepared
    mask: Ints
    order: Ints
    iteration: Ints
    time: NDArray[np.float64]
    """NaN where unknown or not asked for."""
    own: NDArray[np.bool_]
    event: NDArray[np.bool_]
    """Rows that count as an event: lines by themselves and the key lines of records."""
    joined: list[Joined] = field(default_factory=list)

    def line(self, row: int) -> Line:
        """A row copied out of the batch."""
        batch, time = self.batch, float(self.time[row])
        return Line(
            (int(batch.source[row]), int(batch.pieces.line[row]), int(batch.pieces.offset[row])),
            int(self.order[row]),
            batch.text(row),
            batch.raw(row, RAW_BYTES),
            int(batch.flags[row]),
            int(self.mask[row]),
            bool(batch.gated[row]),
            None if np.isnan(time) else time,
            bool(self.own[row]),
            int(self.iteration[row]),
        )


@dataclass(slots=True)
class _Piece:
    """Rows of the record being walked."""

    walk: Walk
    rows: list[int]
    key: int


def candidates(batch: Prepared, previous: dict[int, int]) -> NDArray[np.bool_]:
    """Rows at which a record of several rows may start.

    Args:
        previous: for the first row of each segment, the flags of the row before it in the stream.
    """
    flags = batch.flags
    before = np.zeros_like(flags)
    before[1:] = flags[:-1]
    for row, earlier in previous.items():
        before[row] = earlier
    head: NDArray[np.bool_] = (flags & int(HEADS)) != 0
    head |= ((flags & int(Kind.FAILED)) != 0) & ((before & int(Kind.EQUALS)) != 0)
    head |= ((flags & int(Kind.SENTENCE)) != 0) & ((before & int(Kind.DASHES)) != 0)
    head |= (flags & int(Kind.FRAME | Kind.LAST_ERROR)) != 0
    head[:-1] |= (flags[1:] & int(Kind.ATTACHED)) != 0
    return head


def join_segment(rows: Rows, segment: Segment, state: StreamState, heads: Ints) -> Open | None:
    """Mark the records of one segment. Returns the record that was open before it, if that is now closed.

    Args:
        heads: candidate rows within the segment, sorted.
    """
    closed, cursor = state.open, segment.begin
    if closed is not None:
        cursor = _resume(rows, segment, closed)
        if cursor < 0:
            return None
        state.open = None
    at = int(np.searchsorted(heads, cursor))
    while at < len(heads):
        cursor = _walk_from(rows, segment, state, int(heads[at]))
        at = int(np.searchsorted(heads, cursor))
    if state.open is None and cursor < segment.end:
        last = segment.end - 1
        _hold(rows, state, _Piece(_opened(rows, segment, state, last), [last], last))
    return closed


def _opened(rows: Rows, segment: Segment, state: StreamState, row: int) -> Walk:
    flags = rows.batch.flags
    earlier = state.last_flags if row == segment.begin else int(flags[row - 1])
    return opening(int(flags[row]), earlier)


def _walk_from(rows: Rows, segment: Segment, state: StreamState, head: int) -> int:
    """Join one record; returns the row behind it."""
    piece = _Piece(_opened(rows, segment, state, head), [head], head)
    for row in range(head + 1, segment.end):
        step = advance(piece.walk, int(rows.batch.flags[row]))
        if step is Step.END:
            return _close(rows, piece, row)
        if step is not Step.SKIP:
            piece.rows.append(row)
            piece.key = row if step is Step.KEY else piece.key
        if step is Step.LAST:
            return _close(rows, piece, row + 1)
    _hold(rows, state, piece)
    return segment.end


def _close(rows: Rows, piece: _Piece, cursor: int) -> int:
    rows.event[piece.rows] = False
    rows.event[piece.key] = True
    if len(piece.rows) > 1:
        rows.joined.append(Joined(piece.rows, piece.key))
    return cursor


def _hold(rows: Rows, state: StreamState, piece: _Piece) -> None:
    rows.event[piece.rows] = False
    state.open = Open(piece.walk, [rows.line(row) for row in piece.rows], piece.rows.index(piece.key))


def _resume(rows: Rows, segment: Segment, record: Open) -> int:
    """Go on with an open record; returns the row behind it, -1 if it is still open."""
    for row in range(segment.begin, segment.end):
        step = advance(record.walk, int(rows.batch.flags[row]))
        if step is Step.END:
            return row
        if step is not Step.SKIP:
            rows.event[row] = False
            record.lines.append(rows.line(row))
            record.key = len(record.lines) - 1 if step is Step.KEY else record.key
        if step is Step.LAST:
            return row + 1
    return -1
