"""Puts the prepared batches together, strictly in order: streams, iterations, records, counts, marks, indicators."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.book import FormBook
from assistant.events.counts import CountTable, Events
from assistant.events.indicators import LAST, Classifier, IndicatorTable, Key
from assistant.events.joining import Joined, Rows, candidates, join_segment
from assistant.events.marktable import MarkTable
from assistant.events.models import Record, RecordMatcher, TemplateMiner
from assistant.events.pieces import Ints
from assistant.events.prepare import Prepared, Segment
from assistant.events.sequences import SequenceTable
from assistant.events.streams import TAIL, Open, Place, StreamState, StreamTable
from assistant.events.writing import joined_text, record_of_lines, record_of_rows
from assistant.intake.models import MarkKind

Late = list[tuple[StreamState, Open]]
"""Records begun in an earlier batch that are closed now."""


class Gatherer:
    """Everything that depends on the order of batches. Used by one thread."""

    def __init__(self, book: FormBook, matcher: RecordMatcher, miner: TemplateMiner) -> None:
        self.book = book
        self._miner = miner
        self._merged: Ints | None = None
        """What the masked forms known at the last merge count as."""
        self.streams = StreamTable()
        self.counts = CountTable()
        self.marks = MarkTable()
        self.sequences = SequenceTable()
        self.indicators = IndicatorTable()
        self.classifier = Classifier(matcher)
        self.finding: str | None = None
        """The first entry of the library that matched."""

    def add(self, batch: Prepared) -> None:
        """Take the next batch."""
        states = [self._state(batch, segment) for segment in batch.segments]
        marks = _sound(batch, states)
        rows = Rows(
            batch,
            self._masks(batch)[batch.form],
            _orders(batch, states),
            _iterations(batch, marks, states),
            *_times(batch, states),
            np.ones(len(batch.form), dtype=np.bool_),
        )
        self.marks.add(rows, marks, states)
        late = self._join(rows, states)
        events = _all_events(rows, states, late)
        self._count(events)
        self.sequences.add(events)
        self._indicate_late(late)
        self._indicate(rows, states)
        for segment, state in zip(batch.segments, states, strict=True):
            _remember(rows, segment, state)
        if self.counts.crowded:
            self._merge_forms()

    def finish(self) -> None:
        """Close what is still open."""
        late = [(state, state.open) for state in self.streams.states if state.open is not None]
        events = _late_events(late)
        self._count(events)
        self.sequences.add(events)
        self._indicate_late(late)
        for state, _ in late:
            state.open = None

    def _count(self, events: Events) -> None:
        if self._merged is None:
            self.counts.add(events)
            return
        known = events.mask < len(self._merged)
        masks = events.mask.copy()
        masks[known] = self._merged[masks[known]]
        self.counts.add(replace(events, mask=masks))

    def _merge_forms(self) -> None:
        """Mine what is known so far, so that the counts shrink."""
        self.book.merge(self._miner.mine(self.book.forms()))
        self.counts.merge(self.book.merged_into, [state.iterations for state in self.streams.states])
        self._merged = np.asarray(self.book.merged_into, dtype=np.int64)

    def _state(self, batch: Prepared, segment: Segment) -> StreamState:
        return self.streams.at(segment.group, segment.key, _place(batch, segment.begin))

    def _masks(self, batch: Prepared) -> Ints:
        """The masked form of each of the batch's forms."""
        masks = np.zeros(len(batch.number), dtype=np.int64)
        known = batch.number >= 0
        masks[known] = self.book.masks_of(batch.number[known])
        masks[~known] = self.book.register(batch.digest[~known], batch.described, batch.new_flags, batch.kinds)
        return masks

    def _join(self, rows: Rows, states: list[StreamState]) -> Late:
        first = {segment.begin: state.last_flags for segment, state in zip(rows.batch.segments, states, strict=True)}
        heads = np.flatnonzero(candidates(rows.batch, first))
        late: Late = []
        for segment, state in zip(rows.batch.segments, states, strict=True):
            begin, end = np.searchsorted(heads, [segment.begin, segment.end])
            closed = join_segment(rows, segment, state, heads[begin:end])
            if closed is not None:
                late.append((state, closed))
        return late

    def _indicate_late(self, late: Late) -> None:
        for state, record in late:
            built = record_of_lines(state.id, record)
            state.saw(built)
            if any(line.gated for line in record.lines):
                self._indicate_record(built)

    def _indicate_record(self, record: Record) -> None:
        faults = self.classifier.classify(record.text, record.template)
        self.indicators.add((record.stream, record.template, faults), record)
        if faults and self.finding is None:
            self.finding = faults[0]

    def _indicate(self, rows: Rows, states: list[StreamState]) -> None:
        """Indicators among the records that lie wholly in this batch."""
        groups: dict[Key, _Few] = {}
        of_row = _stream_of_row(rows.batch, states)
        for row, members, key, text in _gated_records(rows):
            mask = int(rows.mask[key])
            group = (int(of_row[row]), mask, self.classifier.classify(text, mask))
            if group not in groups:
                groups[group] = _Few(self.indicators.room(group))
            groups[group].add((members, key, text))
        for group, few in groups.items():
            self._keep(rows, group, few)

    def _keep(self, rows: Rows, group: Key, few: _Few) -> None:
        if group[2] and self.finding is None:
            self.finding = group[2][0]
        for members, key, text in few.first:
            self.indicators.add(group, record_of_rows(rows, group[0], members, key, text))
        self.indicators.count(group, few.total - len(few.first) - len(few.last))
        for members, key, text in few.last:
            self.indicators.add(group, record_of_rows(rows, group[0], members, key, text))


