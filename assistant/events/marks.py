"""Progress lines become marks: their values are read from the raw text, many lines at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from assistant.events.pieces import Ints, Pieces
from assistant.intake.dialects import EPOCHS, GENERIC
from assistant.intake.models import Dialect, MarkKind, MarkPattern

TEXT = 500
"""Characters of a mark's line that are kept, where its kind is rare."""
STATED_LOSS = (
    r"(?i)(?:^|[^\w.-])(?:(?:lm|train|training|total|global|mean|avg|average|reduced|step|batch|ce|mlm|nll)[ _/.-])?"
    r"loss(?:/(?:train|total|step))?[\"']?\s*(?:\((?:train|avg|mean)\)\s*)?(?:[:=]|is)?\s*[\"'\[]?"
    r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf))(?:[^\w.%/]|\.(?:\s|$)|$)"
)
"""How a line says its training loss in plain words. Not that of an evaluation, and no loss scale."""

SCHEMA: dict[str, pl.DataType] = {
    "row": pl.Int64(),
    "kind": pl.String(),
    "dialect": pl.String(),
    "tier": pl.Int8(),
    "stage": pl.String(),
    "iteration": pl.Int64(),
    "total": pl.Int64(),
    "seconds": pl.Float64(),
    "loss": pl.Float64(),
    "text": pl.String(),
    "groups": pl.String(),
}
"""`tier`: 0 a framework's own line, 1 a guess, 2 epochs. `groups`: all named groups of a FACT as `name=value` lines."""


def extract_marks(
    pieces: Pieces, marked: Ints, rows_of: dict[int, Ints], patterns: Sequence[tuple[Dialect, MarkPattern]]
) -> pl.DataFrame:
    """Marks of a batch, one row a line and kind (the first pattern of a kind wins), sorted by row."""
    frames: list[pl.DataFrame] = []
    taken: dict[MarkKind, list[Ints]] = {}
    for number, rows in rows_of.items():
        dialect, mark = patterns[number]
        free = rows if mark.mark is MarkKind.FACT else rows[~np.isin(rows, _together(taken.get(mark.mark)))]
        frame = _of_pattern(pieces, free, dialect, mark)
        frames.append(frame)
        taken.setdefault(mark.mark, []).append(frame["row"].to_numpy())
    return pl.concat(frames).sort("row", maintain_order=True) if frames else pl.DataFrame(schema=SCHEMA)


def _together(rows: list[Ints] | None) -> Ints:
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)


def _of_pattern(pieces: Pieces, rows: Ints, dialect: Dialect, mark: MarkPattern) -> pl.DataFrame:
    texts = pieces.strings(rows)
    hit = texts.str.contains(mark.pattern)
    frame = pl.DataFrame({"row": rows, "text": texts}).filter(hit)
    groups = frame["text"].str.extract_groups(mark.pattern).struct.unnest()
    named = {name for name in groups.columns if not name.isdigit()}
    values = frame.with_columns(groups.select(pl.all().name.prefix("g_"))) if groups.width else frame
    rare = mark.mark is not MarkKind.ITERATION
    return values.select(
        row=pl.col("row"),
        kind=pl.lit(str(mark.mark)),
        dialect=pl.lit(dialect.id),
        tier=pl.lit(_tier(dialect), pl.Int8),
        stage=pl.lit(mark.stage, pl.String),
        iteration=_whole("iteration", named),
        total=_whole("total", named),
        seconds=_seconds(named),
        loss=_loss(named, mark.mark),
        text=pl.col("text").str.slice(0, TEXT) if rare else pl.lit(None, pl.String),
        groups=_groups(named) if mark.mark is MarkKind.FACT else pl.lit(None, pl.String),
    )


def _tier(dialect: Dialect) -> int:
    return 2 if dialect.priority >= EPOCHS else 1 if dialect.priority >= GENERIC else 0


def _whole(name: str, named: set[str]) -> pl.Expr:
    if name not in named:
        return pl.lit(None, pl.Int64)
    return pl.col(f"g_{name}").str.replace_all(",", "", literal=True).cast(pl.Int64, strict=False)


def _number(name: str, named: set[str]) -> pl.Expr:
    if name not in named:
        return pl.lit(None, pl.Float64)
    return _cast(pl.col(f"g_{name}"))


def _cast(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)


def _loss(named: set[str], kind: MarkKind) -> pl.Expr:
    """The loss that the line states; of an iteration whose pattern has no place for it, what is plainly called so."""
    own = _number("loss", named)
    return pl.coalesce(own, _cast(pl.col("text").str.extract(STATED_LOSS))) if kind is MarkKind.ITERATION else own


def _seconds(named: set[str]) -> pl.Expr:
    clock = pl.lit(None, pl.Float64)
    if "elapsed" in named:
        parts = pl.col("g_elapsed").str.split(":").list.reverse()
        part = [parts.list.get(i, null_on_oob=True).cast(pl.Float64, strict=False).fill_null(0.0) for i in range(3)]
        clock = pl.when(pl.col("g_elapsed").is_not_null()).then(part[0] + part[1] * 60 + part[2] * 3600)
    return pl.coalesce(_number("seconds", named), _number("milliseconds", named) / 1000, clock)


def _groups(named: set[str]) -> pl.Expr:
    cells = [
        pl.when(pl.col(f"g_{name}").is_not_null()).then(pl.format("{}={}", pl.lit(name), pl.col(f"g_{name}")))
        for name in sorted(named)
    ]
    return pl.concat_str(cells, separator="\n", ignore_nulls=True) if cells else pl.lit("", pl.String)
