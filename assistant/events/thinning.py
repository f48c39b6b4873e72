"""Keeps a long run's rows few: its first, its last 200, and an even choice between them."""

from __future__ import annotations

import polars as pl

LAST = 200
MOST_ROWS = 400_000
"""Evenly chosen rows that are kept over all streams, besides the last of each."""


class ThinnedTable:
    """Rows of many streams, in parts. Each part has `stream`, `ordinal` (its place in the stream) and `pinned`."""

    def __init__(self, schema: dict[str, pl.DataType], most: int = MOST_ROWS) -> None:
        self._schema = schema
        self._parts: list[pl.DataFrame] = []
        self._rows = 0
        self._most = most
        self._limit = most
        self.last = LAST
        """Rows at the end of each stream that are always kept."""
        self.stride = 1
        """Of the rows before the last ones every so manieth is kept."""

    def add(self, part: pl.DataFrame) -> None:
        """Later rows of some streams."""
        if not part.height:
            return
        self._parts.append(part)
        self._rows += part.height
        if self._rows > self._limit:
            self.thin()

    def replace(self, table: pl.DataFrame) -> None:
        """Put another table in place of what was kept."""
        self._parts, self._rows = [table], table.height

    def table(self) -> pl.DataFrame:
        """What was kept, in the order it came."""
        if self._rows > self._most:
            self.thin()
        return pl.concat(self._parts) if self._parts else pl.DataFrame(schema=self._schema)

    def thin(self) -> None:
        """Drop rows until few enough are left of those that may be dropped."""
        whole = pl.concat(self._parts)
        newest = pl.col("ordinal") > pl.col("ordinal").max().over("stream") - self.last
        fixed = int(whole.select((newest | pl.col("pinned")).sum()).item())
        kept = whole.filter(newest | pl.col("pinned") | (pl.col("ordinal") % self.stride == 0))
        while kept.height - fixed > self._most:
            self.stride *= 2
            kept = whole.filter(newest | pl.col("pinned") | (pl.col("ordinal") % self.stride == 0))
        self._parts, self._rows = [kept], kept.height
        self._limit = kept.height + self._most // 2