Found = tuple[list[int], int, str]
"""Rows, key row and text of a record."""


@dataclass(slots=True)
class _Few:
    """The first and last of a group's records within a batch."""

    room: int
    total: int = 0
    first: list[Found] = field(default_factory=list)
    last: deque[Found] = field(default_factory=lambda: deque(maxlen=LAST))

    def add(self, found: Found) -> None:
        self.total += 1
        (self.first if len(self.first) < self.room else self.last).append(found)


def _gated_records(rows: Rows) -> Iterator[tuple[int, list[int], int, str]]:
    """First row, rows, key row and text of the records that passed the gate, in order."""
    batch = rows.batch
    inside = np.zeros(len(batch.form), dtype=np.bool_)
    joined: dict[int, Joined] = {}
    for record in rows.joined:
        inside[record.rows] = True
        if batch.gated[record.rows].any():
            joined[record.rows[0]] = record
    single = np.flatnonzero(batch.gated & rows.event & ~inside)
    lines = {row: batch.text(row) for row in single.tolist()}
    for row in sorted([*lines, *joined]):
        if row in joined:
            members = joined[row].rows
            yield row, members, joined[row].key, joined_text([batch.text(member) for member in members])
        else:
            yield row, [row], row, lines[row]


def _place(batch: Prepared, row: int) -> Place:
    return int(batch.source[row]), int(batch.pieces.line[row]), int(batch.pieces.offset[row])


def _stream_of_row(batch: Prepared, states: list[StreamState]) -> Ints:
    lengths = [segment.end - segment.begin for segment in batch.segments]
    return np.repeat(np.asarray([state.id for state in states], dtype=np.int64), lengths)


def _orders(batch: Prepared, states: list[StreamState]) -> Ints:
    order: Ints = np.arange(len(batch.form))
    for segment, state in zip(batch.segments, states, strict=True):
        order[segment.begin : segment.end] += state.rows - segment.begin
    return order


def _sound(batch: Prepared, states: list[StreamState]) -> pl.DataFrame:
    """The batch's marks without guessed iterations in streams whose framework has been seen to write its own."""
    marks = batch.marks
    iteration = pl.col("kind") == str(MarkKind.ITERATION)
    if not marks.height:
        return marks
    begins = [segment.begin for segment in batch.segments]
    segment = np.searchsorted(begins, marks["row"].to_numpy(), side="right") - 1
    before = np.asarray([state.tier for state in states], dtype=np.int8)[segment]
    tiers = marks.with_columns(pl.Series("segment", segment), pl.Series("before", before)).with_columns(
        best=pl.min_horizontal(pl.when(iteration).then("tier").otherwise(2).cum_min().over("segment"), "before")
    )
    for number, best in tiers.group_by("segment").agg(pl.col("best").min()).iter_rows():
        states[number].tier = best
    return marks.filter(tiers.select(~iteration | (pl.col("tier") <= pl.col("best"))).to_series())


