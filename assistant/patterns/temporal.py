"""The third comparison of L4: iterations with those before them; and how far the job came.

Stages tell which events can matter at all; the progress of each rank tells who fell silent or behind; iteration times
tell the pace, its change and a stop; sequences of events and losses tell which iteration was odd first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from assistant.events.models import Scan
from assistant.intake.models import MarkKind, WriterKind
from assistant.patterns.iterations import Comparison, OddIteration, compare_iterations
from assistant.patterns.likeness import indicated
from assistant.patterns.losses import Losses, losses
from assistant.patterns.models import EventScore, TemporalResult
from assistant.patterns.pace import ENOUGH, Pace, pace
from assistant.patterns.progress import last_attempt, rank_progress
from assistant.patterns.wording import duration, plural

NAME = "temporal"
STALL_ITERATIONS = 10
STALL_SECONDS = 60.0
"""A job stands still when its lines go on for so many iteration times, and so many seconds, after its last progress."""
MOST_ODD = 20
LATE_SCORE = 0.5
"""Score of an event that first appears after the last iteration began."""
PLAIN_FACTOR = 0.6
"""Factor for what is odd but does not look like a failure."""
LATE_ITERATIONS = 3
"""Iterations without which nothing is late."""

_ASIDE = [WriterKind.KERNEL, WriterKind.SCHEDULER]


def compare(scan: Scan, *, dropped: frozenset[int] = frozenset()) -> TemporalResult:
    """How far the job and each rank came, and which iterations and events are odd.

    Args:
        dropped: templates that healthy runs show alike; they make no iteration odd.
    """
    speed, lost = pace(scan), losses(scan)
    compared = compare_iterations(scan, dropped)
    progress = rank_progress(scan, speed.seconds)
    last = _last_iteration(scan, speed)
    stalled = _stalled(scan, speed)
    failing = frozenset(indicated(scan))
    odd = _odd_iterations(compared, speed, lost, failing)
    return TemporalResult(
        name=NAME,
        ran=scan.marks.height > 0,
        note=_note(scan, last, speed, compared, lost, stalled),
        events=_events(scan, compared, last, dropped, failing),
        progress=progress,
        last_iteration=last,
        last_checkpoint=_last_checkpoint(scan),
        iteration_seconds=speed.seconds,
        stalled_for=stalled,
        odd_iterations=odd,
        change_point=speed.change,
    )


def switched_off(result: TemporalResult) -> TemporalResult:
    """Only the plain facts of a result (how far each rank came), none of its comparisons."""
    plain = tuple(replace(rank, silent=False, lagging=False) for rank in result.progress)
    return TemporalResult(
        NAME, False, "switched off", progress=plain, last_iteration=result.last_iteration,
        last_checkpoint=result.last_checkpoint, iteration_seconds=result.iteration_seconds,
    )  # fmt: skip


def _last_iteration(scan: Scan, speed: Pace) -> int | None:
    """Of the pace-setting stream, so that a rank that fell behind does not decide it."""
    own = _progress_marks(scan, [MarkKind.ITERATION]).filter(pl.col("iteration").is_not_null())
    if speed.stream is not None and own.filter(pl.col("stream") == speed.stream).height:
        own = own.filter(pl.col("stream") == speed.stream)
    ends = own.sort("stream", "order").group_by("stream", maintain_order=True).agg(pl.col("iteration").last())
    highest = ends["iteration"].max() if ends.height else None
    return highest if isinstance(highest, int) else None


def _last_checkpoint(scan: Scan) -> int | None:
    """The iteration of the checkpoint that was completely saved last, in any attempt."""
    saved = scan.marks.filter(pl.col("kind") == MarkKind.CHECKPOINT)
    announced = pl.col("iteration").forward_fill().over("stream")
    before = scan.marks.with_columns(announced.alias("iteration")).filter(pl.col("kind") == MarkKind.CHECKPOINT)
    stated = saved.filter(pl.col("iteration").is_not_null())
    known = (stated if stated.height else before).sort("attempt", "stream", "order")
    if known.height == 0:
        return None
    latest = known.filter(pl.col("attempt") == known["attempt"][-1])["iteration"].max()
    return latest if isinstance(latest, int) else None


def _progress_marks(scan: Scan, kinds: Sequence[MarkKind]) -> pl.DataFrame:
    wanted = pl.col("kind").is_in([kind.value for kind in kinds])
    return scan.marks.filter(wanted & (pl.col("attempt") == last_attempt(scan)))


def _stalled(scan: Scan, speed: Pace) -> float | None:
    """Seconds from the last sign of progress to the job's last line, where that is far too long."""
    ends = [s.last_time for s in scan.streams if s.last_time is not None and s.kind not in _ASIDE]
    if speed.seconds is None or not ends or _progress_marks(scan, [MarkKind.GOAL]).height:
        return None
    signs = _progress_marks(scan, [MarkKind.ITERATION, MarkKind.CHECKPOINT, MarkKind.STAGE])["time"].max()
    if not isinstance(signs, float):
        return None
    passed = max(ends) - signs
    return passed if passed >= max(STALL_SECONDS, STALL_ITERATIONS * speed.seconds) else None


