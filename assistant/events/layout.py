"""How each source writes its lines (envelope, labels, times): found from a sample, applied to the pieces of a batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.batch import Batch
from assistant.events.pieces import LONGEST, Ints, Pieces, blob, uncoloured
from assistant.intake.dialects import Dialects
from assistant.intake.envelopes import FEWEST, sniff_envelope, unwrap_series
from assistant.intake.models import Block, Dialect, Source
from assistant.intake.prefixes import Labels, join_keys, read_labels, sniff_prefixes, split_series
from assistant.intake.times import TimeReader, choose_reader

SAMPLE_LINES = 24
"""Lines looked at in each of the head, the middle and the tail of a source's first block."""
MANY_SOURCES = 512
FEW_LINES = 8
"""Lines looked at instead, in each source after the first MANY_SOURCES."""
SAMPLE_BYTES = 400
"""Bytes of a sampled line."""
SAMPLE_HEAD = 200
"""Characters in which labels and times are looked for."""
TIME_LINES = 8
"""Timed lines of each of head, middle and tail from which a source's times are understood."""
FEW_TIME_LINES = 3
_STRETCH = 16 << 10
OF_LIBRARIES = frozenset({"time-glog"})
"""How launchers and communication libraries write times, in whatever file their few lines stand."""

T = TypeVar("T")
SoleWriter = Callable[[Source], bool]
Modified = Callable[[Source], float | None]


@dataclass(frozen=True, slots=True)
class Layout:
    """One source's ways of writing."""

    envelope: Dialect | None = None
    labels: Labels = field(default_factory=Labels)
    times: TimeReader = field(default_factory=TimeReader)

    @property
    def labelled(self) -> bool:
        """Whether lines must be split one by one."""
        return bool(self.labels.dialects)


@dataclass(frozen=True, slots=True)
class Written:
    """The pieces of a batch once messages are taken out: who wrote each, and the time its envelope names."""

    pieces: Pieces
    key: Ints
    """Index into `keys`."""
    keys: tuple[str, ...]
    time: NDArray[np.float64] | None
    """Times from envelopes, NaN elsewhere; None where no source of the batch has an envelope."""


def sample(block: Block, each: int = SAMPLE_LINES) -> list[str]:
    """So many lines of each of the head, the middle and the tail of a block, shortened."""
    data = block.data
    if len(data) <= 3 * _STRETCH:
        chosen = _thirds(data.splitlines(), each)
    else:
        middle = len(data) // 2
        stretches = (data[:_STRETCH], data[middle : middle + _STRETCH], data[-_STRETCH:])
        head, inner, tail = (stretch.splitlines() for stretch in stretches)
        chosen = head[:each] + inner[1 : each + 1] + tail[1:][-each:]
    return [uncoloured(line[:SAMPLE_BYTES]).decode(errors="replace") for line in chosen]


def _thirds(lines: list[T], each: int) -> list[T]:
    """The first, the middle and the last lines; all, if they are few."""
    if len(lines) <= 3 * each:
        return lines
    middle = len(lines) // 2
    return lines[:each] + lines[middle : middle + each] + lines[-each:]


class Sniffer:
    """Finds layouts, of many small sources at once: what matches no line of a sample is not tried on it one by one."""

    def __init__(self, dialects: Dialects) -> None:
        self._dialects = dialects
        self._seen = 0

    def sniff(self, blocks: Sequence[Block], sole: SoleWriter, modified: Modified) -> list[Layout]:
        """The layout of each block's source, from its first block."""
        each = SAMPLE_LINES if self._seen < MANY_SOURCES else FEW_LINES
        timed = TIME_LINES if self._seen < MANY_SOURCES else FEW_TIME_LINES
        self._seen += len(blocks)
        samples = [self._unwrapped(sample(block, each)) for block in blocks]
        found = _candidates([lines for _, lines in samples], self._dialects.prefixes)
        labels = [
            _labels(lines, possible, sole=sole(block.source))
            for block, (_, lines), possible in zip(blocks, samples, found, strict=True)
        ]
        messages = [_messages(lines, label) for (_, lines), label in zip(samples, labels, strict=True)]
        times = _candidates(messages, self._dialects.times)
        always = tuple(dialect for dialect in self._dialects.times if dialect.id in OF_LIBRARIES)
        return [
            Layout(envelope, label, _reader(possible, timed, modified(block.source), always))
            for block, (envelope, _), label, possible in zip(blocks, samples, labels, times, strict=True)
        ]

    def _unwrapped(self, lines: list[str]) -> tuple[Dialect | None, list[str]]:
        if not _may_be_wrapped(lines):
            return None, lines
        envelope = sniff_envelope(_thirds(lines, TIME_LINES), self._dialects.envelopes)
        if envelope is None:
            return None, lines
        return envelope, unwrap_series(envelope, pl.Series(lines, dtype=pl.String))["message"].to_list()


