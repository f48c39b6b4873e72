"""One pass over all sources of a job: batches are prepared in threads and put together strictly in order."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from assistant.events.batch import BATCH_BYTES, Batch, batches
from assistant.events.book import FormBook
from assistant.events.finish import finish
from assistant.events.forms import Describer
from assistant.events.gather import Gatherer
from assistant.events.layout import Layout, Sniffer
from assistant.events.miner import DrainMiner
from assistant.events.models import RecordMatcher, Scan, TemplateMiner
from assistant.events.prepare import Prepared, prepare, without
from assistant.intake.dialects import Dialects
from assistant.intake.identity import one_process
from assistant.intake.limits import DEFAULT_LIMITS, Limits
from assistant.intake.models import Block, Discovery, Progress, ProgressHook, Source, Unread
from assistant.intake.reader import read_many

AHEAD = 1
"""Batches that may wait besides those being worked on."""


@dataclass(slots=True)
class _Tally:
    """What a scan counts besides events."""

    size: int = 0
    lines: int = 0
    sources: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    unread: list[Unread] = field(default_factory=list)

    def take(self, batch: Batch) -> None:
        for block in batch.blocks:
            self.size += len(block.data)
            self.lines += block.data.count(b"\n") + (block.last and not block.data.endswith(b"\n"))
            self.sources += block.last
            self.cut[block.source.name] += len(block.cut)


def scan(
    discovery: Discovery,
    dialects: Dialects,
    matcher: RecordMatcher,
    *,
    progress: ProgressHook | None = None,
    threads: int = 2,
    since: float | None = None,
    until: float | None = None,
    limits: Limits = DEFAULT_LIMITS,
    batch_bytes: int = BATCH_BYTES,
    block_bytes: int = BATCH_BYTES,
    miner: TemplateMiner | None = None,
) -> Scan:
    """Read everything once.

    Args:
        since, until: UTC epoch seconds; lines outside are left out, lines without a time go with the line before them.
        batch_bytes, block_bytes: how much is worked on at once; the outcome does not depend on them.
        miner: in place of Drain3.
    """
    tally = _Tally()
    book = FormBook()
    describer = Describer(dialects, matcher.gate())
    chosen = miner or DrainMiner()
    gathered = Gatherer(book, matcher, chosen)
    layouts = _Layouts(dialects)
    blocks = read_many(discovery.sources, tally.unread.append, block_bytes=block_bytes, limits=limits)
    window = _Window(since, until)

    def work(batch: Batch) -> Prepared:
        return prepare(batch, [layouts.of(block) for block in batch.blocks], book, describer, all_times=window.set)

    for prepared in _in_order(work, layouts.seen(batches(blocks, batch_bytes)), threads):
        tally.take(prepared.batch)
        for index, count in prepared.pieces.broken.items():
            tally.broken[prepared.batch.blocks[index].source.name] += count
        gathered.add(window.within(prepared))
        _report(progress, tally, discovery, gathered.finding)
    gathered.finish()
    notes = _notes(tally, layouts, gathered)
    return finish(
        gathered, discovery, notes=notes, unread=tally.unread, size=tally.size, lines=tally.lines, miner=chosen
    )


def _in_order(work: Callable[[Batch], Prepared], items: Iterable[Batch], threads: int) -> Iterator[Prepared]:
    """Results in the order of the items, with a bounded number in flight."""
    if threads <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="scan") as pool:
        waiting: deque[Future[Prepared]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= threads + AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Layouts:
    """The layout of each source, found when its first block comes."""

    def __init__(self, dialects: Dialects) -> None:
        self.by_source: dict[int, Layout] = {}
        self._sniffer = Sniffer(dialects)

    def seen(self, items: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, once the layouts of their sources are known."""
        for batch in items:
            first = {
                block.source.id: block for block in reversed(batch.blocks) if block.source.id not in self.by_source
            }
            blocks = [first[number] for number in sorted(first)]
            layouts = self._sniffer.sniff(blocks, one_process, last_written) if blocks else []
            self.by_source |= dict(zip(sorted(first), layouts, strict=True))
            yield batch

    def of(self, block: Block) -> Layout:
        return self.by_source[block.source.id]


def last_written(source: Source) -> float | None:
    """When the file was last written; nothing for archives and standard input, whose files are of another time."""
    if source.archive is not None or source.name == "-":
        return None
    try:
        return os.stat(source.path).st_mtime
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of the time that is looked at."""

    since: float | None
    until: float | None
    _carried: dict[tuple[str, str], float] = field(default_factory=dict)
    """The latest time of each writer."""

    @property
    def set(self) -> bool:
        return self.since is not None or self.until is not None

    def within(self, prepared: Prepared) -> Prepared:
        """The rows inside the window. Rows before the first time of their writer are kept unless `since` is set."""
        if not self.set:
            return prepared
        seconds = prepared.times.seconds.copy()
        for segment in prepared.segments:
            writer, part = (segment.group, segment.key), seconds[segment.begin : segment.end]
            part[np.isnan(part)] = self._carried.get(writer, np.nan)
            self._carried[writer] = float(part[-1])
        early = seconds < self.since if self.since is not None else np.zeros(len(seconds), np.bool_)
        late = seconds > self.until if self.until is not None else np.zeros(len(seconds), np.bool_)
        return without(prepared, ~(early | late | (np.isnan(seconds) & (self.since is not None))))


def _report(progress: ProgressHook | None, tally: _Tally, discovery: Discovery, finding: str | None) -> None:
    if progress is None:
        return
    sizes = [source.size for source in discovery.sources]
    plain = all(source.codec == "plain" for source in discovery.sources)
    total = sum(size for size in sizes if size is not None) if plain and None not in sizes else None
    progress(Progress(tally.size, total, tally.sources, finding))


def _notes(tally: _Tally, layouts: _Layouts, gathered: Gatherer) -> list[str]:
    notes = [
        f"{name}: {count:,} lines are not valid UTF-8; read with replacement" for name, count in tally.broken.items()
    ]
    notes += [f"{name}: {count:,} over-long lines were cut" for name, count in tally.cut.items() if count]
    times = Counter(note for layout in layouts.by_source.values() for note in layout.times.notes)
    notes += [f"{note} ({count:,} sources)" if count > 1 else note for note, count in sorted(times.items())]
    if gathered.book.lumped:
        notes.append(f"{gathered.book.lumped:,} further kinds of lines were told apart by their first words only")
    if gathered.indicators.refused:
        notes.append(f"{gathered.indicators.refused:,} further records with error words were counted but not kept")
    if gathered.classifier.guessed:
        notes.append(f"{gathered.classifier.guessed:,} records were taken to be like others of their kind")
    if gathered.streams.refused:
        notes.append(f"{len(gathered.streams.refused):,} sources have too many writers to keep them all apart")
    if gathered.marks.left_out:
        notes.append(f"{gathered.marks.left_out:,} marks were left out")
    return notes