def _odd_iterations(
    compared: Comparison, speed: Pace, lost: Losses, failing: frozenset[int]
) -> tuple[tuple[int, int, float, str], ...]:
    found = [
        (odd.stream, odd.iteration, _told(odd.score, not failing.isdisjoint(odd.new)), odd.why) for odd in compared.odd
    ]
    found += [*speed.slow, *lost.odd]
    return tuple(sorted(found, key=lambda odd: (-odd[2], odd[1], odd[0], odd[3]))[:MOST_ODD])


def _told(score: float, failing: bool) -> float:
    """A score, lowered where nothing about it looks like a failure."""
    return round(score if failing else PLAIN_FACTOR * score, 3)


def _events(
    scan: Scan, compared: Comparison, last: int | None, dropped: frozenset[int], failing: frozenset[int]
) -> tuple[EventScore, ...]:
    """Events that are new in an odd iteration, and those that first appear after the last one began."""
    best: dict[int, EventScore] = {}
    for event in [*_new_in_odd(compared.odd), *_late(scan, last, dropped)]:
        told = replace(event, score=_told(event.score, event.template in failing))
        held = best.get(event.template)
        if held is None or told.score > held.score:
            best[event.template] = told
    return tuple(sorted(best.values(), key=lambda event: (-event.score, event.template)))


def _new_in_odd(odd: Iterable[OddIteration]) -> Iterable[EventScore]:
    for one in odd:
        why = f"first in iteration {one.iteration}, in none of those before it"
        yield from (EventScore(template, one.score, why, (one.stream,)) for template in one.new)


def _late(scan: Scan, last: int | None, dropped: frozenset[int]) -> Iterable[EventScore]:
    numbers = _progress_marks(scan, [MarkKind.ITERATION])["iteration"].drop_nulls()
    if last is None or numbers.n_unique() < LATE_ITERATIONS:
        return
    born = scan.counts.group_by("template").agg(
        pl.col("first_iteration").min(), pl.col("first_iteration").is_null().any().alias("early"), pl.col("stream")
    )
    late = born.filter(~pl.col("early") & (pl.col("first_iteration") >= last)).sort("template")
    why = f"first after iteration {last} began, the last one"
    for row in late.iter_rows(named=True):
        if row["template"] not in dropped:
            yield EventScore(row["template"], LATE_SCORE, why, tuple(sorted(row["stream"])))


def _note(scan: Scan, last: int | None, speed: Pace, compared: Comparison, lost: Losses, stalled: float | None) -> str:
    if last is None:
        stage = _last_stage(scan)
        return f"no iteration was announced{f'; the last stage is {stage}' if stage else ''}"
    parts = [f"reached iteration {last}"]
    if speed.seconds is not None:
        parts.append(f"{duration(speed.seconds)} an iteration")
    if compared.longest <= ENOUGH:
        parts.append("too few iterations to compare them with each other")
    elif compared.odd:
        parts.append(f"{plural(len({odd.iteration for odd in compared.odd}), 'odd iteration')}")
    parts += _happenings(speed, lost, stalled)
    return "; ".join(parts)


def _happenings(speed: Pace, lost: Losses, stalled: float | None) -> list[str]:
    found = [lost.remark] if lost.remark else []
    if speed.change:
        at, before, after = speed.change
        found.append(f"from iteration {at} on {duration(after)} instead of {duration(before)} an iteration")
    if stalled is not None:
        found.append(f"no progress in the last {duration(stalled)}")
    return found


def _last_stage(scan: Scan) -> str | None:
    stages = _progress_marks(scan, [MarkKind.STAGE]).filter(pl.col("stage").is_not_null())
    counted = stages.sort("stream", "order").group_by("stream", maintain_order=True).agg(pl.col("stage").last())
    if counted.height == 0:
        return None
    most = counted.group_by("stage").len().sort(["len", "stage"], descending=[True, False])
    return str(most["stage"][0])
