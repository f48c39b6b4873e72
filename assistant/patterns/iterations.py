"""Iterations in which something else happened than in those before them.

L4 compares the event sequence of an iteration with those of its ten predecessors by dynamic time warping. Here they are
compared as weighted sets (weighted Jaccard distance): of events, rare ones weighing more, and of the order in which the
common ones follow each other. By measurement (`python -m evals.patterns iterations`) that finds new and missing lines
where warping loses them among chance lines, sees repetition, to which warping is blind, and takes a tenth of the time;
warping is better only at whole blocks that change place, which in logs of concurrent writers is no sign.

What counts as odd is decided by the past only: an iteration is compared with its predecessors of the same stream and
kind (evaluation and checkpoint iterations with their like), its distance with theirs by median and MAD. Three standard
deviations, as in L4, could not be reached by any of fewer than eleven iterations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.events.models import Scan
from assistant.intake.models import MarkKind
from assistant.patterns.pace import ENOUGH, with_past
from assistant.patterns.progress import MAD_TO_SD, last_attempt

PREDECESSORS = 10
LEAST = 0.15
"""Distance above the past median below which an iteration is never odd."""
SPREADS = 5.0
"""Robust standard deviations above the past median from which on it is."""
MOST_ROWS = 300_000
"""Above this, only the last iterations of each stream are compared."""
MOST_PAIRS = 200_000
"""Pairs of distinct sequences that are compared; later iterations first."""
MOST_ODD = 1000
"""Odd iterations that are handed on."""

Shape = tuple[int, ...]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OddIteration:
    """An iteration unlike its predecessors."""

    stream: int
    iteration: int
    score: float
    why: str
    new: tuple[int, ...]
    """Templates that none of its predecessors holds."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the comparison of iterations gave."""

    odd: tuple[OddIteration, ...]
    """The oddest first."""
    longest: int
    """Most iterations that any stream has."""


def compare_iterations(scan: Scan, dropped: frozenset[int]) -> Comparison:
    """Compares each iteration with its predecessors. `dropped` templates are left out of the sequences."""
    table = _kinds(_rows(scan), scan)
    longest = table.group_by("stream").len()["len"].max() if table.height else 0
    if not isinstance(longest, int) or longest <= ENOUGH:
        return Comparison((), longest if isinstance(longest, int) else 0)
    shapes, table = _reduced(scan.shapes, table, dropped)
    scored = _scored(table, shapes)
    odd = sorted(_odd(scored, shapes), key=lambda one: (-one.score, one.iteration, one.stream))
    return Comparison(tuple(odd[:MOST_ODD]), longest)


