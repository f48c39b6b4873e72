"""How far each rank came, and which ranks fell silent or behind their peers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median, median_high

import polars as pl

from assistant.events.models import Scan
from assistant.intake.models import MarkKind, Stream, WriterKind
from assistant.patterns.models import RankProgress

FEW = 0.25
"""Silence and lag single out ranks only while at most this share of them is concerned (or one node of several)."""
QUIET = 30.0
"""Seconds before the end of the job within which a last line is no silence."""
QUIET_ITERATIONS = 10
QUIET_SPREADS = 8.0
"""The same in median iteration times, and in robust standard deviations of the peers' last times."""
MAD_TO_SD = 1.4826

_BESIDE = frozenset({WriterKind.KERNEL, WriterKind.SCHEDULER, WriterKind.LAUNCHER})


@dataclass(frozen=True, slots=True)
class _Reach:
    """A rank's progress with what only the comparison needs."""

    progress: RankProgress
    steps: int | None
    """Iterations counted on across restarts of the numbering (epochs)."""
    seen: int | None
    """The iteration that ran, anywhere in the job, when it wrote its last line."""
    end: tuple[str, int, int]
    """Rotated set, source and number of its last line."""


def rank_progress(scan: Scan, pace: float | None) -> tuple[RankProgress, ...]:
    """One entry for each rank (each node, where no rank is known), of the last attempt; sorted by rank.

    Args:
        pace: median iteration time in seconds, where known.
    """
    reached = _reached(scan)
    behind = _lagging(reached)
    mute = _silent(reached, pace)
    return tuple(replace(reach.progress, lagging=at in behind, silent=at in mute) for at, reach in enumerate(reached))


def last_attempt(scan: Scan) -> int:
    """Number of the last attempt to run the job."""
    marked = scan.marks["attempt"].max() if scan.marks.height else None
    return max([stream.attempt for stream in scan.streams] + [marked if isinstance(marked, int) else 0], default=0)


def counted_on(marks: pl.DataFrame) -> pl.DataFrame:
    """Iteration marks with `steps`: the iteration counted on where its number starts again in the same stream.

    Numbering that starts again at a restart from a checkpoint is of another attempt and not counted on.
    """
    back = pl.col("iteration").shift(1).over("stream", "attempt") > pl.col("iteration")
    lost = pl.when(back).then(pl.col("iteration").shift(1).over("stream", "attempt")).otherwise(0)
    return marks.with_columns(
        (pl.col("iteration") + lost.fill_null(0).cum_sum().over("stream", "attempt")).alias("steps")
    )


def iteration_marks(scan: Scan) -> pl.DataFrame:
    """The iteration marks of the last attempt that have a number, with `steps`."""
    kind = (pl.col("kind") == MarkKind.ITERATION) & pl.col("iteration").is_not_null()
    return counted_on(scan.marks.filter(kind & (pl.col("attempt") == last_attempt(scan))))


def _reached(scan: Scan) -> list[_Reach]:
    attempt = last_attempt(scan)
    marks = iteration_marks(scan).group_by("stream", maintain_order=True).agg(pl.col("iteration", "steps").last())
    last = {stream: (iteration, steps) for stream, iteration, steps in marks.iter_rows()}
    ended = scan.counts.group_by("stream").agg(pl.col("last_iteration").max())
    seen: dict[int, int | None] = dict(ended.iter_rows())
    groups = _by_place(stream for stream in scan.streams if stream.attempt == attempt)
    return [_reach(groups[key], last, seen) for key in sorted(groups)]


def _by_place(streams: Iterable[Stream]) -> dict[tuple[int, str], list[Stream]]:
    own = [stream for stream in streams if stream.kind not in _BESIDE]
    ranked = [stream for stream in own if stream.rank is not None]
    groups: dict[tuple[int, str], list[Stream]] = defaultdict(list)
    for stream in ranked or [stream for stream in own if stream.node is not None]:
        key = (stream.rank, "") if stream.rank is not None else (-1, stream.node or "")
        groups[key].append(stream)
    return groups


def _reach(streams: Sequence[Stream], last: dict[int, tuple[int, int]], seen: dict[int, int | None]) -> _Reach:
    marked = [stream for stream in streams if stream.id in last]
    main = max(marked or streams, key=lambda stream: (stream.lines, -stream.id))
    iteration, steps = max((last[stream.id] for stream in marked), key=lambda pair: pair[1], default=(None, None))
    times = [stream.last_time for stream in streams if stream.last_time is not None]
    node = next((stream.node for stream in streams if stream.node is not None), None)
    order = max(main.lines - 1, 0)
    progress = RankProgress(main.id, node, main.rank, iteration, max(times, default=None), order)
    iterations = [number for number in (seen.get(stream.id) for stream in streams) if number is not None]
    end = max((stream.group, stream.last_source, stream.last_line) for stream in streams)
    return _Reach(progress, steps, max(iterations, default=None), end)


def _lagging(reached: list[_Reach]) -> frozenset[int]:
    steps = {at: reach.steps for at, reach in enumerate(reached) if reach.steps is not None}
    if len(steps) < 2:
        return frozenset()
    usual = median_high(steps.values())
    nearest = 2 if len(steps) == 2 else 1
    return _if_few({at for at, count in steps.items() if count <= usual - nearest}, set(steps), reached)


def _silent(reached: list[_Reach], pace: float | None) -> frozenset[int]:
    times = {at: reach.progress.last_time for at, reach in enumerate(reached) if reach.progress.last_time is not None}
    if len(times) == len(reached) > 1:
        return _silent_by_time({at: time for at, time in times.items() if time is not None}, reached, pace)
    seen = {at: reach.seen for at, reach in enumerate(reached) if reach.seen is not None}
    if len(seen) < 3:
        return frozenset()
    usual = median_high(seen.values())
    return _if_few({at for at, iteration in seen.items() if iteration < usual - 1}, set(seen), reached)


def _silent_by_time(times: dict[int, float], reached: list[_Reach], pace: float | None) -> frozenset[int]:
    margin = max(QUIET, QUIET_ITERATIONS * (pace or 0.0))
    end = max(times.values())
    near = [time for time in times.values() if time >= end - margin]
    # Only where at least half of the ranks wrote until the end is it unusual not to.
    if 2 * len(near) < len(times):
        return frozenset()
    middle = median(near)
    spread = MAD_TO_SD * median(abs(time - middle) for time in near)
    limit = middle - margin - QUIET_SPREADS * spread
    found = {at for at, time in times.items() if time < limit and not _contradicted(at, times, end - margin, reached)}
    return _if_few(found, set(times), reached)


def _contradicted(at: int, times: dict[int, float], near: float, reached: list[_Reach]) -> bool:
    """Whether the order of lines within one source shows that a rank wrote until the end, whatever its clock says."""
    own = reached[at].end
    ends = [reached[other].end for other, time in times.items() if time >= near]
    peers = [end[2] for end in ends if end[:2] == own[:2]]
    return bool(peers) and own[2] >= median(peers)


def _if_few(found: set[int], among: set[int], reached: list[_Reach]) -> frozenset[int]:
    nodes = {reached[at].progress.node for at in found}
    others = {reached[at].progress.node for at in among - found}
    one_node = len(nodes) == 1 and None not in nodes | others and not nodes & others
    few = len(found) <= max(1, int(FEW * len(among)))
    return frozenset(found) if few or one_node else frozenset()