@dataclass(frozen=True, slots=True)
class _Possible:
    """The lines of a sample that some dialect may match, and those dialects."""

    lines: list[str]
    dialects: tuple[Dialect, ...]


def _candidates(samples: list[list[str]], dialects: Sequence[Dialect]) -> list[_Possible]:
    """For each sample what is worth trying. Labels may stand behind others, so anchors at the start do not count."""
    lines = pl.Series([line[:SAMPLE_HEAD] for each in samples for line in each], dtype=pl.String)
    hits = np.zeros((len(dialects), len(lines)), dtype=np.bool_)
    for number, dialect in enumerate(dialects):
        anchored = dialect.pattern if dialect.kind == "time" else (dialect.pattern or "").removeprefix("^")
        hits[number] = lines.str.contains(anchored or "").to_numpy()
    ends = list(accumulate(map(len, samples), initial=0))
    found = []
    for each, (begin, end) in zip(samples, pairwise(ends), strict=True):
        here = hits[:, begin:end]
        some = [each[index] for index in np.flatnonzero(here.any(axis=0)).tolist()]
        found.append(_Possible(some, tuple(dialects[n] for n in np.flatnonzero(here.any(axis=1)).tolist())))
    return found


def _labels(lines: list[str], possible: _Possible, *, sole: bool) -> Labels:
    if not possible.lines:
        return Labels()
    total = sum(not line.isspace() for line in lines if line)
    return sniff_prefixes(possible.lines, possible.dialects, sole_writer=sole, total=total)


def _messages(lines: list[str], labels: Labels) -> list[str]:
    if not labels.dialects:
        return lines
    return [line[read_labels(line, labels.dialects).length :] for line in lines]


def _reader(possible: _Possible, each: int, modified: float | None, always: tuple[Dialect, ...]) -> TimeReader:
    clocks = [text for text in possible.lines if "audit(" in text or "system clock" in text]
    return choose_reader(_thirds(possible.lines, each) + clocks, possible.dialects, always=always, modified=modified)


def uncaptured(patterns: Sequence[str]) -> str:
    """One regex that matches where any of the patterns does, without captures."""
    return "|".join(f"(?:{_NAMED.sub('(?:', pattern)})" for pattern in patterns)


_NAMED = re.compile(r"\(\?P<[A-Za-z_][A-Za-z0-9_]*>")


def _may_be_wrapped(lines: Sequence[str]) -> bool:
    starts = sum(
        line.lstrip()[:1] in "{0123456789" or "] 20" in line[:300] or "| 20" in line[:120] for line in lines if line
    )
    return starts >= FEWEST or starts * 2 >= len(lines) > 0


def written(batch: Batch, pieces: Pieces, layouts: Sequence[Layout]) -> Written:
    """Take messages out of envelopes and split labels off. `layouts` runs parallel to the batch's blocks."""
    borders = np.searchsorted(pieces.block, np.arange(len(layouts) + 1))
    lengths = np.diff(borders)
    keys: dict[str, int] = {}
    sole = [keys.setdefault(layout.labels.sole, len(keys)) for layout in layouts]
    key: Ints = np.repeat(np.asarray(sole, dtype=np.int64), lengths)
    time: NDArray[np.float64] | None = None
    for layout, blocks in _alike(layouts):
        rows = np.concatenate([np.arange(borders[block], borders[block + 1]) for block in blocks])
        if not len(rows):
            continue
        outer: pl.Series | None = None
        if layout.envelope is not None:
            unwrapped = unwrap_series(layout.envelope, pieces.strings(rows))
            pieces = _with_messages(pieces, rows, _whole(unwrapped, pieces.block[rows]))
            outer = unwrapped["key"]
            time = np.full(len(pieces.start), np.nan) if time is None else time
            time[rows] = unwrapped["time"].fill_null(float("nan")).to_numpy()
        pieces, inner = _split(pieces, rows, layout.labels)
        names = inner if outer is None else _joined(outer, inner)
        own = np.flatnonzero((names != _SOLE).to_numpy())
        key[rows[own]] = _numbered(names[own], keys)
    return _without_empty(Written(pieces, key, tuple(keys), time))


_SOLE = "\0"
"""Stands for the key of a source's lines without a label while sources are worked on together."""


def _alike(layouts: Sequence[Layout]) -> list[tuple[Layout, list[int]]]:
    """Blocks whose lines are taken apart in the same way, whoever wrote them; plain ones are left out."""
    groups: dict[tuple[object, ...], tuple[Layout, list[int]]] = {}
    for index, layout in enumerate(layouts):
        if layout.envelope is None and not layout.labelled:
            continue
        labels = layout.labels
        names = tuple(dialect.id for dialect in labels.dialects)
        kind = (layout.envelope.id if layout.envelope else "", names, labels.merged, labels.tasks_are_ranks)
        alike = replace(layout, labels=replace(labels, sole=_SOLE))
        groups.setdefault(kind, (alike, []))[1].append(index)
    return list(groups.values())


