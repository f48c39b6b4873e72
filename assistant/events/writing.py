"""Builds Record objects for the few rows that are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from assistant.events.joining import Rows
from assistant.events.models import Record
from assistant.events.pieces import Ints
from assistant.events.streams import RAW_BYTES, TEXT_CHARS, Line, Open

_END_CHARS = TEXT_CHARS // 4
_GAP = "\n...\n"
_LABEL = re.compile(r"^\[rank\d+\]: ?")
"""What torch puts before each line of a worker's traceback."""


def joined_text(texts: Sequence[str]) -> str:
    """Lines as one text of at most 16 KiB, torch's own labels removed; of a longer one the first and the last part."""
    text = "\n".join(texts if len(texts) == 1 else [_LABEL.sub("", line) for line in texts])
    if len(text) <= TEXT_CHARS:
        return text
    return text[: TEXT_CHARS - _END_CHARS - len(_GAP)] + _GAP + text[-_END_CHARS:]


def record_of_rows(rows: Rows, stream: int, members: Sequence[int], key: int, text: str | None = None) -> Record:
    """A record of one batch. Template, stage, attempt and iterations from elsewhere are filled in at the end."""
    head, pieces, source = members[0], rows.batch.pieces, rows.batch.source
    time, iteration = float(rows.time[head]), int(rows.iteration[head])
    end = _within(source, members, key if key != head else members[-1])
    return Record(
        source=int(source[head]),
        line=int(pieces.line[head]),
        offset=int(pieces.offset[head]),
        text=joined_text([rows.batch.text(row) for row in members]) if text is None else joined_text([text]),
        raw=rows.batch.raw(head, RAW_BYTES),
        stream=stream,
        lines=len(members),
        time=None if math.isnan(time) else time,
        own_time=bool(rows.own[head]),
        iteration=None if iteration < 0 else iteration,
        template=int(rows.mask[key]),
        order=int(rows.order[head]),
        last_line=int(pieces.line[end]),
        last_offset=int(pieces.offset[end]),
    )


def _within(source: Ints, members: Sequence[int], end: int) -> int:
    """The row at which a record ends, or the last one before its source was rotated away."""
    here = source[members[0]]
    return end if source[end] == here else [row for row in members if source[row] == here][-1]


def record_of_lines(stream: int, record: Open) -> Record:
    """A record that was carried from batch to batch."""
    head: Line = record.lines[0]
    end = record.lines[record.key] if record.key else record.lines[-1]
    if end.place[0] != head.place[0]:
        end = [line for line in record.lines if line.place[0] == head.place[0]][-1]
    return Record(
        source=head.place[0],
        line=head.place[1],
        offset=head.place[2],
        text=joined_text([line.text for line in record.lines]),
        raw=head.raw,
        stream=stream,
        lines=len(record.lines),
        time=head.time,
        own_time=head.own_time,
        iteration=None if head.iteration < 0 else head.iteration,
        template=record.lines[record.key].mask,
        order=head.order,
        last_line=end.place[1],
        last_offset=end.place[2],
    )