def _rows(scan: Scan) -> pl.DataFrame:
    attempt = last_attempt(scan)
    own = [stream.id for stream in scan.streams if stream.attempt == attempt]
    rows = scan.sequences.filter(pl.col("stream").is_in(own)).sort("stream", "line")
    if rows.height <= MOST_ROWS:
        return rows
    each = max(2 * ENOUGH, MOST_ROWS // rows["stream"].n_unique())
    return rows.group_by("stream", maintain_order=True).tail(each)


def _kinds(rows: pl.DataFrame, scan: Scan) -> pl.DataFrame:
    """Adds `kind`: whether an evaluation or a checkpoint fell into the iteration; and `last`."""
    wanted = [MarkKind.STAGE.value, MarkKind.CHECKPOINT.value]
    placed = scan.marks.with_columns(pl.col("iteration").forward_fill().over("stream"))
    marks = placed.filter(pl.col("kind").is_in(wanted) & pl.col("iteration").is_not_null())
    special = marks.select("stream", "iteration").unique().with_columns(pl.lit(1).alias("kind"))
    joined = rows.join(special, on=["stream", "iteration"], how="left", maintain_order="left")
    place = pl.int_range(pl.len()).over("stream")
    return joined.with_columns(pl.col("kind").fill_null(0), (place == pl.len().over("stream") - 1).alias("last"))


def _reduced(shapes: Sequence[Shape], table: pl.DataFrame, dropped: frozenset[int]) -> tuple[list[Shape], pl.DataFrame]:
    """The distinct shapes without the dropped templates, and the table pointing at them."""
    numbers: dict[Shape, int] = {}
    new = [numbers.setdefault(tuple(t for t in shape if t not in dropped), len(numbers)) for shape in shapes]
    mapping = pl.Series("shape", new, dtype=pl.Int32)
    return list(numbers), table.with_columns(mapping.gather(table["sequence"]).alias("shape"))


def _scored(table: pl.DataFrame, shapes: list[Shape]) -> pl.DataFrame:
    """Adds `distance` to the predecessors (the mean), `recurring`, and the past of the distances."""
    lags = [f"lag{lag}" for lag in range(1, PREDECESSORS + 1)]
    shifted = table.with_columns(
        pl.col("shape").shift(lag).over("stream", "kind").alias(f"lag{lag}") for lag in range(1, PREDECESSORS + 1)
    )
    recurring = pl.int_range(pl.len()).over("stream", "shape") > 0
    long = shifted.with_row_index("row").select("row", "shape", "last", *lags)
    pairs = long.unpivot(lags, index=["row", "shape", "last"], value_name="other").drop_nulls("other")
    occurrences = np.bincount(table["shape"].to_numpy(), minlength=len(shapes)).tolist()
    pairs = pairs.join(_distances(pairs, shapes, occurrences), on=["shape", "other"], how="inner")
    # The last iteration was cut by the failure: what it lacks says nothing, only what it has besides.
    value = pl.when("last").then("excess").otherwise("distance")
    mean = pairs.group_by("row").agg(value.mean().alias("distance"))
    scored = shifted.with_row_index("row").join(mean, on="row", how="left", maintain_order="left")
    return with_past(
        scored.with_columns(recurring.alias("recurring"), pl.col("distance")), "distance", "stream", "kind"
    )


def _distances(pairs: pl.DataFrame, shapes: list[Shape], occurrences: Sequence[int]) -> pl.DataFrame:
    """shape, other, distance (weighted Jaccard), excess (share of the shape that the other lacks)."""
    distinct = pairs.group_by("shape", "other").agg(pl.col("row").max()).sort("row", "shape", "other").tail(MOST_PAIRS)
    left, right = distinct["shape"].to_numpy(), distinct["other"].to_numpy()
    distance, excess = jaccard(features(shapes, occurrences), left, right)
    return distinct.select("shape", "other").with_columns(pl.Series("distance", distance), pl.Series("excess", excess))


def features(shapes: Sequence[Shape], occurrences: Sequence[int]) -> list[dict[tuple[int, ...], float]]:
    """Each shape as weighted events and neighbouring pairs of common events.

    A repeated event weighs more, but not in proportion; a rare one by its inverse frequency over all iterations.
    """
    total = sum(occurrences)
    frequency: Counter[int] = Counter()
    for shape, count in zip(shapes, occurrences, strict=True):
        frequency.update(dict.fromkeys(shape, count))
    rarity = {event: 1 + math.log((total + 1) / (count + 0.5)) for event, count in frequency.items()}
    common = {event for event, count in frequency.items() if 2 * count >= total}
    return [_features(shape, rarity, common) for shape in shapes]


def _features(shape: Shape, rarity: dict[int, float], common: set[int]) -> dict[tuple[int, ...], float]:
    weights: dict[tuple[int, ...], float] = {
        (event,): rarity[event] * math.log2(1 + count) for event, count in Counter(shape).items()
    }
    in_order = [event for event, _ in groupby(event for event in shape if event in common)]
    return weights | dict.fromkeys(pairwise(in_order), 1.0)


def jaccard(
    weighted: list[dict[tuple[int, ...], float]], left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]
) -> tuple[Numbers, Numbers]:
    """1 - (sum of minima / sum of maxima) for each pair, and the share of the left that the right lacks."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    columns: dict[tuple[int, ...], int] = {}
    for one in weighted:
        for key in one:
            columns.setdefault(key, len(columns))
    lengths = [0, *np.cumsum([len(one) for one in weighted])]
    flat = [columns[key] for one in weighted for key in one]
    values = [value for one in weighted for value in one.values()]
    matrix = csr_array((values, flat, lengths), shape=(len(weighted), max(len(columns), 1)))
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    apart = np.concatenate(
        [_apart(matrix, left[at : at + 20_000], right[at : at + 20_000]) for at in _steps(len(left))]
    )
    shared = (totals[left] + totals[right] - apart) / 2
    most = totals[left] + totals[right] - shared
    return _share(most - shared, most), _share(totals[left] - shared, totals[left])


def _apart(matrix, left, right) -> Numbers:  # type: ignore[no-untyped-def] # noqa: ANN001
    return np.asarray(abs(matrix[left] - matrix[right]).sum(axis=1), dtype=np.float64).ravel()


def _steps(count: int) -> Iterable[int]:
    return range(0, max(count, 1), 20_000)


def _share(part: Numbers, whole: Numbers) -> Numbers:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 1e-9).clip(0.0, 1.0)


def _odd(scored: pl.DataFrame, shapes: list[Shape]) -> Iterable[OddIteration]:
    above = pl.col("distance") - pl.col("past")
    limit = pl.max_horizontal(pl.lit(LEAST), SPREADS * MAD_TO_SD * pl.col("spread"))
    odd = scored.filter((pl.col("known") >= ENOUGH) & ~pl.col("recurring") & (above > limit))
    for row in odd.iter_rows(named=True):
        before = [row[f"lag{lag}"] for lag in range(1, PREDECESSORS + 1)]
        new = _new(row["shape"], before, shapes)
        score = min(1.0, 0.4 + row["distance"] - row["past"]) * (1.0 if new else 0.6)
        yield OddIteration(row["stream"], row["iteration"], score, _why(row["last"], len(new)), new)


def _new(shape: int, before: list[int | None], shapes: list[Shape]) -> tuple[int, ...]:
    usual = {template for other in before if other is not None for template in shapes[other]}
    return tuple(dict.fromkeys(template for template in shapes[shape] if template not in usual))


def _why(last: bool, new: int) -> str:
    if new:
        return f"{new} event{'s' if new > 1 else ''} that none of the {PREDECESSORS} iterations before it shows"
    return "more lines than usual" if last else "another order or number of lines than in the iterations before it"
