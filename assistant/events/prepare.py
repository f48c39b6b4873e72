"""What can be done with a batch on its own, in a worker thread: pieces, writers, forms, gate, marks and times.

Nothing here depends on other batches, except that forms already known are not described again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.batch import Batch
from assistant.events.book import FormBook, NewKinds, no_kinds, nothing_described
from assistant.events.folding import Folded, fold, form_texts
from assistant.events.forms import Described, Describer, Flags
from assistant.events.kinds import JOINING, Kind
from assistant.events.layout import Layout, written
from assistant.events.marks import extract_marks
from assistant.events.pieces import Ints, Pieces, blob, cut
from assistant.events.timing import Times, no_times, read_times

Bools = NDArray[np.bool_]

TAIL_ROWS = 40
"""Rows at the end of a stream that may become its tail."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one stream within a batch."""

    group: str
    key: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch's rows, sorted by stream and in reading order within it."""

    batch: Batch
    pieces: Pieces
    segments: tuple[Segment, ...]
    source: Ints
    flags: Flags
    form: Ints
    """Index into the batch's distinct forms."""
    digest: NDArray[np.uint64]
    number: Ints
    """Of each distinct form, its number in the book; -1 for the described ones, which come in the same order."""
    described: Described
    new_flags: Flags
    """All flags of the described forms."""
    kinds: NewKinds
    gated: Bools
    marks: pl.DataFrame
    """`row` and what `marks.extract_marks` reads, sorted by row."""
    times: Times

    def text(self, row: int) -> str:
        """A row's message."""
        start = int(self.pieces.start[row])
        return self.pieces.text[start : start + int(self.pieces.length[row])].decode(errors="replace")

    def raw(self, row: int, most: int) -> str:
        """A row as it stands in its source."""
        start = int(self.pieces.raw_start[row])
        length = min(int(self.pieces.raw_length[row]), most)
        return self.batch.data[start : start + length].decode(errors="replace")


def prepare(
    batch: Batch, layouts: Sequence[Layout], book: FormBook, describer: Describer, *, all_times: bool
) -> Prepared:
    """Everything about a batch that needs no other batch. `layouts` runs parallel to the batch's blocks."""
    written_pieces = written(batch, cut(batch), layouts)
    pieces = written_pieces.pieces
    folded = fold(pieces)
    number = book.look_up(folded.digest)
    described = _describe(folded, np.flatnonzero(number < 0), describer)
    clues, kinds = book.clues(described) if len(described.kind) else (described.flags, no_kinds())
    new_flags = described.flags | clues
    flags = _form_flags(number, new_flags, book)[folded.form]
    order, segments = _by_stream(batch, pieces, written_pieces.key, written_pieces.keys, (flags & int(Kind.BLANK)) == 0)
    pieces, form, flags = pieces.take(order), folded.form[order], flags[order]
    time = None if written_pieces.time is None else written_pieces.time[order]
    source = np.asarray([block.source.id for block in batch.blocks], dtype=np.int64)[pieces.block]
    gated = _gated(pieces, flags, describer)
    marked = np.flatnonzero(flags & int(Kind.MARKED))
    marks = extract_marks(pieces, marked, _patterns_of(number, described, book, form, marked), describer.patterns)
    need = _rows_needing_time(flags, gated, segments, all_times=all_times)
    times = (
        read_times(pieces, flags, segments_of(segments, len(form)), need, layouts, time) if len(form) else no_times()
    )
    return Prepared(
        batch,
        replace(pieces, buffer=blob(b"")),
        segments,
        source,
        flags,
        form,
        folded.digest,
        number,
        described,
        new_flags,
        kinds,
        gated,
        marks,
        times,
    )


def segments_of(segments: Sequence[Segment], rows: int) -> Ints:
    """For each row the first row of its segment."""
    first = np.zeros(rows, dtype=np.int64)
    for segment in segments:
        first[segment.begin : segment.end] = segment.begin
    return first


def _describe(folded: Folded, new: Ints, describer: Describer) -> Described:
    return describer.describe(form_texts(folded, new)) if len(new) else nothing_described()