def _whole(unwrapped: pl.DataFrame, block: Ints) -> pl.Series:
    """The messages, those joined at their first line that the collector had cut into several."""
    goes_on = unwrapped["partial"].fill_null(value=False).to_numpy() & np.append(block[1:] == block[:-1], [False])
    messages = unwrapped["message"]
    if not goes_on.any():
        return messages
    begins = np.flatnonzero(goes_on & ~np.append([False], goes_on[:-1]))
    ends = np.flatnonzero(~goes_on)
    ends = ends[np.searchsorted(ends, begins)]
    joined = ["".join(messages[begin : end + 1].to_list())[:LONGEST] for begin, end in zip(begins, ends, strict=True)]
    inner = np.flatnonzero(np.append([False], goes_on[:-1]))
    return messages.scatter(inner, "").scatter(begins, joined)


def _with_messages(pieces: Pieces, rows: Ints, messages: pl.Series) -> Pieces:
    """The same pieces with other text, laid behind the batch's."""
    encoded = messages.fill_null("").cast(pl.Binary)
    length = encoded.bin.size().cast(pl.Int64).to_numpy()
    ends = np.cumsum(length + 1)
    start, new_length = pieces.start.copy(), pieces.length.copy()
    start[rows] = len(pieces.text) + ends - length - 1
    new_length[rows] = length
    text = b"".join([pieces.text, b"\n".join(encoded.to_list()), b"\n"])
    return replace(pieces, text=text, buffer=blob(text), start=start, length=new_length)


def _split(pieces: Pieces, rows: Ints, labels: Labels) -> tuple[Pieces, pl.Series]:
    """Labels taken off the rows that carry one, and the key of each row."""
    keys = pl.Series("key", [labels.sole], dtype=pl.String).new_from_index(0, len(rows))
    if not labels.dialects:
        return pieces, keys
    some = _with_literal(pieces, rows, labels)
    texts = pieces.strings(rows[some])
    carries = texts.str.contains(uncaptured([each.pattern or "" for each in labels.dialects])).to_numpy()
    hits = some[carries]
    if not len(hits):
        return pieces, keys
    texts = texts.filter(pl.Series(carries))
    split = split_series(labels, texts)
    shorter = (texts.str.len_bytes() - split["message"].str.len_bytes()).cast(pl.Int64).to_numpy()
    start, length = pieces.start.copy(), pieces.length.copy()
    start[rows[hits]] += shorter
    length[rows[hits]] -= shorter
    keys = split["key"] if len(hits) == len(rows) else keys.scatter(hits, split["key"])
    return replace(pieces, start=start, length=length), keys


def _with_literal(pieces: Pieces, rows: Ints, labels: Labels) -> Ints:
    """Which rows may carry a label: all, unless each label starts with the same few bytes, which are quickly found."""
    starts = [_LITERAL.match(each.pattern or "") for each in labels.dialects]
    literals = {found.group(1).replace("\\", "").encode() for found in starts if found}
    begin = int(pieces.start[rows[0]])
    end = int(pieces.start[rows[-1]] + pieces.length[rows[-1]])
    if None in starts or len(literals) != 1 or end < begin:
        return np.arange(len(rows))
    literal = literals.pop()
    places: list[int] = []
    at = pieces.text.find(literal, begin, end)
    while at >= 0 and len(places) * _SPARSE < len(rows):
        places.append(at)
        at = pieces.text.find(literal, at + 1, end)
    if at >= 0:
        return np.arange(len(rows))
    found = np.searchsorted(pieces.start[rows], places)
    found = found[found < len(rows)]
    return np.unique(found[pieces.start[rows[found]] == np.asarray(places[: len(found)])])


_LITERAL = re.compile(r"\^((?:\\\[|[a-zA-Z]){3,})(?![*?+{|])")
_SPARSE = 20
"""One row in so many may hold the literal before all rows are looked at with the regex."""


def _joined(outer: pl.Series, inner: pl.Series) -> pl.Series:
    """The keys of lines whose envelope and label both name a writer."""
    pairs = pl.DataFrame({"outer": outer, "inner": inner})
    table = pairs.unique(maintain_order=True)
    names = [join_keys(a, "" if b == _SOLE else b) or _SOLE for a, b in table.iter_rows()]
    return pairs.join(
        table.with_columns(pl.Series("key", names, dtype=pl.String)),
        on=["outer", "inner"],
        how="left",
        maintain_order="left",
    )["key"]


def _numbered(names: pl.Series, keys: dict[str, int]) -> Ints:
    distinct = names.unique(maintain_order=True)
    numbers = {name: keys.setdefault(name, len(keys)) for name in distinct.to_list()}
    return names.replace_strict(numbers, return_dtype=pl.Int64).to_numpy()


def _without_empty(all_written: Written) -> Written:
    keep = all_written.pieces.length > 0
    if bool(keep.all()):
        return all_written
    time = None if all_written.time is None else all_written.time[keep]
    return replace(all_written, pieces=all_written.pieces.take(keep), key=all_written.key[keep], time=time)
