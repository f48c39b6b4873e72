"""Marks of the whole scan: placed in their streams, thinned, and cleared of guesses once real ones are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from assistant.events.joining import Rows
from assistant.events.streams import StreamState
from assistant.events.thinning import ThinnedTable
from assistant.intake.models import MarkKind
from assistant.intake.numerals import holds_nonsense

MOST_OTHERS = 500_000
"""Marks other than iterations that are kept."""
MOST_FACTS = 200_000

SCHEMA: dict[str, pl.DataType] = {
    "stream": pl.Int32(),
    "source": pl.Int32(),
    "line": pl.Int64(),
    "offset": pl.Int64(),
    "order": pl.Int64(),
    "kind": pl.String(),
    "dialect": pl.String(),
    "tier": pl.Int8(),
    "stage": pl.String(),
    "iteration": pl.Int64(),
    "total": pl.Int64(),
    "seconds": pl.Float64(),
    "loss": pl.Float64(),
    "time": pl.Float64(),
    "attempt": pl.Int32(),
    "text": pl.String(),
    "ordinal": pl.Int64(),
    "pinned": pl.Boolean(),
}
INTERNAL = ("tier", "ordinal", "pinned")


class MarkTable:
    """Collects marks batch by batch."""

    def __init__(self) -> None:
        self.facts: list[dict[str, str]] = []
        self.left_out = 0
        self.best_tier = 2
        self._iterations = ThinnedTable(SCHEMA)
        self._others: list[pl.DataFrame] = []
        self._other_rows = 0
        self._seen_facts: set[tuple[int, str]] = set()
        self._ordinal: dict[int, int] = {}

    def add(self, rows: Rows, marks: pl.DataFrame, states: Sequence[StreamState]) -> None:
        """Take the marks of a batch.

        Args:
            marks: `Prepared.marks`, without iterations that are not to count.
            states: the stream of each segment.
        """
        if not marks.height:
            return
        placed = _placed(rows, marks, states)
        iteration = pl.col("kind") == str(MarkKind.ITERATION)
        self._add_iterations(placed.filter(iteration))
        self._add_others(placed.filter(~iteration & (pl.col("kind") != str(MarkKind.FACT))))
        self._add_facts(placed.filter(pl.col("kind") == str(MarkKind.FACT)))

    def table(self) -> pl.DataFrame:
        """All kept marks, sorted by stream and order; guesses are left out where a framework's own lines were seen."""
        iterations = self._iterations.table().filter(pl.col("tier") <= self.best_tier)
        return pl.concat([iterations, *self._others]).sort("stream", "order", "kind", maintain_order=True)

    def _add_iterations(self, marks: pl.DataFrame) -> None:
        if not marks.height:
            return
        self.best_tier = min(self.best_tier, int(marks.select(pl.col("tier").min()).item()))
        counted = marks.with_columns(
            ordinal=pl.int_range(pl.len()).over("stream")
            + pl.col("stream").replace_strict(self._ordinal, default=0, return_dtype=pl.Int64)
            if self._ordinal
            else pl.int_range(pl.len()).over("stream"),
        )
        self._ordinal |= dict(counted.group_by("stream").agg(pl.col("ordinal").max() + 1).iter_rows())
        changed = pl.col("stage").is_not_null() & (
            pl.col("stage") != pl.col("stage").shift(1).over("stream")
        ).fill_null(True)
        pinned = (pl.col("ordinal") == 0) | changed
        self._iterations.add(counted.with_columns(pinned=pinned).select(pl.col(n).cast(t) for n, t in SCHEMA.items()))

    def _add_others(self, marks: pl.DataFrame) -> None:
        room = MOST_OTHERS - self._other_rows
        self.left_out += max(0, marks.height - room)
        kept = marks.head(max(0, room))
        self._other_rows += kept.height
        self._others.append(
            kept.with_columns(pl.lit(0).alias("ordinal"), pl.lit(True).alias("pinned")).select(
                pl.col(n).cast(t) for n, t in SCHEMA.items()
            )
        )

    def _add_facts(self, marks: pl.DataFrame) -> None:
        for row in marks.iter_rows(named=True):
            seen = (row["stream"], f"{row['dialect']}\n{row['groups']}")
            if seen in self._seen_facts or len(self.facts) >= MOST_FACTS:
                continue
            self._seen_facts.add(seen)
            cells = [cell for cell in row["groups"].split("\n") if "=" in cell and not holds_nonsense(cell)]
            named = dict(cell.split("=", 1) for cell in cells)
            place = {name: str(row[name]) for name in ("stream", "source", "line", "offset", "dialect")}
            self.facts.append({**named, **place})


def _placed(rows: Rows, marks: pl.DataFrame, states: Sequence[StreamState]) -> pl.DataFrame:
    at = marks["row"].to_numpy()
    begins = [segment.begin for segment in rows.batch.segments]
    numbers = np.asarray([state.id for state in states], dtype=np.int64)
    columns = {
        "stream": numbers[np.searchsorted(begins, at, side="right") - 1],
        "source": rows.batch.source[at],
        "line": rows.batch.pieces.line[at],
        "offset": rows.batch.pieces.offset[at],
        "order": rows.order[at],
        "time": rows.time[at],
    }
    return marks.with_columns(
        *(pl.Series(name, values) for name, values in columns.items()), pl.lit(0, pl.Int32).alias("attempt")
    ).with_columns(pl.col("time").fill_nan(None))
