"""iteration_stats and baseline_diff: the pace of training, and what differs from healthy runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import polars as pl
from pydantic import Field

from assistant.case.text import clean, plural
from assistant.patterns.contrast import with_healthy
from assistant.patterns.losses import loss_curve, losses
from assistant.patterns.models import EventScore, TemporalResult
from assistant.patterns.pace import steps_of
from assistant.patterns.wording import duration
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, limited, nothing
from assistant.tools.models import Arguments
from assistant.tools.overview import NoArguments


def iteration_stats(desk: Desk, arguments: Arguments) -> Finding:
    """Iteration times, losses and what was odd about them."""
    temporal = desk.examination.findings.temporal
    rows = [*_reach(desk, temporal), *_times(desk), *_losses(desk), *_odd(desk, temporal)]
    remark = losses(desk.examination.reading.scan).remark
    rows += [clean(remark)] if remark else []
    return found(rows) if rows else nothing("No iteration line was recognised in these logs.")


def _reach(desk: Desk, temporal: TemporalResult) -> Iterator[str]:
    if temporal.last_iteration is not None:
        yield f"Last iteration: {temporal.last_iteration}"
    if temporal.last_checkpoint is not None:
        yield f"Last complete checkpoint: iteration {temporal.last_checkpoint}"
        yield from _since(desk, temporal)
    if temporal.change_point is not None:
        at, before, after = temporal.change_point
        yield f"The pace changed at iteration {at}: {duration(before)} before, {duration(after)} after"
    if temporal.stalled_for is not None:
        yield f"No progress in the last {duration(temporal.stalled_for)} of the logs"


def _since(desk: Desk, temporal: TemporalResult) -> Iterator[str]:
    """The work that a restart from the last complete checkpoint does again."""
    last, kept = temporal.last_iteration, temporal.last_checkpoint
    if last is None or kept is None or last < kept:
        return
    times = steps_of(desk.examination.reading.scan)[1]["duration"]
    each = times.median() if len(times) else None
    pace = (
        f", about {duration(float(each) * (last - kept))} of training"
        if isinstance(each, float) and last > kept
        else ""
    )
    yield f"Since the last complete checkpoint: {plural(last - kept, 'iteration')}{pace}"


def _times(desk: Desk) -> Iterator[str]:
    _, steps = steps_of(desk.examination.reading.scan)
    if not steps.height:
        return
    times = steps["duration"]
    parts = [f"{name} {duration(float(value))}" for name, value in _spread(times) if value is not None]
    yield f"{plural(steps.height, 'iteration time')}: {', '.join(parts)}"


def _spread(times: pl.Series) -> list[tuple[str, float | None]]:
    places = (("fastest", 0.0), ("median", 0.5), ("95th percentile", 0.95), ("slowest", 1.0))
    return [*((name, times.quantile(place)) for name, place in places), ("last", float(times[-1]))]


def _losses(desk: Desk) -> Iterator[str]:
    values = [loss for _, loss in loss_curve(desk.examination.reading.scan)]
    if values:
        spread = f"first {values[0]:.4g}, lowest {min(values):.4g}, highest {max(values):.4g}, last {values[-1]:.4g}"
        yield f"{plural(len(values), 'loss value')}: {spread}"


def _odd(desk: Desk, temporal: TemporalResult) -> list[str]:
    streams = {stream.id: stream for stream in desk.examination.reading.scan.streams}
    rows = [
        f"Iteration {number} of {_writer(streams[stream].rank, streams[stream].group)}: {clean(why)}"
        for stream, number, _, why in temporal.odd_iterations
    ]
    return limited(rows, 12, "the first ones are the most telling")[0]


def _writer(rank: int | None, group: str) -> str:
    return f"rank {rank}" if rank is not None else clean("/".join(PurePath(group).parts[-2:]))


class DiffArguments(Arguments):
    """How much to show."""

    limit: int = Field(default=20, ge=1, le=200)


def baseline_diff(desk: Desk, arguments: Arguments) -> Finding:
    """The events that healthy runs of this family do not show, or show otherwise."""
    assert isinstance(arguments, DiffArguments)
    result = desk.examination.findings.cross_job
    if not result.ran:
        why = result.note or "no healthy run of this kind is stored"
        return nothing(f"Not compared with healthy runs: {clean(why)}.", "`rootrank baseline add` stores healthy runs.")
    rows = [_scored(desk, event) for event in sorted(result.events, key=lambda event: (-event.score, event.template))]
    shown, rest = limited(rows, arguments.limit, "raise `limit`")
    dropped = f"{plural(len(result.dropped), 'template')} that healthy runs show alike were set aside"
    return found([clean(result.note), dropped, *shown, *_lacking(desk, arguments.limit)], omitted=rest)


def _lacking(desk: Desk, limit: int) -> Iterator[str]:
    """What healthy runs write and this job never did."""
    seen = desk.examination
    lacking = with_healthy(seen.reading.scan, seen.baseline).only_there if seen.baseline else ()
    if lacking:
        yield f"Only in healthy runs: {plural(len(lacking), 'template')}"
    for one in lacking[:limit]:
        yield f"  {clean(one.text)[:200]} ({one.note})"


def _scored(desk: Desk, event: EventScore) -> str:
    text = desk.examination.reading.scan.templates[event.template].text
    return f"{event.score:.2f}: {clean(text)[:200]} ({clean(event.why)})"


ITERATION_STATS = Tool(
    "iteration_stats",
    "The pace of training: iteration times, where the pace changed, slow and odd iterations, losses, last checkpoint.",
    NoArguments,
    iteration_stats,
)
BASELINE_DIFF = Tool(
    "baseline_diff",
    "What this job wrote that healthy runs of the same kind do not, or at another rate.",
    DiffArguments,
    baseline_diff,
)
