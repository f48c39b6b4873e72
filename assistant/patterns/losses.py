"""Losses that became NaN or jumped: that and when, never who, since an all-reduce gives every rank the same loss."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from assistant.events.models import Scan
from assistant.patterns.pace import ENOUGH, with_past
from assistant.patterns.progress import MAD_TO_SD, iteration_marks

JUMP = 5.0
"""A loss so many times the past median is a jump (ByteRobust, SOSP 2025)."""
JUMP_SPREADS = 6.0
MOST = 5
"""Jumps that are reported."""

Odd = tuple[int, int, float, str]


@dataclass(frozen=True, slots=True)
class Losses:
    """Odd losses, as (stream, iteration, score, why), and one remark for the note."""

    odd: tuple[Odd, ...] = ()
    remark: str = ""


def losses(scan: Scan) -> Losses:
    """Looks at the stream that states the most losses."""
    own = _fullest(iteration_marks(scan))
    if own.height == 0:
        return Losses()
    broken = own.filter(~pl.col("loss").is_finite())
    if broken.height:
        return _broken(broken.row(0, named=True))
    return _jumps(own)


def loss_curve(scan: Scan) -> list[tuple[int | None, float]]:
    """Iteration, where it is known, and loss, in the order of the lines; NaN and infinite ones are left out.

    Lines count that state a loss and no iteration, too, as those of some trainers do.
    """
    own = _fullest(scan.marks.filter(pl.col("loss").is_finite()))
    return [(number, float(loss)) for number, loss in own.select("iteration", "loss").iter_rows()]


def _fullest(marks: pl.DataFrame) -> pl.DataFrame:
    """The marks with a loss of the stream that has the most of them."""
    stated = marks.filter(pl.col("loss").is_not_null())
    if stated.height == 0:
        return stated
    counted = stated.group_by("stream").len().sort(["len", "stream"], descending=[True, False])
    return stated.filter(pl.col("stream") == int(counted["stream"][0])).sort("order")


def _broken(row: dict[str, float]) -> Losses:
    what = "NaN" if math.isnan(row["loss"]) else "infinite"
    odd = (int(row["stream"]), int(row["iteration"]), 1.0, f"the loss became {what}")
    return Losses((odd,), f"the loss became {what} at iteration {odd[1]}")


def _jumps(own: pl.DataFrame) -> Losses:
    compared = with_past(own.with_columns(pl.lit(0).alias("all")), "loss", "all")
    limit = pl.max_horizontal(JUMP * pl.col("past"), pl.col("past") + JUMP_SPREADS * MAD_TO_SD * pl.col("spread"))
    high = compared.filter((pl.col("known") >= ENOUGH) & (pl.col("past") > 0) & (pl.col("loss") > limit))
    odd = tuple(_jump(row) for row in high.head(MOST).iter_rows(named=True))
    return Losses(odd, f"the loss jumped at iteration {odd[0][1]}" if odd else "")


def _jump(row: dict[str, float]) -> Odd:
    why = f"the loss was {row['loss']:.4g}, before it about {row['past']:.4g}"
    return int(row["stream"]), int(row["iteration"]), 0.7, why