def _form_flags(number: Ints, new_flags: Flags, book: FormBook) -> Flags:
    flags: Flags = np.zeros(len(number), dtype=np.int64)
    known = number >= 0
    flags[known] = book.flags_of(number[known])
    flags[~known] = new_flags
    return flags


def _by_stream(
    batch: Batch, pieces: Pieces, key: Ints, keys: tuple[str, ...], keep: Bools
) -> tuple[Ints, tuple[Segment, ...]]:
    """The kept rows sorted by stream, and where each stream's rows lie."""
    groups: dict[str, int] = {}
    of_block = [groups.setdefault(block.source.group, len(groups)) for block in batch.blocks]
    names = list(groups)
    rows = np.flatnonzero(keep)
    code = np.asarray(of_block, dtype=np.int64)[pieces.block[rows]] * max(1, len(keys)) + key[rows]
    order = np.argsort(code, kind="stable")
    code = code[order]
    borders = np.flatnonzero(np.diff(code)) + 1
    begins, ends = [0, *borders.tolist()], [*borders.tolist(), len(code)]
    segments = [
        Segment(names[int(code[begin]) // len(keys)], keys[int(code[begin]) % len(keys)], begin, end)
        for begin, end in zip(begins, ends, strict=True)
        if begin < end
    ]
    return rows[order], tuple(segments)


def _gated(pieces: Pieces, flags: Flags, describer: Describer) -> Bools:
    gated: Bools = (flags & int(Kind.GATE)) != 0
    maybe = np.flatnonzero(((flags & int(Kind.MAYBE)) != 0) & ~gated)
    if len(maybe):
        gated[maybe] = describer.passing(pieces.strings(maybe))
    return gated


def _patterns_of(number: Ints, described: Described, book: FormBook, form: Ints, marked: Ints) -> dict[int, Ints]:
    """For each mark pattern the marked rows whose form matches it."""
    unknown = np.cumsum(number < 0) - 1
    forms: dict[int, list[int]] = {}
    for index in np.unique(form[marked]).tolist():
        of_form = (
            book.marks_of(int(number[index])) if number[index] >= 0 else described.marks.get(int(unknown[index]), ())
        )
        for pattern in of_form:
            forms.setdefault(pattern, []).append(index)
    return {pattern: marked[np.isin(form[marked], indices)] for pattern, indices in sorted(forms.items())}


def _rows_needing_time(flags: Flags, gated: Bools, segments: Sequence[Segment], *, all_times: bool) -> Ints:
    if all_times:
        return np.arange(len(flags))
    wanted = gated | ((flags & int(Kind.MARKED | JOINING)) != 0)
    wanted[:-1] |= wanted[1:]
    timed = np.flatnonzero(flags & int(Kind.TIMED))
    for segment in segments:
        wanted[max(segment.begin, segment.end - TAIL_ROWS) : segment.end] = True
        first = int(np.searchsorted(timed, segment.begin))
        if first < len(timed) and timed[first] < segment.end:
            wanted[timed[first]] = True
    return np.flatnonzero(wanted)


def without(prepared: Prepared, keep: Bools) -> Prepared:
    """The same batch without some rows."""
    new_row = np.cumsum(keep) - 1
    segments = []
    for segment in prepared.segments:
        count = int(keep[segment.begin : segment.end].sum())
        if count:
            begin = int(new_row[segment.begin : segment.end][keep[segment.begin : segment.end]][0])
            segments.append(replace(segment, begin=begin, end=begin + count))
    marks = prepared.marks.filter(pl.Series(keep)[prepared.marks["row"]]).with_columns(
        row=pl.Series(new_row)[prepared.marks.filter(pl.Series(keep)[prepared.marks["row"]])["row"]]
    )
    return replace(
        prepared,
        pieces=prepared.pieces.take(keep),
        segments=tuple(segments),
        source=prepared.source[keep],
        flags=prepared.flags[keep],
        form=prepared.form[keep],
        gated=prepared.gated[keep],
        marks=marks,
        times=prepared.times.take(keep),
    )
