"""How often each masked form occurred in each stream, where first and last, and in how many iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from assistant.events.pieces import Ints

COMPACT_ROWS = 400_000
"""Rows that may be added before those of the same stream and form are put together."""
SHARE_ROWS = 200_000
"""Rows that are put together at once."""
MOST_ROWS = 500_000
"""Rows from which on it pays to merge masked forms into templates before the end."""

_SCHEMA = {
    "stream": pl.Int32(),
    "mask": pl.Int32(),
    "count": pl.Int64(),
    "iterations": pl.Int32(),
    "first_source": pl.Int32(),
    "first_line": pl.Int64(),
    "first_offset": pl.Int64(),
    "last_source": pl.Int32(),
    "last_line": pl.Int64(),
    "last_offset": pl.Int64(),
    "first_iteration": pl.Int64(),
    "last_iteration": pl.Int64(),
}


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a batch, sorted by stream and in reading order within it."""

    stream: Ints
    mask: Ints
    iteration: Ints
    """-1: before the first."""
    source: Ints
    line: Ints
    offset: Ints


class CountTable:
    """Grows by one small table a batch and is put together now and then, so memory follows the distinct pairs."""

    def __init__(self, compact_rows: int = COMPACT_ROWS) -> None:
        self._parts: list[pl.DataFrame] = []
        self._rows = 0
        self._compact_rows = compact_rows
        self._limit = compact_rows
        self._most = MOST_ROWS

    def add(self, events: Events) -> None:
        """Count the events of one batch, later than all before."""
        if len(events.stream):
            self._append(_grouped(events))

    @property
    def crowded(self) -> bool:
        """There are so many different pairs that forms should be merged."""
        return self._rows > self._most and len(self._parts) == 1

    def merge(self, into: list[int], iterations: list[int]) -> None:
        """Put masked forms together (see `FormBook.merge`)."""
        table = self.table()
        merged = regrouped(table, pl.Series(into, dtype=pl.Int32), pl.Series(iterations, dtype=pl.Int32))
        self._parts = [merged.select(pl.col("form").alias("mask") if name == "mask" else name for name in _SCHEMA)]
        self._rows = merged.height
        self._most = max(self._most, 2 * self._rows)
        self._limit = self._rows + self._compact_rows

    def table(self) -> pl.DataFrame:
        """One row per stream and masked form."""
        self._compact()
        return self._parts[0] if self._parts else pl.DataFrame(schema=_SCHEMA)

    def _append(self, part: pl.DataFrame) -> None:
        self._parts.append(part)
        self._rows += part.height
        if self._rows > self._limit:
            self._compact()
            self._limit = self._rows + self._compact_rows

    def _compact(self) -> None:
        if len(self._parts) > 1:
            whole, self._parts = pl.concat(self._parts), []
            self._parts = [pl.concat(put_together(part) for part in _shares(whole))]
            self._rows = self._parts[0].height


def _shares(table: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The table in parts by stream, so that what is made on the way stays small."""
    shares = 1 + table.height // SHARE_ROWS
    for share in range(shares):
        yield table.filter(pl.col("stream") % shares == share) if shares > 1 else table


def _grouped(events: Events) -> pl.DataFrame:
    order = np.argsort((events.stream << 32) | events.mask, kind="stable")
    code = ((events.stream << 32) | events.mask)[order]
    begin = np.concatenate([[0], np.flatnonzero(np.diff(code)) + 1])
    end = np.concatenate([begin[1:], [len(code)]])
    iteration = events.iteration[order]
    fresh = iteration >= 0
    fresh[1:] &= (iteration[1:] != iteration[:-1]) | (code[1:] != code[:-1])
    first, last = order[begin], order[end - 1]
    columns = {
        "stream": events.stream[first],
        "mask": events.mask[first],
        "count": end - begin,
        "iterations": np.add.reduceat(fresh.astype(np.int64), begin),
        "first_iteration": _earliest(iteration, begin),
        "last_iteration": iteration[end - 1],
    }
    columns |= {f"first_{name}": getattr(events, name)[first] for name in ("source", "line", "offset")}
    columns |= {f"last_{name}": getattr(events, name)[last] for name in ("source", "line", "offset")}
    frame = pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())
    known = [
        pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("first_iteration", "last_iteration")
    ]
    return frame.with_columns(known)


def _earliest(iteration: Ints, begin: Ints) -> Ints:
    """The first known iteration of each group, -1 where none is."""
    rows = np.arange(len(iteration))
    known = np.where(iteration >= 0, rows, len(rows))
    first = np.minimum.reduceat(known, begin)
    return np.where(first < len(rows), iteration[np.minimum(first, len(rows) - 1)], -1)


def put_together(parts: pl.DataFrame) -> pl.DataFrame:
    """One row per stream and form from parts in reading order. An iteration that spans two parts counts once."""
    ordered = parts.sort("stream", "mask", maintain_order=True)
    same = (pl.col("stream") == pl.col("stream").shift(1)) & (pl.col("mask") == pl.col("mask").shift(1))
    spans = same & (pl.col("first_iteration") == pl.col("last_iteration").shift(1))
    ordered = ordered.with_columns(pl.col("iterations") - spans.fill_null(False).cast(pl.Int32))
    grouped = ordered.group_by("stream", "mask", maintain_order=True).agg(
        pl.col("count", "iterations").sum(),
        pl.col("first_source", "first_line", "first_offset").first(),
        pl.col("last_source", "last_line", "last_offset").last(),
        pl.col("first_iteration").drop_nulls().first(),
        pl.col("last_iteration").drop_nulls().last(),
    )
    return grouped.select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())


def regrouped(table: pl.DataFrame, form_of: pl.Series, iterations: pl.Series) -> pl.DataFrame:
    """One row per form (a template, or a masked form that others were merged into) and stream, in this order.

    Where several masked forms become one, iterations in which more than one of them occurred are counted more
    than once; the sum never exceeds the stream's iterations.

    Args:
        table: of `CountTable.table`.
        form_of: what each masked form becomes.
        iterations: iterations of each stream.
    """
    return pl.concat(_regrouped(part, form_of, iterations) for part in _shares(table)).sort("form", "stream")


def _regrouped(table: pl.DataFrame, form_of: pl.Series, iterations: pl.Series) -> pl.DataFrame:
    first, last = ["first_source", "first_line", "first_offset"], ["last_source", "last_line", "last_offset"]
    by = ["form", "stream"]
    known = table.with_columns(
        form_of.gather(table["mask"]).cast(pl.Int32).alias("form"),
        iterations.gather(table["stream"]).cast(pl.Int32).alias("most"),
    ).sort(*by, *first)
    like_last = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in by).fill_null(False)
    known = known.with_columns(again=like_last).with_columns(
        several=pl.col("again") | pl.col("again").shift(-1).fill_null(False)
    )
    merged = (
        known.filter("several")
        .group_by(by, maintain_order=True)
        .agg(
            pl.col("count").sum(),
            pl.min_horizontal(pl.col("iterations").sum(), pl.col("most").first()).cast(pl.Int32).alias("iterations"),
            pl.col(first).first(),
            pl.col(last).sort_by(last).last(),
            pl.col("first_iteration").drop_nulls().first(),
            pl.col("last_iteration").sort_by(last).drop_nulls().last(),
        )
    )
    columns = [*by, *(name for name in _SCHEMA if name not in ("stream", "mask"))]
    return pl.concat([known.filter(~pl.col("several")).select(columns), merged.select(columns)]).sort(by)
