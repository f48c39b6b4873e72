"""How each source writes its lines (envelope, labels, times), found from a sample, and applied to the pieces of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.batch import Batch
from assistant.events.pieces import Ints, Pieces, strings
from assistant.intake.dialects import Dialects
from assistant.intake.envelopes import sniff_envelope, unwrap_series
from assistant.intake.models import Block, Dialect, Source
from assistant.intake.prefixes import Labels, join_keys, sniff_prefixes, split_series
from assistant.intake.times import TimeReader, choose_reader

SAMPLE_LINES = 24
"""Lines looked at in each of the head, the middle and the tail of a source's first block."""
SAMPLE_BYTES = 400
"""Bytes of a sampled line."""
_STRETCH = 16 << 10

SoleWriter = Callable[[Source], bool]


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


def sample(block: Block) -> list[str]:
    """Lines of the head, the middle and the tail of a block, shortened."""
    data = block.data
    if len(data) <= 3 * _STRETCH:
        lines = data.splitlines()
        chosen = lines if len(lines) <= 3 * SAMPLE_LINES else _thirds(lines)
    else:
        middle = len(data) // 2
        stretches = (data[:_STRETCH], data[middle : middle + _STRETCH], data[-_STRETCH:])
        head, inner, tail = (stretch.splitlines() for stretch in stretches)
        chosen = head[:SAMPLE_LINES] + inner[1 : SAMPLE_LINES + 1] + tail[1:][-SAMPLE_LINES:]
    return [line[:SAMPLE_BYTES].decode(errors="replace") for line in chosen]


def _thirds(lines: list[bytes]) -> list[bytes]:
    middle = len(lines) // 2
    return lines[:SAMPLE_LINES] + lines[middle : middle + SAMPLE_LINES] + lines[-SAMPLE_LINES:]


def sniff(block: Block, dialects: Dialects, *, sole: bool, modified: float | None) -> Layout:
    """The layout of a source from its first block."""
    lines = sample(block)
    envelope = sniff_envelope(lines, dialects.envelopes) if _may_be_wrapped(lines) else None
    if envelope is not None:
        lines = unwrap_series(envelope, pl.Series(lines, dtype=pl.String))["message"].to_list()
    labels = sniff_prefixes(lines, dialects.prefixes, sole_writer=sole)
    messages = split_series(labels, pl.Series(lines, dtype=pl.String))["message"].to_list() if labels.dialects else lines
    return Layout(envelope, labels, choose_reader(messages, dialects.times, modified=modified))


def _may_be_wrapped(lines: Sequence[str]) -> bool:
    starts = sum(line.lstrip().startswith(("{", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")) for line in lines)
    return starts * 2 >= len(lines) > 0


def written(batch: Batch, pieces: Pieces, layouts: Sequence[Layout]) -> Written:
    """Take messages out of envelopes and split labels off. `layouts` runs parallel to the batch's blocks."""
    keys: dict[str, int] = {}
    key = np.zeros(len(pieces.start), dtype=np.int64)
    time: NDArray[np.float64] | None = None
    for begin, end, layout in _runs(pieces, layouts):
        rows = np.arange(begin, end)
        if layout.envelope is None and not layout.labelled:
            key[begin:end] = keys.setdefault(layout.labels.sole, len(keys))
            continue
        outer: pl.Series | None = None
        if layout.envelope is not None:
            unwrapped = unwrap_series(layout.envelope, strings(pieces.text, pieces.start[rows], pieces.length[rows]))
            pieces = _with_messages(pieces, rows, unwrapped["message"])
            outer = unwrapped["key"]
            time = np.full(len(pieces.start), np.nan) if time is None else time
            time[begin:end] = unwrapped["time"].fill_null(float("nan")).to_numpy()
        pieces, inner = _split(pieces, rows, layout.labels)
        key[begin:end] = _numbered(inner if outer is None else _joined(outer, inner), keys)
    return _without_empty(Written(pieces, key, tuple(keys), time))


def _runs(pieces: Pieces, layouts: Sequence[Layout]) -> list[tuple[int, int, Layout]]:
    """Stretches of pieces whose blocks share one layout."""
    borders = np.searchsorted(pieces.block, np.arange(len(layouts) + 1))
    runs: list[tuple[int, int, Layout]] = []
    for index, layout in enumerate(layouts):
        begin, end = int(borders[index]), int(borders[index + 1])
        if begin == end:
            continue
        if runs and runs[-1][2] == layout:
            runs[-1] = (runs[-1][0], end, layout)
        else:
            runs.append((begin, end, layout))
    return runs


def _with_messages(pieces: Pieces, rows: Ints, messages: pl.Series) -> Pieces:
    """The same pieces with other text, laid behind the batch's."""
    encoded = messages.fill_null("").cast(pl.Binary)
    length = encoded.bin.size().cast(pl.Int64).to_numpy()
    ends = np.cumsum(length + 1)
    start, new_length = pieces.start.copy(), pieces.length.copy()
    start[rows] = len(pieces.text) + ends - length - 1
    new_length[rows] = length
    text = b"".join([pieces.text, b"\n".join(encoded.to_list()), b"\n"])
    return replace(pieces, text=text, start=start, length=new_length)


def _split(pieces: Pieces, rows: Ints, labels: Labels) -> tuple[Pieces, pl.Series]:
    texts = strings(pieces.text, pieces.start[rows], pieces.length[rows])
    if not labels.dialects:
        return pieces, pl.Series("key", [labels.sole], dtype=pl.String).new_from_index(0, len(rows))
    split = split_series(labels, texts)
    shorter = (texts.str.len_bytes() - split["message"].str.len_bytes()).cast(pl.Int64).to_numpy()
    start, length = pieces.start.copy(), pieces.length.copy()
    start[rows] += shorter
    length[rows] -= shorter
    return replace(pieces, start=start, length=length), split["key"]


def _joined(outer: pl.Series, inner: pl.Series) -> pl.Series:
    pairs = pl.DataFrame({"outer": outer, "inner": inner})
    table = pairs.unique(maintain_order=True)
    names = [join_keys(a, b) for a, b in table.iter_rows()]
    return pairs.join(table.with_columns(pl.Series("key", names, dtype=pl.String)), on=["outer", "inner"], how="left", maintain_order="left")["key"]


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
