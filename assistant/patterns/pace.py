"""The pace of the training loop: iteration times, slow iterations, and where the pace changed for good."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.events.models import Scan
from assistant.intake.models import MarkKind
from assistant.patterns.progress import MAD_TO_SD, iteration_marks
from assistant.patterns.wording import duration, times

ENOUGH = 10
"""Earlier iterations that a comparison with the past needs: below 11 in all, nothing can stand out (see `temporal`)."""
WINDOW = 50
"""How many earlier iterations the past is."""
SLOW_RATIO, SLOW_SPREADS = 3.0, 6.0
"""A slow iteration takes so many times the past median, and lies so many robust standard deviations above it."""
WARM_UP = 3
"""First iterations, slow by nature (compilation, caches), that a change of pace must not start from."""
SEGMENT = 8
"""Shortest stretch of iterations that can be called a pace."""
CHANGE_RATIO = 1.2
CHANGE_CHANCE = 1e-4
"""A change of pace is at least so large, and arises by chance at most so often."""
MOST_POINTS = 20_000
"""More iteration times are thinned evenly before a change is sought."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pace:
    """What iteration times tell. Empty where iterations have no times."""

    stream: int | None = None
    seconds: float | None = None
    """Median iteration time."""
    change: tuple[int, float, float] | None = None
    """(iteration, seconds before, seconds after)"""
    slow: tuple[tuple[int, int, float, str], ...] = ()
    """(stream, iteration, score, why)"""


def pace(scan: Scan) -> Pace:
    """Iteration times of the stream that announces the most iterations."""
    stream, steps = steps_of(scan)
    if stream is None or steps.height == 0:
        return Pace()
    plain = steps.filter(~pl.col("eventful"))
    typical = plain if plain.height >= SEGMENT else steps
    middle = typical["duration"].median()
    seconds = middle if isinstance(middle, float) and middle > 0 else None
    return Pace(stream, seconds, change_point(plain), slow_iterations(stream, steps))


def steps_of(scan: Scan) -> tuple[int | None, pl.DataFrame]:
    """The pace-setting stream, and its iterations as: iteration, duration (seconds), eventful.

    Eventful steps hold an evaluation or a checkpoint, and are compared with their like only.
    """
    marks = iteration_marks(scan)
    if marks.height == 0:
        return None, pl.DataFrame(schema={"iteration": pl.Int64, "duration": pl.Float64, "eventful": pl.Boolean})
    counted = marks.group_by("stream").len().sort(["len", "stream"], descending=[True, False])
    stream = int(counted["stream"][0])
    own = marks.filter(pl.col("stream") == stream).sort("order")
    return stream, _durations(own, _events(scan, stream))


def _events(scan: Scan, stream: int) -> Numbers:
    kinds = [MarkKind.CHECKPOINT.value, MarkKind.STAGE.value]
    between = scan.marks.filter((pl.col("stream") == stream) & pl.col("kind").is_in(kinds))
    return np.sort(between["order"].to_numpy())


def _durations(own: pl.DataFrame, events: Numbers) -> pl.DataFrame:
    stated = own["seconds"].to_numpy().astype(np.float64)
    measured = (own["time"].diff() / own["steps"].diff().cast(pl.Float64)).to_numpy().astype(np.float64)
    passed = np.searchsorted(events, own["order"].to_numpy())
    eventful = np.diff(passed, prepend=passed[:1]) > 0
    table = pl.DataFrame({"iteration": own["iteration"], "duration": _believed(stated, measured), "eventful": eventful})
    return table.filter(pl.col("duration").is_finite() & (pl.col("duration") >= 0))


def _believed(stated: Numbers, measured: Numbers) -> Numbers:
    """Stated iteration times, unless the clock contradicts them (they may be sums since the start)."""
    both = np.isfinite(stated) & np.isfinite(measured) & (measured > 0)
    if not np.isfinite(stated).any():
        return measured
    if both.sum() >= 3:
        ratio = float(np.median(stated[both] / measured[both]))
        if not 1 / 3 < ratio < 3:
            return measured
    return np.where(np.isfinite(stated), stated, measured)


def slow_iterations(stream: int, steps: pl.DataFrame) -> tuple[tuple[int, int, float, str], ...]:
    """Iterations that took far longer than those of their like before them."""
    compared = with_past(steps, "duration", "eventful")
    limit = pl.max_horizontal(SLOW_RATIO * pl.col("past"), pl.col("past") + SLOW_SPREADS * MAD_TO_SD * pl.col("spread"))
    slow = compared.filter((pl.col("known") >= ENOUGH) & (pl.col("duration") > limit) & (pl.col("past") > 0))
    return tuple(_slow(stream, row) for row in slow.iter_rows(named=True))


def _slow(stream: int, row: dict[str, float]) -> tuple[int, int, float, str]:
    ratio = row["duration"] / row["past"]
    score = min(0.9, 0.3 + 0.3 * math.log10(ratio))
    why = f"took {duration(row['duration'])}, {times(ratio)} the {duration(row['past'])} before it"
    return stream, int(row["iteration"]), score, why


def with_past(table: pl.DataFrame, column: str, *groups: str) -> pl.DataFrame:
    """Adds `past` (median of up to `WINDOW` earlier values of the group), `spread` (their MAD), `known` (how many)."""
    earlier = pl.col(column).shift(1).rolling_median(WINDOW, min_samples=1).over(*groups)
    counted = table.with_columns(earlier.alias("past"), pl.int_range(pl.len()).over(*groups).alias("known"))
    off = (pl.col(column) - pl.col("past")).abs().shift(1).rolling_median(WINDOW, min_samples=1).over(*groups)
    return counted.with_columns(off.fill_null(0.0).alias("spread"))


def change_point(plain: pl.DataFrame) -> tuple[int, float, float] | None:
    """Where iteration times changed for good, by Pettitt's rank test (1979), which outliers cannot mislead.

    Its significance has a closed form, so that nothing is permuted and the result is always the same.
    """
    steps = plain.slice(WARM_UP)
    steps = steps.gather_every(max(1, math.ceil(steps.height / MOST_POINTS)))
    values = steps["duration"].to_numpy()
    if len(values) < 2 * SEGMENT:
        return None
    at, chance = pettitt(values)
    if chance > CHANGE_CHANCE or min(at, len(values) - at) < SEGMENT:
        return None
    before, after = float(np.median(values[:at])), float(np.median(values[at:]))
    late = float(np.median(values[-max(SEGMENT // 2, (len(values) - at) // 4) :]))
    if not (_differs(before, after) and _differs(before, late) and (late > before) == (after > before)):
        return None
    return int(steps["iteration"][at]), before, after


def pettitt(values: Numbers) -> tuple[int, float]:
    """Where the second segment starts, and the chance of so clear a change if there were none."""
    ranks = pl.Series(values).rank("average").to_numpy()
    count = len(values)
    sums = 2 * np.cumsum(ranks) - np.arange(1, count + 1) * (count + 1)
    at = int(np.argmax(np.abs(sums[:-1])))
    statistic = float(abs(sums[at]))
    return at + 1, min(1.0, 2 * math.exp(-6 * statistic**2 / (count**3 + count**2)))


def _differs(before: float, after: float) -> bool:
    low, high = sorted((max(before, 1e-9), max(after, 1e-9)))
    return high / low >= CHANGE_RATIO
