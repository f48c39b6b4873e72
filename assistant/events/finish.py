"""The end of a scan: templates are mined, and everything that was kept under masked forms is told in templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from assistant.events.attribution import Clockwork, on_common_clock, skew_of, writers
from assistant.events.counts import regrouped
from assistant.events.gather import Gatherer
from assistant.events.indicators import capped
from assistant.events.marktable import INTERNAL
from assistant.events.miner import templates_of
from assistant.events.models import Record, Scan, Template, TemplateMiner
from assistant.events.streams import StreamState
from assistant.events.timeline import Timeline
from assistant.intake.attempts import split_attempts
from assistant.intake.models import Discovery, Stream, Unread


def finish(
    gathered: Gatherer,
    discovery: Discovery,
    *,
    notes: Sequence[str],
    unread: Sequence[Unread],
    size: int,
    lines: int,
    miner: TemplateMiner,
) -> Scan:
    """The Scan of everything that was gathered."""
    table = gathered.counts.table()
    templates, template_of = _templates(gathered, table["mask"], miner)
    states = gathered.streams.states
    iterations = pl.Series([state.iterations for state in states], dtype=pl.Int32)
    counts = regrouped(table, pl.Series(template_of, dtype=pl.Int32), iterations).rename({"form": "template"})
    marks = gathered.marks.table().drop(INTERNAL)
    skew = skew_of(marks, discovery.sources)
    attempts = split_attempts(marks, discovery.sources)
    marks = attempts.number(on_common_clock(marks, skew))
    found = [each for _, each in gathered.indicators.indicators()]
    timeline = Timeline(marks)
    clock = Clockwork(marks, (each.record for each in found), skew)

    def place(record: Record) -> Record:
        timed = clock.set(record)
        attempt = attempts.of(record.source, record.line, timed.time)
        return timeline.place(replace(timed, template=template_of[record.template], attempt=attempt))

    indicators = [replace(each, record=place(each.record)) for each in found]
    sequences, shapes = _sequences(gathered, template_of)
    return Scan(
        sources=discovery.sources,
        streams=writers([_stream(state) for state in states], discovery.sources, gathered.marks.facts, skew),
        templates=templates,
        counts=counts,
        marks=marks,
        sequences=sequences,
        shapes=shapes,
        indicators=capped(indicators),
        tails={state.id: tuple(place(record) for record in state.tail) for state in states},
        facts=tuple(gathered.marks.facts),
        notes=(*notes, *attempts.notes, *([skew.note] if skew.note else [])),
        unread=tuple(unread),
        bytes=size,
        lines=lines,
        skew=skew,
    )


def _templates(gathered: Gatherer, counted: pl.Series, miner: TemplateMiner) -> tuple[tuple[Template, ...], list[int]]:
    """The templates of all events, and for each masked form its template; -1 where it is never an event by itself."""
    forms, into = gathered.book.forms(), gathered.book.merged_into
    used = sorted({into[mask] for mask in counted.unique().to_list()})
    templates, found = templates_of(miner.mine([forms[mask] for mask in used]))
    template_of = dict(zip(used, found, strict=True))
    return templates, [template_of.get(mask, -1) for mask in into]


def _stream(state: StreamState) -> Stream:
    return Stream(
        id=state.id,
        group=state.group,
        key=state.key,
        lines=state.rows,
        first_source=state.first[0],
        first_line=state.first[1],
        first_offset=state.first[2],
        last_source=state.last[0],
        last_line=state.last[1],
        last_offset=state.last[2],
        first_time=state.first_time,
        last_time=state.time,
    )


def _sequences(gathered: Gatherer, template_of: list[int]) -> tuple[pl.DataFrame, tuple[tuple[int, ...], ...]]:
    """Sequences whose shapes speak of templates; shapes that become alike are made one, numbered as they appear."""
    table = gathered.sequences.table()
    number_of: dict[tuple[int, ...], int] = {}
    renumbered = []
    for shape in gathered.sequences.shapes():
        templates = [template_of[mask] for mask in shape]
        collapsed = tuple(b for a, b in zip([None, *templates], templates, strict=False) if a != b)
        renumbered.append(number_of.setdefault(collapsed, len(number_of)))
    sequence = pl.Series("sequence", renumbered, dtype=pl.Int32).gather(table["sequence"])
    return table.with_columns(sequence).select("stream", "iteration", "sequence", "line"), tuple(number_of)