def _iterations(batch: Prepared, marks: pl.DataFrame, states: list[StreamState]) -> Ints:
    """For each row the last iteration announced in its stream, -1 before the first."""
    unset = -2
    announced: Ints = np.full(len(batch.form), unset, dtype=np.int64)
    for segment, state in zip(batch.segments, states, strict=True):
        announced[segment.begin] = state.iteration
    restarts = marks.filter(pl.col("kind") == str(MarkKind.ATTEMPT))["row"].to_numpy()
    announced[restarts] = -1
    known = marks.filter((pl.col("kind") == str(MarkKind.ITERATION)) & pl.col("iteration").is_not_null())
    announced[known["row"].to_numpy()] = known["iteration"].to_numpy()
    latest = np.maximum.accumulate(np.where(announced != unset, np.arange(len(announced)), 0))
    iteration: Ints = announced[latest]
    return iteration


def _times(batch: Prepared, states: list[StreamState]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Times of the rows that were asked for, carried from earlier batches where need be, and whether they are own."""
    seconds, own = np.full(len(batch.form), np.nan), np.zeros(len(batch.form), dtype=np.bool_)
    asked = batch.times.row
    seconds[asked], own[asked] = batch.times.seconds, batch.times.own
    for segment, state in zip(batch.segments, states, strict=True):
        if state.time is not None:
            rows = asked[np.searchsorted(asked, segment.begin) : np.searchsorted(asked, segment.end)]
            rows = rows[np.isnan(seconds[rows])]
            seconds[rows] = state.time
    return seconds, own


def _late_events(late: Late) -> Events:
    keys = [(state.id, record.lines[record.key]) for state, record in late]
    columns = [
        (stream, line.mask, line.iteration, *line.place) for stream, line in sorted(keys, key=lambda pair: pair[0])
    ]
    return Events(*np.asarray(columns, dtype=np.int64).reshape(-1, 6).T)


def _all_events(rows: Rows, states: list[StreamState], late: Late) -> Events:
    batch, at = rows.batch, np.flatnonzero(rows.event)
    here = Events(
        _stream_of_row(batch, states)[at],
        rows.mask[at],
        rows.iteration[at],
        batch.source[at],
        batch.pieces.line[at],
        batch.pieces.offset[at],
    )
    earlier = _late_events(late)
    names = [field.name for field in fields(Events)]
    whole = [np.concatenate([getattr(earlier, name), getattr(here, name)]) for name in names]
    order = np.argsort(whole[0], kind="stable")
    return Events(*(column[order] for column in whole))


def _remember(rows: Rows, segment: Segment, state: StreamState) -> None:
    """What the stream's next batch needs to know, and its tail."""
    batch, last = rows.batch, segment.end - 1
    keys = {record.key: record for record in rows.joined if segment.begin <= record.key < segment.end}
    for row in (segment.begin + np.flatnonzero(rows.event[segment.begin : segment.end]))[-TAIL:].tolist():
        members = keys[row].rows if row in keys else [row]
        state.saw(record_of_rows(rows, state.id, members, row))
    if state.first_time is None:
        own = np.flatnonzero(rows.own[segment.begin : segment.end])
        state.first_time = float(rows.time[segment.begin + own[0]]) if len(own) else None
    state.time = state.time if np.isnan(rows.time[last]) else float(rows.time[last])
    state.rows += segment.end - segment.begin
    state.last = _place(batch, last)
    state.last_flags = int(batch.flags[last])
    runs = np.concatenate([[state.iteration], rows.iteration[segment.begin : segment.end]])
    state.iterations += int(((runs[1:] != runs[:-1]) & (runs[1:] >= 0)).sum())
    state.iteration = int(runs[-1])
